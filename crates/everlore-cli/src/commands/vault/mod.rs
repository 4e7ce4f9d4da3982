//! `everlore vault`: a folder with a markdown file for each memory, synced with the store.

mod sync;
mod watch;
mod list;
mod report;
mod registry;

use std::{
    future::ready,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use everlore::{
    Kind,
    engine::SyncRequest,
    internal::files::{atomic_file::create_private_folder, home::vault_folder},
};

use super::{CommandFuture, dispatch};
use crate::{CliContext, CliError, Output, Result};

/// Keep memories as markdown files that you, git and other tools can read and edit
///
/// A vault is a folder with one file per memory and MEMORY.md as the index; the memory folder of a coding assistant is
/// a vault as it is. Edits on either side reach the other; if both were edited, both are kept.
#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    Init(sync::VaultInitArgs),
    Sync(sync::VaultSyncArgs),
    Watch(watch::VaultWatchArgs),
    Status(sync::VaultStatusArgs),
    List(list::VaultListArgs),
}

impl VaultCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Status(_) | Self::List(_))
    }

    /// Runs the command.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        dispatch!(self, Self, cx, out: Init | Sync | Watch | Status;
            Self::List(args) => Box::pin(ready(args.run(cx, out))),
        )
    }
}

/// Vault and the kinds of memories in it.
#[derive(Debug, Args)]
pub(crate) struct VaultTargetArgs {
    /// The folder [default: the vault of the agent and user, in the home]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Kinds that get files; may be repeated [default: those of the last sync, or user, feedback, project, reference]
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
}

impl VaultTargetArgs {
    fn to_request(&self, cx: &CliContext) -> Result<SyncRequest> {
        if let Some(kind) = self.kinds.iter().find(|kind| !kind.is_statement()) {
            return Err(CliError::invalid(
                format!("{kind}s cannot be kept in files"),
                "export them with `everlore memory export`",
            ));
        }
        let folder = resolve_folder(self.folder.as_deref(), cx);
        Ok(SyncRequest { kinds: self.kinds.clone(), ..SyncRequest::new(folder, &cx.scope) })
    }
}

/// Returns the named folder, or the vault in the home.
fn resolve_folder(named: Option<&Path>, cx: &CliContext) -> PathBuf {
    named.map_or_else(|| vault_folder(&cx.home, &cx.scope), Path::to_owned)
}

/// Creates the folder, readable by the user only; returns `false` if it exists.
fn make_vault(folder: &Path) -> Result<bool> {
    create_private_folder(folder).map_err(|error| CliError::io(folder.display().to_string(), error))
}
