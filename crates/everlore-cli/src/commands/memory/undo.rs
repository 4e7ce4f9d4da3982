//! `everlore memory undo`: takes changes back (H1).

use clap::Args;
use everlore::{ingest::Undo, store::JournalQuery};
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    words::count,
};

/// Take a change back, or all changes of a run; this can be undone too
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct UndoArgs {
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

impl UndoArgs {
    /// Undoes and says what was undone.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let what = match (self.seq, self.run) {
            (Some(seq), _) => Undo::Change(seq),
            (None, Some(run)) => Undo::Run(run),
            (None, None) => last(cx).await?,
        };
        let undone = engine.undo(&cx.scope, &what).await?;
        if out.is_json() {
            out.json(&json!({ "undone": undone }))?;
            return Ok(Exit::Done);
        }
        let what = match what {
            Undo::Change(seq) => format!("change {seq}"),
            Undo::Run(run) => format!("run {run}, {}", count(undone.len(), "change", "changes")),
        };
        out.line(&format!("undone: {what}"))?;
        Ok(Exit::Done)
    }
}

async fn last(cx: &Context) -> Result<Undo> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let newest = cx.engine().await?.history(&cx.scope, &newest).await?.pop();
    match newest {
        Some(entry) => Ok(entry.run.map_or(Undo::Change(entry.seq), Undo::Run)),
        None => Err(Failure::invalid(
            "there is nothing to undo",
            "see what was changed with `everlore memory history`",
        )),
    }
}
