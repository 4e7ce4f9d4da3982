//! `everlore tool`: the tools of agents, listed, shown and called by hand.

mod call;
mod list;
mod show;

use std::future::ready;

use clap::Subcommand;

use super::CommandFuture;
use crate::{CliContext, Output};

/// List, show and call the tools that agents are given
///
/// The same tools are described in docs/reference/tools.md.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    List(list::ToolListArgs),
    Show(show::ToolShowArgs),
    Call(call::ToolCallArgs),
}

impl ToolCommand {
    /// Returns `true` for commands that call no tool.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(self, Self::Call(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        match self {
            Self::List(args) => Box::pin(ready(args.run(out))),
            Self::Show(args) => Box::pin(ready(args.run(out))),
            Self::Call(args) => Box::pin(args.run(cx, out)),
        }
    }
}
