//! Capture: the question and the received part of the answer become turns once the response has ended, however it
//! ended.
//!
//! Clients send the whole conversation with every question, with every retry, and while the model works with tools. A
//! turn whose position and text the journal already knows by a digest is not stored again.

use everlore::{
    Scope, Turn,
    internal::text::injected_blocks::strip_injected_blocks,
    store::JournalQuery,
    types::{ChangeAuthor, MAX_CONTENT_BYTES, Role, Timestamp},
};

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
    pub(super) async fn store(self, reply: ProxiedReply) {
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
        self.store_turn(Role::Assistant, None, &answer, ended_at.max(self.at), &after).await;
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

    /// Stores a turn, unless the journal has one with the same messages up to it.
    async fn store_turn(
        &self,
        role: Role,
        speaker: Option<String>,
        text: &str,
        at: Timestamp,
        link: &str,
    ) {
        let ProxySession { access, session, run_salt, .. } = &self.session;
        if text.is_empty() {
            return;
        }
        let run = turn_run(access, run_salt, role, link);
        let _guard = access.app.proxy.begin_capture(&run).await;
        let turn = Turn {
            text: text.to_owned(),
            session: Some(session.clone()),
            speaker,
            role: Some(role),
            time: Some(at),
        };
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

/// Returns the cache key of a response: its id within the scope.
pub(super) fn reply_key(scope: &Scope, response_id: &str) -> String {
    format!("{scope}\n{response_id}")
}
