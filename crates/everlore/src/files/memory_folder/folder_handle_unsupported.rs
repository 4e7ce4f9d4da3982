//! Stand-in for folder handles on systems without `openat`: no folder can be opened, so nothing unsafe is done.

use std::{io, path::Path};

/// File type of a name.
#[expect(dead_code, reason = "nothing is ever found")]
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
    /// Anything else.
    Other,
}

/// Folder that cannot be opened.
pub(super) enum FolderHandle {}

impl FolderHandle {
    pub(super) fn open_root(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the memory folder needs a Unix system"))
    }

    pub(super) fn lock(&self, _: bool) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn stat(&self, _: &str) -> io::Result<FolderNode> {
        match *self {}
    }

    pub(super) fn open_subfolder(&self, _: &str) -> io::Result<Self> {
        match *self {}
    }

    pub(super) fn create_subfolder(&self, _: &str) -> io::Result<Self> {
        match *self {}
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        match *self {}
    }

    pub(super) fn read_limited(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        match *self {}
    }

    pub(super) fn write_temp(&self, _: &[u8]) -> io::Result<String> {
        match *self {}
    }

    pub(super) fn rename_to(&self, _: &str, _: &Self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn remove_from(&self, _: &Self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn remove_temp_files(&self) -> io::Result<()> {
        match *self {}
    }
}
