//! `everlore layer history`, `undo` and `redo`: revisions of a layer file.

use clap::Args;
use serde_json::json;

use super::{LayerTargetArgs, by_person, edit};
use crate::{
    CliContext, Exit, Output, Result,
    commands::memory::diff::word_diff,
    messages::translate,
    render::{indent, sanitize},
    times::format_minute,
};

/// Show what was changed in a file, by whom, when and why, the newest first
#[derive(Debug, Args)]
pub(crate) struct LayerHistoryArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// The most changes to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

/// Undo the last change of a file; repeated, the one before it
#[derive(Debug, Args)]
pub(crate) struct LayerUndoArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
    /// The number of the change; fails if it is not the last one
    number: Option<u64>,
}

/// Do the change of a file again that was undone last
#[derive(Debug, Args)]
pub(crate) struct LayerRedoArgs {
    #[command(flatten)]
    which: LayerTargetArgs,
}

impl LayerHistoryArgs {
    /// Prints the changes.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let day = self.which.resolve_day(cx)?;
        let revisions = cx.layers().revisions(self.which.layer, day, &by_person(cx))?;
        let text = |index: usize| revisions.get(index).and_then(|revision| revision.text.clone());
        let shown = (0..revisions.len()).rev().take(self.limit);
        if out.is_json() {
            let entry = |index: usize| {
                let entry = &revisions[index];
                json!({
                    "number": entry.number,
                    "at": entry.at,
                    "actor": entry.actor,
                    "cause": entry.cause,
                    "before": index.checked_sub(1).and_then(text),
                    "after": entry.text,
                })
            };
            out.json(&json!({ "changes": shown.map(entry).collect::<Vec<_>>() }))?;
            return Ok(Exit::from_found(!revisions.is_empty()));
        }
        if revisions.is_empty() {
            out.note("nothing was changed yet");
        }
        for index in shown {
            let entry = &revisions[index];
            let actor = format!("{:?}", entry.actor).to_lowercase();
            let when = format_minute(entry.at, &cx.now());
            let cause = sanitize(&entry.cause);
            let (actor, cause) = (translate(&actor), translate(&cause));
            out.line(&format!("#{} {when} {actor}: {cause}", entry.number))?;
            let before = index.checked_sub(1).and_then(text).unwrap_or_default();
            let changed = word_diff(&before, entry.text.as_deref().unwrap_or_default());
            out.line(&indent(&changed, 4))?;
        }
        Ok(Exit::from_found(!revisions.is_empty()))
    }
}

impl LayerUndoArgs {
    /// Undoes the change.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let day = self.which.resolve_day(cx)?;
        let undone = cx.layers().undo(self.which.layer, day, self.number, &by_person(cx))?;
        edit::print_change(&undone, out)
    }
}

impl LayerRedoArgs {
    /// Does the change again.
    pub(super) fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let day = self.which.resolve_day(cx)?;
        let redone = cx.layers().redo(self.which.layer, day, &by_person(cx))?;
        edit::print_change(&redone, out)
    }
}
