//! `everlore memory`: looks after what is stored.

mod list;
mod show;
mod verify;
mod edit;
mod weight;
mod status;
mod forget;
mod history;
pub(crate) mod diff;
mod undo;
mod stats;
mod clean;
mod queue;
mod export;
mod import;

use clap::Subcommand;

pub(crate) use forget::copies;

use super::recall::RecallArgs;
use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// Look after what is stored: list, show, edit, archive, forget, undo, export, import
///
/// An ID may be shortened to a beginning that only one memory has, or be a uri.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    List(list::ListArgs),
    /// Find memories; the same as `everlore recall`
    Search(RecallArgs),
    Show(show::ShowArgs),
    Verify(verify::VerifyArgs),
    Edit(edit::EditArgs),
    Weight(weight::WeightArgs),
    Archive(status::ArchiveArgs),
    Restore(status::RestoreArgs),
    Delete(status::DeleteArgs),
    Forget(forget::ForgetArgs),
    History(history::HistoryArgs),
    Undo(undo::UndoArgs),
    Stats(stats::StatsArgs),
    Status(queue::StatusArgs),
    Clean(clean::CleanArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
}

impl MemoryCommand {
    /// Whether it only looks.
    pub(crate) fn only_reads(&self) -> bool {
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
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
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
