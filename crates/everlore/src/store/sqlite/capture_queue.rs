//! What waits to be drawn from conversations, asked of the file.

use async_trait::async_trait;

use super::{SqliteStore, capture_rows, quarantine, scope_number};
use crate::{
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, PendingSession, SessionLease, UnreadTurns,
        capture_queue::pick_due,
    },
    types::{MemoryId, QuarantinedDraft, Scope, Timestamp},
};

#[async_trait]
impl CaptureQueue for SqliteStore {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        // Most of the time nothing is due: only then a writer is needed.
        let claim = claim.clone();
        let waiting = self.pending(claim.scope.as_ref()).await?;
        if pick_due(&waiting, &claim).is_none() {
            return Ok(None);
        }
        self.writer.run(move |db| capture_rows::claim(db, &claim)).await
    }

    async fn release(
        &self,
        claimed: &SessionLease,
        failure: Option<&CaptureFailure>,
    ) -> Result<()> {
        let (claimed, failure) = (claimed.clone(), failure.cloned());
        self.writer.run(move |db| capture_rows::release(db, &claimed, failure.as_ref())).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        let (owner, session) = (scope.clone(), session.map(str::to_owned));
        self.read(scope, move |db, number| {
            capture_rows::unread_turns(db, &owner, number, session.as_deref(), limit)
        })
        .await
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let (owner, session) = (scope.clone(), session.to_owned());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => capture_rows::mark_ended(db, number, &session, now),
                None => Ok(false),
            })
            .await
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        let scope = scope.cloned();
        self.pool.read(move |db| capture_rows::pending_sessions(db, scope.as_ref())).await
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        self.read(scope, quarantine::list).await
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let (owner, ids) = (scope.clone(), ids.to_vec());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => quarantine::remove(db, number, &ids),
                None => Ok(0),
            })
            .await
    }
}
