//! `everlore memory undo` and `redo`: walk back and forth through the changes of the journal.

use clap::Args;
use everlore::{
    engine::{Layer, UndoTarget, UndoneStep},
    internal::files::layers::EditContext,
    store::JournalQuery,
    types::{Actor, Timestamp},
};
use serde_json::json;

use crate::{CliContext, Exit, Output, Result, render::pluralize};

/// Undo the newest change that is not undone yet; again and again, it goes back step by step
///
/// What one command changed is one step, such as all of an import. Name a change or a run to undo that one. This can be
/// undone too, with `everlore redo`.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct MemoryUndoArgs {
    /// The number of the change, as `everlore memory history` shows it
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    /// The run, such as one import
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The newest step that is not undone yet, as without any of these
    #[arg(long)]
    last: bool,
}

/// Redo what was undone last; again and again, it goes forward until the newest change
///
/// A new change ends what can be redone.
#[derive(Debug, Args)]
pub(crate) struct MemoryRedoArgs {}

impl MemoryUndoArgs {
    /// Undoes the change, the run or the newest step, and prints it.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let target = match (self.seq, self.run) {
            (Some(seq), _) => UndoTarget::Change(seq),
            (None, Some(run)) => UndoTarget::Run(run),
            (None, None) => {
                let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
                let newest = engine.history(&cx.scope, &newest).await?;
                print_step(&engine.undo_last(&cx.scope).await?, "undone", out)?;
                note_newer_layer(cx, newest.first().map(|entry| entry.at), out)?;
                return Ok(Exit::Done);
            }
        };
        let undone = engine.undo(&cx.scope, &target).await?;
        print_step(&UndoneStep { step: target, cause: String::new(), undone }, "undone", out)
    }
}

impl MemoryRedoArgs {
    /// Redoes the step that was undone last, and prints it.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        print_step(&cx.engine().await?.redo(&cx.scope).await?, "redone", out)
    }
}

/// Says that a layer was changed after the newest memory: its file has a history of its own.
fn note_newer_layer(cx: &CliContext, newest: Option<Timestamp>, out: &mut Output) -> Result<()> {
    let by = EditContext { actor: Actor::Person, now: cx.now() };
    for layer in [Layer::Memory, Layer::User, Layer::Soul] {
        let revisions = cx.layers().revisions(layer, cx.now().date(), &by)?;
        // The first revision is the file as it was created.
        let is_newer = revisions.len() > usize::from(layer == Layer::Soul)
            && revisions.last().map(|revision| revision.at) > newest;
        if is_newer && !out.is_json() {
            out.note(&format!(
                "the layer {layer} was changed later and has its own history: `everlore layer undo {layer}`"
            ));
        }
    }
    Ok(())
}

fn print_step(step: &UndoneStep, done: &str, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ done: step.undone, "step": step.step, "cause": step.cause }))?;
        return Ok(Exit::Done);
    }
    let target = match &step.step {
        UndoTarget::Change(seq) => format!("change {seq}"),
        UndoTarget::Run(run) => {
            format!("run {run}, {}", pluralize(step.undone.len(), "change", "changes"))
        }
    };
    out.say(&format!("{done}: {target}"))?;
    Ok(Exit::Done)
}
