//! What waits to be drawn from conversations: turns have no files, so the hidden database answers.

use async_trait::async_trait;

use super::DirectoryStore;
use crate::{
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, PendingSession, SessionLease, UnreadTurns,
    },
    types::{MemoryId, QuarantinedDraft, Scope, Timestamp},
};

#[async_trait]
impl CaptureQueue for DirectoryStore {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        self.inner.claim(claim).await
    }

    async fn release(
        &self,
        claimed: &SessionLease,
        failure: Option<&CaptureFailure>,
    ) -> Result<()> {
        self.inner.release(claimed, failure).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        self.inner.unread_turns(scope, session, limit).await
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        self.inner.mark_ended(scope, session, now).await
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        self.inner.pending(scope).await
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.inner.quarantined(scope).await
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.inner.drop_quarantined(scope, ids).await
    }
}
