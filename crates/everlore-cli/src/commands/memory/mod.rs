//! `everlore memory`: commands on stored memories.

mod list;
mod show;
mod verify;
mod edit;
mod weight;
mod archive;
mod forget;
mod everything;
mod history;
pub(crate) mod diff;
mod undo;
mod stats;
mod clean;
mod capture_status;
mod export;
mod import;

use clap::Subcommand;

use super::{CommandFuture, recall::RecallArgs};
use crate::{cli_context::CliContext, output::Output};

/// Manage stored memories: list, show, edit, archive, forget, undo, export, import
///
/// An ID may be shortened to a prefix that only one memory has, or be a uri.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    List(list::MemoryListArgs),
    /// Find memories; the same as `everlore recall`
    Search(RecallArgs),
    Show(show::MemoryShowArgs),
    Verify(verify::MemoryVerifyArgs),
    Edit(edit::MemoryEditArgs),
    Weight(weight::MemoryWeightArgs),
    Archive(archive::MemoryArchiveArgs),
    Restore(archive::MemoryRestoreArgs),
    Delete(archive::MemoryDeleteArgs),
    Forget(forget::MemoryForgetArgs),
    History(history::MemoryHistoryArgs),
    Undo(undo::MemoryUndoArgs),
    Redo(undo::MemoryRedoArgs),
    Stats(stats::MemoryStatsArgs),
    Status(capture_status::MemoryStatusArgs),
    Clean(clean::MemoryCleanArgs),
    Export(export::MemoryExportArgs),
    Import(import::MemoryImportArgs),
}

impl MemoryCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        use MemoryCommand::{Export, History, List, Search, Show, Stats, Status, Verify};
        matches!(
            self,
            List(_)
                | Search(_)
                | Show(_)
                | Verify(_)
                | History(_)
                | Stats(_)
                | Status(_)
                | Export(_)
        )
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        match self {
            Self::List(args) => Box::pin(args.run(cx, out)),
            Self::Search(args) => Box::pin(args.run(cx, out)),
            Self::Show(args) => Box::pin(args.run(cx, out)),
            Self::Verify(args) => Box::pin(args.run(cx, out)),
            Self::Edit(args) => Box::pin(args.run(cx, out)),
            Self::Weight(args) => Box::pin(args.run(cx, out)),
            Self::Archive(args) => Box::pin(args.run(cx, out)),
            Self::Restore(args) => Box::pin(args.run(cx, out)),
            Self::Delete(args) => Box::pin(args.run(cx, out)),
            Self::Forget(args) => Box::pin(args.run(cx, out)),
            Self::History(args) => Box::pin(args.run(cx, out)),
            Self::Undo(args) => Box::pin(args.run(cx, out)),
            Self::Redo(args) => Box::pin(args.run(cx, out)),
            Self::Stats(args) => Box::pin(args.run(cx, out)),
            Self::Status(args) => Box::pin(args.run(cx, out)),
            Self::Clean(args) => Box::pin(args.run(cx, out)),
            Self::Export(args) => Box::pin(args.run(cx, out)),
            Self::Import(args) => Box::pin(args.run(cx, out)),
        }
    }
}
