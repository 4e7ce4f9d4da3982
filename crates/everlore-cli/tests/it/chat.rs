//! `everlore chat` without a terminal: piped, with options, from memory alone, and with errors.

use std::fs;

use everlore::internal::files::atomic_file::create_private_folder;
use everlore_mock_llm::{MockChat, MockServer, ModelResponse};
use serde_json::{Value, json};

use crate::home::{CommandOutput, TestHome};

const MODEL: &str = "scripted-chat";

/// Starts a mock provider, and returns a home whose settings name it.
pub(crate) fn chat_home(chats: MockChat) -> (MockServer, TestHome) {
    let server = MockServer::start(chats);
    let home = TestHome::new();
    create_private_folder(&home.path()).unwrap();
    let settings = format!(
        "[chat]\nprovider = \"openai\"\nmodel = \"{MODEL}\"\nbase_url = \"{}/v1\"\n",
        server.url()
    );
    fs::write(home.path().join("config.toml"), settings).unwrap();
    (server, home)
}

/// Returns all stored turns, oldest first.
pub(crate) fn turns(home: &TestHome) -> Vec<String> {
    let ran = home.run(&["--json", "memory", "list", "--kind", "turn", "--limit", "100"]);
    let listed = ran.json();
    let contents = listed["memories"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
    let mut contents: Vec<String> =
        contents.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect();
    contents.reverse();
    contents
}

/// Returns the messages of a request after the system prompt.
pub(crate) fn messages(server: &MockServer, request: usize) -> Vec<Value> {
    let body = server.requests()[request].json();
    body["messages"].as_array().unwrap()[1..].to_vec()
}

pub(crate) fn system(server: &MockServer, request: usize) -> String {
    server.requests()[request].json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

/// Returns the daily log.
pub(crate) fn log(home: &TestHome) -> String {
    home.run(&["layer", "show", "daily"]).out
}

#[test]
fn one_message_is_answered_as_it_is_and_both_sides_are_stored() {
    let (server, home) = chat_home(MockChat::new().says("**Hello**, Anna. 你好！"));
    let ran = home.run_with_input(&["chat", "--once"], "Hi, I am Anna.\n".as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, "**Hello**, Anna. 你好！\n"), "{ran:?}");
    assert_eq!(turns(&home), ["Hi, I am Anna.", "**Hello**, Anna. 你好！"]);
    assert_eq!(messages(&server, 0), [json!({ "role": "user", "content": "Hi, I am Anna." })]);
    assert!(system(&server, 0).contains("<agent-identity>"), "{}", system(&server, 0));
    home.assert_healthy();
}

#[test]
fn with_json_the_answer_comes_with_its_figures() {
    let (_server, home) =
        chat_home(MockChat::new().then(ModelResponse::text("Momo.").with_usage(90, 40, 3)));
    home.remember("My cat is called Momo");
    let ran = home.run(&["--json", "chat", "--session", "cats", "What is my cat called?"]);
    let answer = ran.json();
    assert_eq!((ran.code, answer["text"].as_str()), (0, Some("Momo.")), "{ran:?}");
    assert_eq!((&answer["session"], &answer["ended"]), (&json!("cats"), &json!("done")));
    assert_eq!(answer["tokens"], json!({ "read": 90, "cached": 40, "written": 3 }));
    let memory = &answer["injected"]["memories"][0];
    assert!(memory["score"].as_f64().unwrap() > 0.0, "{answer}");
    assert!(memory["terms"].as_array().unwrap().iter().any(|term| term == "cat"), "{answer}");
    assert!(answer["injected"]["text"].as_str().unwrap().contains("Momo"), "{answer}");
}

#[test]
fn a_model_without_tools_is_asked_again_without_them_and_the_person_is_told() {
    for (language, question, note) in [
        ("en", "What is my cat called?", "openai/scripted-chat cannot call tools"),
        ("zh", "我的猫叫什么名字？", "openai/scripted-chat 不支持工具"),
    ] {
        let (server, home) = chat_home(MockChat::new().otherwise(|request| {
            if request.tools.is_empty() {
                return ModelResponse::text("Momo 墨墨。");
            }
            let refusal = "registry.ollama.ai/library/scripted-chat does not support tools";
            ModelResponse::fail_with(400, refusal)
        }));
        let settings = home.path().join("config.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("{text}[general]\nlanguage = \"{language}\"\n")).unwrap();
        home.run(&["remember", "My cat is called Momo. 我的猫叫墨墨。"]);
        let input = format!("{question}\n{question}\n");
        let ran = home.run_with_input(&["chat", "--session", "cats"], input.as_bytes());
        assert!(ran.code == 0 && ran.out.contains("Momo 墨墨。"), "{ran:?}");
        let told = format!("{}{}", ran.out, ran.err);
        assert_eq!(told.matches(note).count(), 1, "once: {ran:?}");
        let has_tools = |index: usize| server.requests()[index].json().get("tools").is_some();
        assert!(has_tools(0) && !has_tools(1) && !has_tools(2), "refused once");
    }
}

