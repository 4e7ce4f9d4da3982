//! What waits to be drawn from conversations: making vectors does not concern it.

use async_trait::async_trait;

use super::embedding::Embedding;
use crate::{
    error::Result,
    store::{Claim, Claimed, Failure, Queue, Unread, Waiting},
    types::{Held, MemoryId, Scope, Timestamp},
};

#[async_trait]
impl Queue for Embedding {
    async fn claim(&self, claim: &Claim) -> Result<Option<Claimed>> {
        self.store().claim(claim).await
    }

    async fn give_back(&self, claimed: &Claimed, failure: Option<&Failure>) -> Result<()> {
        self.store().give_back(claimed, failure).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Unread> {
        self.store().unread_turns(scope, session, limit).await
    }

    async fn announce_end(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        self.store().announce_end(scope, session, now).await
    }

    async fn waiting(&self, scope: Option<&Scope>) -> Result<Vec<Waiting>> {
        self.store().waiting(scope).await
    }

    async fn held(&self, scope: &Scope) -> Result<Vec<Held>> {
        self.store().held(scope).await
    }

    async fn drop_held(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store().drop_held(scope, ids).await
    }
}
