//! `everlore schedule rm`: removes reminders.

use clap::Args;
use serde_json::json;

use crate::{CliContext, Exit, Output, Result, render::sanitize};

/// Remove reminders; `everlore memory undo` brings them back
#[derive(Debug, Args)]
pub(crate) struct ScheduleRemoveArgs {
    /// The reminders; an id may be shortened
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl ScheduleRemoveArgs {
    /// Removes the reminders, after all names are resolved.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut ids = Vec::new();
        for name in &self.ids {
            ids.push(engine.resolve(&cx.scope, name).await?);
        }
        ids.sort_unstable();
        ids.dedup();
        let mut removed = Vec::new();
        for id in ids {
            removed.push(engine.remove_schedule(&cx.scope, id).await?);
        }
        if out.is_json() {
            out.json(&json!({ "removed": removed }))?;
            return Ok(Exit::Done);
        }
        for schedule in &removed {
            out.say(&format!("removed: {}", sanitize(&schedule.task)))?;
        }
        Ok(Exit::Done)
    }
}
