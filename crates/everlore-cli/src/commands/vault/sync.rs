//! `everlore vault init`, `sync` and `status`: once, or only to see.

use clap::Args;
use everlore::store::directory::SyncRequest;

use super::{VaultTargetArgs, make_vault, registry, report};
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Make a vault, write what is stored into it, and take in what is there already
#[derive(Debug, Args)]
pub(crate) struct VaultInitArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
}

/// Bring a vault and what is stored together, once
///
/// New, edited, renamed and deleted files reach memory; new, edited, archived and deleted memories reach the files. What
/// was forgotten leaves the folder and does not come back. Files that cannot be taken are told by name and left alone.
#[derive(Debug, Args)]
pub(crate) struct VaultSyncArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
    /// Only say what would happen
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
    /// Makes the folder and syncs it for the first time.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = self.vault.to_request(cx)?;
        let made = make_vault(&request.folder)?;
        let synced = cx.engine().await?.sync_vault(&request).await?;
        registry::register_vault(cx, &request)?;
        if !out.is_json() {
            let what = if made { "made" } else { "using" };
            out.line(&format!("{what} {}", request.folder.display()))?;
        }
        report::print_report(out, &request, &synced)
    }
}

impl VaultSyncArgs {
    /// Syncs and tells what was done.
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
    /// Tells what a sync would do.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = SyncRequest { dry_run: true, ..self.vault.to_request(cx)? };
        let foreseen = cx.engine().await?.sync_vault(&request).await?;
        report::print_report(out, &request, &foreseen)?;
        Ok(Exit::from_found(!foreseen.is_unchanged()))
    }
}
