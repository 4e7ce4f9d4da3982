//! `everlore fs`: memory as a tree of files (X6).

mod look;
mod search;
mod change;

use clap::Subcommand;

use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// Walk through memory as a tree of files: memories, documents, conversations, layers
///
/// A URI is what `ls` shows (agent://…), a path from the root such as user/food, or a viking:// uri. Nothing outside the
/// agent and the user is reached. See docs/fs.md for what stands where.
#[derive(Debug, Subcommand)]
pub(crate) enum FsCommand {
    Ls(look::LsArgs),
    Tree(look::TreeArgs),
    Read(look::ReadArgs),
    Stat(look::StatArgs),
    Find(search::FindArgs),
    Grep(search::GrepArgs),
    Inject(search::InjectArgs),
    Status(look::StatusArgs),
    Add(change::AddArgs),
    Rm(change::RmArgs),
}

impl FsCommand {
    /// Whether it only looks.
    pub(crate) fn only_reads(&self) -> bool {
        !matches!(self, Self::Add(_) | Self::Rm(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
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
