//! Chat sessions with long-term memory. One message:
//!
//! 1. `ChatSession::open` builds the system prompt once (`Engine::begin_prompt`; it stays byte-identical) and resumes
//!    the stored turns. `send` recalls (`inject.rs`) and stores the message, then compacts a long history.
//! 2. `run_tool_loop` (`reply.rs`) calls the model with the context for this message, which never enters the history,
//!    and calls tools of the registry, in at most 8 rounds. An interruption or a failure keeps what was received.
//! 3. `finish_reply` stores the answer; `Engine::spawn_usage_check` records which memories a complete one used.
//! 4. `end` summarizes into the daily log. Exchanges leave the history whole (`compact.rs`); their turns stay stored.

mod history;
mod short_term;
mod summary;
mod inject;
mod reply;
mod recorder;
mod compact;
mod offline;
#[cfg(test)]
mod tests;

use std::{pin::pin, sync::Arc};

use jiff::{SignedDuration, Zoned};
use serde::Serialize;

pub use compact::CompactionReport;
pub use inject::InjectedContext;
pub use offline::{MemoryQuote, OfflineAnswer, OfflineSession};
pub use reply::{ChatEvent, ChatReply, ReplyOutcome};

use self::{
    compact::KEEP_DIVISOR,
    history::ChatHistory,
    reply::{EventSink, Interrupt, add_usage},
    short_term::ShortTermMemory,
};
use crate::{
    engine::{DueReminder, Engine, PromptRequest, SessionEnd, render_reminders},
    error::{Error, Result},
    files::memory_folder::MemoryFolder,
    ingest::Turn,
    llm::{ChatModel, TokenUsage},
    recall::MemoryBlock,
    sync::BoxFuture,
    text::language::Language,
    tools::ToolRegistry,
    types::{Role, Scope},
};

/// Options of a chat session.
pub struct ChatSessionOptions {
    /// Owner of the memory.
    pub scope: Scope,
    /// Session name; an existing session is resumed.
    pub session: String,
    /// Caller's own system prompt, which comes last.
    pub caller_prompt: String,
    /// Language of the session, if known.
    pub language: Option<Language>,
    /// Tools that the model may call.
    pub tools: ToolRegistry,
    /// Folder of the agent's own notes, if it has one.
    pub folder: Option<MemoryFolder>,
}

/// Chat of a user with a model.
pub struct ChatSession {
    engine: Engine,
    scope: Scope,
    session: String,
    model: Arc<dyn ChatModel>,
    tools: ToolRegistry,
    /// Set when the model refused tools.
    without_tools: bool,
    folder: Option<MemoryFolder>,
    prompt: String,
    history: ChatHistory,
    /// Number of user messages.
    user_message_count: usize,
    short_term: ShortTermMemory,
    /// Summary of the exchanges that left the history.
    earlier_summary: String,
    injected: InjectedContext,
    /// Reminders that were shown and that no answered message has told the model yet.
    reminders: Vec<DueReminder>,
    /// Tool calls of the current reply, for its trajectory.
    calls: Vec<Turn>,
    cost: ChatSessionCost,
    clock: MonotonicClock,
}

/// Strictly increasing clock for turns: recall orders a question and the turns before it by time.
#[derive(Default)]
struct MonotonicClock {
    last: Option<Zoned>,
}

impl MonotonicClock {
    /// Returns now, or a millisecond after the last instant.
    fn next_instant(&mut self, engine: &Engine) -> Zoned {
        let millisecond = SignedDuration::from_millis(1);
        let after = self.last.as_ref().map(|last| last.saturating_add(millisecond));
        let now = after.map_or_else(|| engine.now(), |after| after.max(engine.now()));
        self.last = Some(now.clone());
        now
    }
}

/// Cost of a session so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ChatSessionCost {
    /// Number of answers.
    pub answers: usize,
    /// Token usage of the answers.
    pub answered: TokenUsage,
    /// Token usage of summaries.
    pub summaries: TokenUsage,
    /// Estimated tokens of the context injected for all messages.
    pub injected: usize,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        *self = add_usage(*self, other);
    }
}

