//! `everlore fs`: memory as a tree of files.

mod browse;
mod search;
mod write;

use clap::Subcommand;

use super::{CommandFuture, dispatch};
use crate::{CliContext, Output};

/// Browse memory as a tree of files: memories, documents, conversations, layers
///
/// A URI is what `ls` shows (agent://…), a path from the root such as user/food, or a viking:// uri. All commands stay
/// within the memory of the agent and the user. docs/fs.md describes the tree.
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
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(self, Self::Add(_) | Self::Rm(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out: Ls | Tree | Read | Stat | Find | Grep | Inject | Status | Add | Rm)
    }
}
