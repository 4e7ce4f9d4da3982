//! Conversations with a model that remembers: memory is asked, the turn is stored, then the model answers and calls tools;
//! the answer is stored as far as it came, and which memories it used is written down.
//!
//! The prompt is made once and stays the same to the byte. What a message recalls is added for that message only and never
//! becomes part of what was said. What the model no longer sees is summed up; the turns themselves stay stored.

mod history;
mod short_term;
mod summary;
mod inject;
mod reply;
mod compact;
mod offline;
#[cfg(test)]
mod tests;

use std::{pin::pin, sync::Arc};

use jiff::{SignedDuration, Zoned};
use serde::Serialize;
use serde_json::Value;

pub use compact::CompactionReport;
pub use inject::InjectedContext;
pub use offline::{MemoryQuote, OfflineAnswer, OfflineSession};
pub use reply::{ChatReply, ReplyOutcome};

use self::{
    compact::KEEP_DIVISOR,
    history::ChatHistory,
    reply::{EventSink, Interrupt, add_usage},
    short_term::ShortTermMemory,
};
use crate::{
    engine::{Engine, PromptRequest, SessionEnd},
    error::{Error, Result},
    files::memory_folder::MemoryFolder,
    ingest::Turn,
    llm::{ChatModel, TokenUsage},
    recall::MemoryBlock,
    text::language::Language,
    tools::ToolRegistry,
    types::{Role, Scope, Timestamp},
};

/// What a conversation begins with.
pub struct ChatSessionOptions {
    /// Whose memory it is.
    pub scope: Scope,
    /// Its name; one that was used before is taken up again.
    pub session: String,
    /// The caller's own prompt, which comes last.
    pub caller_prompt: String,
    /// Its language, if it is known.
    pub language: Option<Language>,
    /// What the model may call.
    pub tools: ToolRegistry,
    /// The folder that the agent keeps for itself, if it has one.
    pub folder: Option<MemoryFolder>,
}

/// A conversation of a user with a model.
pub struct ChatSession {
    engine: Engine,
    scope: Scope,
    session: String,
    model: Arc<dyn ChatModel>,
    tools: ToolRegistry,
    folder: Option<MemoryFolder>,
    prompt: String,
    history: ChatHistory,
    /// How many messages of the user there were.
    user_message_count: usize,
    short_term: ShortTermMemory,
    /// What was said before the history begins.
    earlier_summary: String,
    injected: InjectedContext,
    cost: ChatSessionCost,
    clock: MonotonicClock,
}

/// The moments at which something was said, each later than the one before: what was said before a question is told by time.
#[derive(Default)]
struct MonotonicClock {
    last: Option<Zoned>,
}

impl MonotonicClock {
    /// Now, or a millisecond after the last one.
    fn next_instant(&mut self, engine: &Engine) -> Zoned {
        let millisecond = SignedDuration::from_millis(1);
        let after = self.last.as_ref().map(|last| last.saturating_add(millisecond));
        let now = after.map_or_else(|| engine.now(), |after| after.max(engine.now()));
        self.last = Some(now.clone());
        now
    }
}

/// What happens while a model answers.
#[derive(Debug)]
#[non_exhaustive]
pub enum ChatEvent<'a> {
    /// The older part of the conversation was summed up.
    Compacted(&'a CompactionReport),
    /// What was added to the prompt for this message.
    Injected(&'a InjectedContext),
    /// More of the answer.
    Text(&'a str),
    /// A tool begins.
    ToolStarted {
        /// Its name.
        name: &'a str,
        /// What it is given.
        arguments: &'a Value,
    },
    /// A tool is done.
    ToolFinished {
        /// Its name.
        name: &'a str,
        /// What it says.
        text: &'a str,
        /// Whether it failed.
        failed: bool,
    },
}

/// What a conversation cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ChatSessionCost {
    /// How many answers there were.
    pub answers: usize,
    /// What they took.
    pub answered: TokenUsage,
    /// What summaries took.
    pub summaries: TokenUsage,
    /// The tokens that were recalled for all messages together, as estimated here.
    pub injected: usize,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        *self = add_usage(*self, other);
    }
}

impl ChatSession {
    /// Begins a conversation, or takes up one that was had before.
    pub async fn open(
        engine: &Engine,
        model: Arc<dyn ChatModel>,
        opening: ChatSessionOptions,
    ) -> Result<Self> {
        let ChatSessionOptions { scope, session, caller_prompt: base, language, tools, folder } =
            opening;
        let prompt = engine.begin_prompt(&scope, &PromptRequest { base, language }).await?;
        let turns = engine.session_turns(&scope, &session).await?;
        let history = ChatHistory::from_turns(&turns);
        let mut short_term =
            ShortTermMemory::new(&engine.settings(scope.agent()).memory.short_term);
        for exchange in history.exchanges() {
            short_term.push(exchange);
        }
        let mut taken_up = Self {
            engine: engine.clone(),
            prompt: prompt.text(),
            scope,
            session,
            model,
            tools,
            folder,
            user_message_count: history.exchanges().len(),
            history,
            short_term,
            earlier_summary: String::new(),
            injected: InjectedContext::default(),
            cost: ChatSessionCost::default(),
            clock: MonotonicClock::default(),
        };
        // What does not fit is told as short-term items; a model is not asked before anything was said.
        taken_up.history.take_older(taken_up.compaction_trigger() / KEEP_DIVISOR);
        Ok(taken_up)
    }

