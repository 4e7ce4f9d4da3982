//! Folders by their open handles. Every step is taken from a handle and never follows a link, so that a folder swapped
//! for a link meanwhile cannot lead elsewhere.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags},
    io::Errno,
};

use crate::files::atomic_file::create_private_folder;

/// Prefix of temporary names. No path that an agent gives can have it, nor any file of a sync of the same folder, which
/// has a lock of its own.
const TEMP_PREFIX: &str = ".everlore-tool-";

/// Mode of new files: only the user may read them.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const FOLDER_MODE: Mode = Mode::RWXU;

const OPEN_FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// File type of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderNode {
    /// Nothing.
    Absent,
    /// File of so many bytes.
    File(u64),
    /// Folder.
    Folder,
    /// Link.
    Link,
    /// Device, pipe or socket.
    Other,
}

/// Open folder.
pub(super) struct FolderHandle(OwnedFd);

impl FolderHandle {
    /// Opens a folder by its path, and creates it if missing. Links in that path are its owner's choice.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        create_private_folder(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::open(path, flags, Mode::empty())?))
    }

    /// Waits until no other process changes (or, to change it, uses) the folder; the lock is held until the handle is
    /// dropped.
    pub(super) fn lock(&self, to_change: bool) -> io::Result<()> {
        let operation =
            if to_change { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
        Ok(fs::flock(&self.0, operation)?)
    }

    /// Returns the file type of a name.
    pub(super) fn stat(&self, name: &str) -> io::Result<FolderNode> {
        let stat = match fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(FolderNode::Absent),
            stat => stat?,
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FolderNode::File(u64::try_from(stat.st_size).unwrap_or(0)),
            FileType::Directory => FolderNode::Folder,
            FileType::Symlink => FolderNode::Link,
            _ => FolderNode::Other,
        })
    }

    /// Opens the folder of that name.
    pub(super) fn open_subfolder(&self, name: &str) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, OPEN_FOLDER_FLAGS, Mode::empty())?))
    }

    /// Opens the folder of that name, created if missing.
    pub(super) fn create_subfolder(&self, name: &str) -> io::Result<Self> {
        match fs::mkdirat(&self.0, name, FOLDER_MODE) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.open_subfolder(name)
    }

    /// Returns the names in it, in order; a name that is no text is shown as well as possible.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Reads the bytes of a file, at most one more than `limit`.
    pub(super) fn read_limited(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        // Non-blocking: a pipe that took the file's place would never answer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.0, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a file any more"));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a temporary file and syncs it; [`FolderHandle::rename_to`] gives it its name.
    pub(super) fn write_temp(&self, bytes: &[u8]) -> io::Result<String> {
        let name = temporary_name();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.0, &*name, flags, FILE_MODE)?);
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(name)
    }

    /// Renames something to another folder in one step, and syncs both folders.
    pub(super) fn rename_to(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        fs::renameat(&self.0, name, &to.0, new_name)?;
        to.sync()?;
        self.sync()
    }

    /// Moves something out of `parent` in one step, and then deletes it.
    pub(super) fn remove_from(&self, parent: &Self, name: &str) -> io::Result<()> {
        let trash = temporary_name();
        parent.rename_to(name, self, &trash)?;
        self.remove(&trash)
    }

    /// Removes leftovers of an interrupted change. The caller must hold the lock.
    pub(super) fn remove_temp_files(&self) -> io::Result<()> {
        for name in self.names()?.iter().filter(|name| name.starts_with(TEMP_PREFIX)) {
            self.remove(name)?;
        }
        Ok(())
    }

    /// Removes a file, a link, or a folder with all that is in it.
    fn remove(&self, name: &str) -> io::Result<()> {
        if self.stat(name)? != FolderNode::Folder {
            return Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?);
        }
        let folder = self.open_subfolder(name)?;
        for inner in folder.names()? {
            folder.remove(&inner)?;
        }
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }
}

/// Returns a name that no other process and no earlier call has.
fn temporary_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{TEMP_PREFIX}{}-{number}", std::process::id())
}
