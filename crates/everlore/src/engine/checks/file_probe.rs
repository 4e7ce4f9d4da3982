//! Looking at files: from outside first, at their bytes only where that does not tell.

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

/// A larger file would be read for longer than anyone waits.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file that was written less long ago may be written again without its time telling.
const MIN_STABLE_AGE: Duration = Duration::from_secs(2);

/// The digests of so many files are kept; more start anew.
const MAX_CACHED: usize = 1_024;

/// So much is read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Digests of files, by how the files looked when they were taken.
#[derive(Default)]
pub(super) struct FileDigestCache(Mutex<HashMap<String, (String, String)>>);

impl FileDigestCache {
    /// What a look at a path or a file tells.
    pub(super) fn probe(&self, kept: &StoredCheck) -> CheckResult {
        let (verdict, reason) = match &kept.check {
            Check::Path { path } => match fs::metadata(path) {
                Ok(_) => (CheckStatus::Fresh, CheckReason::Exists),
                Err(error) => access_verdict(&error),
            },
            Check::File { file, sha256 } => {
                self.compare_file(file, sha256.as_deref(), kept.seen.as_ref())
            }
            _ => (CheckStatus::Unverifiable, CheckReason::SetElsewhere),
        };
        kept.result(verdict, reason)
    }

    fn compare_file(
        &self,
        path: &str,
        sha256: Option<&str>,
        seen: Option<&CheckedFileStat>,
    ) -> (CheckStatus, CheckReason) {
        let about = match fs::metadata(path) {
            Ok(about) => about,
            Err(error) => return access_verdict(&error),
        };
        if !about.is_file() {
            return (CheckStatus::Stale, CheckReason::NotAFile);
        }
        if seen.is_some_and(|seen| seen.bytes != about.len()) {
            return (CheckStatus::Stale, CheckReason::Changed);
        }
        let is_as_seen = |stamp: String| seen.and_then(|seen| seen.stamp.as_ref()) == Some(&stamp);
        if file_stamp(&about).is_some_and(is_as_seen) {
            return (CheckStatus::Fresh, CheckReason::Unchanged);
        }
        if about.len() > MAX_BYTES {
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

    /// The digest of a file, from before if it looks the same.
    fn digest(&self, path: &str) -> io::Result<Option<String>> {
        let now = fs::metadata(path).ok().as_ref().and_then(file_stamp);
        let mut kept = lock(&self.0);
        if let (Some(now), Some((then, digest))) = (&now, kept.get(path))
            && now == then
        {
            return Ok(Some(digest.clone()));
        }
        drop(kept);
        let Some((digest, seen)) = hash_file(path)? else { return Ok(None) };
        kept = lock(&self.0);
        if kept.len() >= MAX_CACHED {
            kept.clear();
        }
        if let Some(stamp) = seen.stamp {
            kept.insert(path.to_owned(), (stamp, digest.clone()));
        }
        Ok(Some(digest))
    }
}

/// What it means that a path cannot be looked at.
fn access_verdict(error: &io::Error) -> (CheckStatus, CheckReason) {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (CheckStatus::Stale, CheckReason::Missing)
        }
        _ => (CheckStatus::Unverifiable, CheckReason::Unreadable(error.kind().to_string())),
    }
}

/// A check that holds now, with the digest of its file.
pub(super) fn with_digest(mut kept: StoredCheck) -> Result<StoredCheck> {
    match &mut kept.check {
        Check::Path { path } => {
            fs::metadata(&*path).map_err(|error| access_error(path, &error))?;
        }
        Check::File { file, sha256: sha256 @ None } => {
            let about = fs::metadata(&*file).map_err(|error| access_error(file, &error))?;
            if !about.is_file() {
                return Err(Error::invalid(
                    format!("{file} is no plain file"),
                    "a folder can only be checked to be there: use path instead of file",
                ));
            }
            let read = hash_file(file).map_err(|error| access_error(file, &error))?;
            let (digest, seen) = read.ok_or_else(|| too_large_error(file))?;
            *sha256 = Some(digest);
            kept.seen = Some(seen);
        }
        _ => {}
    }
    Ok(kept)
}

fn access_error(path: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::invalid(
            format!("there is nothing at {path}, so the check would fail at once"),
            "check the path",
        ),
        kind => Error::invalid(
            format!("{path} cannot be looked at: {kind}"),
            "check its permissions, or check something else",
        ),
    }
}

fn too_large_error(path: &str) -> Error {
    Error::invalid(
        format!("{path} is larger than {} MiB", MAX_BYTES / 1024 / 1024),
        "check only that it is there: use path instead of file",
    )
}

/// The digest of a file and how it looked; none if it is too large.
fn hash_file(path: &str) -> io::Result<Option<(String, CheckedFileStat)>> {
    let mut file = open_nonblocking(Path::new(path))?;
    let about = file.metadata()?;
    if !about.is_file() {
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
    Ok(Some((digest, CheckedFileStat { bytes, stamp: file_stamp(&about) })))
}

/// Opens a file without waiting: a pipe that took its place since would never answer.
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

/// How a file looks from outside; none if it was written just now.
fn file_stamp(about: &Metadata) -> Option<String> {
    let modified = about.modified().ok()?;
    let age = SystemTime::now().duration_since(modified).ok()?;
    (age >= MIN_STABLE_AGE).then(|| look_of(about, modified))
}

#[cfg(unix)]
fn look_of(about: &Metadata, _: SystemTime) -> String {
    use std::os::unix::fs::MetadataExt;
    let (modified, changed) =
        ((about.mtime(), about.mtime_nsec()), (about.ctime(), about.ctime_nsec()));
    format!(
        "{}.{:09} {}.{:09} {}:{}",
        modified.0,
        modified.1,
        changed.0,
        changed.1,
        about.dev(),
        about.ino()
    )
}

#[cfg(not(unix))]
fn look_of(_: &Metadata, modified: SystemTime) -> String {
    format!("{modified:?}")
}

#[cfg(test)]
#[path = "file_probe_tests.rs"]
mod tests;