impl ChatSession {
    /// Opens a session, or resumes one of the same name.
    pub fn open<'a>(
        engine: &'a Engine,
        model: Arc<dyn ChatModel>,
        options: ChatSessionOptions,
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let ChatSessionOptions { scope, session, caller_prompt: base, language, tools, folder } =
                options;
            let prompt = engine.begin_prompt(&scope, &PromptRequest { base, language }).await?;
            let turns = engine.session_turns(&scope, &session).await?;
            let history = ChatHistory::from_turns(&turns);
            let mut short_term =
                ShortTermMemory::new(&engine.settings(scope.agent()).memory.short_term);
            for exchange in history.exchanges() {
                short_term.push(exchange);
            }
            let mut chat = Self {
                engine: engine.clone(),
                prompt: prompt.text(),
                scope,
                session,
                model,
                tools,
                without_tools: false,
                folder,
                user_message_count: history.exchanges().len(),
                history,
                short_term,
                earlier_summary: String::new(),
                injected: InjectedContext::default(),
                reminders: Vec::new(),
                calls: Vec::new(),
                cost: ChatSessionCost::default(),
                clock: MonotonicClock::default(),
            };
            // What does not fit is injected as short-term items; the model is not called before the first message.
            chat.history.take_older(chat.compaction_trigger() / KEEP_DIVISOR);
            Ok(chat)
        })
    }

    /// Sends a message and returns the reply. The message is durable before the model is called; `interrupt` ends the
    /// answer, whose received part is stored.
    pub async fn send(
        &mut self,
        text: &str,
        on_event: &mut (dyn FnMut(ChatEvent<'_>) + Send),
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<ChatReply> {
        self.send_interruptible(text, on_event, pin!(interrupt)).await
    }

    fn send_interruptible<'a>(
        &'a mut self,
        text: &'a str,
        on_event: EventSink<'a>,
        mut interrupt: Interrupt<'a>,
    ) -> BoxFuture<'a, Result<ChatReply>> {
        Box::pin(async move {
            let asked_at = self.clock.next_instant(&self.engine).timestamp();
            self.calls.clear();
            let recalled = self.recall(text).await;
            self.store_turns(vec![self.turn(Role::User, text, asked_at)]).await?;
            let recalled = recalled?;
            self.show_reminders(on_event).await;
            self.compact_if_needed(on_event, interrupt.as_mut()).await;
            self.history.begin_exchange(asked_at, text.to_owned());
            self.user_message_count += 1;
            self.history
                .limit_messages(self.engine.settings(self.scope.agent()).memory.max_history);
            let mut answered =
                self.inject_and_reply(text, recalled.clone(), on_event, interrupt.as_mut()).await;
            if matches!(answered, Err(Error::ContextTooLong { .. }))
                && self.compact_all(on_event, interrupt.as_mut()).await
            {
                answered = self.inject_and_reply(text, recalled, on_event, interrupt).await;
            }
            let mut reply = match answered {
                Ok(reply) => reply,
                Err(error) => {
                    self.history.discard_last();
                    return Err(error);
                }
            };
            self.reminders.clear();
            self.cost.add_reply(&reply, &self.injected);
            self.finish_reply(&mut reply).await;
            Ok(reply)
        })
    }

    /// Takes the reminders that are due and shows them.
    async fn show_reminders(&mut self, on_event: EventSink<'_>) {
        let due = take_reminders(&self.engine, &self.scope).await;
        if !due.is_empty() {
            on_event(ChatEvent::Reminders(&due));
            self.reminders.extend(due);
        }
    }

    /// Injects context into the prompt and runs the tool loop.
    async fn inject_and_reply(
        &mut self,
        question: &str,
        recalled: Option<MemoryBlock>,
        on_event: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<ChatReply> {
        self.injected = self.inject(question, recalled).await;
        on_event(ChatEvent::Injected(&self.injected));
        let reminders = render_reminders(&self.reminders, self.language(question));
        let parts = [self.injected.text.as_str(), &reminders];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.run_tool_loop(&parts.join("\n\n"), on_event, interrupt).await
    }

    /// Stores the answer and its tool calls, adds the exchange to short-term memory and starts the usage check.
    async fn finish_reply(&mut self, reply: &mut ChatReply) {
        let answered_at = self.clock.next_instant(&self.engine).timestamp();
        let mut turns = std::mem::take(&mut self.calls);
        let answer = reply.text.trim();
        if !answer.is_empty() {
            let answered = Some(self.recorded_answer(reply));
            let turn = self.turn(Role::Assistant, answer, answered_at);
            turns.push(Turn { answer: answered, ..turn });
        }
        reply.store_error = self.store_turns(turns).await.err();
        match self.history.last() {
            // Neither text nor tool calls: the question is not sent again unanswered.
            Some(exchange) if exchange.messages.len() == 1 => self.history.discard_last(),
            Some(exchange) => self.short_term.push(exchange),
            None => {}
        }
        if matches!(reply.outcome, ReplyOutcome::Done) {
            self.engine.spawn_usage_check(&self.scope, &self.session, &reply.text);
        }
        self.rewrite_items();
    }

    /// Ends the session and logs a summary of it in the daily log, written by the model or, if it fails, extracted from
    /// the turns. Returns `None` if no message was sent.
    pub async fn end(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Option<SessionEnd>> {
        self.end_interruptible(pin!(interrupt)).await
    }

    fn end_interruptible<'a>(
        &'a mut self,
        interrupt: Interrupt<'a>,
    ) -> BoxFuture<'a, Result<Option<SessionEnd>>> {
        Box::pin(async move {
            let is_empty = self.history.exchanges().is_empty() && self.earlier_summary.is_empty();
            if is_empty || !self.engine.settings(self.scope.agent()).memory.enabled {
                return self.end_without_model().await;
            }
            let text = summary::transcript(&self.earlier_summary, self.history.exchanges());
            let model = self.metered_model();
            let summary = tokio::select! {
                biased;
                () = interrupt => None,
                (lines, summary) = model.summarize(&text, Engine::MAX_SUMMARY_CHARS) => {
                    self.cost.summaries += summary.tokens;
                    lines
                }
            };
            let ended = self.engine.end_session_with_summary(
                &self.scope,
                &self.session,
                summary.as_deref(),
            );
            ended.await.map(Some)
        })
    }

    /// Ends the session without calling the model.
    pub async fn end_without_model(&self) -> Result<Option<SessionEnd>> {
        end_session(&self.engine, &self.scope, &self.session).await
    }

    /// Clears the session's context; stored turns stay.
    pub fn clear(&mut self) {
        self.history.clear();
        self.user_message_count = 0;
        self.short_term.clear();
        self.earlier_summary.clear();
        self.injected = InjectedContext::default();
    }

    /// Returns the context injected for the last message.
    pub fn injected(&self) -> &InjectedContext {
        &self.injected
    }

    /// Returns the cost so far.
    pub fn cost(&self) -> ChatSessionCost {
        self.cost
    }

    /// Returns the tokens and the messages that are sent again with the next message.
    pub fn history_size(&self) -> (usize, usize) {
        (self.history.tokens(), self.history.message_count())
    }

    /// Returns the system prompt, which stays the same for the session.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns the session name.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the model.
    pub fn model(&self) -> &dyn ChatModel {
        &*self.model
    }

    /// Replaces the model for the following messages.
    pub fn set_model(&mut self, model: Arc<dyn ChatModel>) {
        self.model = model;
    }

    /// Returns the model that writes summaries, with its ledger account.
    fn metered_model(&self) -> summary::MeteredModel {
        let model = self.engine.summary_model().unwrap_or_else(|| Arc::clone(&self.model));
        let scope = self.scope.clone();
        summary::MeteredModel { engine: self.engine.clone(), scope, model }
    }

    fn compaction_trigger(&self) -> usize {
        self.engine.settings(self.scope.agent()).memory_agent.summarize.trigger_tokens
    }
}

impl ChatSessionCost {
    fn add_reply(&mut self, reply: &ChatReply, injected: &InjectedContext) {
        self.answers += 1;
        self.answered += reply.tokens;
        self.injected += injected.tokens;
    }
}

/// Takes the reminders that are due. A conversation goes on without them if the store fails.
async fn take_reminders(engine: &Engine, scope: &Scope) -> Vec<DueReminder> {
    engine.due_reminders(scope).await.unwrap_or_else(|error| {
        tracing::warn!("{error}: reminders were not looked up");
        Vec::new()
    })
}

/// Logs a session, if any of its turns are stored.
async fn end_session(engine: &Engine, scope: &Scope, session: &str) -> Result<Option<SessionEnd>> {
    if !engine.settings(scope.agent()).memory.enabled {
        return Ok(None);
    }
    match engine.end_session(scope, session).await {
        Err(Error::NotFound { .. }) => Ok(None),
        ended => ended.map(Some),
    }
}
