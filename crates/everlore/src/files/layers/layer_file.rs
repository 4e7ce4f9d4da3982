//! Layer files, read and replaced as a whole: after a crash the old file or the new one is there.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::files::regular_file;
use crate::{
    error::{Error, Result},
    files::atomic_file::{
        self, TempFile, WriteOptions, create_private_folder, private_open_options,
    },
};

/// Most bytes of a layer: it has some thousand characters; a file far beyond that is something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// Most links in a row; more are a cycle.
const MAX_LINKS: usize = 40;

/// Waits until no other process changes the target of the file; the lock is held as long as the file is open.
pub(super) fn lock(path: &Path) -> Result<File> {
    create_parent_folder(path)?;
    atomic_file::lock(path).map_err(|error| Error::io(path.display().to_string(), error))
}

/// Reads the text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let name = path.display();
    let failed = |error| Error::io(name.to_string(), error);
    let data = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        data => data.map_err(failed)?,
    };
    if !data.is_file() {
        return Err(Error::invalid(
            format!("{name} is not a file"),
            "move it away; a text file belongs there",
        ));
    }
    let mut bytes = Vec::new();
    let file = regular_file::open(path).map_err(failed)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::invalid(
            format!("{name} is larger than 1 MiB"),
            "shorten it in an editor; long texts are for `everlore ingest`",
        ));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .split(|byte| *byte == b'\n')
            .count();
        Error::invalid(
            format!("{name} is not valid UTF-8, first in line {line}"),
            "save it as UTF-8 in an editor; until then it cannot be used",
        )
    })
}

/// Follows links to the real path of a file.
pub(super) fn resolve_link(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let is_link = fs::symlink_metadata(&target).is_ok_and(|data| data.is_symlink());
        if !is_link {
            return Ok(target);
        }
        let next = fs::read_link(&target)
            .map_err(|error| Error::io(target.display().to_string(), error))?;
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(Error::invalid(
        format!("{} is a link that leads in a circle", path.display()),
        "remove the link, or point it to a file",
    ))
}

/// Replaces a file, or the file that it links to; its permissions stay. The caller holds the lock.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let target = resolve_link(path)?;
    let failed = |error| Error::io(target.display().to_string(), error);
    let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
    if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(Error::invalid(
            format!("{} is write-protected", target.display()),
            "allow writing to the file if it may be changed",
        ));
    }
    create_parent_folder(&target)?;
    let options = WriteOptions { durable: true, private: true, permissions };
    TempFile::write(temp_path(path, &target), text.as_bytes(), options)
        .and_then(|temporary| temporary.persist(&target))
        .map_err(failed)
}

/// Creates a file; an existing one is left as it is. Returns `true` if it was created.
pub(super) fn create(path: &Path, text: &str) -> Result<bool> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(false);
    }
    create_parent_folder(path)?;
    let options = WriteOptions { durable: true, private: true, permissions: None };
    let created = TempFile::write(temp_path(path, path), text.as_bytes(), options)
        .and_then(|temporary| temporary.persist_noclobber(path));
    match created {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Error::io(path.display().to_string(), error)),
    }
}

/// Removes a file; a missing one is no error.
pub(super) fn remove(path: &Path) -> Result<()> {
    atomic_file::remove_if_exists(path)
        .map_err(|error| Error::io(path.display().to_string(), error))
}

/// Appends to a file that only the user may read. The line survives the end of the process; it is not synced, because
/// the file that matters is replaced and synced right after.
pub(super) fn append(path: &Path, bytes: &[u8], complete_len: u64) -> Result<()> {
    create_parent_folder(path)?;
    let add = || -> io::Result<()> {
        let mut file = private_open_options().append(true).create(true).open(path)?;
        // A line that a crash cut short is removed first.
        if file.metadata()?.len() != complete_len {
            file.set_len(complete_len)?;
        }
        file.write_all(bytes)
    };
    add().map_err(|error| Error::io(path.display().to_string(), error))
}

/// Returns a name beside the file that only the holder of its lock uses, so that leftovers of a crash are reused.
fn temp_path(path: &Path, target: &Path) -> PathBuf {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let digest: String = digest[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{digest}.tmp"))
}

/// Creates the folder of a file for the user alone.
fn create_parent_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match create_private_folder(folder) {
        Err(error) => Err(Error::io(folder.display().to_string(), error)),
        Ok(_) => Ok(()),
    }
}
