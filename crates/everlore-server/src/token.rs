//! The token of the owner: made once, kept in the home for the owner's eyes only.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    Error, Result,
    files::atomic_file::{TempFile, WriteOptions},
};
use sha2::{Digest, Sha256};

/// Random bytes of a token or a key: nobody guesses them.
const SECRET_BYTES: usize = 32;

/// What a secret is known by: it cannot be told back from it.
pub(crate) type SecretDigest = [u8; 32];

/// The file of the token.
pub(crate) fn token_path(home: &Path) -> PathBuf {
    home.join("server.token")
}

/// What the token is known by; it is made if there is none. Only who holds the lock of the home may ask.
pub(crate) fn load_or_create(home: &Path) -> Result<SecretDigest> {
    let path = token_path(home);
    let failed = |error| Error::io(path.display().to_string(), error);
    let token = match fs::read_to_string(&path) {
        Ok(token) => token.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = generate_secret()?;
            write_private(&path, format!("{token}\n").as_bytes()).map_err(failed)?;
            token
        }
        Err(error) => return Err(failed(error)),
    };
    // A short one was not made here, and could be guessed.
    if token.len() < SECRET_BYTES {
        return Err(Error::invalid(
            format!("{} holds no token", path.display()),
            "delete the file; the next start makes a new one",
        ));
    }
    Ok(digest_secret(&token))
}

/// A new secret.
pub(crate) fn generate_secret() -> Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::io("making a secret", io::Error::other(error.to_string())))?;
    Ok(format!("evl_{}", hex(&bytes)))
}

/// What a secret is known by.
pub(crate) fn digest_secret(secret: &str) -> SecretDigest {
    Sha256::new().chain_update(b"everlore/secret\0").chain_update(secret).finalize().into()
}

/// Whether both are the same, in a time that does not tell where they differ.
pub(crate) fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b));
    one.len() == other.len() && differing == 0
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file that only the owner may read, whole or not at all.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let manner = WriteOptions { durable: true, private: true, permissions: None };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(beside, bytes, manner)?.persist(path)
}
