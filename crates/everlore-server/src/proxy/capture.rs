//! What was said is kept once the answer has ended, however it did: the question and as much of the answer as came.
//!
//! Clients send a conversation again with every question, again when they try again, and again while the model works with
//! tools. What stands in the journal under the digest of its place and words is not stored again.

use everlore::{
    Scope, Turn,
    store::JournalQuery,
    text::blocks::without_blocks,
    types::{Author, Role, Timestamp},
};

use super::{
    asked::Asked,
    heard::Heard,
    identity::{Identity, Mode, digest},
};

/// An exchange that is under way.
pub(super) struct Exchange {
    pub(super) identity: Identity,
    pub(super) asked: Asked,
    /// When it was asked.
    pub(super) at: Timestamp,
}

impl Exchange {
    /// Keeps what was said, and writes down what the answer used. Nobody waits for it, so what fails is told to the log.
    pub(super) async fn keep(self, heard: Heard) {
        let Identity { access, session, mode } = &self.identity;
        if let Some(id) = &heard.id {
            access.app.proxy.answers.put(key(&access.scope, id), session.clone());
        }
        if *mode < Mode::Full {
            return;
        }
        let ended = access.app.engine.now().timestamp();
        let answer = without_blocks(&heard.text).into_owned();
        let place: Vec<&str> = self.asked.before.iter().map(String::as_str).collect();
        let question = [&place[..], &[&self.asked.question]].concat();
        let said = [&question[..], &[&answer]].concat();
        self.keep_turn(Role::User, &self.asked.question, self.at, &question).await;
        self.keep_turn(Role::Assistant, &answer, ended.max(self.at), &said).await;
        if heard.is_done {
            let used = access.engine().answered(&access.scope, session, &answer).await;
            if let Err(error) = used {
                tracing::warn!(%error, "what an answer used is not written down");
            }
        }
    }

    async fn keep_turn(&self, role: Role, text: &str, at: Timestamp, place: &[&str]) {
        let Identity { access, session, .. } = &self.identity;
        if text.is_empty() {
            return;
        }
        let who = if role == Role::User { "user" } else { "assistant" };
        let names = [access.scope.agent(), access.scope.user(), session, who];
        let run = format!("proxy-{}", digest(&[&names[..], place].concat()));
        let _begun = access.app.proxy.begin(&run).await;
        let stored = async {
            let query =
                JournalQuery { run: Some(run.clone()), limit: Some(1), ..JournalQuery::default() };
            if !access.app.engine.history(&access.scope, &query).await?.is_empty() {
                return Ok(());
            }
            let cause = Some("observe by the proxy".to_owned());
            let author = Author { cause, run: Some(run.clone()), ..access.author() };
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
pub(super) fn key(scope: &Scope, answer: &str) -> String {
    format!("{scope}\n{answer}")
}
