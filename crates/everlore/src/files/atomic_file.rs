//! Atomic writes: a temporary file beside the target is written, synced, and renamed into place.
//!
//! `memory_folder` does the same from open folders, because it follows no link.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Options of a write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Set to survive a power cut once the file is in place.
    pub durable: bool,
    /// Set to make a new file readable by the user only.
    pub private: bool,
    /// Permissions; those of a usual new file if `None`.
    pub permissions: Option<Permissions>,
}

/// Temporary file that is written but not yet in place; removed unless it is persisted.
#[derive(Debug)]
pub struct TempFile {
    path: PathBuf,
    durable: bool,
}

impl TempFile {
    /// Writes a file at `path`, which lies in the folder of its target.
    pub fn write(path: PathBuf, bytes: &[u8], options: WriteOptions) -> io::Result<Self> {
        let is_closed = options.private || options.permissions.is_some();
        let mut open = if is_closed { private_open_options() } else { OpenOptions::new() };
        let mut file = open.write(true).create(true).truncate(true).open(&path)?;
        let temporary = Self { path, durable: options.durable };
        if let Some(permissions) = options.permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        if temporary.durable {
            file.sync_all()?;
        }
        Ok(temporary)
    }

    /// Renames it to `path`, over a file that is there.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.finish(path)
    }

    /// Renames it to `path`; an error if there is a file.
    pub fn persist_noclobber(self, path: &Path) -> io::Result<()> {
        // A hard link, unlike a rename, never replaces another file.
        match fs::hard_link(&self.path, path) {
            Ok(()) => fs::remove_file(&self.path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Some file systems have no hard links; then there is a moment in which another file could be replaced.
            Err(_) if path.exists() => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.path, path)?,
        }
        self.finish(path)
    }

    fn finish(mut self, path: &Path) -> io::Result<()> {
        self.path = PathBuf::new();
        if self.durable { sync_parent_folder(path) } else { Ok(()) }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // A file that cannot be removed is reused or removed by a later write.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes a file; a missing one is no error.
pub fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Waits until no other process holds the lock file. The system releases it when the process ends, however it ends.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = private_open_options().append(true).create(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Creates a folder for the user alone, and missing ones above it. Returns `true` if it was created.
pub fn create_private_folder(folder: &Path) -> io::Result<bool> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(false);
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    Ok(true)
}

/// Returns options that make a new file readable by the user only.
pub fn private_open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a new name durable, where folders can be synced.
fn sync_parent_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
