//! `everlore schedule explain`: how a phrase is read, and its next runs.

use clap::Args;
use everlore::{engine::ScheduleAnswer, types::Timestamp};

use crate::{
    CliContext, Exit, Output, Result, input,
    messages::translate,
    render::{pad_width, sanitize},
};

/// Width of the column of names.
const NAME_CELLS: usize = 6;

/// Show how a phrase is read: its cron line, if there is one, and the next runs
#[derive(Debug, Args)]
pub(crate) struct ScheduleExplainArgs {
    /// The phrase, such as "every other Monday at 9"; without it, or with `-`, it is read from standard input
    text: Vec<String>,
    /// The time at which it is said, such as 2026-03-02T12:00:00+01:00 [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    now: Option<Timestamp>,
    /// The time zone, such as Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
}

impl ScheduleExplainArgs {
    /// Prints the reading; a phrase that is unclear is nothing found.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let text = input::text_or_stdin(&self.text, out)?;
        let engine = cx.files_only_engine();
        let answer = engine.explain_schedule(&text, self.tz.as_deref(), self.now)?;
        if out.is_json() {
            out.json(&answer)?;
        } else {
            print_answer(&answer, out)?;
        }
        Ok(Exit::from_found(answer.unclear.is_none()))
    }
}

fn print_answer(answer: &ScheduleAnswer, out: &mut Output) -> Result<()> {
    if let Some(unclear) = &answer.unclear {
        out.note(&format!("unclear: {}", sanitize(unclear)));
        return Ok(());
    }
    let mut line = |name: &str, value: &str| {
        out.line(&format!("{} {value}", pad_width(&translate(name), NAME_CELLS)))
    };
    line("kind", &translate(answer.kind))?;
    if let Some(task) = &answer.task {
        line("task", &sanitize(task))?;
    }
    if let Some(cron) = &answer.cron {
        line("cron", cron)?;
    }
    for (index, run) in answer.next.iter().enumerate() {
        line(if index == 0 { "next" } else { "" }, run)?;
    }
    Ok(())
}

/// Parses a time with its offset; without one it is in UTC.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    let utc = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let zoned = || text.parse::<jiff::Zoned>().ok();
    let at = text
        .parse()
        .ok()
        .or_else(|| Some(zoned()?.timestamp()))
        .or_else(|| Some(utc()?.timestamp()));
    at.ok_or_else(|| "use a time such as 2026-03-02T12:00:00+01:00".to_owned())
}
