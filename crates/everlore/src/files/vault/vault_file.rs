//! Vault files: atomic writes, never over something newer, one process at a time.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::META_FOLDER;
pub(crate) use crate::files::atomic_file::remove_if_exists;
use crate::{
    error::{Error, Result},
    files::{
        atomic_file::{TempFile, WriteOptions, lock},
        regular_file,
    },
    types::MAX_CONTENT_BYTES,
};

/// Most bytes of a file: those of a memory, front matter included.
pub(super) const MAX_FILE_BYTES: u64 = MAX_CONTENT_BYTES as u64 + 64 * 1024;

/// Prefix of temporary files; leftovers of a crash are removed.
const TEMP_PREFIX: &str = ".everlore-tmp-";

/// Metadata by which an untouched file is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStat {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write, in nanoseconds.
    pub modified: i64,
    /// Time of the last change of anything, its times included, if the system reports it.
    pub changed: i64,
    /// Inode number, if the system reports it.
    pub inode: u64,
}

impl FileStat {
    /// Returns the metadata of a file.
    pub(crate) fn from_metadata(data: &fs::Metadata) -> Self {
        let since =
            data.modified().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0));
        let (changed, inode) = changed(data);
        Self { size: data.len(), modified, changed, inode }
    }

    /// Returns the last moment at which it is known to have changed.
    pub(crate) fn last_changed(&self) -> i64 {
        self.modified.max(self.changed)
    }
}

#[cfg(unix)]
fn changed(data: &fs::Metadata) -> (i64, u64) {
    use std::os::unix::fs::MetadataExt;
    (data.ctime().saturating_mul(1_000_000_000).saturating_add(data.ctime_nsec()), data.ino())
}

#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> (i64, u64) {
    (0, 0)
}

/// Lock that is held while a vault is changed: one process at a time. The system releases it when the process ends,
/// however it ends.
#[derive(Debug)]
pub(crate) struct VaultLock {
    _file: fs::File,
    /// Time of the file system's own clock when the lock was taken, in nanoseconds.
    pub acquired_at: i64,
}

impl VaultLock {
    /// Waits until no other process changes the vault.
    pub(crate) fn acquire(folder: &Path) -> Result<Self> {
        let path = ensure_meta_folder(folder)?.join("lock");
        let failed = |error| Error::io(path.display().to_string(), error);
        let mut file = lock(&path).map_err(failed)?;
        // Only a write shows the time of the file system's clock.
        file.set_len(0).and_then(|()| file.write_all(b"\n")).map_err(failed)?;
        let taken_at = FileStat::from_metadata(&file.metadata().map_err(failed)?).last_changed();
        Ok(Self { _file: file, acquired_at: taken_at })
    }
}

/// Returns the folder inside a vault for the program's own data; created on first use, with a rule that keeps it out of
/// git.
pub(crate) fn ensure_meta_folder(folder: &Path) -> Result<PathBuf> {
    let path = folder.join(META_FOLDER);
    let failed = |error| Error::io(path.display().to_string(), error);
    if !path.is_dir() {
        fs::create_dir(&path)
            .or_else(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })
            .map_err(failed)?;
    }
    let ignore = path.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").map_err(failed)?;
    }
    Ok(path)
}

/// Reads the bytes of a file within the limit, with its metadata from before the read.
pub(crate) fn read_limited(path: &Path) -> io::Result<(Vec<u8>, FileStat)> {
    let file = regular_file::open(path)?;
    let stat = FileStat::from_metadata(&file.metadata()?);
    if stat.size > MAX_FILE_BYTES {
        return Err(io::Error::other(format!(
            "it has {} bytes, {MAX_FILE_BYTES} at most can be a memory",
            stat.size
        )));
    }
    let mut bytes = Vec::with_capacity(stat.size as usize + 1);
    // A file that grows meanwhile is cut, and its new size is noticed by the next look at it.
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok((bytes, stat))
}

/// Replaces a file atomically. With `durable` it survives a power cut when this returns.
pub(crate) fn replace_file(path: &Path, bytes: &[u8], durable: bool) -> io::Result<FileStat> {
    let permissions = fs::metadata(path).ok().map(|data| data.permissions());
    write_temp(path, bytes, WriteOptions { durable, permissions, ..WriteOptions::default() })?
        .persist(path)?;
    file_stat(path)
}

/// Creates a file; an error if there is one.
pub(crate) fn create_file(path: &Path, bytes: &[u8], durable: bool) -> io::Result<FileStat> {
    write_temp(path, bytes, WriteOptions { durable, ..WriteOptions::default() })?
        .persist_noclobber(path)?;
    file_stat(path)
}

/// Removes files that an interrupted process left half written.
pub(crate) fn remove_temp_files(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX))
    {
        // A file that cannot be removed is hidden and does no harm.
        let _ = fs::remove_file(entry.path());
    }
}

fn write_temp(path: &Path, bytes: &[u8], options: WriteOptions) -> io::Result<TempFile> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{TEMP_PREFIX}{}-{count}", std::process::id());
    TempFile::write(path.with_file_name(name), bytes, options)
}

fn file_stat(path: &Path) -> io::Result<FileStat> {
    Ok(FileStat::from_metadata(&fs::metadata(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_only_where_there_is_none_and_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let stat = create_file(&path, b"one", true).unwrap();
        assert_eq!(
            create_file(&path, b"two", true).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(read_limited(&path).unwrap().0, b"one");
        assert_eq!(read_limited(&path).unwrap().1.size, stat.size);
        replace_file(&path, b"three", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        fs::write(folder.path().join(".everlore-tmp-1-1"), "half").unwrap();
        remove_temp_files(folder.path());
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.md"]);
        remove_if_exists(&path).unwrap();
        remove_if_exists(&path).unwrap();
    }

    #[test]
    fn only_one_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let held = VaultLock::acquire(folder.path()).unwrap();
        let again = fs::File::options()
            .append(true)
            .open(folder.path().join(META_FOLDER).join("lock"))
            .unwrap();
        assert!(again.try_lock().is_err());
        drop(held);
        assert!(again.try_lock().is_ok());
    }
}
