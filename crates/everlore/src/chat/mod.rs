//! Conversations with a model that remembers: memory is asked, the turn is stored, then the model answers and calls tools;
//! the answer is stored as far as it came, and which memories it used is written down.
//!
//! The prompt is made once and stays the same to the byte. What a message recalls is added for that message only and never
//! becomes part of what was said. What the model no longer sees is summed up; the turns themselves stay stored.

mod history;
mod short_term;
mod summary;
mod inject;
mod answer;
mod compact;
mod offline;
#[cfg(test)]
mod tests;

use std::{pin::pin, sync::Arc};

use jiff::{SignedDuration, Zoned};
use serde::Serialize;
use serde_json::Value;

pub use answer::{Ended, Reply};
pub use compact::Compacted;
pub use inject::Injected;
pub use offline::{Offline, Quote, Quoted};

use self::{
    answer::{Hear, Interrupt, sum},
    compact::KEPT_SHARE,
    history::History,
    short_term::ShortTerm,
};
use crate::{
    engine::{Engine, PromptRequest, SessionEnd},
    error::{Error, Result},
    files::memory_folder::MemoryFolder,
    ingest::Turn,
    llm::{ChatModel, Tokens},
    recall::Block,
    text::language::Language,
    tools::Tools,
    types::{Role, Scope, Timestamp},
};

/// What a conversation begins with.
pub struct Opening {
    /// Whose memory it is.
    pub scope: Scope,
    /// Its name; one that was used before is taken up again.
    pub session: String,
    /// The caller's own prompt, which comes last.
    pub base: String,
    /// Its language, if it is known.
    pub language: Option<Language>,
    /// What the model may call.
    pub tools: Tools,
    /// The folder that the agent keeps for itself, if it has one.
    pub folder: Option<MemoryFolder>,
}

/// A conversation of a user with a model.
pub struct Conversation {
    engine: Engine,
    scope: Scope,
    session: String,
    model: Arc<dyn ChatModel>,
    tools: Tools,
    folder: Option<MemoryFolder>,
    prompt: String,
    history: History,
    /// How many messages of the user there were.
    rounds: usize,
    short_term: ShortTerm,
    /// What was said before the history begins.
    summary: String,
    injected: Injected,
    cost: Cost,
    moments: Moments,
}

/// The moments at which something was said, each later than the one before: what was said before a question is told by time.
#[derive(Default)]
struct Moments {
    last: Option<Zoned>,
}

