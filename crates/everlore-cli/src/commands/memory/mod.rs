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

pub(crate) use self::{
    forget::MemoryForgetArgs,
    list::MemoryListArgs,
    show::MemoryShowArgs,
    undo::{MemoryRedoArgs, MemoryUndoArgs},
};

use clap::Subcommand;

use super::{CommandFuture, dispatch, recall::RecallArgs};
use crate::{CliContext, Output};

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
    /// Archive memories: they stay stored, but recall leaves them out
    Archive(archive::MemoryIdsArgs),
    /// Bring back memories that were archived or superseded
    Restore(archive::MemoryIdsArgs),
    /// Delete memories; the journal keeps them, so that this can be undone
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
        dispatch!(self, Self, cx, out:
            List | Search | Show | Verify | Edit | Weight | Delete | Forget | History | Undo | Redo |
            Stats | Status | Clean | Export | Import;
            Self::Archive(args) => Box::pin(args.archive(cx, out)),
            Self::Restore(args) => Box::pin(args.restore(cx, out)),
        )
    }
}
