//! Folders where handles cannot be stepped from: none, so that nothing unsafe is done instead.

use std::{io, path::Path};

/// What a name stands for.
#[expect(dead_code, reason = "nothing is ever found")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// Nothing.
    Absent,
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A link to anywhere.
    Link,
    /// Anything else.
    Other,
}

/// A folder that cannot be opened.
pub(super) enum Folder {}

impl Folder {
    pub(super) fn root(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the memory folder needs a Unix system"))
    }

    pub(super) fn lock(&self, _: bool) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn node(&self, _: &str) -> io::Result<Node> {
        match *self {}
    }

    pub(super) fn sub(&self, _: &str) -> io::Result<Self> {
        match *self {}
    }

    pub(super) fn made(&self, _: &str) -> io::Result<Self> {
        match *self {}
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        match *self {}
    }

    pub(super) fn read(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        match *self {}
    }

    pub(super) fn temporary(&self, _: &[u8]) -> io::Result<String> {
        match *self {}
    }

    pub(super) fn moved(&self, _: &str, _: &Self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn removed_from(&self, _: &Self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn sweep(&self) -> io::Result<()> {
        match *self {}
    }
}
