//! Registry of the vaults of a home (`vaults.json`), so that forgetting a memory also erases its files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::is_vault;
use crate::{
    error::{Error, Result},
    files::{
        atomic_file::{TempFile, WriteOptions},
        home::vault_folder,
        regular_file::{self, MAX_SETTINGS_BYTES},
    },
    types::Scope,
};

/// Name of the file in the home.
const REGISTRY_FILE: &str = "vaults.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RegisteredVault {
    folder: PathBuf,
    scope: Scope,
}

/// Adds a vault to the registry.
pub fn register_vault(home: &Path, folder: &Path, scope: &Scope) -> Result<()> {
    let mut vaults = read_registry(home)?;
    let vault = RegisteredVault { folder: canonical_folder(folder), scope: scope.clone() };
    if vaults.contains(&vault) {
        return Ok(());
    }
    vaults.push(vault);
    write_registry(home, &vaults)
}

/// Takes the vaults of a scope off the registry, except those in `kept`.
pub(crate) fn unregister_vaults(home: &Path, scope: &Scope, kept: &[PathBuf]) -> Result<()> {
    let mut vaults = read_registry(home)?;
    let before = vaults.len();
    vaults.retain(|vault| vault.scope != *scope || kept.contains(&vault.folder));
    if vaults.len() == before {
        return Ok(());
    }
    write_registry(home, &vaults)
}

fn write_registry(home: &Path, vaults: &[RegisteredVault]) -> Result<()> {
    let failed = |error: io::Error| Error::io(REGISTRY_FILE, error);
    let text = serde_json::to_vec_pretty(vaults).map_err(|error| failed(error.into()))?;
    let options = WriteOptions { durable: true, private: true, permissions: None };
    let temporary = home.join(format!("{REGISTRY_FILE}.{}.new", std::process::id()));
    let written = TempFile::write(temporary, &text, options).map_err(failed)?;
    written.persist(&home.join(REGISTRY_FILE)).map_err(failed)
}

/// Returns the folders of a scope's vaults: the registered ones, and the one in the home, which an agent may have
/// created.
pub(crate) fn vaults_of(home: &Path, scope: &Scope) -> Result<Vec<PathBuf>> {
    let registered = read_registry(home)?.into_iter().filter(|vault| vault.scope == *scope);
    let mut folders: Vec<PathBuf> = registered.map(|vault| vault.folder).collect();
    let own = vault_folder(home, scope);
    if is_vault(&own) {
        let own = canonical_folder(&own);
        if !folders.contains(&own) {
            folders.push(own);
        }
    }
    Ok(folders)
}

fn canonical_folder(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn read_registry(home: &Path) -> Result<Vec<RegisteredVault>> {
    match regular_file::read(&home.join(REGISTRY_FILE), MAX_SETTINGS_BYTES) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| Error::io(REGISTRY_FILE, error.into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io(REGISTRY_FILE, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vaults_of_one_scope_are_taken_off_and_others_stay() {
        let home = tempfile::tempdir().unwrap();
        let scope = |user: &str| Scope::new("default", user).unwrap();
        let (one, two) = (home.path().join("one"), home.path().join("two"));
        register_vault(home.path(), &one, &scope("ann")).unwrap();
        register_vault(home.path(), &two, &scope("ann")).unwrap();
        register_vault(home.path(), &one, &scope("王")).unwrap();
        unregister_vaults(home.path(), &scope("ann"), std::slice::from_ref(&two)).unwrap();
        assert_eq!(vaults_of(home.path(), &scope("ann")).unwrap(), [two]);
        assert_eq!(vaults_of(home.path(), &scope("王")).unwrap(), [one]);
        unregister_vaults(home.path(), &scope("ann"), &[]).unwrap();
        assert!(vaults_of(home.path(), &scope("ann")).unwrap().is_empty());
    }
}
