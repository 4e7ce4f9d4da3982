//! Files that are read whole and replaced whole: whatever happens, the old one or the new one is there.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    files::atomic_file::{
        self, TempFile, WriteOptions, create_private_folder, private_open_options,
    },
};

/// A layer has some thousand characters; a file far beyond that is something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// More links in a row than this lead in a circle.
const MAX_LINKS: usize = 40;

/// Waits until no other process changes what the file stands for; the lock is held as long as the file is open.
pub(super) fn lock(path: &Path) -> Result<File> {
    create_parent_folder(path)?;
    atomic_file::lock(path).map_err(|error| Error::io(path.display().to_string(), error))
}

/// The text of a file; none if there is no such file.
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
    let file = File::open(path).map_err(failed)?;
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
            "save it as UTF-8 in an editor; until then it is left as it is",
        )
    })
}

/// Where a file really is, if it is a link.
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
        "remove the link or let it lead to a file",
    ))
}

/// Replaces a file, or what it is a link to; its permissions stay. The caller holds the lock.
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
    let manner = WriteOptions { durable: true, private: true, permissions };
    TempFile::write(temp_path(path, &target), text.as_bytes(), manner)
        .and_then(|temporary| temporary.persist(&target))
        .map_err(failed)
}

/// Makes a file that is not there yet; an existing one is left as it is. Says whether it was made.
pub(super) fn create(path: &Path, text: &str) -> Result<bool> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(false);
    }
    create_parent_folder(path)?;
    let manner = WriteOptions { durable: true, private: true, permissions: None };
    let made = TempFile::write(temp_path(path, path), text.as_bytes(), manner)
        .and_then(|temporary| temporary.persist_noclobber(path));
    match made {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Error::io(path.display().to_string(), error)),
    }
}

/// Removes a file; one that is not there is removed already.
pub(super) fn remove(path: &Path) -> Result<()> {
    atomic_file::remove_if_exists(path)
        .map_err(|error| Error::io(path.display().to_string(), error))
}

/// Adds to the end of a file that only the user may read. It survives the end of the process; what makes it survive a
/// power cut is left to the system, for the file that matters is replaced and synced right after.
pub(super) fn append(path: &Path, bytes: &[u8], whole: u64) -> Result<()> {
    create_parent_folder(path)?;
    let add = || -> io::Result<()> {
        let mut file = private_open_options().append(true).create(true).open(path)?;
        // What was cut short by a crash is taken away first.
        if file.metadata()?.len() != whole {
            file.set_len(whole)?;
        }
        file.write_all(bytes)
    };
    add().map_err(|error| Error::io(path.display().to_string(), error))
}

/// A name beside the file that only the holder of its lock uses, so that what a crash leaves is used again.
fn temp_path(path: &Path, target: &Path) -> PathBuf {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let digest: String = digest[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{digest}.tmp"))
}

/// Makes the folder of a file for the user alone.
fn create_parent_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match create_private_folder(folder) {
        Err(error) => Err(Error::io(folder.display().to_string(), error)),
        Ok(_) => Ok(()),
    }
}
