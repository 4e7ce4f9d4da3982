//! `everlore fs`: memory as a tree of files (X6).

mod browse;
mod search;
mod write;

use clap::Subcommand;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Walk through memory as a tree of files: memories, documents, conversations, layers
///
/// A URI is what `ls` shows (agent://…), a path from the root such as user/food, or a viking:// uri. Nothing outside the
/// agent and the user is reached. See docs/fs.md for what stands where.
#[derive(Debug, Subcommand)]
pub(crate) enum FsCommand {
    Ls(browse::FsLsArgs),
    Tree(browse::FsTreeArgs),
    Read(browse::FsReadArgs),
    Stat(browse::FsStatArgs),
    Find(search::FsFindArgs),
    Grep(search::FsGrepArgs),
    Inject(search::FsInjectArgs),
    Status(browse::FsStatusArgs),
    Add(write::FsAddArgs),
    Rm(write::FsRmArgs),
}

impl FsCommand {
    /// Whether it only looks.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(self, Self::Add(_) | Self::Rm(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::Ls(args) => args.run(cx, out).await,
            Self::Tree(args) => args.run(cx, out).await,
            Self::Read(args) => args.run(cx, out).await,
            Self::Stat(args) => args.run(cx, out).await,
            Self::Find(args) => args.run(cx, out).await,
            Self::Grep(args) => args.run(cx, out).await,
            Self::Inject(args) => args.run(cx, out).await,
            Self::Status(args) => args.run(cx, out).await,
            Self::Add(args) => args.run(cx, out).await,
            Self::Rm(args) => args.run(cx, out).await,
        }
    }
}
