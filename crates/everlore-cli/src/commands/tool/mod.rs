//! `everlore tool`: what an agent is given, listed, shown and called by hand.

mod call;
mod list;
mod show;

use clap::Subcommand;

use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// List, show and call the tools that agents are given
///
/// The same tools are described in docs/reference/tools.md.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Call(call::CallArgs),
}

impl ToolCommand {
    /// Whether it only looks at the tools themselves.
    pub(crate) fn only_reads(&self) -> bool {
        !matches!(self, Self::Call(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List(args) => args.run(out),
            Self::Show(args) => args.run(out),
            Self::Call(args) => args.run(cx, out).await,
        }
    }
}