#[test]
fn a_conversation_goes_on_under_its_name_and_its_prompt_stays_the_same() {
    let (server, home) = chat_home(MockChat::new().says("Nice name.").says("Momo, you said."));
    home.run(&["chat", "--session", "cats", "My cat is called Momo."]);
    home.run(&["chat", "--session", "cats", "And what is it called?"]);
    let messages = messages(&server, 1);
    let texts: Vec<&str> = messages.iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(texts[..2], ["My cat is called Momo.", "Nice name."]);
    // The daily log may quote it; recall does not, because the model sees the turn.
    assert!(texts[2].starts_with("And what is it called?"), "{}", texts[2]);
    assert!(!texts[2].contains("My cat is called Momo."), "{}", texts[2]);
    assert!(log(&home).contains("Session cats (4 turns)"), "{}", log(&home));
}

/// Providers cache by prefix: what a request begins with must not change from one message to the next.
#[test]
fn the_history_of_two_messages_is_the_same_to_the_byte_and_memories_come_after_it() {
    let cases = [
        ["My cat is called Momo.", "What is my cat called?", "Is my cat really called Momo?"],
        ["我的猫叫墨墨。", "我的猫叫什么名字？", "我的猫真的叫墨墨吗？"],
    ];
    for [fact, first, second] in cases {
        let (server, home) = chat_home(MockChat::new().says("Momo 墨墨。").says("OK."));
        home.run(&["remember", fact]);
        let input = format!("{first}\n{second}\n");
        home.run_with_input(&["chat", "--session", "cats"], input.as_bytes());
        let bodies: Vec<String> = server.requests()[..2]
            .iter()
            .map(|request| String::from_utf8(request.body.clone()).unwrap())
            .collect();
        for (body, question) in bodies.iter().zip([first, second]) {
            let (before, after) = body.rsplit_once(question).unwrap();
            assert!(!before.contains("<memory-context>"), "{before}");
            assert!(after.contains("<memory-context>") && after.contains(fact), "{after}");
        }
        let end = bodies[0].find(first).unwrap() + first.len();
        assert_eq!(bodies[0][..end], bodies[1][..end]);
    }
}

#[test]
fn each_line_of_a_pipe_is_a_message_and_the_end_is_summed_up_by_the_model() {
    let chats =
        MockChat::new().says("好的。").says("龙井。").says("- 用户喜欢喝龙井茶，每天早上一杯");
    let (server, home) = chat_home(chats);
    let input = "我喜欢喝龙井茶，每天早上一杯。\n\n我喜欢喝什么茶？\n";
    let ran = home.run_with_input(&["chat", "--session", "茶"], input.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, "好的。\n龙井。\n"), "{ran:?}");
    assert_eq!(server.requests().len(), 3);
    assert_eq!(messages(&server, 1).len(), 3);
    assert!(
        log(&home).contains("会话 茶（4 条）\n\n- 用户喜欢喝龙井茶，每天早上一杯"),
        "{}",
        log(&home)
    );
}

