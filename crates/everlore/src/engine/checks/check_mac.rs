//! The proof that a check was set in this home: a seal that only its key makes.
//!
//! A check is a question about files of this machine. Whoever writes a memory by another way (an import, a file of a vault,
//! free data over HTTP) could ask it and read the answer; without the seal nobody looks.

use std::{fs, io, path::Path, sync::OnceLock};

use sha2::{Digest, Sha256};

use super::key_file;
use crate::{
    error::{Error, Result},
    files::atomic_file::{TempFile, WriteOptions},
    types::{MemoryId, Scope, StoredCheck, Timestamp},
};

/// Nobody guesses so many random bytes.
const KEY_BYTES: usize = 32;

/// What seals are made with.
#[derive(Clone)]
pub(super) struct MacKey([u8; KEY_BYTES]);

/// The key of this process, where there is no home to keep one in.
#[derive(Default)]
pub(super) struct MacKeySource(OnceLock<MacKey>);

impl MacKeySource {
    /// The key, made if there is none.
    pub(super) fn load_or_create(&self, home: Option<&Path>) -> Result<MacKey> {
        match home {
            Some(home) => MacKey::load_or_create(home),
            None => match self.0.get() {
                Some(key) => Ok(key.clone()),
                None => MacKey::random().map(|key| self.0.get_or_init(|| key).clone()),
            },
        }
    }

    /// The key, if there is one. One that cannot be read proves nothing.
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
        let bytes = match fs::read(&path) {
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

    /// The key of a home. Of several that are made at once, the first one stays.
    fn load_or_create(home: &Path) -> Result<Self> {
        if let Some(key) = Self::load(home)? {
            return Ok(key);
        }
        let (path, key) = (key_file(home), Self::random()?);
        let failed = |error| Error::io(path.display().to_string(), error);
        let manner = WriteOptions { durable: true, private: true, permissions: None };
        let beside = path.with_extension(format!("{}.new", MemoryId::new(Timestamp::now())));
        match TempFile::write(beside, &key.0, manner).and_then(|key| key.persist_noclobber(&path)) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(home)?.ok_or_else(|| failed(error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The seal of a check in a scope.
    pub(super) fn mac(&self, scope: &Scope, kept: &StoredCheck) -> String {
        let unsealed = StoredCheck { seal: None, ..kept.clone() };
        // A struct of plain values can always be written as JSON, and always the same way.
        let said = serde_json::to_string(&(scope.agent(), scope.user(), unsealed));
        // Twice, so that nothing can be added to what is sealed.
        let inner = Sha256::new()
            .chain_update(b"everlore/check\0")
            .chain_update(self.0)
            .chain_update(said.unwrap_or_default())
            .finalize();
        let outer = Sha256::new().chain_update(self.0).chain_update(inner).finalize();
        outer.iter().flat_map(|byte| hex_letters(*byte)).collect()
    }

    /// Whether the check has the seal of this key.
    pub(super) fn verify(&self, scope: &Scope, kept: &StoredCheck) -> bool {
        kept.seal.as_ref().is_some_and(|seal| *seal == self.mac(scope, kept))
    }
}

/// A byte as two letters: digits could look like the number of a card, and be masked.
fn hex_letters(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|half| char::from(b'a' + half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Actor, Check};

    fn check(path: &str) -> StoredCheck {
        let check = Check::Path { path: path.into() };
        StoredCheck::unsigned(check, Actor::Agent, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_seal_is_of_one_key_one_scope_and_one_check() {
        let (key, other) = (MacKey([1; 32]), MacKey([2; 32]));
        let (ann, bob) = (Scope::new("a", "ann").unwrap(), Scope::new("a", "bob").unwrap());
        let mut kept = check("/茶");
        assert!(!key.verify(&ann, &kept));
        kept.seal = Some(key.mac(&ann, &kept));
        assert!(key.verify(&ann, &kept));
        assert!(!key.verify(&bob, &kept));
        assert!(!other.verify(&ann, &kept));
        let moved = StoredCheck { check: check("/酒").check, ..kept.clone() };
        assert!(!key.verify(&ann, &moved));
        assert!(!key.verify(&ann, &StoredCheck { set_by: Actor::Person, ..kept }));
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
