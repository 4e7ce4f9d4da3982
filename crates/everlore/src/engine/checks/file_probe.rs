//! File checks: metadata first, content only where metadata does not decide.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    path::Path,
    sync::Mutex,
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    sync::lock,
    types::{Check, CheckReason, CheckResult, CheckStatus, CheckedFileStat, StoredCheck},
};

/// Largest file that a check reads; a larger one takes longer than anyone waits.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Youngest modification time that identifies content: a younger file may change again within the clock's resolution.
const MIN_STABLE_AGE: Duration = Duration::from_secs(2);

/// Capacity of the digest cache; a full cache is cleared.
const MAX_CACHED: usize = 1_024;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Cache of file digests, keyed by path and valid while the file's stamp is the same.
#[derive(Default)]
pub(super) struct FileDigestCache(Mutex<HashMap<String, (String, String)>>);

impl FileDigestCache {
    /// Evaluates a path or file check.
    pub(super) fn probe(&self, stored: &StoredCheck) -> CheckResult {
        let (verdict, reason) = match &stored.check {
            Check::Path { path } => match fs::metadata(path) {
                Ok(_) => (CheckStatus::Fresh, CheckReason::Exists),
                Err(error) => access_verdict(&error),
            },
            Check::File { file, sha256 } => {
                self.compare_file(file, sha256.as_deref(), stored.seen.as_ref())
            }
            _ => (CheckStatus::Unverifiable, CheckReason::SetElsewhere),
        };
        stored.result(verdict, reason)
    }

    fn compare_file(
        &self,
        path: &str,
        sha256: Option<&str>,
        seen: Option<&CheckedFileStat>,
    ) -> (CheckStatus, CheckReason) {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return access_verdict(&error),
        };
        if !metadata.is_file() {
            return (CheckStatus::Stale, CheckReason::NotAFile);
        }
        if seen.is_some_and(|seen| seen.bytes != metadata.len()) {
            return (CheckStatus::Stale, CheckReason::Changed);
        }
        let is_as_seen = |stamp: String| seen.and_then(|seen| seen.stamp.as_ref()) == Some(&stamp);
        if file_stamp(&metadata).is_some_and(is_as_seen) {
            return (CheckStatus::Fresh, CheckReason::Unchanged);
        }
        if metadata.len() > MAX_BYTES {
            return (CheckStatus::Unverifiable, CheckReason::TooLarge);
        }
        match self.digest(path) {
            Ok(Some(digest)) if Some(digest.as_str()) == sha256 => {
                (CheckStatus::Fresh, CheckReason::Unchanged)
            }
            Ok(Some(_)) => (CheckStatus::Stale, CheckReason::Changed),
            Ok(None) => (CheckStatus::Unverifiable, CheckReason::TooLarge),
            Err(error) => access_verdict(&error),
        }
    }

    /// Returns the digest of a file, cached while its stamp is the same; `None` if the file is too large.
    fn digest(&self, path: &str) -> io::Result<Option<String>> {
        let now = fs::metadata(path).ok().as_ref().and_then(file_stamp);
        let mut cache = lock(&self.0);
        if let (Some(now), Some((then, digest))) = (&now, cache.get(path))
            && now == then
        {
            return Ok(Some(digest.clone()));
        }
        drop(cache);
        let Some((digest, seen)) = hash_file(path)? else { return Ok(None) };
        cache = lock(&self.0);
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        if let Some(stamp) = seen.stamp {
            cache.insert(path.to_owned(), (stamp, digest.clone()));
        }
        Ok(Some(digest))
    }
}

/// Returns the verdict for a path that cannot be accessed.
fn access_verdict(error: &io::Error) -> (CheckStatus, CheckReason) {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (CheckStatus::Stale, CheckReason::Missing)
        }
        _ => (CheckStatus::Unverifiable, CheckReason::Unreadable(error.kind().to_string())),
    }
}

/// Returns a check with the digest of its file. Fails if the check does not hold now.
pub(super) fn with_digest(mut stored: StoredCheck) -> Result<StoredCheck> {
    match &mut stored.check {
        Check::Path { path } => {
            fs::metadata(&*path).map_err(|error| access_error(path, &error))?;
        }
        Check::File { file, sha256: sha256 @ None } => {
            let metadata = fs::metadata(&*file).map_err(|error| access_error(file, &error))?;
            if !metadata.is_file() {
                return Err(Error::invalid(
                    format!("{file} is not a regular file"),
                    "a folder can only be checked for existence: use path instead of file",
                ));
            }
            let read = hash_file(file).map_err(|error| access_error(file, &error))?;
            let (digest, seen) = read.ok_or_else(|| too_large_error(file))?;
            *sha256 = Some(digest);
            stored.seen = Some(seen);
        }
        _ => {}
    }
    Ok(stored)
}

fn access_error(path: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::invalid(
            format!("{path} does not exist, so the check would fail at once"),
            "check the path",
        ),
        kind => Error::invalid(
            format!("{path} cannot be read: {kind}"),
            "fix its permissions, or use another check",
        ),
    }
}

fn too_large_error(path: &str) -> Error {
    Error::invalid(
        format!("{path} is larger than {} MiB", MAX_BYTES / 1024 / 1024),
        "check only that it exists: use path instead of file",
    )
}

/// Returns the digest and stat of a file; `None` if it is too large.
fn hash_file(path: &str) -> io::Result<Option<(String, CheckedFileStat)>> {
    let mut file = open_nonblocking(Path::new(path))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (mut digest, mut bytes, mut chunk) = (Sha256::new(), 0_u64, vec![0; CHUNK_BYTES]);
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += count as u64;
        if bytes > MAX_BYTES {
            return Ok(None);
        }
        digest.update(&chunk[..count]);
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some((digest, CheckedFileStat { bytes, stamp: file_stamp(&metadata) })))
}

/// Opens a file without blocking: a named pipe that replaced it meanwhile would never answer.
fn open_nonblocking(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options.open(path)
}

/// Returns the stamp of a file: times and inode; `None` if it changed within [`MIN_STABLE_AGE`].
fn file_stamp(metadata: &Metadata) -> Option<String> {
    let modified = metadata.modified().ok()?;
    let age = SystemTime::now().duration_since(modified).ok()?;
    (age >= MIN_STABLE_AGE).then(|| stamp_text(metadata, modified))
}

#[cfg(unix)]
fn stamp_text(metadata: &Metadata, _: SystemTime) -> String {
    use std::os::unix::fs::MetadataExt;
    let (modified, changed) =
        ((metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec()));
    format!(
        "{}.{:09} {}.{:09} {}:{}",
        modified.0,
        modified.1,
        changed.0,
        changed.1,
        metadata.dev(),
        metadata.ino()
    )
}

#[cfg(not(unix))]
fn stamp_text(_: &Metadata, modified: SystemTime) -> String {
    format!("{modified:?}")
}

#[cfg(test)]
#[path = "file_probe_tests.rs"]
mod tests;
