//! Taking changes back: one, or all of a run. Undoing is itself a change, so it can be undone.

use crate::{
    error::{Error, Result},
    store::{JournalQuery, Store},
    types::{Actor, Change, ChangeOp, JournalEntry, Memory, Scope, Timestamp, WriteBatch},
};

/// What to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The change with this number.
    Change(u64),
    /// Every change of this run.
    Run(String),
}

/// Takes changes back, all or none, and returns the journal's numbers of those taken back.
pub async fn undo(
    store: &dyn Store,
    scope: &Scope,
    what: &UndoTarget,
    now: Timestamp,
) -> Result<Vec<u64>> {
    let query = match what {
        UndoTarget::Change(seq) => JournalQuery { seq: Some(*seq), ..JournalQuery::default() },
        UndoTarget::Run(run) => JournalQuery { run: Some(run.clone()), ..JournalQuery::default() },
    };
    let entries = store.journal().entries(scope, &query).await?;
    if entries.is_empty() {
        return Err(not_found(what));
    }
    let mut changes: Vec<Change> = Vec::new();
    for entry in &entries {
        check_untouched(store, scope, entry, &entries).await?;
        changes.push(inverse(store, scope, entry, &changes, now).await?);
    }
    let (cause, run) = match what {
        UndoTarget::Change(seq) => (format!("undo change {seq}"), None),
        UndoTarget::Run(run) => {
            (format!("undo run {run}"), Some(format!("undo-{}", now.as_millisecond())))
        }
    };
    store
        .apply(WriteBatch { run, ..WriteBatch::new(scope, Actor::Person, cause, now, changes) })
        .await?;
    Ok(entries.iter().map(|entry| entry.seq).collect())
}

fn not_found(what: &UndoTarget) -> Error {
    match what {
        UndoTarget::Change(seq) => Error::not_found("change", seq),
        UndoTarget::Run(run) => Error::not_found("run", run),
    }
}

/// The change that brings back what was before, given those that will be made ahead of it.
async fn inverse(
    store: &dyn Store,
    scope: &Scope,
    entry: &JournalEntry,
    ahead: &[Change],
    now: Timestamp,
) -> Result<Change> {
    if entry.op == ChangeOp::Erase || entry.before.is_none() && entry.after.is_none() {
        return Err(Error::invalid(
            format!("change {} cannot be undone: what it was about has been erased", entry.seq),
            "what was erased is gone for good",
        ));
    }
    let current = match ahead.iter().rev().find(|change| change.id() == entry.id) {
        Some(Change::Add(memory) | Change::Update(memory)) => Some((**memory).clone()),
        Some(Change::Delete(_) | Change::Erase(_)) => None,
        None => store.memories().get(scope, &[entry.id]).await?.pop().flatten(),
    };
    match (&entry.before, current) {
        (None, _) => Ok(Change::Delete(entry.id)),
        (Some(before), Some(current)) => {
            let mut back = restored(before, current.version, now);
            if !only_changes_usage(entry) && !changed_weight(entry) {
                // What use made of it since stays.
                (back.weight, back.last_used_at) = (current.weight, current.last_used_at);
            }
            Ok(Change::Update(Box::new(back)))
        }
        (Some(before), None) => Ok(Change::Add(Box::new(restored(before, before.version, now)))),
    }
}

/// Refuses if anything but what is undone as well has happened to the memory since.
async fn check_untouched(
    store: &dyn Store,
    scope: &Scope,
    entry: &JournalEntry,
    undone: &[JournalEntry],
) -> Result<()> {
    let own = JournalQuery { id: Some(entry.id), ..JournalQuery::default() };
    let is_undone = |seq: u64| undone.iter().any(|entry| entry.seq == seq);
    let later =
        store.journal().entries(scope, &own).await?.into_iter().find(|later| {
            later.seq > entry.seq && !is_undone(later.seq) && !only_changes_usage(later)
        });
    match later {
        None => Ok(()),
        // Erasure is told by what it left of the entry.
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

/// Whether a change did nothing but let a weight follow use: it stands in the way of no undoing.
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
