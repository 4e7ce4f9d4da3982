//! Owner's token and secrets of keys: random, readable by the owner only. The token stands as plain text in
//! `server.token`, so that the owner's programs can read it; keys are stored as digests.

use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};
use std::{
    io,
    path::{Path, PathBuf},
};

use everlore::{
    Error, Result,
    internal::files::{
        atomic_file::{TempFile, WriteOptions},
        private_file::make_private,
    },
};
use sha2::{Digest, Sha256};

/// Random bytes of a token or a key, too many to guess.
const SECRET_BYTES: usize = 32;

/// Digest by which a secret is recognized; the secret cannot be derived from it.
pub(crate) type SecretDigest = [u8; 32];

/// Returns the path of the token file.
pub(crate) fn token_path(home: &Path) -> PathBuf {
    home.join("server.token")
}

/// Returns the digest of the owner's token, and creates the token if there is none. The caller must hold the instance
/// lock.
pub(crate) fn load_or_create(home: &Path) -> Result<SecretDigest> {
    let path = token_path(home);
    let failed = |error| Error::io(path.display().to_string(), error);
    refuse_exposed(&path)?;
    let token = match regular_file::read_to_string(&path, MAX_SETTINGS_BYTES) {
        Ok(token) => token.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = generate_secret()?;
            write_private(&path, format!("{token}\n").as_bytes()).map_err(failed)?;
            token
        }
        Err(error) => return Err(failed(error)),
    };
    // A shorter token was not created here and could be guessed.
    if token.len() < SECRET_BYTES {
        return Err(Error::invalid(
            format!("{} holds no token", path.display()),
            "delete the file; the next start creates a new one",
        ));
    }
    Ok(digest_secret(&token))
}

/// Makes a file with secrets private, and refuses one that stays open to others.
pub(crate) fn refuse_exposed(path: &Path) -> Result<()> {
    match make_private(path) {
        Ok(None) => Ok(()),
        Ok(Some(mode)) => {
            let mode = format!("{mode:04o}");
            tracing::warn!(path = %path.display(), mode, "others could read or change this file; it is private now");
            Ok(())
        }
        Err(error) => Err(Error::invalid(
            format!("others can read or change {}, and it stays so: {error}", path.display()),
            "make it yours alone with chmod 600",
        )),
    }
}

/// Creates a random secret.
pub(crate) fn generate_secret() -> Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::io("making a secret", io::Error::other(error.to_string())))?;
    Ok(format!("evl_{}", hex(&bytes)))
}

/// Returns the digest of a secret.
pub(crate) fn digest_secret(secret: &str) -> SecretDigest {
    Sha256::new().chain_update(b"everlore/secret\0").chain_update(secret).finalize().into()
}

/// Compares in constant time, so that the duration does not reveal where both differ.
pub(crate) fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b));
    one.len() == other.len() && differing == 0
}

/// Formats bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file that only the owner may read, atomically.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let options = WriteOptions { durable: true, private: true, permissions: None };
    let temp_path = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(temp_path, bytes, options)?.persist(path)
}
