//! Undo of one change or of all changes of a run, and the walk back and forth through them. Undoing is itself a change,
//! so it can be undone.

mod steps;

use std::collections::HashMap;

use serde::Serialize;

use super::remember::revive;
use crate::{
    error::{Error, Result},
    store::{JournalQuery, Store},
    sync::BoxFuture,
    types::{
        Actor, Change, ChangeOp, EXACT_UNDO_CAUSES, JournalEntry, Kind, Memory, MemoryId,
        OVERVIEW_KEY, SCHEDULE_KEY, SKILL_EFFECT_KEY, Scope, Status, Timestamp, WriteBatch,
        run_name,
    },
};
use steps::{Direction, find_step};

/// Changes to undo.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UndoTarget {
    /// Change with this sequence number.
    #[serde(rename = "seq")]
    Change(u64),
    /// All changes of this run.
    Run(String),
}

/// Step that was undone or redone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoneStep {
    /// Change or run.
    pub step: UndoTarget,
    /// Reason of the step in the journal: the operation.
    pub cause: String,
    /// Sequence numbers of the changes that were taken back.
    pub undone: Vec<u64>,
}

/// Undoes changes, all or none, and returns their sequence numbers.
pub(crate) fn undo<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    target: &'a UndoTarget,
    now: Timestamp,
) -> BoxFuture<'a, Result<Vec<u64>>> {
    Box::pin(async move {
        let entries = entries_of(store, scope, target).await?;
        if entries.is_empty() {
            return Err(not_found(target));
        }
        let step = covered_run(store, scope, &entries).await?;
        let name = name_of(step.as_ref().unwrap_or(target));
        invert(store, scope, &entries, &format!("undo {name}"), now).await?;
        Ok(sequence_numbers(&entries))
    })
}

/// Undoes the newest step that is not undone yet.
pub(crate) fn undo_last<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    now: Timestamp,
) -> BoxFuture<'a, Result<UndoneStep>> {
    walk(store, scope, Direction::Back, now)
}

/// Redoes the step that was undone last, unless something was changed since.
pub(crate) fn redo<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    now: Timestamp,
) -> BoxFuture<'a, Result<UndoneStep>> {
    walk(store, scope, Direction::Forth, now)
}

fn walk<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    direction: Direction,
    now: Timestamp,
) -> BoxFuture<'a, Result<UndoneStep>> {
    Box::pin(async move {
        let Some(found) = find_step(store, scope, direction).await? else {
            return Err(Error::invalid(
                format!("there is nothing to {}", direction.verb()),
                "see what was changed with `everlore memory history`",
            ));
        };
        let reason = format!("{} {}", direction.verb(), name_of(&found.step));
        invert(store, scope, &found.entries, &reason, now).await?;
        let cause = found.entries.last().map(|entry| entry.cause.clone()).unwrap_or_default();
        Ok(UndoneStep { step: found.step, cause, undone: sequence_numbers(&found.entries) })
    })
}

/// Writes the inverses of journal lines, newest first, as one step of the journal.
async fn invert(
    store: &dyn Store,
    scope: &Scope,
    entries: &[JournalEntry],
    reason: &str,
    now: Timestamp,
) -> Result<()> {
    let mut states: HashMap<MemoryId, Option<Memory>> = HashMap::new();
    let mut changes: Vec<Change> = Vec::new();
    for entry in entries {
        check_not_erased(entry)?;
        let current = match states.remove(&entry.id) {
            Some(planned) => planned,
            None => store.memories().get(scope, &[entry.id]).await?.pop().flatten(),
        };
        if !is_state_after(entry, current.as_ref()) {
            return Err(changed_again(store, scope, entry, entries).await?);
        }
        let change = inverse(entry, current, now);
        let state = match &change {
            Change::Add(memory) | Change::Update(memory) => Some((**memory).clone()),
            Change::Delete(_) | Change::Erase(_) => None,
        };
        states.insert(entry.id, state);
        changes.push(change);
    }
    let verb = reason.split(' ').next().unwrap_or_default();
    let run = (changes.len() > 1).then(|| run_name(verb, now));
    let write = WriteBatch::new(scope, Actor::Person, reason, now, changes);
    store.apply(WriteBatch { run, ..write }).await.map(drop)
}

async fn entries_of(
    store: &dyn Store,
    scope: &Scope,
    target: &UndoTarget,
) -> Result<Vec<JournalEntry>> {
    let query = match target {
        UndoTarget::Change(seq) => JournalQuery { seq: Some(*seq), ..JournalQuery::default() },
        UndoTarget::Run(run) => JournalQuery { run: Some(run.clone()), ..JournalQuery::default() },
    };
    let entries = store.journal().entries(scope, &query).await?;
    match target {
        UndoTarget::Change(_) => with_turns(store, scope, entries).await,
        UndoTarget::Run(_) => Ok(entries),
    }
}

/// Adds to the deletion of a memory those of the turns that went with it, as long as these are still deleted.
async fn with_turns(
    store: &dyn Store,
    scope: &Scope,
    mut entries: Vec<JournalEntry>,
) -> Result<Vec<JournalEntry>> {
    let Some((deletion, run)) = entries.first().and_then(deletion_with_sources) else {
        return Ok(entries);
    };
    let query = JournalQuery { run: Some(run.to_owned()), ..JournalQuery::default() };
    let mut turns = store.journal().entries(scope, &query).await?;
    turns.retain(|turn| {
        turn.op == ChangeOp::Delete && !is_erased(turn) && deletion.contains(&turn.id)
    });
    let ids: Vec<MemoryId> = turns.iter().map(|turn| turn.id).collect();
    let stored = store.memories().get(scope, &ids).await?;
    let deleted = turns.into_iter().zip(stored).filter(|(_, stored)| stored.is_none());
    entries.splice(0..0, deleted.map(|(turn, _)| turn));
    Ok(entries)
}