    /// Says something and hears the answer. The message is on disk before the model is asked; `interrupt` ends the answer,
    /// of which is stored what came.
    pub async fn send(
        &mut self,
        text: &str,
        hear: &mut (dyn FnMut(ChatEvent<'_>) + Send),
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<ChatReply> {
        let mut interrupt = pin!(interrupt);
        let asked_at = self.clock.next_instant(&self.engine).timestamp();
        let recalled = self.recall(text).await;
        self.store_turn(Role::User, text, asked_at).await?;
        let recalled = recalled?;
        self.compact_if_needed(hear, interrupt.as_mut()).await;
        self.history.begin_exchange(asked_at, text.to_owned());
        self.user_message_count += 1;
        self.history.limit_messages(self.engine.settings(self.scope.agent()).memory.max_history);
        let mut answered =
            self.inject_and_reply(text, recalled.clone(), hear, interrupt.as_mut()).await;
        if matches!(answered, Err(Error::ContextTooLong { .. }))
            && self.compact_all(hear, interrupt.as_mut()).await
        {
            answered = self.inject_and_reply(text, recalled, hear, interrupt).await;
        }
        let mut reply = match answered {
            Ok(reply) => reply,
            Err(error) => {
                self.history.discard_last();
                return Err(error);
            }
        };
        self.cost.add_reply(&reply, &self.injected);
        self.finish_reply(&mut reply).await;
        Ok(reply)
    }

    /// Asks the model, with what is recalled and what it no longer sees.
    async fn inject_and_reply(
        &mut self,
        question: &str,
        recalled: Option<MemoryBlock>,
        hear: EventSink<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<ChatReply> {
        self.injected = self.inject(question, recalled).await;
        hear(ChatEvent::Injected(&self.injected));
        let context = self.injected.text.clone();
        self.run_tool_loop(&context, hear, interrupt).await
    }

    /// Stores the answer and keeps the exchange.
    async fn finish_reply(&mut self, reply: &mut ChatReply) {
        let said_at = self.clock.next_instant(&self.engine).timestamp();
        let stored = match reply.text.trim() {
            "" => Ok(()),
            text => self.store_turn(Role::Assistant, text, said_at).await,
        };
        reply.store_error = stored.err();
        match self.history.last() {
            // Nothing was said and nothing done: the question is not sent again unanswered.
            Some(exchange) if exchange.messages.len() == 1 => self.history.discard_last(),
            Some(exchange) => self.short_term.push(exchange),
            None => {}
        }
        if matches!(reply.outcome, ReplyOutcome::Done) {
            self.engine.spawn_usage_check(&self.scope, &self.session, &reply.text);
        }
        self.rewrite_items();
    }

    /// Stores a turn, word for word; nothing if memory is switched off.
    async fn store_turn(&self, role: Role, text: &str, at: Timestamp) -> Result<()> {
        if !self.engine.settings(self.scope.agent()).memory.enabled {
            return Ok(());
        }
        let turn = Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            speaker: None,
            role: Some(role),
            time: Some(at),
        };
        self.engine.observe(&self.scope, vec![turn]).await.map(drop)
    }

    /// Ends the conversation: what it was about goes into the log of the day, in the model's words if it answers and else
    /// in its own (F7). Nothing if nothing was said.
    pub async fn end(
        &mut self,
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Option<SessionEnd>> {
        let said = !self.history.exchanges().is_empty() || !self.earlier_summary.is_empty();
        if !said || !self.engine.settings(self.scope.agent()).memory.enabled {
            return self.end_without_model().await;
        }
        let text = summary::transcript(&self.earlier_summary, self.history.exchanges());
        let account = self.metered_model();
        let told = tokio::select! {
            biased;
            () = interrupt => None,
            (lines, told) = account.summarize(&text, Engine::MAX_SUMMARY_CHARS) => {
                self.cost.summaries += told.tokens;
                lines
            }
        };
        let ended =
            self.engine.end_session_with_summary(&self.scope, &self.session, told.as_deref());
        ended.await.map(Some)
    }

    /// The same without asking the model.
    pub async fn end_without_model(&self) -> Result<Option<SessionEnd>> {
        end_session(&self.engine, &self.scope, &self.session).await
    }

    /// Forgets what was said in this conversation; what is stored stays.
    pub fn clear(&mut self) {
        self.history.clear();
        self.user_message_count = 0;
        self.short_term.clear();
        self.earlier_summary.clear();
        self.injected = InjectedContext::default();
    }

    /// What was added to the prompt for the last message.
    pub fn injected(&self) -> &InjectedContext {
        &self.injected
    }

    /// What it cost so far.
    pub fn cost(&self) -> ChatSessionCost {
        self.cost
    }

    /// The tokens and the messages that are sent again with the next message.
    pub fn history_size(&self) -> (usize, usize) {
        (self.history.tokens(), self.history.message_count())
    }

    /// The part of the prompt that stays the same.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Its name.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Who answers.
    pub fn model(&self) -> &dyn ChatModel {
        &*self.model
    }

    /// Lets another model answer from now on.
    pub fn set_model(&mut self, model: Arc<dyn ChatModel>) {
        self.model = model;
    }

    /// Who sums up, on whose account.
    fn metered_model(&self) -> summary::MeteredModel {
        let (scope, model) = (self.scope.clone(), Arc::clone(&self.model));
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

/// Logs a conversation, if anything of it is stored.
async fn end_session(engine: &Engine, scope: &Scope, session: &str) -> Result<Option<SessionEnd>> {
    if !engine.settings(scope.agent()).memory.enabled {
        return Ok(None);
    }
    match engine.end_session(scope, session).await {
        Err(Error::NotFound { .. }) => Ok(None),
        ended => ended.map(Some),
    }
}
