//! Which vaults hold memories of this home, so that what is forgotten can leave them at once (H2).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    files::{home::vault_folder, vault::is_vault},
    store::directory::{SyncRequest, What},
};
use serde::{Deserialize, Serialize};

use crate::{
    context::Context,
    failure::{Failure, Result},
};

/// The file in the home.
const FILE: &str = "vaults.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Registered {
    folder: PathBuf,
    scope: Scope,
}

/// What came of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Reached {
    folder: String,
    /// Files that were removed.
    removed: Vec<String>,
    /// Why it could not be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

impl Reached {
    /// What is told of it; nothing if nothing was removed.
    pub(crate) fn told(&self) -> Option<String> {
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
pub(super) fn register(cx: &Context, request: &SyncRequest) -> Result<()> {
    let folder = real(&request.folder);
    let mut vaults = read(cx)?;
    let vault = Registered { folder, scope: request.scope.clone() };
    if vaults.contains(&vault) {
        return Ok(());
    }
    vaults.push(vault);
    let failed = |error: io::Error| Failure::io(FILE, error);
    let mut file = tempfile::NamedTempFile::new_in(&cx.home).map_err(failed)?;
    serde_json::to_writer_pretty(&mut file, &vaults).map_err(|error| failed(error.into()))?;
    file.persist(cx.home.join(FILE)).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Syncs every vault of the scope, so that what was forgotten leaves them.
pub(crate) async fn reach_vaults(cx: &Context) -> Result<Vec<Reached>> {
    let mut reached = Vec::new();
    for vault in all(cx)?.into_iter().filter(|vault| vault.scope == cx.scope) {
        let request = SyncRequest::new(&vault.folder, &vault.scope);
        let outcome = cx.engine().await?.sync_vault(&request).await;
        let removed = outcome.as_ref().map(|report| {
            let gone = report.done.iter().filter(|done| done.what == What::Removed);
            gone.map(|done| done.file.clone()).collect()
        });
        reached.push(Reached {
            folder: vault.folder.display().to_string(),
            removed: removed.unwrap_or_default(),
            failure: outcome.err().map(|error| error.to_string()),
        });
    }
    Ok(reached)
}

/// Those that were named, and the one in the home, which an agent may have made.
fn all(cx: &Context) -> Result<Vec<Registered>> {
    let mut vaults = read(cx)?;
    let folder = vault_folder(&cx.home, &cx.scope);
    if is_vault(&folder) {
        let own = Registered { folder: real(&folder), scope: cx.scope.clone() };
        if !vaults.contains(&own) {
            vaults.push(own);
        }
    }
    Ok(vaults)
}

fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn read(cx: &Context) -> Result<Vec<Registered>> {
    match fs::read(cx.home.join(FILE)) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| Failure::io(FILE, error.into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::io(FILE, error)),
    }
}
