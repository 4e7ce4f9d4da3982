//! `everlore memory undo`: undoes changes of the journal.

use clap::Args;
use everlore::{engine::UndoTarget, store::JournalQuery};
use serde_json::json;

use crate::{CliContext, CliError, Exit, Output, Result, render::pluralize};

/// Undo a change, or all changes of a run; this can be undone too
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct MemoryUndoArgs {
    /// The number of the change, as `everlore memory history` shows it
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    /// The run, such as one import
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The newest change, and if it belongs to a run, all of that run
    #[arg(long)]
    last: bool,
}

impl MemoryUndoArgs {
    /// Undoes the change or run and prints it.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let target = match (self.seq, self.run) {
            (Some(seq), _) => UndoTarget::Change(seq),
            (None, Some(run)) => UndoTarget::Run(run),
            (None, None) => last_change(cx).await?,
        };
        let undone = engine.undo(&cx.scope, &target).await?;
        if out.is_json() {
            out.json(&json!({ "undone": undone }))?;
            return Ok(Exit::Done);
        }
        let target = match target {
            UndoTarget::Change(seq) => format!("change {seq}"),
            UndoTarget::Run(run) => {
                format!("run {run}, {}", pluralize(undone.len(), "change", "changes"))
            }
        };
        out.line(&format!("undone: {target}"))?;
        Ok(Exit::Done)
    }
}

async fn last_change(cx: &CliContext) -> Result<UndoTarget> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let newest = cx.engine().await?.history(&cx.scope, &newest).await?.pop();
    match newest {
        Some(entry) => Ok(entry.run.map_or(UndoTarget::Change(entry.seq), UndoTarget::Run)),
        None => Err(CliError::invalid(
            "there is nothing to undo",
            "see what was changed with `everlore memory history`",
        )),
    }
}
