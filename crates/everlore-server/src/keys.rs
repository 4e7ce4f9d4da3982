//! API keys for programs: each opens one scope with one role.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::SystemTime,
};

use everlore::{Error, Result, Scope, internal::files::atomic_file::lock};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    KeyRole, lock as lock_mutex,
    token::{
        SecretDigest, constant_time_eq, digest_secret, generate_secret, hex, refuse_exposed,
        write_private,
    },
};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Longest name of a key.
const MAX_NAME_CHARS: usize = 50;

/// API key without its secret, of which only a digest is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Name in logs.
    pub name: String,
    /// Scope that it opens.
    pub scope: Scope,
    /// Role of its bearer.
    pub role: KeyRole,
    /// Time of creation.
    pub created_at: Timestamp,
    digest: String,
}

/// API keys of a home.
pub struct ApiKeys {
    path: PathBuf,
    cached: Mutex<(Option<KeyFileStamp>, Arc<Vec<ApiKey>>)>,
}

/// Modification time, length and inode, by which a change of the file is noticed.
type KeyFileStamp = (SystemTime, u64, u64);

impl ApiKeys {
    /// Names the key file of a home; nothing is read yet.
    pub fn new(home: &Path) -> Self {
        Self { path: home.join("server.keys.json"), cached: Mutex::default() }
    }

    /// Returns all keys by name.
    pub fn list(&self) -> Result<Arc<Vec<ApiKey>>> {
        let stamp = self.file_stamp()?;
        let mut cached = lock_mutex(&self.cached);
        if stamp.is_none() || cached.0 != stamp {
            *cached = (stamp, Arc::new(self.load()?));
        }
        Ok(Arc::clone(&cached.1))
    }

    /// Returns a number that changes with the file.
    pub(crate) fn version(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.file_stamp().ok().hash(&mut hasher);
        hasher.finish()
    }

    /// Creates a key and returns its secret, which is stored nowhere.
    pub fn add(
        &self,
        name: &str,
        scope: Scope,
        role: KeyRole,
        now: Timestamp,
    ) -> Result<(ApiKey, String)> {
        check_name(name)?;
        let secret = generate_secret()?;
        let digest = hex(&digest_secret(&secret));
        let key = ApiKey { name: name.to_owned(), scope, role, created_at: now, digest };
        self.update_file(|keys| {
            if keys.iter().any(|other| other.name == name) {
                return Err(Error::invalid(
                    format!("there already is a key `{name}`"),
                    "choose another name, or remove that one first",
                ));
            }
            keys.push(key.clone());
            keys.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(())
        })?;
        Ok((key, secret))
    }

    /// Removes a key; the server refuses it from then on.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.update_file(|keys| {
            let before = keys.len();
            keys.retain(|key| key.name != name);
            if keys.len() < before {
                return Ok(());
            }
            Err(Error::invalid(
                format!("there is no key `{name}`"),
                "see `everlore serve key list`",
            ))
        })
    }

    /// Returns the key with this secret.
    pub(crate) fn find(&self, secret: &SecretDigest) -> Result<Option<ApiKey>> {
        let (keys, digest) = (self.list()?, hex(secret));
        Ok(keys
            .iter()
            .find(|key| constant_time_eq(key.digest.as_bytes(), digest.as_bytes()))
            .cloned())
    }

    fn update_file(&self, change: impl FnOnce(&mut Vec<ApiKey>) -> Result<()>) -> Result<()> {
        let failed = |error| Error::io(self.path.display().to_string(), error);
        let _lock = lock(&self.path.with_extension("lock")).map_err(failed)?;
        let mut keys = self.load()?;
        change(&mut keys)?;
        let bytes = serde_json::to_vec_pretty(&keys).map_err(|error| failed(error.into()))?;
        write_private(&self.path, &bytes).map_err(failed)
    }

    fn load(&self) -> Result<Vec<ApiKey>> {
        refuse_exposed(&self.path)?;
        match regular_file::read(&self.path, MAX_SETTINGS_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Error::damaged(format!("{} cannot be read: {error}", self.path.display()))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io(self.path.display().to_string(), error)),
        }
    }

    fn file_stamp(&self) -> Result<Option<KeyFileStamp>> {
        match fs::metadata(&self.path) {
            Ok(data) => {
                #[cfg(unix)]
                let number = std::os::unix::fs::MetadataExt::ino(&data);
                #[cfg(not(unix))]
                let number = 0;
                Ok(Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len(), number)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(self.path.display().to_string(), error)),
        }
    }
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if is_plain && (1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
        return Ok(());
    }
    Err(Error::invalid(
        "a key cannot have this name",
        "use up to 50 letters, digits, hyphens, underscores and dots",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_secret_until_it_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let (keys, others) = (ApiKeys::new(home.path()), ApiKeys::new(home.path()));
        let scope = Scope::new("助手", "王").unwrap();
        let (key, secret) =
            keys.add("编辑器", scope, KeyRole::Write, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(others.find(&digest_secret(&secret)).unwrap(), Some(key));
        assert_eq!(others.find(&digest_secret("evl_other")).unwrap(), None);
        keys.remove("编辑器").unwrap();
        assert_eq!(others.find(&digest_secret(&secret)).unwrap(), None);
    }

    #[test]
    fn secrets_are_not_stored() {
        let home = tempfile::tempdir().unwrap();
        let keys = ApiKeys::new(home.path());
        let (_, secret) =
            keys.add("a", Scope::default(), KeyRole::Read, Timestamp::UNIX_EPOCH).unwrap();
        let written = fs::read_to_string(home.path().join("server.keys.json")).unwrap();
        assert!(!written.contains(&secret) && !written.contains(&secret[4..]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                fs::metadata(home.path().join("server.keys.json")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_name_is_taken_once_and_holds_no_lines() {
        let home = tempfile::tempdir().unwrap();
        let keys = ApiKeys::new(home.path());
        let add =
            |name| keys.add(name, Scope::default(), KeyRole::Read, Timestamp::UNIX_EPOCH).map(drop);
        add("a").unwrap();
        for bad in ["a", "", "a b", "a\nb", &"x".repeat(51)] {
            assert!(add(bad).is_err(), "{bad:?}");
        }
        assert!(keys.remove("b").is_err());
    }
}
