//! First rounds: the first message of a conversation, which the settings may keep free of memories.
//!
//! The engine knows a conversation by its session. Hooks count the prompts themselves, since turns may still wait in their
//! spool, and the proxy goes by the history of a request, which may have no session.

use std::{collections::HashSet, sync::Mutex};

use super::SessionKey;
use crate::{
    engine::Engine,
    error::Result,
    recall::RecallRequest,
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::lock,
    types::Kind,
};

/// Most sessions that a process remembers; beyond them, stored turns alone tell.
const MAX_SESSIONS: usize = 10_000;

/// Sessions that have asked this process for a block. A client that stores no turns has no other trace of its first
/// message.
#[derive(Default)]
pub(in crate::engine) struct SeenSessions(Mutex<HashSet<SessionKey>>);

impl SeenSessions {
    /// Records a session; returns `false` if it was recorded before.
    fn insert(&self, session: SessionKey) -> bool {
        let mut seen = lock(&self.0);
        if seen.len() >= MAX_SESSIONS {
            seen.clear();
        }
        seen.insert(session)
    }
}

impl Engine {
    /// Returns `true` if the settings keep the first message of a conversation free of memories, and this is it.
    pub(super) async fn is_empty_round(
        &self,
        request: &RecallRequest,
        session: &str,
    ) -> Result<bool> {
        let inject = &self.settings(request.scope.agent()).memory.inject;
        if !inject.first_round_empty || request.is_later_round {
            return Ok(false);
        }
        let is_new = self.seen_sessions.insert((request.scope.clone(), session.to_owned()));
        Ok(is_new && !self.has_other_turns(request, session).await?)
    }

    /// Returns `true` if the session has a turn other than the message itself, which may be stored before it is
    /// answered.
    async fn has_other_turns(&self, request: &RecallRequest, session: &str) -> Result<bool> {
        let filter = MemoryFilter {
            kinds: vec![Kind::Turn],
            session: Some(session.to_owned()),
            ..MemoryFilter::default()
        };
        let page = ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: 2 };
        let turns = self.store.memories().list(&request.scope, &page).await?;
        let is_message = |text: &str| text.trim() == request.query.trim();
        Ok(turns.len() > 1 || turns.iter().any(|turn| !is_message(&turn.content)))
    }
}
