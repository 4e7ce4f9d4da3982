//! Message authentication code (MAC) of a check: proof that it was set in this home, made with the home's key.
//!
//! A check asks about files of this machine. A memory that arrives another way (an import, a vault file, metadata over
//! HTTP) could ask such a question and expose the answer; without a valid MAC the engine does not look.

use std::{io, path::Path, sync::OnceLock};

use sha2::{Digest, Sha256};

use super::key_file;
use crate::files::regular_file::{self, MAX_SETTINGS_BYTES};
use crate::{
    error::{Error, Result},
    files::atomic_file::{TempFile, WriteOptions},
    types::{MemoryId, Scope, StoredCheck, system_now},
};

/// Length of the key: 32 random bytes cannot be guessed.
const KEY_BYTES: usize = 32;

/// MAC key.
#[derive(Clone)]
pub(super) struct MacKey([u8; KEY_BYTES]);

/// Source of the MAC key: the home's file, or a key of this process where there is no home.
#[derive(Default)]
pub(super) struct MacKeySource(OnceLock<MacKey>);

impl MacKeySource {
    /// Returns the key; creates it if there is none. Fails if the key file cannot be read or written.
    pub(super) fn load_or_create(&self, home: Option<&Path>) -> Result<MacKey> {
        match home {
            Some(home) => MacKey::load_or_create(home),
            None => match self.0.get() {
                Some(key) => Ok(key.clone()),
                None => MacKey::random().map(|key| self.0.get_or_init(|| key).clone()),
            },
        }
    }

    /// Returns the key if there is one. An unreadable key counts as none: it proves nothing.
    pub(super) fn load_existing(&self, home: Option<&Path>) -> Option<MacKey> {
        match home {
            Some(home) => MacKey::load(home).ok().flatten(),
            None => self.0.get().cloned(),
        }
    }
}

impl MacKey {
    fn random() -> Result<Self> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::io("making a key", io::Error::other(error.to_string())))?;
        Ok(Self(bytes))
    }

    fn load(home: &Path) -> Result<Option<Self>> {
        let path = key_file(home);
        let bytes = match regular_file::read(&path, MAX_SETTINGS_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path.display().to_string(), error)),
        };
        match bytes.try_into() {
            Ok(bytes) => Ok(Some(Self(bytes))),
            Err(_) => Err(Error::invalid(
                format!("{} holds no key", path.display()),
                "delete the file; checks that were set before must be set again",
            )),
        }
    }

    /// Returns the key of a home, created if needed. Of several concurrent creations, the first wins.
    fn load_or_create(home: &Path) -> Result<Self> {
        if let Some(key) = Self::load(home)? {
            return Ok(key);
        }
        let (path, key) = (key_file(home), Self::random()?);
        let failed = |error| Error::io(path.display().to_string(), error);
        let options = WriteOptions { durable: true, private: true, permissions: None };
        let beside = path.with_extension(format!("{}.new", MemoryId::new(system_now())));
        match TempFile::write(beside, &key.0, options).and_then(|key| key.persist_noclobber(&path))
        {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(home)?.ok_or_else(|| failed(error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns the MAC of a check in a scope.
    pub(super) fn mac(&self, scope: &Scope, stored: &StoredCheck) -> String {
        let unsigned = StoredCheck { seal: None, ..stored.clone() };
        // A struct of plain values always serializes to JSON, and always the same way.
        let message = serde_json::to_string(&(scope.agent(), scope.user(), unsigned));
        // Hashing twice prevents length extension.
        let inner = Sha256::new()
            .chain_update(b"everlore/check\0")
            .chain_update(self.0)
            .chain_update(message.unwrap_or_default())
            .finalize();
        let outer = Sha256::new().chain_update(self.0).chain_update(inner).finalize();
        outer.iter().flat_map(|byte| hex_letters(*byte)).collect()
    }

    /// Returns `true` if the check carries this key's MAC.
    pub(super) fn verify(&self, scope: &Scope, stored: &StoredCheck) -> bool {
        stored.seal.as_ref().is_some_and(|seal| *seal == self.mac(scope, stored))
    }
}

/// Returns a byte as two letters: digits could look like a card number, and secret masking would replace them.
fn hex_letters(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|half| char::from(b'a' + half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use crate::types::{Actor, Check, Timestamp};

    fn check(path: &str) -> StoredCheck {
        let check = Check::Path { path: path.into() };
        StoredCheck::unsigned(check, Actor::Agent, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_seal_is_of_one_key_one_scope_and_one_check() {
        let (key, other) = (MacKey([1; 32]), MacKey([2; 32]));
        let (ann, bob) = (Scope::new("a", "ann").unwrap(), Scope::new("a", "bob").unwrap());
        let mut stored = check("/茶");
        assert!(!key.verify(&ann, &stored));
        stored.seal = Some(key.mac(&ann, &stored));
        assert!(key.verify(&ann, &stored));
        assert!(!key.verify(&bob, &stored));
        assert!(!other.verify(&ann, &stored));
        let moved = StoredCheck { check: check("/酒").check, ..stored.clone() };
        assert!(!key.verify(&ann, &moved));
        assert!(!key.verify(&ann, &StoredCheck { set_by: Actor::Person, ..stored }));
    }

    #[test]
    fn a_home_has_one_key_however_many_make_it_and_only_the_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let make = || {
            let home = home.path().to_owned();
            std::thread::spawn(move || MacKey::load_or_create(&home).unwrap().0)
        };
        let makers: Vec<_> = (0..8).map(|_| make()).collect();
        let keys: Vec<_> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(key_file(home.path())).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let left = fs::read_dir(home.path()).unwrap().count();
        assert_eq!(left, 1, "what was written beside it is gone");
    }
}
