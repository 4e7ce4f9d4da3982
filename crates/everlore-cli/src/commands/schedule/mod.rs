//! `everlore schedule`: reminders and tasks with their times in words.

mod add;
mod explain;
mod list;
mod remove;

use clap::Subcommand;

use super::{CommandFuture, dispatch};
use crate::{CliContext, Output};

/// Say when to be reminded, in words: "every weekday at 9", 每天早上9点
///
/// English and Chinese phrases and lines of cron are read; what is unclear is named and never guessed. Reminders that
/// are due are told once: in `everlore chat`, at the start of the next session of a coding agent, to programs that
/// follow the events of the server, or by `everlore heartbeat`.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    Explain(explain::ScheduleExplainArgs),
    Add(add::ScheduleAddArgs),
    List(list::ScheduleListArgs),
    Rm(remove::ScheduleRemoveArgs),
}

impl ScheduleCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Explain(_) | Self::List(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out: Explain | Add | List | Rm)
    }
}
