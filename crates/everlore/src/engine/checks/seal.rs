//! The proof that a check was set in this home: a seal that only its key makes.
//!
//! A check is a question about files of this machine. Whoever writes a memory by another way (an import, a file of a vault,
//! free data over HTTP) could ask it and read the answer; without the seal nobody looks.

use std::{fs, io, path::Path, sync::OnceLock};

use sha2::{Digest, Sha256};

use super::key_file;
use crate::{
    error::{Error, Result},
    files::disk::{Manner, Temporary},
    types::{KeptCheck, MemoryId, Scope, Timestamp},
};

/// Nobody guesses so many random bytes.
const KEY_BYTES: usize = 32;

/// What seals are made with.
#[derive(Clone)]
pub(super) struct Key([u8; KEY_BYTES]);

/// The key of this process, where there is no home to keep one in.
#[derive(Default)]
pub(super) struct OwnKey(OnceLock<Key>);

impl OwnKey {
    /// The key, made if there is none.
    pub(super) fn made(&self, home: Option<&Path>) -> Result<Key> {
        match home {
            Some(home) => Key::made(home),
            None => match self.0.get() {
                Some(key) => Ok(key.clone()),
                None => Key::random().map(|key| self.0.get_or_init(|| key).clone()),
            },
        }
    }

    /// The key, if there is one. One that cannot be read proves nothing.
    pub(super) fn known(&self, home: Option<&Path>) -> Option<Key> {
        match home {
            Some(home) => Key::read(home).ok().flatten(),
            None => self.0.get().cloned(),
        }
    }
}

impl Key {
    fn random() -> Result<Self> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::io("making a key", io::Error::other(error.to_string())))?;
        Ok(Self(bytes))
    }

    fn read(home: &Path) -> Result<Option<Self>> {
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
    fn made(home: &Path) -> Result<Self> {
        if let Some(key) = Self::read(home)? {
            return Ok(key);
        }
        let (path, key) = (key_file(home), Self::random()?);
        let failed = |error| Error::io(path.display().to_string(), error);
        let manner = Manner { durable: true, private: true, permissions: None };
        let beside = path.with_extension(format!("{}.new", MemoryId::new(Timestamp::now())));
        match Temporary::written(beside, &key.0, manner).and_then(|key| key.create(&path)) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::read(home)?.ok_or_else(|| failed(error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The seal of a check in a scope.
    pub(super) fn seal(&self, scope: &Scope, kept: &KeptCheck) -> String {
        let unsealed = KeptCheck { seal: None, ..kept.clone() };
        // A struct of plain values can always be written as JSON, and always the same way.
        let said = serde_json::to_string(&(scope.agent(), scope.user(), unsealed));
        // Twice, so that nothing can be added to what is sealed.
        let inner = Sha256::new()
            .chain_update(b"everlore/check\0")
            .chain_update(self.0)
            .chain_update(said.unwrap_or_default())
            .finalize();
        let outer = Sha256::new().chain_update(self.0).chain_update(inner).finalize();
        outer.iter().flat_map(|byte| letters(*byte)).collect()
    }

    /// Whether the check has the seal of this key.
    pub(super) fn sealed(&self, scope: &Scope, kept: &KeptCheck) -> bool {
        kept.seal.as_ref().is_some_and(|seal| *seal == self.seal(scope, kept))
    }
}

/// A byte as two letters: digits could look like the number of a card, and be masked.
fn letters(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|half| char::from(b'a' + half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Actor, Check};

    fn check(path: &str) -> KeptCheck {
        let check = Check::Path { path: path.into() };
        KeptCheck::unsealed(check, Actor::Agent, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_seal_is_of_one_key_one_scope_and_one_check() {
        let (key, other) = (Key([1; 32]), Key([2; 32]));
        let (ann, bob) = (Scope::new("a", "ann").unwrap(), Scope::new("a", "bob").unwrap());
        let mut kept = check("/茶");
        assert!(!key.sealed(&ann, &kept));
        kept.seal = Some(key.seal(&ann, &kept));
        assert!(key.sealed(&ann, &kept));
        assert!(!key.sealed(&bob, &kept));
        assert!(!other.sealed(&ann, &kept));
        let moved = KeptCheck { check: check("/酒").check, ..kept.clone() };
        assert!(!key.sealed(&ann, &moved));
        assert!(!key.sealed(&ann, &KeptCheck { set_by: Actor::Person, ..kept }));
    }

    #[test]
    fn a_home_has_one_key_however_many_make_it_and_only_the_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let make = || {
            let home = home.path().to_owned();
            std::thread::spawn(move || Key::made(&home).unwrap().0)
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
