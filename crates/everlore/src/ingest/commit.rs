//! Commits of turns and statements: stored once, and acknowledged only after reading them back.

use std::sync::Arc;

use super::{
    extract::SentenceJudge,
    request::Turn,
    saved::{SaveReceipt, SavedMemory},
};
use crate::{
    error::Result,
    store::{Store, confirm_readable},
    sync::BoxFuture,
    types::{
        AppliedChange, Change, ChangeAuthor, SINGLE_WRITE_RUN, Scope, Timestamp, WriteBatch,
        run_name,
    },
};

/// Store, classifier, author and time of a save.
#[derive(Clone, Copy)]
pub(crate) struct SaveDeps<'a> {
    /// Store that is written.
    pub store: &'a dyn Store,
    /// Classifier that tells whether a statement replaces another.
    pub judge: Option<&'a Arc<dyn SentenceJudge>>,
    /// Author of the change.
    pub author: &'a ChangeAuthor,
    /// Current time.
    pub now: Timestamp,
}

/// Stores turns verbatim, all or none.
pub(crate) fn observe<'a>(
    deps: SaveDeps<'a>,
    scope: &'a Scope,
    turns: Vec<Turn>,
) -> BoxFuture<'a, Result<Vec<SavedMemory>>> {
    Box::pin(async move {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let add = |turn: Turn| Ok(Change::Add(Box::new(turn.into_memory(scope, deps.now)?)));
        let changes = turns.into_iter().map(add).collect::<Result<_>>()?;
        commit(deps, scope, "observe", changes, None).await
    })
}

/// Applies additions and updates, and reads them back. `planned_after` as in [`WriteBatch`].
pub(super) async fn commit(
    SaveDeps { store, author, now, .. }: SaveDeps<'_>,
    scope: &Scope,
    what: &str,
    changes: Vec<Change>,
    planned_after: Option<u64>,
) -> Result<Vec<SavedMemory>> {
    let named = |change: &Change| {
        let memory = change.written()?;
        let known = matches!(change, Change::Update(_));
        Some((memory.id, memory.uri.clone(), memory.kind, memory.status, known))
    };
    let named: Vec<_> = changes.iter().filter_map(named).collect();
    let run = author.run.clone().or_else(|| new_run(what, changes.len() - 1, now));
    let write = WriteBatch::new(scope, author.actor, author.reason_for(what), now, changes);
    let is_single = run.as_ref().is_some_and(|run| run.starts_with(SINGLE_WRITE_RUN));
    let applied = store.apply(WriteBatch { run, is_single, planned_after, ..write }).await?;
    let ids: Vec<_> = applied.iter().map(|applied| applied.id).collect();
    confirm_readable(store, scope, &ids).await?;
    let saved = |((id, uri, kind, status, known), applied): (_, &AppliedChange)| SavedMemory {
        id,
        uri,
        kind,
        status,
        receipt: SaveReceipt { seq: applied.seq, at: now, known, verified: true },
        masked: Vec::new(),
        superseded: Vec::new(),
        may_replace: None,
        undo: None,
    };
    Ok(named.into_iter().zip(&applied).map(saved).collect())
}

/// Names a run if a write has more than its own change.
pub(super) fn new_run(what: &str, others: usize, now: Timestamp) -> Option<String> {
    (others > 0).then(|| run_name(what, now))
}
