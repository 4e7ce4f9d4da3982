//! What waits to be drawn from conversations: making vectors does not concern it.

use async_trait::async_trait;

use super::embed_on_write::EmbedOnWrite;
use crate::{
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, PendingSession, SessionLease, UnreadTurns,
    },
    types::{MemoryId, QuarantinedDraft, Scope, Timestamp},
};

#[async_trait]
impl CaptureQueue for EmbedOnWrite {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        self.store().claim(claim).await
    }

    async fn release(
        &self,
        claimed: &SessionLease,
        failure: Option<&CaptureFailure>,
    ) -> Result<()> {
        self.store().release(claimed, failure).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        self.store().unread_turns(scope, session, limit).await
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        self.store().mark_ended(scope, session, now).await
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        self.store().pending(scope).await
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.store().quarantined(scope).await
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store().drop_quarantined(scope, ids).await
    }
}
