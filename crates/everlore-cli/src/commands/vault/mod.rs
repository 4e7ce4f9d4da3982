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
    files::{atomic_file::create_private_folder, home::vault_folder},
    store::directory::SyncRequest,
};

pub(crate) use registry::{VaultErasure, erase_from_vaults};

use crate::{
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
};

/// Keep memories as markdown files that you, git and other tools can read and edit
///
/// A vault is a folder with one file a memory and MEMORY.md as the index; the memory folder of a coding assistant is one
/// as it is. Edits on both sides travel to the other; where both were edited, both are kept.
#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    Init(sync::VaultInitArgs),
    Sync(sync::VaultSyncArgs),
    Watch(watch::VaultWatchArgs),
    Status(sync::VaultStatusArgs),
    List(list::VaultListArgs),
}

impl VaultCommand {
    /// Whether it only looks.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Status(_) | Self::List(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
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
pub(crate) struct VaultTargetArgs {
    /// The folder [default: the vault of the agent and user, in the home]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Which kinds get files; may be repeated [default: those of the last time, or user, feedback, project, reference]
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
}

impl VaultTargetArgs {
    fn to_request(&self, cx: &CliContext) -> Result<SyncRequest> {
        if self.kinds.contains(&Kind::Turn) {
            return Err(CliError::invalid(
                "turns of a conversation are not kept in files",
                "take them out with `everlore memory export`",
            ));
        }
        let folder = resolve_folder(self.folder.as_deref(), cx);
        Ok(SyncRequest { kinds: self.kinds.clone(), ..SyncRequest::new(folder, &cx.scope) })
    }
}

/// The folder that was named, or the one in the home.
fn resolve_folder(given: Option<&Path>, cx: &CliContext) -> PathBuf {
    given.map_or_else(|| vault_folder(&cx.home, &cx.scope), Path::to_owned)
}

/// Makes the folder where there is none; only the user may read what is made in the home.
fn make_vault(folder: &Path) -> Result<bool> {
    create_private_folder(folder).map_err(|error| CliError::io(folder.display().to_string(), error))
}
