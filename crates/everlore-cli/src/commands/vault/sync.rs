//! `everlore vault init`, `sync` and `status`: once, or only to see.

use clap::Args;
use everlore::store::directory::SyncRequest;

use super::{VaultArgs, make, registry, report};
use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// Make a vault, write what is stored into it, and take in what is there already
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    vault: VaultArgs,
}

/// Bring a vault and what is stored together, once
///
/// New, edited, renamed and deleted files reach memory; new, edited, archived and deleted memories reach the files. What
/// was forgotten leaves the folder and does not come back. Files that cannot be taken are told by name and left alone.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    vault: VaultArgs,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

/// Show what a sync would do; exit code 1 if nothing
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    vault: VaultArgs,
}

impl InitArgs {
    /// Makes the folder and syncs it for the first time.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let request = self.vault.request(cx)?;
        let made = make(&request.folder)?;
        let synced = cx.engine().await?.sync_vault(&request).await?;
        registry::register(cx, &request)?;
        if !out.is_json() {
            let what = if made { "made" } else { "using" };
            out.line(&format!("{what} {}", request.folder.display()))?;
        }
        report::tell(out, &request, &synced)
    }
}

impl SyncArgs {
    /// Syncs and tells what was done.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let request = SyncRequest { dry_run: self.dry_run, ..self.vault.request(cx)? };
        let synced = cx.engine().await?.sync_vault(&request).await?;
        if !request.dry_run {
            registry::register(cx, &request)?;
        }
        report::tell(out, &request, &synced)
    }
}

impl StatusArgs {
    /// Tells what a sync would do.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let request = SyncRequest { dry_run: true, ..self.vault.request(cx)? };
        let foreseen = cx.engine().await?.sync_vault(&request).await?;
        report::tell(out, &request, &foreseen)?;
        Ok(Exit::found(!foreseen.is_quiet()))
    }
}
