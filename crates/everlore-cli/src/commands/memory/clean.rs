//! `everlore memory clean`: archives memories of low weight.

use clap::Args;
use serde_json::json;

use super::list::render_memories;
use crate::{CliContext, CliError, Exit, Output, Result, render::pluralize};

/// Archive memories whose weight has fallen low
#[derive(Debug, Args)]
pub(crate) struct MemoryCleanArgs {
    /// Archive below this weight; a fresh memory weighs 1 [default: from the settings]
    #[arg(long, value_name = "WEIGHT")]
    threshold: Option<f64>,
    /// Only show what would be archived
    #[arg(long)]
    dry_run: bool,
}

impl MemoryCleanArgs {
    /// Archives memories below the threshold and lists them.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let threshold = self
            .threshold
            .unwrap_or(engine.settings(cx.scope.agent()).memory.long_term.archive_threshold);
        if !(0.0..=10.0).contains(&threshold) {
            return Err(CliError::invalid(
                format!("--threshold is {threshold}"),
                "weights go from 0 to 10; a fresh memory weighs 1",
            ));
        }
        let cleaned = engine.clean(&cx.scope, threshold, self.dry_run).await?;
        let archived = cleaned.memories;
        if out.is_json() {
            out.json(&json!({
                "threshold": threshold,
                "dry_run": self.dry_run,
                "memories": archived,
                "run": cleaned.run,
            }))?;
        } else {
            out.text(&render_memories(&archived, cx).await?)?;
            let done = if self.dry_run { "would be archived" } else { "archived" };
            out.say(&format!(
                "{} {done} (weight below {threshold})",
                pluralize(archived.len(), "memory", "memories")
            ))?;
        }
        Ok(Exit::Done)
    }
}
