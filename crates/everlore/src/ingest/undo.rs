//! Undo of one change or of all changes of a run. Undoing is itself a change, so it can be undone.

use crate::{
    error::{Error, Result},
    store::{JournalQuery, Store},
    sync::BoxFuture,
    types::{Actor, Change, ChangeOp, JournalEntry, Memory, Scope, Timestamp, WriteBatch},
};

/// Changes to undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// Change with this sequence number.
    Change(u64),
    /// All changes of this run.
    Run(String),
}

/// Undoes changes, all or none, and returns their sequence numbers.
pub(crate) fn undo<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    target: &'a UndoTarget,
    now: Timestamp,
) -> BoxFuture<'a, Result<Vec<u64>>> {
    Box::pin(async move {
        let query = match target {
            UndoTarget::Change(seq) => JournalQuery { seq: Some(*seq), ..JournalQuery::default() },
            UndoTarget::Run(run) => {
                JournalQuery { run: Some(run.clone()), ..JournalQuery::default() }
            }
        };
        let entries = store.journal().entries(scope, &query).await?;
        if entries.is_empty() {
            return Err(not_found(target));
        }
        let mut changes: Vec<Change> = Vec::new();
        for entry in &entries {
            check_untouched(store, scope, entry, &entries).await?;
            changes.push(inverse(store, scope, entry, &changes, now).await?);
        }
        let (reason, run) = match target {
            UndoTarget::Change(seq) => (format!("undo change {seq}"), None),
            UndoTarget::Run(run) => {
                (format!("undo run {run}"), Some(format!("undo-{}", now.as_millisecond())))
            }
        };
        store
            .apply(WriteBatch {
                run,
                ..WriteBatch::new(scope, Actor::Person, reason, now, changes)
            })
            .await?;
        Ok(entries.iter().map(|entry| entry.seq).collect())
    })
}

fn not_found(target: &UndoTarget) -> Error {
    match target {
        UndoTarget::Change(seq) => Error::not_found("change", seq),
        UndoTarget::Run(run) => Error::not_found("run", run),
    }
}

/// Returns the change that restores the earlier state, given the changes that will be applied before it.
async fn inverse(
    store: &dyn Store,
    scope: &Scope,
    entry: &JournalEntry,
    pending: &[Change],
    now: Timestamp,
) -> Result<Change> {
    if entry.op == ChangeOp::Erase || entry.before.is_none() && entry.after.is_none() {
        return Err(Error::invalid(
            format!("change {} cannot be undone: its memory has been erased", entry.seq),
            "an erased memory cannot be restored",
        ));
    }
    let current = match pending.iter().rev().find(|change| change.id() == entry.id) {
        Some(Change::Add(memory) | Change::Update(memory)) => Some((**memory).clone()),
        Some(Change::Delete(_) | Change::Erase(_)) => None,
        None => store.memories().get(scope, &[entry.id]).await?.pop().flatten(),
    };
    match (&entry.before, current) {
        (None, _) => Ok(Change::Delete(entry.id)),
        (Some(before), Some(current)) => {
            let mut restored_memory = restored(before, current.version, now);
            if !only_changes_usage(entry) && !changed_weight(entry) {
                // Weight and last use keep what usage changed since.
                (restored_memory.weight, restored_memory.last_used_at) =
                    (current.weight, current.last_used_at);
            }
            Ok(Change::Update(Box::new(restored_memory)))
        }
        (Some(before), None) => Ok(Change::Add(Box::new(restored(before, before.version, now)))),
    }
}

/// Refuses if the memory was changed since by anything that is not undone as well.
async fn check_untouched(
    store: &dyn Store,
    scope: &Scope,
    entry: &JournalEntry,
    undone: &[JournalEntry],
) -> Result<()> {
    let query = JournalQuery { id: Some(entry.id), ..JournalQuery::default() };
    let is_undone = |seq: u64| undone.iter().any(|entry| entry.seq == seq);
    let later =
        store.journal().entries(scope, &query).await?.into_iter().find(|later| {
            later.seq > entry.seq && !is_undone(later.seq) && !only_changes_usage(later)
        });
    match later {
        None => Ok(()),
        // `inverse` reports erasure by the entry's missing images.
        Some(later) if later.op == ChangeOp::Erase => Ok(()),
        Some(later) => Err(Error::invalid(
            format!(
                "change {} cannot be undone: memory `{}` was changed again by change {}",
                entry.seq, entry.id, later.seq
            ),
            format!("undo the later one first: everlore memory undo {}", later.seq),
        )),
    }
}

/// Returns `true` if a change only adjusted weight and last use: it does not block undoing.
fn only_changes_usage(entry: &JournalEntry) -> bool {
    let (Some(before), Some(after)) = (&entry.before, &entry.after) else { return false };
    let used = Memory {
        weight: after.weight,
        last_used_at: after.last_used_at,
        version: after.version,
        ..(**before).clone()
    };
    used == **after
}

fn changed_weight(entry: &JournalEntry) -> bool {
    let weight = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.weight);
    weight(&entry.before) != weight(&entry.after)
}

fn restored(before: &Memory, version: u32, now: Timestamp) -> Memory {
    Memory { version: version + 1, updated_at: now, ..before.clone() }
}
