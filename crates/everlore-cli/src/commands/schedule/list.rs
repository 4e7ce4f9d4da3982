//! `everlore schedule list`: stored reminders.

use clap::Args;
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{TITLE_CELLS, new_table, render_list, sanitize, truncate_width},
};

/// Width of the column with the words.
const TEXT_CELLS: usize = 40;

/// List reminders, that with the earliest next run first
#[derive(Debug, Args)]
pub(crate) struct ScheduleListArgs {}

impl ScheduleListArgs {
    /// Lists all reminders of the scope.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let schedules = engine.schedules(&cx.scope).await?;
        let found = Exit::from_found(!schedules.is_empty());
        if out.is_json() {
            out.json(&json!({ "schedules": schedules }))?;
            return Ok(found);
        }
        if schedules.is_empty() {
            out.note("there are no reminders; add one with `everlore schedule add`");
            return Ok(found);
        }
        let ids: Vec<_> = schedules.iter().map(|schedule| schedule.id).collect();
        let short = engine.shorten_ids(&cx.scope, &ids).await?;
        let mut rows = new_table(&["id", "next", "task", "times"]);
        for (schedule, id) in schedules.iter().zip(short) {
            let task = sanitize(&schedule.task);
            let task = if schedule.unverified {
                format!("{} {task}", translate("[unverified]"))
            } else {
                task.into_owned()
            };
            rows.add_row([
                id,
                schedule.next.clone().unwrap_or_default(),
                truncate_width(&task, TITLE_CELLS),
                truncate_width(&sanitize(&schedule.text), TEXT_CELLS),
            ]);
        }
        out.text(&render_list(rows))?;
        Ok(found)
    }
}
