//! Capture: the question and the received part of the answer become turns once the response has ended, however it
//! ended.
//!
//! Clients send the whole conversation with every question, with every retry, and while the model works with tools. A
//! turn whose position and text the journal already knows by a digest is not stored again.

use everlore::{
    Scope, Turn,
    internal::text::injected_blocks::strip_injected_blocks,
    store::JournalQuery,
    types::{AnswerEnd, ChangeAuthor, MAX_CONTENT_BYTES, RecordedAnswer, Role, Timestamp},
};
use jiff::SignedDuration;

use super::{
    conversation::{chain_links, turn_run},
    request::{MessageAuthor, ProxiedRequest},
    response::ProxiedReply,
    session::{MemoryMode, ProxySession, short_digest},
};

/// Exchange in progress: a user message and its answer.
pub(super) struct Exchange {
    pub(super) session: ProxySession,
    pub(super) request: ProxiedRequest,
    /// Time of the request.
    pub(super) at: Timestamp,
}

impl Exchange {
    /// Stores both turns, and records which memories the answer used. No client waits for it, so errors go to the log.
    pub(super) async fn store_exchange(self, reply: ProxiedReply) {
        let ProxySession { access, session, mode, .. } = &self.session;
        if let Some(id) = &reply.id {
            access.app.proxy.reply_sessions.put(reply_key(&access.scope, id), session.clone());
        }
        if *mode < MemoryMode::Full {
            return;
        }
        let ended_at = access.app.engine.now().timestamp();
        let answer = strip_injected_blocks(&reply.text).into_owned();
        let question = self.question_link();
        let messages = [(MessageAuthor::Model, answer.as_str())];
        let after = chain_links(messages).concat() + &question;
        for message in &self.request.unanswered {
            let link = self.link(Some(&message.link), &message.preceding, &message.text);
            let speaker = Some(message.speaker.clone());
            self.store_turn(Role::User, speaker, &message.text, self.at, &link).await;
        }
        let (asked, speaker) = (self.question_text(), self.request.speaker.clone());
        self.store_turn(Role::User, speaker, asked, self.at, &question).await;
        let called_until = if reply.is_done { self.store_calls(&question).await } else { self.at };
        let turn = Turn {
            answer: Some(recorded_answer(&reply)),
            ..self.turn(Role::Assistant, &answer, ended_at.max(called_until))
        };
        self.store(&after, turn).await;
        if reply.is_done {
            let usage = access.engine().record_answer(&access.scope, session, &answer).await;
            if let Err(error) = usage {
                tracing::warn!(%error, "the usage of an answer was not recorded");
            }
        }
    }

    /// Returns the question with what it quotes, or alone where there is too much for one turn.
    fn question_text(&self) -> &str {
        let ProxiedRequest { question, question_with_quotes: all, .. } = &self.request;
        if question.is_empty() || all.len() > MAX_CONTENT_BYTES { question } else { all }
    }

    /// Returns the digest that tells the question from the same words elsewhere: by all messages up to it, or within a
    /// named session by those just before it, since clients shorten long histories.
    fn question_link(&self) -> String {
        let request = &self.request;
        self.link(request.chain.last(), &request.preceding, &request.question)
    }

    fn link(&self, chain: Option<&String>, preceding: &[String], text: &String) -> String {
        match chain {
            Some(link) if self.session.run_salt.is_empty() => link.clone(),
            _ => {
                let before = preceding.iter().chain([text]);
                short_digest(&before.map(String::as_str).collect::<Vec<_>>())
            }
        }
    }

    /// Stores a message that somebody said.
    async fn store_turn(
        &self,
        role: Role,
        speaker: Option<String>,
        text: &str,
        at: Timestamp,
        link: &str,
    ) {
        self.store(link, Turn { speaker, ..self.turn(role, text, at) }).await;
    }

    /// Stores the tool calls since the question, and returns the time of the last. The model's messages are a millisecond
    /// apart, so that they keep their order; calls of one message were made at once.
    async fn store_calls(&self, question: &str) -> Timestamp {
        let mut at = self.at;
        if !self.session.access.app.engine.records_trajectories() {
            return at;
        }
        for (number, it) in self.request.calls.iter().enumerate() {
            at = self.at + SignedDuration::from_millis(it.round + 1);
            let id = it.call.id.as_deref().unwrap_or_default();
            let link = short_digest(&[question, "call", id, &number.to_string()]);
            let turn = self.turn(Role::Tool, it.result.as_deref().unwrap_or_default(), at);
            self.store(&link, Turn { call: Some(it.call.clone()), ..turn }).await;
        }
        at
    }

    fn turn(&self, role: Role, text: &str, at: Timestamp) -> Turn {
        Turn {
            text: text.to_owned(),
            session: Some(self.session.session.clone()),
            role: Some(role),
            time: Some(at),
            ..Turn::default()
        }
    }

    /// Stores a turn, unless the journal has one with the same messages up to it.
    async fn store(&self, link: &str, turn: Turn) {
        let ProxySession { access, run_salt, .. } = &self.session;
        if turn.text.is_empty() && turn.call.is_none() {
            return;
        }
        let run = turn_run(access, run_salt, turn.role.unwrap_or(Role::User), link);
        let _guard = access.app.proxy.begin_capture(&run).await;
        if let Err(error) = self.observe_once(&run, turn).await {
            tracing::warn!(%error, "a turn could not be stored");
        }
    }

    async fn observe_once(&self, run: &str, turn: Turn) -> everlore::Result<()> {
        let access = &self.session.access;
        let (engine, scope) = (&access.app.engine, &access.scope);
        let run = Some(run.to_owned());
        let query = JournalQuery { run: run.clone(), limit: Some(1), ..JournalQuery::default() };
        if !engine.history(scope, &query).await?.is_empty() {
            return Ok(());
        }
        let reason = Some("observe by the proxy".to_owned());
        let author = ChangeAuthor { reason, run, ..access.author() };
        access.engine_for(author).observe(scope, vec![turn]).await.map(drop)
    }
}

/// Returns what the provider told of how the answer came about.
fn recorded_answer(reply: &ProxiedReply) -> RecordedAnswer {
    let ended = reply.is_done.then_some(AnswerEnd::Done);
    RecordedAnswer { model: reply.model.clone(), tokens: reply.tokens, ended }
}

/// Returns the cache key of a response: its id within the scope.
pub(super) fn reply_key(scope: &Scope, response_id: &str) -> String {
    format!("{scope}\n{response_id}")
}
