//! `everlore vault`: a folder with a markdown file for each memory, kept equal to what is stored (D8).

mod sync;
mod watch;
mod list;
mod report;
mod registry;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use everlore::{
    Kind,
    files::{disk::make_private_folder, home::vault_folder},
    store::directory::SyncRequest,
};

pub(crate) use registry::{Reached, reach_vaults};

use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
};

/// Keep memories as markdown files that you, git and other tools can read and edit
///
/// A vault is a folder with one file a memory and MEMORY.md as the index; the memory folder of a coding assistant is one
/// as it is. Edits on both sides travel to the other; where both were edited, both are kept.
#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    Init(sync::InitArgs),
    Sync(sync::SyncArgs),
    Watch(watch::WatchArgs),
    Status(sync::StatusArgs),
    List(list::ListArgs),
}

impl VaultCommand {
    /// Whether it only looks.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Self::Status(_) | Self::List(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        match self {
            Self::Init(args) => args.run(cx, out).await,
            Self::Sync(args) => args.run(cx, out).await,
            Self::Watch(args) => args.run(cx, out).await,
            Self::Status(args) => args.run(cx, out).await,
            Self::List(args) => args.run(cx, out),
        }
    }
}

/// Which vault, and what goes into it.
#[derive(Debug, Args)]
pub(crate) struct VaultArgs {
    /// The folder [default: the vault of the agent and user, in the home]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Which kinds get files; may be repeated [default: those of the last time, or user, feedback, project, reference]
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
}

impl VaultArgs {
    fn request(&self, cx: &Context) -> Result<SyncRequest> {
        if self.kinds.contains(&Kind::Turn) {
            return Err(Failure::invalid(
                "turns of a conversation are not kept in files",
                "take them out with `everlore memory export`",
            ));
        }
        let folder = folder(self.folder.as_deref(), cx);
        Ok(SyncRequest { kinds: self.kinds.clone(), ..SyncRequest::new(folder, &cx.scope) })
    }
}

/// The folder that was named, or the one in the home.
fn folder(given: Option<&Path>, cx: &Context) -> PathBuf {
    given.map_or_else(|| vault_folder(&cx.home, &cx.scope), Path::to_owned)
}

/// Makes the folder where there is none; only the user may read what is made in the home.
fn make(folder: &Path) -> Result<bool> {
    make_private_folder(folder).map_err(|error| Failure::io(folder.display().to_string(), error))
}
