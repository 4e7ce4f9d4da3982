//! `everlore layer history` and `undo`: what a file said before (H1).

use clap::Args;
use serde_json::json;

use super::{Which, change, person};
use crate::{
    commands::memory::diff::diff,
    context::Context,
    failure::{Exit, Result},
    output::Output,
    times::minute,
    words::{indented, visible},
};

/// Show what was changed in a file, by whom, when and why, the newest first
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    which: Which,
    /// The most changes to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

/// Take back the last change of a file
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    which: Which,
    /// The number of the change, to be sure which one it is
    number: Option<u64>,
}

impl HistoryArgs {
    /// Prints the changes.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let day = self.which.day(cx)?;
        let past = cx.layers().past(self.which.layer, day, &person(cx))?;
        let text = |index: usize| past.get(index).and_then(|past| past.text.clone());
        let shown = (0..past.len()).rev().take(self.limit);
        if out.is_json() {
            let entry = |index: usize| {
                let entry = &past[index];
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
            return Ok(Exit::found(!past.is_empty()));
        }
        if past.is_empty() {
            out.note("nothing was changed yet");
        }
        for index in shown {
            let entry = &past[index];
            let actor = format!("{:?}", entry.actor).to_lowercase();
            let when = minute(entry.at, &cx.now());
            let cause = visible(&entry.cause);
            out.line(&format!("#{} {when} {actor}: {cause}", entry.number))?;
            let before = index.checked_sub(1).and_then(text).unwrap_or_default();
            let changed = diff(&before, entry.text.as_deref().unwrap_or_default());
            out.line(&indented(&changed, 4))?;
        }
        Ok(Exit::found(!past.is_empty()))
    }
}

impl UndoArgs {
    /// Takes the change back.
    pub(super) fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let day = self.which.day(cx)?;
        let undone = cx.layers().undo(self.which.layer, day, self.number, &person(cx))?;
        change::told(&undone, out)
    }
}