impl Moments {
    /// Now, or a millisecond after the last one.
    fn next(&mut self, engine: &Engine) -> Zoned {
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
pub enum Event<'a> {
    /// The older part of the conversation was summed up.
    Compacted(&'a Compacted),
    /// What was added to the prompt for this message.
    Injected(&'a Injected),
    /// More of the answer.
    Text(&'a str),
    /// A tool begins.
    Calling {
        /// Its name.
        name: &'a str,
        /// What it is given.
        arguments: &'a Value,
    },
    /// A tool is done.
    Called {
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
pub struct Cost {
    /// How many answers there were.
    pub answers: usize,
    /// What they took.
    pub answered: Tokens,
    /// What summaries took.
    pub summaries: Tokens,
    /// The tokens that were recalled for all messages together, as estimated here.
    pub injected: usize,
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = sum(*self, other);
    }
}

impl Conversation {
    /// Begins a conversation, or takes up one that was had before.
    pub async fn open(
        engine: &Engine,
        model: Arc<dyn ChatModel>,
        opening: Opening,
    ) -> Result<Self> {
        let Opening { scope, session, base, language, tools, folder } = opening;
        let prompt = engine.begin_prompt(&scope, &PromptRequest { base, language }).await?;
        let turns = engine.session_turns(&scope, &session).await?;
        let history = History::of(&turns);
        let mut short_term = ShortTerm::new(&engine.settings(scope.agent()).memory.short_term);
        for exchange in history.all() {
            short_term.keep(exchange);
        }
        let mut taken_up = Self {
            engine: engine.clone(),
            prompt: prompt.text(),
            scope,
            session,
            model,
            tools,
            folder,
            rounds: history.all().len(),
            history,
            short_term,
            summary: String::new(),
            injected: Injected::default(),
            cost: Cost::default(),
            moments: Moments::default(),
        };
        // What does not fit is told as short-term items; a model is not asked before anything was said.
        taken_up.history.take_older(taken_up.trigger() / KEPT_SHARE);
        Ok(taken_up)
    }

    /// Says something and hears the answer. The message is on disk before the model is asked; `interrupt` ends the answer,
    /// of which is stored what came.
    pub async fn say(
        &mut self,
        text: &str,
        hear: &mut (dyn FnMut(Event<'_>) + Send),
        interrupt: impl Future<Output = ()> + Send,
    ) -> Result<Reply> {
        let mut interrupt = pin!(interrupt);
        let asked_at = self.moments.next(&self.engine).timestamp();
        let recalled = self.recall(text).await;
        self.store(Role::User, text, asked_at).await?;
        let recalled = recalled?;
        self.make_room(hear, interrupt.as_mut()).await;
        self.history.ask(asked_at, text.to_owned());
        self.rounds += 1;
        self.history.keep(self.engine.settings(self.scope.agent()).memory.max_history);
        let mut answered = self.ask(text, recalled.clone(), hear, interrupt.as_mut()).await;
        if matches!(answered, Err(Error::TooLong { .. }))
            && self.make_all_room(hear, interrupt.as_mut()).await
        {
            answered = self.ask(text, recalled, hear, interrupt).await;
        }
        let mut reply = match answered {
            Ok(reply) => reply,
            Err(error) => {
                self.history.take_back();
                return Err(error);
            }
        };
        self.cost.add(&reply, &self.injected);
        self.complete(&mut reply).await;
        Ok(reply)
    }

    /// Asks the model, with what is recalled and what it no longer sees.
    async fn ask(
        &mut self,
        question: &str,
        recalled: Option<Block>,
        hear: Hear<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<Reply> {
        self.injected = self.inject(question, recalled).await;
        hear(Event::Injected(&self.injected));
        let context = self.injected.text.clone();
        self.answer(&context, hear, interrupt).await
    }

    /// Stores the answer and keeps the exchange.
    async fn complete(&mut self, reply: &mut Reply) {
        let said_at = self.moments.next(&self.engine).timestamp();
        let stored = match reply.text.trim() {
            "" => Ok(()),
            text => self.store(Role::Assistant, text, said_at).await,
        };
        reply.not_stored = stored.err();
        match self.history.last() {
            // Nothing was said and nothing done: the question is not sent again unanswered.
            Some(exchange) if exchange.messages.len() == 1 => self.history.take_back(),
            Some(exchange) => self.short_term.keep(exchange),
            None => {}
        }
        if matches!(reply.ended, Ended::Done) {
            self.engine.follow_use(&self.scope, &self.session, &reply.text);
        }
        self.improve_items();
    }

    /// Stores a turn, word for word; nothing if memory is switched off.
    async fn store(&self, role: Role, text: &str, at: Timestamp) -> Result<()> {
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
        let said = !self.history.all().is_empty() || !self.summary.is_empty();
        if !said || !self.engine.settings(self.scope.agent()).memory.enabled {
            return self.end_quietly().await;
        }
        let text = summary::transcript(&self.summary, self.history.all());
        let account = self.account();
        let told = tokio::select! {
            biased;
            () = interrupt => None,
            (lines, told) = account.sum_up(&text, Engine::MAX_SUMMARY_CHARS) => {
                self.cost.summaries += told.tokens;
                lines
            }
        };
        let ended = self.engine.end_session_saying(&self.scope, &self.session, told.as_deref());
        ended.await.map(Some)
    }

    /// The same without asking the model.
    pub async fn end_quietly(&self) -> Result<Option<SessionEnd>> {
        end_of(&self.engine, &self.scope, &self.session).await
    }

    /// Forgets what was said in this conversation; what is stored stays.
    pub fn clear(&mut self) {
        self.history.clear();
        self.rounds = 0;
        self.short_term.clear();
        self.summary.clear();
        self.injected = Injected::default();
    }

    /// What was added to the prompt for the last message.
    pub fn injected(&self) -> &Injected {
        &self.injected
    }

    /// What it cost so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The tokens and the messages that are sent again with the next message.
    pub fn size(&self) -> (usize, usize) {
        (self.history.tokens(), self.history.len())
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
    pub fn use_model(&mut self, model: Arc<dyn ChatModel>) {
        self.model = model;
    }

    /// Who sums up, on whose account.
    fn account(&self) -> summary::Account {
        let (scope, model) = (self.scope.clone(), Arc::clone(&self.model));
        summary::Account { engine: self.engine.clone(), scope, model }
    }

    fn trigger(&self) -> usize {
        self.engine.settings(self.scope.agent()).memory_agent.summarize.trigger_tokens
    }
}

impl Cost {
    fn add(&mut self, reply: &Reply, injected: &Injected) {
        self.answers += 1;
        self.answered += reply.tokens;
        self.injected += injected.tokens;
    }
}

/// Logs a conversation, if anything of it is stored.
async fn end_of(engine: &Engine, scope: &Scope, session: &str) -> Result<Option<SessionEnd>> {
    if !engine.settings(scope.agent()).memory.enabled {
        return Ok(None);
    }
    match engine.end_session(scope, session).await {
        Err(Error::NotFound { .. }) => Ok(None),
        ended => ended.map(Some),
    }
}
