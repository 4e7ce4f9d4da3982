//! `everlore reflect`: reviews the memories and proposes changes.

use clap::Args;
use everlore::engine::ReflectRequest;

use super::proposals::render_proposals;
use crate::{CliContext, Exit, Output, Result, render::pluralize};

/// Review the memories and propose changes, which you approve or reject
///
/// Proposes a line of USER.md or SOUL.md for what you asked for or corrected twice, or said three times, and a new line
/// where an identity file still says what you have corrected since. Proposes a skill or a workflow for tool calls that came in the
/// same order in three conversations, and for failures and complaints that came back as often and whose cure is known. Proposes to supersede, archive or merge memories
/// that contradict each other, no longer hold, or say the same: paths, programs and dates that they name are looked up on
/// this machine, nothing is run and nothing is sent. What you rejected never returns. No model is asked, and nothing
/// but proposals and the measured effect of skills is written, as one run that `everlore memory undo --run` undoes.
#[derive(Debug, Args)]
pub(crate) struct ReflectArgs {
    /// Print what would be proposed, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl ReflectArgs {
    /// Returns `true` if nothing is stored.
    pub(crate) fn is_read_only(&self) -> bool {
        self.dry_run
    }

    /// Reflects and prints the new proposals.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let request = ReflectRequest { dry_run: self.dry_run };
        let bar = out.progress("reflect", None);
        let mut progress = |read| bar.set_position(read as u64);
        let report = engine.reflect(&cx.scope, &request, &mut progress).await;
        bar.finish_and_clear();
        let report = report?;
        if out.is_json() {
            out.json(&report)?;
            return Ok(Exit::Done);
        }
        let verb = if report.dry_run { "would be made" } else { "made" };
        let count = pluralize(report.proposals.len(), "new proposal", "new proposals");
        out.say(&format!("{count} {verb}"))?;
        out.text(&render_proposals(cx, &report.proposals).await?)?;
        if report.left_out > 0 {
            out.say(&format!("and {} more, which the next reflection finds", report.left_out))?;
        }
        if let Some(run) = &report.run {
            out.note(&format!(
                "decide with: everlore proposals approve ID, or reject ID; undo all with: everlore memory undo --run {run}"
            ));
        }
        Ok(Exit::Done)
    }
}