/// Returns the run of several journal lines if they are all of it: then the run is what is undone.
async fn covered_run(
    store: &dyn Store,
    scope: &Scope,
    entries: &[JournalEntry],
) -> Result<Option<UndoTarget>> {
    let [first, _, ..] = entries else { return Ok(None) };
    let Some(run) = first.run.clone() else { return Ok(None) };
    let target = UndoTarget::Run(run);
    let all = entries_of(store, scope, &target).await?;
    Ok((all.len() == entries.len()).then_some(target))
}

/// Returns the turns that a deleted memory came from, and the run that deleted it.
fn deletion_with_sources(entry: &JournalEntry) -> Option<(Vec<MemoryId>, &str)> {
    let turns = &entry.before.as_ref()?.source.turns;
    let is_deletion = entry.op == ChangeOp::Delete && !turns.is_empty();
    is_deletion.then_some((turns.clone(), entry.run.as_deref()?))
}

fn sequence_numbers(entries: &[JournalEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq).collect()
}

fn name_of(target: &UndoTarget) -> String {
    match target {
        UndoTarget::Change(seq) => format!("change {seq}"),
        UndoTarget::Run(run) => format!("run {run}"),
    }
}

fn not_found(target: &UndoTarget) -> Error {
    match target {
        UndoTarget::Change(seq) => Error::not_found("change", seq),
        UndoTarget::Run(run) => Error::not_found("run", run),
    }
}

fn check_not_erased(entry: &JournalEntry) -> Result<()> {
    if !is_erased(entry) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("change {} cannot be undone: its memory has been erased", entry.seq),
        "an erased memory cannot be restored",
    ))
}

/// Returns `true` if a line has nothing to restore: it erased a memory, or its memory was erased since.
fn is_erased(entry: &JournalEntry) -> bool {
    entry.op == ChangeOp::Erase || entry.before.is_none() && entry.after.is_none()
}

/// Returns the change that restores the state before a line.
fn inverse(entry: &JournalEntry, current: Option<Memory>, now: Timestamp) -> Change {
    match (&entry.before, current) {
        (None, _) => Change::Delete(entry.id),
        (Some(before), Some(current)) => {
            let mut restored_memory = restored(before, current.version, now);
            if !only_changes_usage(entry) && !changed_weight(entry) {
                // Weight and last use keep what usage changed since.
                (restored_memory.weight, restored_memory.last_used_at) =
                    (current.weight, current.last_used_at);
            }
            let is_revived =
                restored_memory.status == Status::Active && current.status == Status::Archived;
            if is_revived && !EXACT_UNDO_CAUSES.contains(&entry.cause.as_str()) {
                // Otherwise the next upkeep would archive it again.
                restored_memory.status = Status::Archived;
                revive(&mut restored_memory, now);
            }
            Change::Update(Box::new(restored_memory))
        }
        (Some(before), None) => Change::Add(Box::new(restored(before, before.version, now))),
    }
}

/// Returns `true` if a memory is as a line left it, use and short forms aside.
fn is_state_after(entry: &JournalEntry, current: Option<&Memory>) -> bool {
    match (&entry.after, current) {
        (None, None) => true,
        (Some(after), Some(current)) => is_same_statement(after, current),
        _ => false,
    }
}

/// Names the change since that forbids to undo a line.
async fn changed_again(
    store: &dyn Store,
    scope: &Scope,
    entry: &JournalEntry,
    undone: &[JournalEntry],
) -> Result<Error> {
    let query = JournalQuery { id: Some(entry.id), ..JournalQuery::default() };
    let is_undone = |seq: u64| undone.iter().any(|entry| entry.seq == seq);
    let history = store.journal().entries(scope, &query).await?;
    let later = history
        .iter()
        .find(|later| later.seq > entry.seq && !is_undone(later.seq) && !only_changes_usage(later));
    let seq = later.map_or(entry.seq, |later| later.seq);
    Ok(Error::invalid(
        format!(
            "change {} cannot be undone: memory `{}` was changed again by change {seq}",
            entry.seq, entry.id
        ),
        format!("undo the later one first: everlore memory undo {seq}"),
    ))
}

/// Returns `true` if a change only adjusted weight, last use or short forms, or told a reminder: it does not block
/// undoing.
fn only_changes_usage(entry: &JournalEntry) -> bool {
    let (Some(before), Some(after)) = (&entry.before, &entry.after) else { return false };
    entry.actor == Actor::Engine && is_same_statement(before, after)
}

/// Compares two states of a memory, without what use, time, short forms, the use of a skill and the telling of a reminder
/// change.
fn is_same_statement(one: &Memory, other: &Memory) -> bool {
    let bare = |memory: &Memory| {
        let mut memory = memory.clone();
        if memory.metadata.remove(OVERVIEW_KEY).is_some() {
            memory.description.clear();
        }
        if memory.kind == Kind::Schedule {
            memory.metadata.remove(SCHEDULE_KEY);
            memory.status = Status::Active;
        }
        memory.metadata.remove(SKILL_EFFECT_KEY);
        memory
    };
    let (one, other) = (bare(one), bare(other));
    let same = Memory {
        weight: other.weight,
        last_used_at: other.last_used_at,
        version: other.version,
        updated_at: other.updated_at,
        ..one
    };
    same == other
}

fn changed_weight(entry: &JournalEntry) -> bool {
    let weight = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.weight);
    weight(&entry.before) != weight(&entry.after)
}

fn restored(before: &Memory, version: u32, now: Timestamp) -> Memory {
    Memory { version: version + 1, updated_at: now, ..before.clone() }
}
