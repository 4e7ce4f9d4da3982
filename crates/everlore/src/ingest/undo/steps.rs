//! Steps of the journal: a change, or all changes of a run. Walking back finds the newest step that holds, walking forth
//! the step that was undone last. The journal alone tells: an undo names its step as the reason.

use std::collections::HashSet;

use super::{UndoTarget, entries_of, is_erased, only_changes_usage};
use crate::{
    error::Result,
    store::{JournalQuery, Store},
    types::{Actor, JournalEntry, Scope},
};

/// Lines read at a time; most walks end within the first few.
const PAGE: usize = 64;

/// Direction of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Back,
    Forth,
}

impl Direction {
    /// Returns the verb of the journal and of messages.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Back => "undo",
            Self::Forth => "redo",
        }
    }
}

/// Step that a walk takes.
pub(super) struct FoundStep {
    /// Step that is undone or redone.
    pub(super) step: UndoTarget,
    /// Lines whose inverses do that, newest first: those of the step, or of the undo or redo that touched it last.
    pub(super) entries: Vec<JournalEntry>,
}

/// Part that a step plays in a walk.
enum StepRole {
    Change,
    Undo(UndoTarget),
    Redo(UndoTarget),
}

/// Finds the next step of a walk; `None` at its end.
pub(super) async fn find_step(
    store: &dyn Store,
    scope: &Scope,
    direction: Direction,
) -> Result<Option<FoundStep>> {
    let mut query = JournalQuery { limit: Some(PAGE), ..JournalQuery::default() };
    let (mut seen, mut settled) = (HashSet::new(), HashSet::new());
    loop {
        let page = store.journal().entries(scope, &query).await?;
        let Some(last) = page.last() else { return Ok(None) };
        query.before = Some(last.seq);
        for entry in &page {
            let name = step_of(entry);
            let is_undone = direction == Direction::Back && settled.contains(&name);
            if !seen.insert(name.clone()) || is_undone {
                continue;
            }
            let step = match (role_of(entry), direction) {
                (StepRole::Undo(target), Direction::Back)
                | (StepRole::Redo(target), Direction::Forth) => {
                    // A newer undo or redo of the same step counts.
                    settled.insert(target);
                    continue;
                }
                (StepRole::Undo(target), Direction::Forth)
                | (StepRole::Redo(target), Direction::Back) => {
                    if settled.contains(&target) {
                        continue;
                    }
                    target
                }
                (StepRole::Change, _) if only_changes_usage(entry) => continue,
                // Capture and upkeep run beside a person who walks back and forth.
                (StepRole::Change, Direction::Forth) if entry.actor == Actor::Engine => continue,
                // A new change ends what could be redone.
                (StepRole::Change, Direction::Forth) => return Ok(None),
                (StepRole::Change, Direction::Back) => name.clone(),
            };
            let mut entries = entries_of(store, scope, &name).await?;
            entries.retain(|entry| !is_erased(entry) && !only_changes_usage(entry));
            if !entries.is_empty() {
                return Ok(Some(FoundStep { step, entries }));
            }
        }
    }
}

fn step_of(entry: &JournalEntry) -> UndoTarget {
    entry.run.clone().map_or(UndoTarget::Change(entry.seq), UndoTarget::Run)
}

/// Reads the part of a step from its reason.
fn role_of(entry: &JournalEntry) -> StepRole {
    let parse = |verb: &str| {
        let target = entry.cause.strip_prefix(verb)?;
        if let Some(run) = target.strip_prefix("run ") {
            return Some(UndoTarget::Run(run.to_owned()));
        }
        target.strip_prefix("change ")?.parse().ok().map(UndoTarget::Change)
    };
    let undo = parse("undo ").map(StepRole::Undo);
    undo.or_else(|| parse("redo ").map(StepRole::Redo)).unwrap_or(StepRole::Change)
}
