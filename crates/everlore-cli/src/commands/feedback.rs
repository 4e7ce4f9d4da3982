//! `everlore feedback`: a verdict on a memory, which moves its weight.

use clap::Args;
use everlore::{
    engine::{FeedbackRequest, FeedbackVerdict},
    types::Status,
};

use crate::{CliContext, CliError, Exit, Output, Result, ids};

/// Say that a memory helped, or that it did not or is wrong
///
/// A verdict moves the weight of the memory within bounds; two bad ones archive it. `everlore memory show` shows the
/// count, `everlore memory undo` takes the verdict back. A verdict on an experience also counts for its solution.
#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// The memory
    id: String,
    /// The verdict, good or bad; it may also come first
    verdict: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// With bad: archive it at once, so that it is not brought up again
    #[arg(long)]
    never_again: bool,
}

/// Returns the verdict that a word gives.
fn parse_verdict(word: &str) -> Option<FeedbackVerdict> {
    match word.to_lowercase().as_str() {
        "good" | "好" => Some(FeedbackVerdict::Good),
        "bad" | "坏" | "不好" => Some(FeedbackVerdict::Bad),
        _ => None,
    }
}

impl FeedbackArgs {
    /// Returns the memory and the verdict, in whichever order they came.
    fn id_and_verdict(&self) -> Result<(&str, FeedbackVerdict)> {
        let given = [(&self.id, &self.verdict), (&self.verdict, &self.id)];
        let parsed =
            given.into_iter().find_map(|(id, verdict)| Some((id, parse_verdict(verdict)?)));
        parsed.map(|(id, verdict)| (id.as_str(), verdict)).ok_or_else(|| {
            CliError::invalid(
                format!("`{}` is no verdict", self.verdict),
                "say good or bad: `everlore feedback ID good`",
            )
        })
    }

    /// Gives the feedback and prints its effect.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let (id, verdict) = self.id_and_verdict()?;
        let engine = cx.engine().await?;
        let id = engine.resolve(&cx.scope, id).await?;
        let request =
            FeedbackRequest { verdict, because: self.because, never_again: self.never_again };
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
