//! `everlore memory`: looks after what is stored.

mod list;
mod show;
mod verify;
mod edit;
mod weight;
mod archive;
mod forget;
mod history;
pub(crate) mod diff;
mod undo;
mod stats;
mod clean;
mod capture_status;
mod export;
mod import;

use clap::Subcommand;

pub(crate) use forget::database_copies;

use super::recall::RecallArgs;
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Look after what is stored: list, show, edit, archive, forget, undo, export, import
///
/// An ID may be shortened to a beginning that only one memory has, or be a uri.
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
    Stats(stats::MemoryStatsArgs),
    Status(capture_status::MemoryStatusArgs),
    Clean(clean::MemoryCleanArgs),
    Export(export::MemoryExportArgs),
    Import(import::MemoryImportArgs),
}

impl MemoryCommand {
    /// Whether it only looks.
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
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List(args) => args.run(cx, out).await,
            Self::Search(args) => args.run(cx, out).await,
            Self::Show(args) => args.run(cx, out).await,
            Self::Verify(args) => args.run(cx, out).await,
            Self::Edit(args) => args.run(cx, out).await,
            Self::Weight(args) => args.run(cx, out).await,
            Self::Archive(args) => args.run(cx, out).await,
            Self::Restore(args) => args.run(cx, out).await,
            Self::Delete(args) => args.run(cx, out).await,
            Self::Forget(args) => args.run(cx, out).await,
            Self::History(args) => args.run(cx, out).await,
            Self::Undo(args) => args.run(cx, out).await,
            Self::Stats(args) => args.run(cx, out).await,
            Self::Status(args) => args.run(cx, out).await,
            Self::Clean(args) => args.run(cx, out).await,
            Self::Export(args) => args.run(cx, out).await,
            Self::Import(args) => args.run(cx, out).await,
        }
    }
}
