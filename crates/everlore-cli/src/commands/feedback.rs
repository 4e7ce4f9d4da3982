//! `everlore feedback`: a verdict on a memory, which moves its weight.

use clap::{Args, ValueEnum};
use everlore::{
    engine::{FeedbackRequest, FeedbackVerdict},
    types::Status,
};

use crate::{CliContext, Exit, Output, Result, ids};

/// Say that a memory helped, or that it did not or is wrong
///
/// A verdict moves the weight of the memory within bounds; two bad ones archive it. `everlore memory show` shows the
/// count, `everlore memory undo` takes the verdict back. A verdict on an experience also counts for its solution.
#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// The memory
    id: String,
    /// The verdict
    #[arg(value_enum)]
    verdict: VerdictArg,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// With bad: archive it at once, so that it is not brought up again
    #[arg(long)]
    never_again: bool,
}

/// Verdict on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum VerdictArg {
    Good,
    Bad,
}

impl From<VerdictArg> for FeedbackVerdict {
    fn from(verdict: VerdictArg) -> Self {
        match verdict {
            VerdictArg::Good => Self::Good,
            VerdictArg::Bad => Self::Bad,
        }
    }
}

impl FeedbackArgs {
    /// Gives the feedback and prints its effect.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, &self.id).await?;
        let request = FeedbackRequest {
            verdict: self.verdict.into(),
            because: self.because,
            never_again: self.never_again,
        };
        let receipt = engine.give_feedback(&cx.scope, &[id], &request).await?;
        if out.is_json() {
            out.json(&receipt)?;
            return Ok(Exit::Done);
        }
        let short = ids::shorten_id(engine, &cx.scope, id).await?;
        for effect in &receipt.memories {
            let archived = if effect.status == Status::Archived {
                "; archived, not brought up again"
            } else {
                ""
            };
            out.say(&format!(
                "{}: {} good, {} bad; weight {:.2} → {:.2}{archived}",
                out.bold(&short),
                effect.good,
                effect.bad,
                effect.weight_before,
                effect.weight
            ))?;
        }
        out.say(&format!("undo with: everlore memory undo --run {}", receipt.run))?;
        Ok(Exit::Done)
    }
}
