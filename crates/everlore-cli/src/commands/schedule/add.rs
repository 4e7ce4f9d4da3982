//! `everlore schedule add`: stores a reminder.

use clap::Args;
use everlore::engine::NewSchedule;

use crate::{CliContext, Exit, Output, Result, ids::shorten_id, input, render::sanitize};

/// Add a reminder: the times in words, with what to be reminded of
///
/// A phrase that is unclear is refused with what is unclear. `everlore memory undo` takes the reminder back.
#[derive(Debug, Args)]
pub(crate) struct ScheduleAddArgs {
    /// The times and the task, such as "every weekday at 9 stand up"; without it, or with `-`, it is read from standard
    /// input
    text: Vec<String>,
    /// The thing to be reminded of, if the text does not say it
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The time zone, such as Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
}

impl ScheduleAddArgs {
    /// Stores the reminder and prints its next run.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let text = input::text_or_stdin(&self.text, out)?;
        let new = NewSchedule { text, task: self.task, zone: self.tz };
        let engine = cx.engine().await?;
        let added = engine.add_schedule(&cx.scope, &new).await?;
        let next = added.next.as_deref().unwrap_or("never");
        let id = shorten_id(engine, &cx.scope, added.id).await?;
        let line = format!("added: {} (next {next}, id {id})", sanitize(&added.task));
        out.answer_line(&added, &line)
    }
}
