//! What waits to be drawn from conversations: turns have no files, so the hidden database answers.

use async_trait::async_trait;

use super::DirectoryStore;
use crate::{
    error::Result,
    store::{Claim, Claimed, Failure, Queue, Unread, Waiting},
    types::{Held, MemoryId, Scope, Timestamp},
};

#[async_trait]
impl Queue for DirectoryStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Claimed>> {
        self.inner.claim(claim).await
    }

    async fn give_back(&self, claimed: &Claimed, failure: Option<&Failure>) -> Result<()> {
        self.inner.give_back(claimed, failure).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Unread> {
        self.inner.unread_turns(scope, session, limit).await
    }

    async fn announce_end(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        self.inner.announce_end(scope, session, now).await
    }

    async fn waiting(&self, scope: Option<&Scope>) -> Result<Vec<Waiting>> {
        self.inner.waiting(scope).await
    }

    async fn held(&self, scope: &Scope) -> Result<Vec<Held>> {
        self.inner.held(scope).await
    }

    async fn drop_held(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.inner.drop_held(scope, ids).await
    }
}
