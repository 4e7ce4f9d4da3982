//! `everlore vault init`, `sync` and `status`.

use clap::Args;
use everlore::engine::SyncRequest;

use super::{VaultTargetArgs, make_vault, registry, report};
use crate::{CliContext, Exit, Output, Result};

/// Create a vault, write the stored memories into it, and import the files it already has
#[derive(Debug, Args)]
pub(crate) struct VaultInitArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
}

/// Sync a vault with the stored memories, once
///
/// New, edited, renamed and deleted files reach memory; new, edited, archived and deleted memories reach the files. The
/// file of a forgotten memory is removed and does not come back. Files that cannot be imported are reported and left
/// alone.
#[derive(Debug, Args)]
pub(crate) struct VaultSyncArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
    /// Report what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Show what a sync would do; exit code 1 if nothing
#[derive(Debug, Args)]
pub(crate) struct VaultStatusArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
}

impl VaultInitArgs {
    /// Creates the folder and syncs it for the first time.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = self.vault.to_request(cx)?;
        let is_new = make_vault(&request.folder)?;
        let synced = cx.engine().await?.sync_vault(&request).await?;
        registry::register_vault(cx, &request)?;
        if !out.is_json() {
            let done = if is_new { "made" } else { "using" };
            out.say(&format!("{done} {}", request.folder.display()))?;
        }
        report::print_report(out, &request, &synced)
    }
}

impl VaultSyncArgs {
    /// Syncs and prints the report.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = SyncRequest { dry_run: self.dry_run, ..self.vault.to_request(cx)? };
        let synced = cx.engine().await?.sync_vault(&request).await?;
        if !request.dry_run {
            registry::register_vault(cx, &request)?;
        }
        report::print_report(out, &request, &synced)
    }
}

impl VaultStatusArgs {
    /// Prints what a sync would do.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = SyncRequest { dry_run: true, ..self.vault.to_request(cx)? };
        let planned = cx.engine().await?.sync_vault(&request).await?;
        report::print_report(out, &request, &planned)?;
        Ok(Exit::from_found(!planned.is_unchanged()))
    }
}