#[test]
fn tools_of_the_registry_work_on_the_memory_of_the_home() {
    let save = json!({ "action": "create", "type": "user", "name": "landlord", "content": "My landlord is Bento" });
    let (server, home) = chat_home(MockChat::new().calls("memory_save", save).says("Saved."));
    let ran = home.run(&["chat", "Please remember that my landlord is Bento"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Saved.\n"), "{ran:?}");
    assert!(home.recall("landlord").contains(&"My landlord is Bento".to_owned()));
    let result = &messages(&server, 1)[2];
    assert_eq!(result["role"], "tool", "{result}");
    let offered = server.requests()[0].json()["tools"].to_string();
    assert!(offered.contains("memory_recall") && offered.contains("memory_add"), "{offered}");
    let (server, home) = chat_home(MockChat::new().says("No tools."));
    home.run(&["chat", "--no-tools", "hello"]);
    assert_eq!(server.requests()[0].json().get("tools"), None);
}

fn exit_and_error(ran: &CommandOutput) -> (i32, String, String) {
    let error = ran.json()["error"].clone();
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (ran.code, text("message"), text("hint"))
}

#[test]
fn without_a_model_it_says_so_and_names_the_ways_on() {
    let home = TestHome::new();
    let (code, message, hint) = exit_and_error(&home.run(&["--json", "chat", "hello"]));
    assert_eq!((code, message.as_str()), (2, "no model is set up"));
    assert!(hint.contains("everlore onboard") && hint.contains("--offline"), "{hint}");
    let mut command = home.command(&["chat", "你好"]);
    let ran = CommandOutput::from(command.env("LANG", "zh_CN.UTF-8").output().unwrap());
    assert!(ran.err.contains("还没有设置模型") && ran.err.contains("everlore onboard"), "{ran:?}");
}

#[test]
fn a_provider_that_fails_is_told_and_what_was_said_is_kept() {
    let (_server, home) = chat_home(MockChat::new().with_key("sk-right").says("never"));
    let (code, message, hint) =
        exit_and_error(&home.run(&["--json", "chat", "My cat is called Momo."]));
    assert_eq!(code, 2);
    assert!(message.contains("key") && hint.contains("OPENAI_API_KEY"), "{message} / {hint}");
    assert_eq!(turns(&home), ["My cat is called Momo."]);
}

#[test]
fn an_answer_that_breaks_off_is_stored_as_far_as_it_came() {
    let (_server, home) = chat_home(
        MockChat::new()
            .then(ModelResponse::text("One two three four five six").disconnect_after(4)),
    );
    let ran = home.run(&["chat", "count"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, "One two thre\n"), "{ran:?}");
    assert!(ran.err.contains("the answer was interrupted"), "{ran:?}");
    assert_eq!(turns(&home), ["count", "One two thre"]);
}

#[test]
fn a_process_that_is_killed_in_the_middle_of_an_answer_has_stored_the_question() {
    let (server, home) =
        chat_home(MockChat::new().then(ModelResponse::text("One two three").held_after(2)));
    let mut child = home.start(&["chat", "My cat is called Momo."]);
    server.await_held();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(turns(&home), ["My cat is called Momo."]);
    home.assert_healthy();
}

#[test]
fn from_memory_alone_it_quotes_what_is_stored_in_both_languages() {
    let home = TestHome::new();
    let turns = "{\"session\":\"monday\",\"speaker\":\"Ana\",\"text\":\"We moved the staging server to port 9443.\"}\n{\"session\":\"周二\",\"speaker\":\"小本\",\"text\":\"支付模块周三上线。\"}\n";
    home.run_with_input(&["observe"], turns.as_bytes());
    let ran = home.run(&["chat", "--offline", "Which port does the staging server use?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.starts_with(
            "This is stored:\n\n> We moved the staging server to port 9443.\n\n— Ana, "
        )
    );
    assert!(ran.out.contains("(today), conversation monday"), "{ran:?}");
    let ran = home.run(&["chat", "--offline", "支付模块什么时候上线？"]);
    assert!(ran.out.contains("> 支付模块周三上线。\n\n— 小本，"), "{ran:?}");
    assert!(
        ran.out.starts_with("相关的记忆：") && ran.out.contains("（今天），会话 周二"),
        "{ran:?}"
    );
}

#[test]
fn from_memory_alone_it_says_that_nothing_is_stored_and_keeps_what_is_said() {
    let home = TestHome::new();
    let ran = home.run(&["chat", "--offline", "What is my cat called?"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (1, "Nothing is stored about that. Your message is saved.\n")
    );
    home.run(&["chat", "--offline", "My cat is called Momo."]);
    let ran = home.run(&["--json", "chat", "--offline", "What is my cat called?"]);
    let answer = ran.json();
    let quotes: Vec<_> =
        answer["quotes"].as_array().unwrap().iter().map(|quote| &quote["text"]).collect();
    assert_eq!(quotes, ["My cat is called Momo."], "the turn says the same: {answer}");
    assert_eq!(turns(&home).len(), 3);
}

#[test]
fn a_secret_that_is_said_in_a_conversation_is_nowhere_on_disk() {
    let key = "sk-ant-api03-Zx81QpLmNv72RtYw33KdHs90BcJf64TgUeXa";
    let (_server, home) = chat_home(MockChat::new().says("I will not repeat it."));
    let ran = home.run(&["chat", &format!("my key is {key}")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let holds = |bytes: &[u8]| bytes.windows(12).any(|part| part == &key.as_bytes()[13..25]);
    let found: Vec<_> = home.files().into_iter().filter(|(_, bytes)| holds(bytes)).collect();
    assert!(found.is_empty(), "{:?}", found.iter().map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn an_empty_message_and_bad_options_are_refused_in_words() {
    let (_server, home) = chat_home(MockChat::new());
    let (code, message, _) = exit_and_error(&home.run(&["--json", "chat", "--once"]));
    assert_eq!((code, message.as_str()), (2, "there is no message"));
    let (code, message, _) =
        exit_and_error(&home.run(&["--json", "chat", "--base-file", "absent.md", "hi"]));
    assert!(code == 2 && message.contains("absent.md"), "{message}");
}
