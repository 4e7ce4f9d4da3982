//! Folders by their open handles. Every step is taken from a handle and never follows a link, so that no one who swaps a
//! folder for a link meanwhile can lead it elsewhere.

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

/// What is on its way into its place is called so; no path that an agent gives can be, and nothing that a sync of the same
/// folder writes, which has a lock of its own.
const TEMP_PREFIX: &str = ".everlore-tool-";

/// Only the user may read what is remembered.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const FOLDER_MODE: Mode = Mode::RWXU;

const OPEN_FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderNode {
    /// Nothing.
    Absent,
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A link to anywhere.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// An open folder.
pub(super) struct FolderHandle(OwnedFd);

impl FolderHandle {
    /// Opens a folder by its path, links in which are its owner's choice, and makes it if it is not there.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        create_private_folder(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::open(path, flags, Mode::empty())?))
    }

    /// Waits until nobody else changes (or, to change it, nobody else uses) the folder, until the handle is dropped.
    pub(super) fn lock(&self, to_change: bool) -> io::Result<()> {
        let operation =
            if to_change { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
        Ok(fs::flock(&self.0, operation)?)
    }

    /// What a name stands for.
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

    /// The folder of that name.
    pub(super) fn open_subfolder(&self, name: &str) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, OPEN_FOLDER_FLAGS, Mode::empty())?))
    }

    /// The folder of that name, made if it is not there.
    pub(super) fn create_subfolder(&self, name: &str) -> io::Result<Self> {
        match fs::mkdirat(&self.0, name, FOLDER_MODE) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.open_subfolder(name)
    }

    /// The names in it, in order; those that are no text are shown as far as they are.
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

    /// The bytes of a file, one more than `limit` at most.
    pub(super) fn read_limited(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        // Without waiting: a pipe that took the file's place would never answer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.0, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a file any more"));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file beside all others and syncs it; it gets its name by [`FolderHandle::moved`].
    pub(super) fn write_temp(&self, bytes: &[u8]) -> io::Result<String> {
        let name = temporary_name();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.0, &*name, flags, FILE_MODE)?);
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(name)
    }

    /// Gives something another name and place in one step, and syncs both folders.
    pub(super) fn rename_to(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        fs::renameat(&self.0, name, &to.0, new_name)?;
        to.sync()?;
        self.sync()
    }

    /// Takes something out of `parent` in one step, and then apart.
    pub(super) fn remove_from(&self, parent: &Self, name: &str) -> io::Result<()> {
        let gone = temporary_name();
        parent.rename_to(name, self, &gone)?;
        self.remove(&gone)
    }

    /// Removes what an interrupted change left. Only for who holds the lock.
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

/// A name that no other process and no earlier call has.
fn temporary_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{TEMP_PREFIX}{}-{number}", std::process::id())
}
