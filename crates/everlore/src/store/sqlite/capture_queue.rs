//! The capture queue in SQLite; its rows are in [`capture_rows`] and [`quarantine`].

use async_trait::async_trait;

use super::{SqliteStore, capture_rows, quarantine};
use crate::{
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, PendingSession, SessionLease, UnreadTurns,
    },
    types::{MemoryId, QuarantineLimits, QuarantinedDraft, Scope, Timestamp},
};

#[async_trait]
impl CaptureQueue for SqliteStore {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        // Most claims find nothing due: only the others need the writer.
        let pending = self.pending(claim.scope.as_ref()).await?;
        if claim.pick_due(&pending).is_none() {
            return Ok(None);
        }
        let claim = claim.clone();
        self.writer.run(move |db| capture_rows::claim(db, &claim)).await
    }

    async fn release(&self, lease: &SessionLease, failure: Option<&CaptureFailure>) -> Result<()> {
        let (lease, failure) = (lease.clone(), failure.cloned());
        self.writer.run(move |db| capture_rows::release(db, &lease, failure.as_ref())).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        let session = session.map(str::to_owned);
        self.read(scope, move |db| capture_rows::unread_turns(db, session.as_deref(), limit)).await
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let session = session.to_owned();
        self.write(scope, move |db| capture_rows::mark_ended(db, &session, now)).await
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        let scope = scope.cloned();
        self.pool.read(move |db| capture_rows::pending(db, scope.as_ref())).await
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.read(scope, quarantine::list).await
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let ids = ids.to_vec();
        self.write(scope, move |db| quarantine::remove(db, &ids)).await
    }

    async fn put_back(&self, scope: &Scope, draft: &QuarantinedDraft) -> Result<()> {
        let draft = [draft.clone()];
        self.write(scope, move |db| quarantine::put(db, &draft, QuarantineLimits::NONE)).await
    }
}
