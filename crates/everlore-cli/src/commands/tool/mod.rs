//! `everlore tool`: what an agent is given, listed, shown and called by hand.

mod call;
mod list;
mod show;

use clap::Subcommand;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

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
    /// Whether it only looks at the tools themselves.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(self, Self::Call(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List(args) => args.run(out),
            Self::Show(args) => args.run(out),
            Self::Call(args) => args.run(cx, out).await,
        }
    }
}
