//! The capture queue of a copied scope: turns that were read in the source are read in the copy too, so that no memory is
//! extracted twice; quarantined drafts go along.

use std::{collections::HashSet, time::Duration};

use everlore::{
    Engine, Scope,
    internal::{store_of, system_now},
    store::{ClaimRequest, PendingSession, Store},
    types::{Actor, CaptureCheckpoint, MemoryId, QuarantineLimits, Timestamp, WriteBatch},
};

use crate::Result;

/// Time to mark the turns of one session.
const LEASE: Duration = Duration::from_secs(60);

/// Name of the reader, which no other process has.
const OWNER: &str = "store copy";

/// Limits that keep every draft.
const ALL_DRAFTS: QuarantineLimits =
    QuarantineLimits { max_drafts: usize::MAX >> 1, keep_since: Timestamp::UNIX_EPOCH };

/// Marks turns of the copy as read.
pub(super) async fn copy_queue(from: &Engine, to: &Engine, scope: &Scope) -> Result<()> {
    let (from, to) = (&**store_of(from), &**store_of(to));
    let source = from.queue().pending(Some(scope)).await?;
    for copied in to.queue().pending(Some(scope)).await? {
        let pending = source.iter().find(|session| session.session == copied.session);
        let unread = unread_ids(from, scope, pending).await?;
        mark_read(from, to, &copied, &unread).await?;
        if let (Some(name), Some(_)) = (&copied.session, pending.and_then(|it| it.ended_at)) {
            to.queue().mark_ended(scope, name, system_now()).await?;
        }
    }
    Ok(())
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
        now: system_now(),
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
        limits: ALL_DRAFTS,
    };
    let write = WriteBatch {
        checkpoint: Some(checkpoint),
        ..WriteBatch::new(scope, Actor::Engine, "store copy", system_now(), Vec::new())
    };
    let written = to.apply(write).await;
    to.queue().release(&lease, None).await?;
    written?;
    Ok(())
}
