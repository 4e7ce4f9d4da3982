//! The capture queue of a copied scope: turns that were read in the source are read in the copy too, so that no memory is
//! extracted twice; quarantined drafts go along.

use std::{collections::HashSet, time::Duration};

use crate::{
    engine::Engine,
    error::Result,
    store::{ClaimRequest, PendingSession, Store},
    types::{Actor, CaptureCheckpoint, MemoryId, QuarantineLimits, Scope, Timestamp, WriteBatch},
};

/// Time to mark the turns of one session.
const LEASE: Duration = Duration::from_secs(60);

/// Name of the reader, which no other process has.
const OWNER: &str = "store copy";

impl Engine {
    /// Marks the turns of a copied scope as read in `to` where they are read here, with their quarantined drafts.
    pub async fn copy_queue(&self, to: &Self, scope: &Scope) -> Result<()> {
        let (from, to, now) = (&*self.store, &*to.store, to.now().timestamp());
        let source = from.queue().pending(Some(scope)).await?;
        for copied in to.queue().pending(Some(scope)).await? {
            let pending = source.iter().find(|session| session.session == copied.session);
            // Turns are read in their order, so that equal numbers mean the same turns.
            if pending.is_none_or(|it| it.turns != copied.turns) {
                let unread = unread_ids(from, scope, pending).await?;
                mark_read(from, to, &copied, &unread, now).await?;
            }
            let ended = pending.filter(|it| it.ended_at.is_some() && copied.ended_at.is_none());
            if let (Some(name), Some(_)) = (&copied.session, ended) {
                to.queue().mark_ended(scope, name, now).await?;
            }
        }
        Ok(())
    }
}

/// Returns the turns that the source has not read.
async fn unread_ids(
    store: &dyn Store,
    scope: &Scope,
    pending: Option<&PendingSession>,
) -> Result<HashSet<MemoryId>> {
    let Some(pending) = pending else { return Ok(HashSet::new()) };
    let session = pending.session.as_deref();
    let unread = store.queue().unread_turns(scope, session, usize::MAX >> 1).await?;
    Ok(unread.turns.into_iter().map(|turn| turn.id).collect())
}

/// Marks the turns of a session as read, up to the first that the source has not read.
async fn mark_read(
    from: &dyn Store,
    to: &dyn Store,
    copied: &PendingSession,
    unread: &HashSet<MemoryId>,
    now: Timestamp,
) -> Result<()> {
    let (scope, session) = (&copied.scope, copied.session.as_deref());
    let turns = to.queue().unread_turns(scope, session, usize::MAX >> 1).await?.turns;
    let read = turns.iter().take_while(|turn| !unread.contains(&turn.id)).count();
    if read == 0 {
        return Ok(());
    }
    let claim = ClaimRequest {
        scope: Some(scope.clone()),
        session: Some(copied.session.clone()),
        owner: OWNER.to_owned(),
        now,
        lease_duration: LEASE,
        due: None,
    };
    // Another process reads it already.
    let Some(lease) = to.queue().claim(&claim).await? else { return Ok(()) };
    let position = to.queue().unread_turns(scope, session, read).await?;
    let quarantined = from.queue().quarantined(scope).await?;
    let own = quarantined.into_iter().filter(|draft| draft.session == copied.session);
    let checkpoint = CaptureCheckpoint {
        session: copied.session.clone(),
        owner: OWNER.to_owned(),
        from: position.from,
        to: position.to,
        quarantined: own.collect(),
        limits: QuarantineLimits::NONE,
    };
    let write = WriteBatch {
        checkpoint: Some(checkpoint),
        ..WriteBatch::new(scope, Actor::Engine, OWNER, now, Vec::new())
    };
    let written = to.apply(write).await;
    to.queue().release(&lease, None).await?;
    written?;
    Ok(())
}
