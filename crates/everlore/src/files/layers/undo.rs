//! Undo and redo of layer files, step by step: the causes of the revisions tell which changes hold.

use jiff::civil::Date;

use super::{EditContext, Layer, LayerChange, LayerEdit, LayerRevision, Layers};
use crate::error::{Error, Result};

/// Cause of a revision that undoes another; its number follows.
const UNDO: &str = "undo change ";

/// Cause of a revision that does an undone one again; its number follows.
const REDO: &str = "redo change ";

/// Changes of a file by their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
struct ChangeStack {
    /// Changes that hold, the last of them last.
    done: Vec<u64>,
    /// Changes that were undone since the last new one, the next to redo last.
    undone: Vec<u64>,
}

impl ChangeStack {
    fn of(revisions: &[LayerRevision]) -> Self {
        let mut stack = Self::default();
        for revision in revisions {
            let number = |cause: &str| revision.cause.strip_prefix(cause)?.parse::<u64>().ok();
            match (number(UNDO), number(REDO)) {
                (Some(target), _) => stack.undo(resolve(target, revisions)),
                (_, Some(target)) => stack.redo(target),
                _ => {
                    stack.done.push(revision.number);
                    stack.undone.clear();
                }
            }
        }
        stack
    }

    fn undo(&mut self, (target, was_undo): (u64, bool)) {
        if was_undo {
            return self.redo(target);
        }
        self.done.retain(|number| *number != target);
        self.undone.push(target);
    }

    fn redo(&mut self, target: u64) {
        self.undone.retain(|number| *number != target);
        self.done.push(target);
    }
}

/// Returns the change that a revision is about, and whether it undid it: undoing an undo is doing it again.
fn resolve(number: u64, revisions: &[LayerRevision]) -> (u64, bool) {
    let revision = revisions.iter().find(|revision| revision.number == number);
    let named = |cause: &str| revision?.cause.strip_prefix(cause)?.parse::<u64>().ok();
    match (named(UNDO), named(REDO)) {
        (Some(target), _) => (target, true),
        (_, Some(target)) => (target, false),
        _ => (number, false),
    }
}

impl Layers {
    /// Undoes the last change that holds, or the one named if it is the last. Repeating it goes further back.
    pub fn undo(
        &self,
        layer: Layer,
        day: Date,
        number: Option<u64>,
        by: &EditContext,
    ) -> Result<LayerChange> {
        let revisions = self.revisions(layer, day, by)?;
        let newest = revisions.last().map(|revision| revision.number);
        let last = ChangeStack::of(&revisions).done.last().copied();
        let target = match number {
            Some(number) if Some(number) == newest => number,
            _ => last.ok_or_else(nothing_to_undo)?,
        };
        match number.filter(|number| *number != target) {
            None => {}
            Some(number) if revisions.iter().any(|revision| revision.number == number) => {
                return Err(Error::invalid(
                    format!("the file was changed again by change {target}"),
                    format!("undo the later one first: everlore layer undo {layer} {target}"),
                ));
            }
            Some(number) => return Err(Error::not_found("change", number)),
        }
        let at = revisions.iter().position(|revision| revision.number == target);
        let before = match at.and_then(|at| at.checked_sub(1)) {
            Some(at) => revisions[at].text.clone().unwrap_or_default(),
            None if target > 1 => return Err(no_longer_kept()),
            None => String::new(),
        };
        self.replace_text(layer, day, by, &format!("{UNDO}{target}"), before, &revisions)
    }

    /// Does the change again that was undone last. Fails if nothing was undone since the last new change.
    pub fn redo(&self, layer: Layer, day: Date, by: &EditContext) -> Result<LayerChange> {
        let revisions = self.revisions(layer, day, by)?;
        let Some(target) = ChangeStack::of(&revisions).undone.pop() else {
            return Err(Error::invalid(
                "there is nothing to redo",
                "only what was undone can be done again, until the file is changed",
            ));
        };
        let revision = revisions.iter().find(|revision| revision.number == target);
        let text = revision.ok_or_else(no_longer_kept)?.text.clone().unwrap_or_default();
        self.replace_text(layer, day, by, &format!("{REDO}{target}"), text, &revisions)
    }

    /// Replaces the text of the last revision, if the file still has it.
    fn replace_text(
        &self,
        layer: Layer,
        day: Date,
        by: &EditContext,
        cause: &str,
        text: String,
        revisions: &[LayerRevision],
    ) -> Result<LayerChange> {
        let before = revisions.last().and_then(|last| last.text.clone()).unwrap_or_default();
        let edit = LayerEdit::Write { before, text };
        self.edit_locked(layer, day, by, cause, |text| edit.apply(text))
    }
}

fn nothing_to_undo() -> Error {
    Error::invalid("there is nothing to undo", "`everlore layer history` lists changes")
}

fn no_longer_kept() -> Error {
    Error::invalid("the earlier text of the file is no longer kept", "restore it from a backup")
}
