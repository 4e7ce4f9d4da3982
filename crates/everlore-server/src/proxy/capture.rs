//! What was said is kept once the answer has ended, however it did: the question and as much of the answer as came.
//!
//! Clients send a conversation again with every question, again when they try again, and again while the model works with
//! tools. What stands in the journal under the digest of its place and words is not stored again.

use everlore::{
    Scope, Turn,
    store::JournalQuery,
    text::injected_blocks::strip_injected_blocks,
    types::{ChangeAuthor, Role, Timestamp},
};

use super::{
    request::ProxiedRequest,
    response::ProxiedReply,
    session::{MemoryMode, ProxySession, short_digest},
};

/// An exchange that is under way.
pub(super) struct Exchange {
    pub(super) session: ProxySession,
    pub(super) request: ProxiedRequest,
    /// When it was asked.
    pub(super) at: Timestamp,
}

impl Exchange {
    /// Keeps what was said, and writes down what the answer used. Nobody waits for it, so what fails is told to the log.
    pub(super) async fn store(self, heard: ProxiedReply) {
        let ProxySession { access, session, mode } = &self.session;
        if let Some(id) = &heard.id {
            access.app.proxy.reply_sessions.put(reply_key(&access.scope, id), session.clone());
        }
        if *mode < MemoryMode::Full {
            return;
        }
        let ended = access.app.engine.now().timestamp();
        let answer = strip_injected_blocks(&heard.text).into_owned();
        let place: Vec<&str> = self.request.preceding.iter().map(String::as_str).collect();
        let question = [&place[..], &[&self.request.question]].concat();
        let said = [&question[..], &[&answer]].concat();
        self.store_turn(Role::User, &self.request.question, self.at, &question).await;
        self.store_turn(Role::Assistant, &answer, ended.max(self.at), &said).await;
        if heard.is_done {
            let used = access.engine().record_answer(&access.scope, session, &answer).await;
            if let Err(error) = used {
                tracing::warn!(%error, "what an answer used is not written down");
            }
        }
    }

    async fn store_turn(&self, role: Role, text: &str, at: Timestamp, place: &[&str]) {
        let ProxySession { access, session, .. } = &self.session;
        if text.is_empty() {
            return;
        }
        let who = if role == Role::User { "user" } else { "assistant" };
        let names = [access.scope.agent(), access.scope.user(), session, who];
        let run = format!("proxy-{}", short_digest(&[&names[..], place].concat()));
        let _begun = access.app.proxy.begin_capture(&run).await;
        let stored = async {
            let query =
                JournalQuery { run: Some(run.clone()), limit: Some(1), ..JournalQuery::default() };
            if !access.app.engine.history(&access.scope, &query).await?.is_empty() {
                return Ok(());
            }
            let cause = Some("observe by the proxy".to_owned());
            let author = ChangeAuthor { reason: cause, run: Some(run.clone()), ..access.author() };
            let turn = Turn {
                text: text.to_owned(),
                session: Some(session.clone()),
                speaker: None,
                role: Some(role),
                time: Some(at),
            };
            access
                .app
                .engine
                .on_behalf_of(author)
                .observe(&access.scope, vec![turn])
                .await
                .map(drop)
        };
        if let Err(error) = stored.await as everlore::Result<()> {
            tracing::warn!(%error, "a turn could not be kept");
        }
    }
}

/// By what an answer of a scope is found again.
pub(super) fn reply_key(scope: &Scope, answer: &str) -> String {
    format!("{scope}\n{answer}")
}
