//! Which vaults hold memories of this home, so that what is forgotten can leave them at once (H2).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    files::{home::vault_folder, vault::is_vault},
    store::directory::{SyncAction, SyncRequest},
};
use serde::{Deserialize, Serialize};

use crate::{
    cli_context::CliContext,
    error::{CliError, Result},
};

/// The file in the home.
const REGISTRY_FILE: &str = "vaults.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RegisteredVault {
    folder: PathBuf,
    scope: Scope,
}

/// What came of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct VaultErasure {
    folder: String,
    /// Files that were removed.
    removed: Vec<String>,
    /// Why it could not be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

impl VaultErasure {
    /// What is told of it; nothing if nothing was removed.
    pub(crate) fn render_note(&self) -> Option<String> {
        match (&self.failure, self.removed.is_empty()) {
            (Some(failure), _) => Some(format!(
                "the vault {} could not be reached and may still hold the text: {failure}; run `everlore vault sync`",
                self.folder
            )),
            (None, true) => None,
            (None, false) => {
                Some(format!("removed from the vault {}: {}", self.folder, self.removed.join(", ")))
            }
        }
    }
}

/// Remembers a vault.
pub(super) fn register_vault(cx: &CliContext, request: &SyncRequest) -> Result<()> {
    let folder = canonical_folder(&request.folder);
    let mut vaults = read_registry(cx)?;
    let vault = RegisteredVault { folder, scope: request.scope.clone() };
    if vaults.contains(&vault) {
        return Ok(());
    }
    vaults.push(vault);
    let failed = |error: io::Error| CliError::io(REGISTRY_FILE, error);
    let mut file = tempfile::NamedTempFile::new_in(&cx.home).map_err(failed)?;
    serde_json::to_writer_pretty(&mut file, &vaults).map_err(|error| failed(error.into()))?;
    file.persist(cx.home.join(REGISTRY_FILE)).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Syncs every vault of the scope, so that what was forgotten leaves them.
pub(crate) async fn erase_from_vaults(cx: &CliContext) -> Result<Vec<VaultErasure>> {
    let mut reached = Vec::new();
    for vault in known_vaults(cx)?.into_iter().filter(|vault| vault.scope == cx.scope) {
        let request = SyncRequest::new(&vault.folder, &vault.scope);
        let outcome = cx.engine().await?.sync_vault(&request).await;
        let removed = outcome.as_ref().map(|report| {
            let gone = report.done.iter().filter(|done| done.what == SyncAction::Removed);
            gone.map(|done| done.file.clone()).collect()
        });
        reached.push(VaultErasure {
            folder: vault.folder.display().to_string(),
            removed: removed.unwrap_or_default(),
            failure: outcome.err().map(|error| error.to_string()),
        });
    }
    Ok(reached)
}

/// Those that were named, and the one in the home, which an agent may have made.
fn known_vaults(cx: &CliContext) -> Result<Vec<RegisteredVault>> {
    let mut vaults = read_registry(cx)?;
    let folder = vault_folder(&cx.home, &cx.scope);
    if is_vault(&folder) {
        let own = RegisteredVault { folder: canonical_folder(&folder), scope: cx.scope.clone() };
        if !vaults.contains(&own) {
            vaults.push(own);
        }
    }
    Ok(vaults)
}

fn canonical_folder(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn read_registry(cx: &CliContext) -> Result<Vec<RegisteredVault>> {
    match fs::read(cx.home.join(REGISTRY_FILE)) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| CliError::io(REGISTRY_FILE, error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(CliError::io(REGISTRY_FILE, error)),
    }
}
