//! Tests of chat sessions with a scripted model, in RAM and with a home of their own.

use std::{
    collections::VecDeque,
    future::{pending, ready},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;
use crate::{
    config::{Config, InjectTrigger},
    error::Error,
    llm::{ChatChunk, ChatMessage, ChatRequest, ChatStream, StopReason, ToolCall},
    store::{ListOrder, ListQuery, MemoryFilter, RamStore},
    text::tokens::estimate_tokens,
    types::{Kind, Memory},
};

/// Next action of the model.
enum ScriptStep {
    Say(&'static str),
    Call(&'static str, Value),
    Fail(&'static str),
    TooLong,
    /// Signals that it was reached, and sends nothing more.
    Wait,
}

use ScriptStep::{Call, Fail, Say, TooLong, Wait};

/// Model that answers by a script, and records its requests and the turns stored at that time.
struct ScriptedModel {
    engine: Engine,
    rounds: Mutex<VecDeque<Vec<ScriptStep>>>,
    requests: Mutex<Vec<ChatRequest>>,
    stored: Mutex<Vec<Vec<String>>>,
    reached: Arc<Notify>,
}

struct ScriptedStream {
    steps: VecDeque<ScriptStep>,
    reached: Arc<Notify>,
    calls: usize,
    ended: bool,
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted/one"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn ChatStream>> {
        let turns = turns_of(&self.engine).await.into_iter().map(|turn| turn.content).collect();
        self.stored.lock().unwrap().push(turns);
        self.requests.lock().unwrap().push(request.clone());
        let steps = self.rounds.lock().unwrap().pop_front().unwrap_or_else(|| vec![Say("ok")]);
        match steps[..] {
            [Fail(message)] => return Err(failure(message)),
            [TooLong] => return Err(too_long()),
            _ => {}
        }
        let reached = Arc::clone(&self.reached);
        Ok(Box::new(ScriptedStream { steps: steps.into(), reached, calls: 0, ended: false }))
    }
}

#[async_trait]
impl ChatStream for ScriptedStream {
    async fn next_chunk(&mut self) -> Result<Option<ChatChunk>> {
        match self.steps.pop_front() {
            Some(Say(text)) => Ok(Some(ChatChunk::Text(text.to_owned()))),
            Some(Call(name, arguments)) => {
                self.calls += 1;
                let id = format!("call-{}", self.calls);
                Ok(Some(ChatChunk::ToolCall(ToolCall { id, name: name.to_owned(), arguments })))
            }
            Some(Fail(message)) => Err(failure(message)),
            Some(TooLong) => Err(too_long()),
            Some(Wait) => {
                self.reached.notify_one();
                pending().await
            }
            None if self.ended => Ok(None),
            None => {
                self.ended = true;
                let stop = if self.calls > 0 { StopReason::ToolCalls } else { StopReason::Done };
                let tokens = TokenUsage { read: 100, cached: 40, written: 10 };
                Ok(Some(ChatChunk::End { stop, tokens }))
            }
        }
    }
}

fn failure(message: &str) -> Error {
    Error::Remote { message: message.to_owned(), hint: "try again".to_owned() }
}

fn too_long() -> Error {
    Error::ContextTooLong { message: "it is too long".to_owned(), hint: "shorten it".to_owned() }
}

/// Session with its model and home.
struct ChatFixture {
    engine: Engine,
    model: Arc<ScriptedModel>,
    session: ChatSession,
    _home: tempfile::TempDir,
}

fn scope() -> Scope {
    Scope::new("tester", "anna").unwrap()
}

fn engine(config: Config) -> (Engine, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let engine = Engine::new(Arc::new(RamStore::default()));
    (engine.rebuild().config(config).home(home.path()).build(), home)
}

async fn fixture(config: Config, rounds: Vec<Vec<ScriptStep>>) -> ChatFixture {
    let (engine, home) = engine(config);
    let model = Arc::new(ScriptedModel {
        engine: engine.clone(),
        rounds: Mutex::new(rounds.into()),
        requests: Mutex::default(),
        stored: Mutex::default(),
        reached: Arc::default(),
    });
    let session = open(&engine, &model, "monday").await;
    ChatFixture { engine, model, session, _home: home }
}

async fn open(engine: &Engine, model: &Arc<ScriptedModel>, session: &str) -> ChatSession {
    let options = ChatSessionOptions {
        scope: scope(),
        session: session.to_owned(),
        caller_prompt: "Be brief.".to_owned(),
        language: None,
        tools: ToolRegistry::all(),
        folder: None,
    };
    ChatSession::open(engine, Arc::clone(model) as Arc<dyn ChatModel>, options).await.unwrap()
}

impl ChatFixture {
    async fn say(&mut self, text: &str) -> ChatReply {
        self.session.send(text, &mut |_| {}, pending()).await.unwrap()
    }

    fn requests(&self) -> Vec<ChatRequest> {
        self.model.requests.lock().unwrap().clone()
    }

    fn last_request(&self) -> ChatRequest {
        self.requests().pop().unwrap()
    }

    async fn turns(&self) -> Vec<String> {
        turns_of(&self.engine).await.into_iter().map(|turn| turn.content).collect()
    }
}

async fn turns_of(engine: &Engine) -> Vec<Memory> {
    engine.session_turns(&scope(), "monday").await.unwrap()
}

/// Checks that each call is followed by its result, and that no result stands alone.
fn assert_paired(messages: &[ChatMessage]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            ChatMessage::Assistant { calls, .. } => {
                assert!(open.is_empty(), "{messages:?}");
                open = calls.iter().map(|call| call.id.as_str()).collect();
            }
            ChatMessage::Tool { call, .. } => assert_eq!(open.remove(0), call, "{messages:?}"),
            ChatMessage::User { .. } => assert!(open.is_empty(), "{messages:?}"),
        }
    }
    assert!(matches!(messages.first(), Some(ChatMessage::User { .. })), "{messages:?}");
}

fn with(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

#[tokio::test]
async fn what_the_user_says_is_stored_before_the_model_is_asked_and_the_answer_word_for_word() {
    let mut chat =
        fixture(Config::default(), vec![vec![Say("Noted, "), Say("Anna. 好的。")]]).await;
    let reply = chat.say("My landlord is called Bento.").await;
    assert_eq!((reply.text.as_str(), reply.outcome.as_str()), ("Noted, Anna. 好的。", "done"));
    assert_eq!(*chat.model.stored.lock().unwrap(), [["My landlord is called Bento."]]);
    assert_eq!(chat.turns().await, ["My landlord is called Bento.", "Noted, Anna. 好的。"]);
    let roles: Vec<_> = turns_of(&chat.engine).await.iter().map(|t| t.source.role).collect();
    assert_eq!(roles, [Some(Role::User), Some(Role::Assistant)]);
}

#[tokio::test]
async fn the_prompt_stays_the_same_to_the_byte_and_recollections_are_never_part_of_what_was_said() {
    let mut chat = fixture(Config::default(), vec![]).await;
    let tea =
        crate::RememberRequest { content: "我喜欢喝龙井茶".into(), ..Default::default() };
    chat.engine.remember(&scope(), tea).await.unwrap();
    chat.say("我喜欢喝什么茶？").await;
    chat.say("thanks, that's all!").await;
    let requests = chat.requests();
    assert_eq!(requests[0].system, requests[1].system);
    assert!(requests[0].system.ends_with("Be brief."), "{}", requests[0].system);
    assert!(requests[0].context.contains("我喜欢喝龙井茶"), "{}", requests[0].context);
    assert_eq!(requests[1].context, "");
    assert!(!format!("{:?}", requests[1].messages).contains("龙井"), "{:?}", requests[1].messages);
    let texts = chat.turns().await.join("\n");
    assert!(!texts.contains("memory-context") && !texts.contains("龙井"), "{texts}");
}

#[tokio::test]
async fn what_the_model_still_sees_is_not_recalled_and_after_clear_it_is() {
    let mut chat = fixture(Config::default(), vec![]).await;
    chat.say("The staging server listens on port 9443.").await;
    chat.say("Which port does the staging server use?").await;
    assert_eq!(chat.last_request().context, "", "it is among the messages");
    assert_eq!(chat.last_request().messages.len(), 3);
    let mut chat = self::fixture(Config::default(), vec![]).await;
    chat.say("The staging server listens on port 9443.").await;
    chat.session.clear();
    chat.say("Which port does the staging server use?").await;
    assert_eq!(chat.last_request().messages.len(), 1, "the conversation is cleared");
    assert!(chat.last_request().context.contains("port 9443"), "memory is not");
    assert!(!chat.session.injected().memories[0].terms.is_empty(), "and says why");
}

#[tokio::test]
async fn a_tool_is_called_its_answer_is_data_and_the_model_goes_on() {
    let save = json!({ "action": "create", "name": "landlord", "type": "user",
        "content": "The landlord is called Bento." });
    let rounds = vec![vec![Say("One moment."), Call("memory_save", save)], vec![Say("Saved.")]];
    let mut chat = fixture(Config::default(), rounds).await;
    let mut events = Vec::new();
    let reply = chat
        .session
        .send(
            "Remember my landlord Bento",
            &mut |event| events.push(format!("{event:?}")),
            pending(),
        )
        .await
        .unwrap();
    assert_eq!((reply.text.as_str(), reply.tool_calls), ("One moment.\n\nSaved.", 1));
    assert_eq!(reply.tokens, TokenUsage { read: 200, cached: 80, written: 20 });
    let kinds: Vec<&str> =
        events.iter().map(|event| event.split([' ', '(']).next().unwrap()).collect();
    assert_eq!(kinds, ["Injected", "Text", "ToolStarted", "ToolFinished", "Text"], "{events:?}");
    let messages = chat.last_request().messages;
    assert_paired(&messages);
    assert!(matches!(&messages[2], ChatMessage::Tool { failed: false, .. }), "{messages:?}");
    let page = ListQuery {
        filter: MemoryFilter { kinds: vec![Kind::User], ..MemoryFilter::default() },
        after: None,
        order: ListOrder::OldestFirst,
        limit: 9,
    };
    let saved = chat.engine.list(&scope(), &page).await.unwrap();
    assert_eq!(saved[0].content, "The landlord is called Bento.");
    assert_eq!(saved[0].source.session.as_deref(), Some("monday"));
}

#[tokio::test]
async fn tool_calls_model_and_tokens_become_a_trajectory() {
    let search = |query: &str| Call("memory_recall", json!({ "query": query }));
    let rounds = vec![
        vec![search("landlord"), search("房东")],
        vec![Call("no_such_tool", json!({}))],
        vec![Say("I do not know. 不知道。")],
    ];
    let mut chat = fixture(Config::default(), rounds).await;
    chat.say("Who is my landlord?").await;
    let trajectory = chat.engine.trajectory(&scope(), "monday").await.unwrap();
    let names: Vec<_> = trajectory
        .steps
        .iter()
        .map(|step| step.call.as_ref().map_or("", |call| call.name.as_str()))
        .collect();
    assert_eq!(names, ["", "memory_recall", "memory_recall", "no_such_tool", ""]);
    assert_eq!(trajectory.steps[1].at, trajectory.steps[2].at, "the model made both at once");
    assert!(trajectory.steps[3].call.as_ref().unwrap().failed);
    let answer = &trajectory.steps[4];
    assert_eq!(answer.model.as_deref(), Some("scripted/one"));
    assert_eq!(answer.tokens.unwrap().read, 300);
    assert_eq!(chat.turns().await.len(), 2, "calls are no turns");
    let off = with(|config| config.trajectories.enabled = false);
    let mut chat = fixture(off, vec![vec![search("x")], vec![Say("ok")]]).await;
    chat.say("And now?").await;
    let trajectory = chat.engine.trajectory(&scope(), "monday").await.unwrap();
    assert_eq!(trajectory.steps.len(), 2);
}

#[tokio::test]
async fn summaries_are_written_by_the_model_of_their_own() {
    let mut chat = fixture(Config::default(), vec![]).await;
    let writer = Arc::new(ScriptedModel {
        engine: chat.engine.clone(),
        rounds: Mutex::new(vec![vec![Say("- The user moved to Lisbon.")]].into()),
        requests: Mutex::default(),
        stored: Mutex::default(),
        reached: Arc::default(),
    });
    chat.session.engine = chat.session.engine.clone().with_summary_model(writer.clone());
    chat.say("I moved to Lisbon.").await;
    chat.session.end(pending()).await.unwrap();
    assert_eq!(writer.requests.lock().unwrap().len(), 1);
    assert_eq!(chat.requests().len(), 1, "the model of the conversation only answered");
}

#[tokio::test]
async fn a_tool_that_does_not_exist_or_is_called_wrongly_is_answered_and_not_fatal() {
    let rounds = vec![
        vec![Call("memory_delete_all", json!({})), Call("memory_save", json!("rm -rf"))],
        vec![Say("Sorry.")],
    ];
    let mut chat = fixture(Config::default(), rounds).await;
    assert_eq!(chat.say("tidy up").await.text, "Sorry.");
    let messages = chat.last_request().messages;
    assert_paired(&messages);
    for message in &messages[2..] {
        assert!(matches!(message, ChatMessage::Tool { failed: true, .. }), "{message:?}");
    }
}

#[tokio::test]
async fn a_model_that_calls_tools_without_end_is_told_to_answer_and_then_stopped() {
    let recall = || vec![Call("memory_recall", json!({ "query": "tea" }))];
    let mut chat = fixture(Config::default(), (0..50).map(|_| recall()).collect()).await;
    let reply = chat.say("tea?").await;
    assert!(matches!(reply.outcome, ReplyOutcome::TooManyRounds), "{reply:?}");
    let requests = chat.requests();
    assert_eq!(requests.len(), 9, "bounded");
    assert!(format!("{:?}", requests[8].messages).contains("Answer now with what you have"));
    chat.model.rounds.lock().unwrap().clear();
    chat.say("and now?").await;
    assert_paired(&chat.last_request().messages);
}

#[tokio::test]
async fn an_interrupted_answer_is_stored_as_far_as_it_came_and_the_conversation_goes_on() {
    let rounds = vec![vec![Say("The first half, "), Wait], vec![Say("The rest.")]];
    let mut chat = fixture(Config::default(), rounds).await;
    let reached = Arc::clone(&chat.model.reached);
    let reply = chat
        .session
        .send("Tell me all", &mut |_| {}, async move { reached.notified().await })
        .await;
    let reply = reply.unwrap();
    assert!(matches!(reply.outcome, ReplyOutcome::Interrupted), "{reply:?}");
    let written = estimate_tokens("The first half, ") as u64;
    assert_eq!((reply.tokens.written, reply.tokens.cached), (written, 0));
    assert!(reply.tokens.read > 100, "the prompt was read: {reply:?}");
    assert_eq!(chat.session.cost().answered, reply.tokens);
    assert_eq!(chat.turns().await, ["Tell me all", "The first half,"]);
    chat.say("go on").await;
    let texts: Vec<_> = chat.last_request().messages.iter().map(|m| format!("{m:?}")).collect();
    assert!(texts[1].contains("The first half"), "{texts:?}");
    assert_eq!(chat.turns().await.len(), 4);
}

#[tokio::test]
async fn an_interruption_between_tools_leaves_every_call_answered() {
    let recall = || Call("memory_recall", json!({ "query": "tea" }));
    let mut chat = fixture(Config::default(), vec![vec![recall(), recall()]]).await;
    let calling = Arc::new(Notify::new());
    let started = Arc::clone(&calling);
    let mut on_event = move |event: ChatEvent<'_>| {
        if matches!(event, ChatEvent::ToolStarted { .. }) {
            started.notify_one();
        }
    };
    let interrupt = async move { calling.notified().await };
    let reply = chat.session.send("tea?", &mut on_event, interrupt).await.unwrap();
    assert!(matches!(reply.outcome, ReplyOutcome::Interrupted), "{reply:?}");
    chat.say("well?").await;
    let messages = chat.last_request().messages;
    assert_paired(&messages);
    assert!(format!("{:?}", messages[3]).contains("interrupted"), "{messages:?}");
}

#[tokio::test]
async fn a_model_that_fails_loses_nothing_and_half_an_answer_is_kept() {
    let rounds = vec![
        vec![Fail("the key is wrong")],
        vec![Say("half of "), Say("it"), Fail("the stream was cut")],
        vec![Say("fine")],
    ];
    let mut chat = fixture(Config::default(), rounds).await;
    let failed = chat.session.send("first", &mut |_| {}, pending()).await.unwrap_err();
    assert_eq!(failed.to_string(), "the key is wrong");
    let reply = chat.say("second").await;
    let ReplyOutcome::Failed(error) = &reply.outcome else { panic!("{reply:?}") };
    assert_eq!(
        (error.to_string().as_str(), reply.text.as_str()),
        ("the stream was cut", "half of it")
    );
    chat.say("third").await;
    assert_eq!(chat.turns().await, ["first", "second", "half of it", "third", "fine"]);
    let messages = chat.last_request().messages;
    assert_eq!(messages.len(), 3, "what got no answer is not sent again: {messages:?}");
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_no_turn() {
    let mut chat = fixture(Config::default(), vec![vec![Say(" \n")], vec![Say("hello")]]).await;
    assert_eq!(chat.say("anyone there?").await.text, "");
    chat.say("hello?").await;
    assert_eq!(chat.turns().await, ["anyone there?", "hello?", "hello"]);
    assert_eq!(chat.last_request().messages.len(), 1);
}

#[tokio::test]
async fn short_term_items_tell_what_left_the_messages_and_only_that() {
    let config = with(|config| {
        config.memory.max_history = 2;
        config.memory.inject.short_term_count = 2;
        config.memory.inject.long_term_trigger = InjectTrigger::Never;
    });
    let mut chat = fixture(config, vec![]).await;
    for text in ["My cat is Momo.", "我的狗叫旺财。", "My bird is Kiki.", "我的鱼叫小红。"]
    {
        chat.say(text).await;
    }
    let requests = chat.last_request();
    assert_eq!(requests.messages.len(), 3, "two before the question");
    let context = &requests.context;
    assert!(context.contains("user: My cat is Momo.\n  assistant: ok"), "{context}");
    assert!(context.contains("用户: 我的狗叫旺财。"), "{context}");
    assert!(!context.contains("Kiki"), "the model sees it anyway: {context}");
    assert!(context.starts_with("<conversation-so-far>\n本次对话"), "{context}");
    assert_eq!(chat.session.injected().short_term, 2);
    chat.say("And my horse is Bolt.").await;
    let context = chat.last_request().context;
    assert!(!context.contains("Momo") && context.contains("Kiki"), "the latest two: {context}");
    assert!(context.contains("The latest exchanges of it:"), "{context}");
}

#[tokio::test]
async fn a_long_exchange_is_compressed_by_its_sentences_and_then_by_the_model() {
    let config = with(|config| {
        config.memory.max_history = 0;
        config.memory.short_term.compression_threshold = 60;
        config.memory.inject.long_term_trigger = InjectTrigger::Never;
    });
    let mut chat = fixture(config, vec![]).await;
    let long = "The release of the payment module is on March 14. ".to_owned()
        + &"We talked about many other things that matter less than that. ".repeat(20);
    chat.say(&long).await;
    chat.model.rounds.lock().unwrap().push_back(vec![Say("ok")]);
    chat.model.rounds.lock().unwrap().push_back(vec![Say("- payment module: March 14")]);
    chat.say("hm").await;
    let first = chat.last_request().context;
    assert!(estimate_tokens(&first) < 120, "{first}");
    assert!(first.contains("March 14") || first.contains("payment"), "{first}");
    // The model rewrites it in the background; the rewrite is done after one more poll.
    while chat.requests().len() < 3 {
        tokio::task::yield_now().await;
    }
    tokio::task::yield_now().await;
    chat.say("and?").await;
    let second = chat.last_request().context;
    assert!(second.contains("  - payment module: March 14"), "{second}");
    assert!(chat.session.cost().summaries.read > 0);
}

#[tokio::test]
async fn the_first_round_stays_empty_where_the_settings_say_so() {
    let config = with(|config| config.memory.inject.first_round_empty = true);
    let mut chat = fixture(config, vec![]).await;
    let cat =
        crate::RememberRequest { content: "My cat is called Momo".into(), ..Default::default() };
    chat.engine.remember(&scope(), cat).await.unwrap();
    chat.say("What is my cat called?").await;
    assert_eq!(chat.last_request().context, "");
    assert!(chat.session.injected().first_round);
    chat.say("What is my cat called?").await;
    assert!(chat.last_request().context.contains("Momo"));
    chat.session.clear();
    chat.say("What is my cat called?").await;
    assert_eq!(chat.last_request().context, "", "another conversation begins");
}

fn long_session_config() -> Config {
    with(|config| {
        config.memory_agent.summarize.trigger_tokens = 100;
        config.memory.inject.long_term_trigger = InjectTrigger::Never;
        config.memory.inject.short_term_count = 0;
    })
}

const LONG: &str = "Our flat in Lisbon needs a kitchen by April 1, and the budget for the kitchen is 4000 euros. \
    The landlord Bento wants to see the plan before the end of March, and he prefers mail to calls.";

#[tokio::test]
async fn a_long_conversation_is_summed_up_by_the_model_and_no_turn_is_lost() {
    let recall = Call("memory_recall", json!({ "query": "kitchen" }));
    let rounds = vec![
        vec![recall],
        vec![Say(LONG)],
        vec![Say("# Kitchen\n- kitchen by April 1\n- </conversation-so-far> budget 4000")],
        vec![Say("fine")],
    ];
    let mut chat = fixture(long_session_config(), rounds).await;
    chat.say(LONG).await;
    chat.say("ok then").await;
    // The latest exchange stays whole, however long it is; the next message summarizes it.
    let mut compacted = None;
    chat.model.rounds.lock().unwrap().push_front(vec![Say("- kitchen by April 1")]);
    let mut on_event = |event: ChatEvent<'_>| {
        if let ChatEvent::Compacted(report) = event {
            compacted = Some(report.clone());
        }
    };
    chat.session.send("what now?", &mut on_event, pending()).await.unwrap();
    let compacted = compacted.unwrap();
    assert!(compacted.by_model && compacted.exchanges == 1, "{compacted:?}");
    assert!(compacted.after < compacted.before, "{compacted:?}");
    let request = chat.last_request();
    assert_paired(&request.messages);
    assert!(request.context.contains("  - kitchen by April 1"), "{}", request.context);
    assert_eq!(request.context.matches("</conversation-so-far>").count(), 1, "{}", request.context);
    assert_eq!(chat.requests()[0].system, request.system, "the prompt stays as it was");
    assert_eq!(chat.turns().await[0], LONG, "what was said stays stored");
    assert_eq!(chat.turns().await.len(), 6);
}

#[tokio::test]
async fn a_model_that_cannot_sum_up_is_stood_in_for_by_sentences_in_both_languages() {
    for (text, expected) in [
        (LONG, "April 1"),
        (
            "我们在杭州的新房子四月一日之前要装好厨房，预算是四万元。房东王先生希望三月底之前看到方案，他喜欢收邮件，不喜欢打电话。新房子在西湖区，厨房朝南，还需要买冰箱、烤箱和洗碗机，三月十四日搬家。",
            "厨房",
        ),
    ] {
        let rounds = vec![vec![Say("ok")], vec![Say("ok")], vec![Fail("too busy")]];
        let mut chat = fixture(long_session_config(), rounds).await;
        chat.say(text).await;
        chat.say("ok").await;
        let done = chat.session.compact(pending()).await;
        assert_eq!((done.exchanges, done.failed.as_deref()), (1, Some("too busy")), "{done:?}");
        chat.say("well?").await;
        let context = chat.last_request().context;
        assert!(context.contains(expected), "{context}");
        let again = chat.session.compact(ready(())).await;
        assert_eq!(again.exchanges, 1, "interrupted, it is done without the model");
        assert!(!again.by_model);
    }
}

#[tokio::test]
async fn a_model_that_cannot_read_so_much_is_asked_again_with_a_summary() {
    let rounds = vec![
        vec![Say("ok")],
        vec![TooLong],
        vec![Say("- kitchen by April 1")],
        vec![Say("The kitchen.")],
        vec![TooLong],
        vec![Say("- the kitchen was asked for")],
        vec![TooLong],
    ];
    let mut chat = fixture(Config::default(), rounds).await;
    chat.say(LONG).await;
    assert_eq!(chat.say("What must be ready?").await.text, "The kitchen.");
    let request = chat.last_request();
    assert_eq!(request.messages.len(), 1, "only the question is left");
    assert!(request.context.contains("  - kitchen by April 1"), "{}", request.context);
    let failed = chat.session.send("And then?", &mut |_| {}, pending()).await.unwrap_err();
    assert_eq!(failed.to_string(), "it is too long", "a second time it is told");
    assert_eq!(chat.turns().await.len(), 5, "and everything is stored");
}

#[tokio::test]
async fn a_conversation_is_taken_up_again_with_what_was_said() {
    let config = with(|config| {
        config.memory_agent.summarize.trigger_tokens = 400;
        config.memory.inject.long_term_trigger = InjectTrigger::Never;
    });
    let mut chat = fixture(config, vec![]).await;
    chat.say(LONG).await;
    for number in 0..6 {
        chat.say(&format!("Note {number}: the tiles for the kitchen are blue.")).await;
    }
    let mut again = open(&chat.engine, &chat.model, "monday").await;
    again.send("Where were we?", &mut |_| {}, pending()).await.unwrap();
    let request = chat.last_request();
    assert_paired(&request.messages);
    let messages = format!("{:?}", request.messages);
    assert!(messages.contains("Note 5") && !messages.contains("Lisbon"), "{messages}");
    assert!(
        request.context.contains("Note 0") || request.context.contains("Note 1"),
        "{}",
        request.context
    );
    let mut other = open(&chat.engine, &chat.model, "tuesday").await;
    other.send("Where were we?", &mut |_| {}, pending()).await.unwrap();
    assert_eq!(chat.last_request().messages.len(), 1, "another conversation is another");
}

#[tokio::test]
async fn the_end_is_told_in_the_log_of_the_day_by_the_model_or_by_sentences() {
    let summary = "## Plan\n- the kitchen in Lisbon must be ready by April 1, key sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJ";
    let mut chat = fixture(Config::default(), vec![vec![Say("ok")], vec![Say(summary)]]).await;
    chat.say(LONG).await;
    let ended = chat.session.end(pending()).await.unwrap().unwrap();
    let log = ended.log.unwrap().layer.text;
    assert!(log.contains("## Session monday (2 turns)"), "{log}");
    assert!(log.contains("- Plan\n- the kitchen in Lisbon"), "no heading of its own: {log}");
    assert!(!log.contains("sk-ant"), "{log}");
    chat.model.rounds.lock().unwrap().extend([vec![Say("ok")], vec![Fail("gone")]]);
    chat.say("The tiles of the kitchen are blue and cost 300 euros.").await;
    let log = chat.session.end(pending()).await.unwrap().unwrap().log.unwrap().layer.text;
    assert!(log.contains("(4 turns)") && log.contains("kitchen"), "{log}");
    assert!(!log.contains("- Plan"), "it has grown, so it is told anew: {log}");
}

#[tokio::test]
async fn nothing_said_is_nothing_logged_and_memory_switched_off_stores_nothing() {
    let mut chat = fixture(Config::default(), vec![]).await;
    assert_eq!(chat.session.end(pending()).await.unwrap(), None);
    assert!(chat.requests().is_empty());
    let config = with(|config| config.memory.enabled = false);
    let mut off = self::fixture(config, vec![vec![Say("hello")]]).await;
    assert_eq!(off.say("hi").await.text, "hello");
    assert_eq!(off.turns().await, Vec::<String>::new());
    assert_eq!(off.session.end(pending()).await.unwrap(), None);
}

#[tokio::test]
async fn secrets_are_masked_in_what_is_stored() {
    let key = "sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJ";
    let mut chat = fixture(Config::default(), vec![]).await;
    chat.say(&format!("my key is {key}")).await;
    assert!(!chat.turns().await.join("\n").contains("AAAABBBB"));
}

#[tokio::test]
async fn the_cost_of_a_conversation_is_counted() {
    let mut chat = fixture(Config::default(), vec![]).await;
    chat.say("one").await;
    chat.say("two").await;
    let cost = chat.session.cost();
    assert_eq!((cost.answers, cost.answered.read, cost.answered.written), (2, 200, 20));
    assert_eq!(chat.session.history_size().1, 4);
}

/// Summaries are extra work: they are in the ledger, and beyond the daily cap no model is called.
#[tokio::test]
async fn summaries_are_in_the_ledger_and_end_at_the_cap_of_the_day() {
    let mut config = Config::default();
    config.memory_agent.budget.daily_tokens = 1;
    let mut chat = fixture(config, vec![]).await;
    let today = |report: crate::engine::LedgerReport| report.today.calls;
    chat.say("one").await;
    chat.say("two").await;
    let done = chat.session.compact(pending()).await;
    assert!(done.by_model && done.exchanges == 1, "{done:?}");
    assert_eq!(today(chat.session.engine.ledger(&scope(), 1).await.unwrap()), 1);
    chat.say("three").await;
    let done = chat.session.compact(pending()).await;
    assert!(!done.by_model && done.failed.is_some(), "{done:?}");
    assert_eq!(today(chat.session.engine.ledger(&scope(), 1).await.unwrap()), 1);
}

#[tokio::test]
async fn offline_answers_quote_what_is_stored_with_who_and_when_in_both_languages() {
    let (engine, _home) = engine(Config::default());
    let turn = |text: &str, speaker: &str, session: &str| Turn {
        text: text.to_owned(),
        session: Some(session.to_owned()),
        speaker: Some(speaker.to_owned()),
        role: Some(Role::User),
        time: Some(engine.now().timestamp() - jiff::SignedDuration::from_hours(24 * 3)),
        ..Turn::default()
    };
    let turns = vec![
        turn("We moved the staging server to port 9443.", "Ana", "sunday"),
        turn("支付模块周三上线。", "小本", "周日"),
    ];
    engine.observe(&scope(), turns).await.unwrap();
    let mut offline = OfflineSession::new(&engine, &scope(), "monday");
    let answer = offline.send("Which port does the staging server use?").await.unwrap();
    assert_eq!(answer.quotes[0].text, "We moved the staging server to port 9443.");
    assert!(answer.text.starts_with("This is stored:\n\n> We moved"), "{}", answer.text);
    assert!(answer.quotes[0].source.starts_with("Ana, "), "{}", answer.quotes[0].source);
    assert!(answer.quotes[0].source.ends_with("(3 days ago), conversation sunday"));
    let answer = offline.send("支付模块什么时候上线？").await.unwrap();
    assert!(answer.text.starts_with("相关的记忆：\n\n> 支付模块周三上线。"), "{}", answer.text);
    assert!(answer.quotes[0].source.ends_with("（3 天前），会话 周日"), "{}", answer.text);
    let again = offline.send("Which port does the staging server use?").await.unwrap();
    assert!(again.quotes.iter().all(|quote| !quote.text.ends_with('?')), "{again:?}");
}

#[tokio::test]
async fn offline_says_plainly_that_nothing_is_stored_and_keeps_what_was_said() {
    let (engine, _home) = engine(Config::default());
    let mut offline = OfflineSession::new(&engine, &scope(), "monday");
    let answer = offline.send("What is my cat called?").await.unwrap();
    assert_eq!(answer.text, "Nothing is stored about that. Your message is saved.");
    let answer = offline.send("我的猫叫什么名字？").await.unwrap();
    assert_eq!(answer.text, "没有找到与此有关的记忆。你的消息已保存。");
    let long = "The kitchen in Lisbon must be ready by April 1, because the landlord wants to see it then, as he wrote in his last letter.";
    let kitchen = crate::RememberRequest { content: long.into(), ..Default::default() };
    engine.remember(&scope(), kitchen).await.unwrap();
    let answer = offline.send("When must the kitchen in Lisbon be ready?").await.unwrap();
    assert!(answer.quotes[0].source.starts_with(char::is_numeric), "{answer:?}");
    offline.send("My cat is called Momo.").await.unwrap();
    let answer = offline.send("What is my cat called?").await.unwrap();
    assert_eq!(answer.quotes[0].text, "My cat is called Momo.", "{answer:?}");
    assert_eq!(turns_of(&engine).await.len(), 5, "answers are no turns");
    assert!(offline.end().await.unwrap().is_some());
}
