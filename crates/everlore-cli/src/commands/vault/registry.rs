//! Registry of the vaults of a home, so that forgetting a memory also erases its files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    engine::{SyncAction, SyncRequest},
    internal::files::{home::vault_folder, vault::is_vault},
};
use serde::{Deserialize, Serialize};

use crate::{CliContext, CliError, Result};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Name of the file in the home.
const REGISTRY_FILE: &str = "vaults.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RegisteredVault {
    folder: PathBuf,
    scope: Scope,
}

/// Erasure in one vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct VaultErasure {
    folder: String,
    /// Files that were removed.
    removed: Vec<String>,
    /// Error, if the vault could not be synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

impl VaultErasure {
    /// Returns a note for the user; `None` if nothing was removed.
    pub(crate) fn render_note(&self) -> Option<String> {
        match (&self.failure, self.removed.is_empty()) {
            (Some(error), _) => Some(format!(
                "the vault {} could not be synced and may still hold the text: {error}; run `everlore vault sync`",
                self.folder
            )),
            (None, true) => None,
            (None, false) => {
                Some(format!("removed from the vault {}: {}", self.folder, self.removed.join(", ")))
            }
        }
    }
}

/// Adds a vault to the registry.
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

/// Syncs every vault of the scope, which removes the files of forgotten memories.
pub(crate) async fn erase_from_vaults(cx: &CliContext) -> Result<Vec<VaultErasure>> {
    let mut erasures = Vec::new();
    for vault in known_vaults(cx)?.into_iter().filter(|vault| vault.scope == cx.scope) {
        let request = SyncRequest::new(&vault.folder, &vault.scope);
        let outcome = cx.engine().await?.sync_vault(&request).await;
        let removed = outcome.as_ref().map(|report| {
            let removed = report.done.iter().filter(|step| step.what == SyncAction::Removed);
            removed.map(|step| step.file.clone()).collect()
        });
        erasures.push(VaultErasure {
            folder: vault.folder.display().to_string(),
            removed: removed.unwrap_or_default(),
            failure: outcome.err().map(|error| error.to_string()),
        });
    }
    Ok(erasures)
}

/// Returns the registered vaults, and the one in the home, which an agent may have created.
fn known_vaults(cx: &CliContext) -> Result<Vec<RegisteredVault>> {
    let mut vaults = read_registry(cx)?;
    let folder = vault_folder(&cx.home, &cx.scope);
    if is_vault(&folder) {
        let vault = RegisteredVault { folder: canonical_folder(&folder), scope: cx.scope.clone() };
        if !vaults.contains(&vault) {
            vaults.push(vault);
        }
    }
    Ok(vaults)
}

fn canonical_folder(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn read_registry(cx: &CliContext) -> Result<Vec<RegisteredVault>> {
    match regular_file::read(&cx.home.join(REGISTRY_FILE), MAX_SETTINGS_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| CliError::io(REGISTRY_FILE, error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(CliError::io(REGISTRY_FILE, error)),
    }
}
