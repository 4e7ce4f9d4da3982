//! Files of an external system: only wanted ones are read, no links, within limits.

use std::{
    fs::{self, FileType},
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{ExternalFormat, ImportDecision, SkippedImport};
use crate::files::regular_file;
use crate::{
    error::{Error, Result},
    types::MAX_CONTENT_BYTES,
};

/// Most bytes of a markdown file; a longer one is no note and would not fit into a memory.
const MAX_TEXT_BYTES: u64 = MAX_CONTENT_BYTES as u64;

/// Most bytes of an export, which is held as a whole while it is read: room for hundreds of thousands of memories.
const MAX_DATA_BYTES: u64 = 64 * 1024 * 1024;

/// Most bytes of all files together: what a small machine can hold.
const MAX_TOTAL_BYTES: u64 = 128 * 1024 * 1024;

/// Most files; a folder with more was named by mistake.
const MAX_FILES: usize = 20_000;

/// Files that were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SourceTree {
    /// Absolute path of the folder.
    pub root: String,
    /// Files in the order of their names.
    pub files: Vec<SourceFile>,
    /// Files that could not be read, or are no memories.
    pub skipped: Vec<SkippedImport>,
}

/// File that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Path below the folder, with forward slashes.
    pub path: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// Creates a file with this text.
    #[cfg(test)]
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into() }
    }

    /// Returns its text without a byte order mark and with plain line ends, or the line with invalid UTF-8.
    pub(super) fn text(&self) -> Result<String, SkippedImport> {
        match decode_utf8(&self.bytes) {
            Ok(text) => Ok(text),
            Err(line) => Err(SkippedImport {
                location: format!("{}:{line}", self.path),
                reason: "it is not UTF-8 from here on; convert the file and import it again".into(),
            }),
        }
    }

    /// Returns the name without the folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Decodes bytes, or returns the line with invalid UTF-8.
pub(super) fn decode_utf8(bytes: &[u8]) -> std::result::Result<String, usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.replace("\r\n", "\n")),
        Err(error) => Err(1 + bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count()),
    }
}

impl SourceTree {
    /// Reads the files that a format wants at `path`: a file, or a folder.
    pub(super) fn read(path: &Path, format: ExternalFormat) -> Result<Self> {
        let absolute =
            path.canonicalize().map_err(|error| Error::io(path.display().to_string(), error))?;
        if absolute.is_dir() {
            let mut tree = Self { root: with_forward_slashes(&absolute), ..Self::default() };
            let mut room = MAX_TOTAL_BYTES;
            tree.walk(&absolute, "", format, &mut room);
            return Ok(tree);
        }
        let folder = absolute.parent().unwrap_or(&absolute);
        let mut tree = Self { root: with_forward_slashes(folder), ..Self::default() };
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut room = MAX_TOTAL_BYTES;
        tree.add_file(&absolute, name, &mut room);
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path, above: &str, format: ExternalFormat, room: &mut u64) {
        let entries = match sorted_entries(folder) {
            Ok(entries) => entries,
            Err(error) => {
                return self
                    .skip(format!("{above}."), format!("the folder cannot be read: {error}"));
            }
        };
        for (path, name, kind) in entries {
            let Some(name) = name else {
                let shown = path.file_name().unwrap_or_default().to_string_lossy();
                self.skip(format!("{above}{shown}"), "its name is not UTF-8; rename it");
                continue;
            };
            let inner = format!("{above}{name}");
            if kind.is_dir() && format.descends_into(&inner) {
                self.walk(&path, &format!("{inner}/"), format, room);
                continue;
            }
            match format.classify_file(&inner) {
                ImportDecision::Import if kind.is_symlink() => {
                    self.skip(&inner, "it is a symbolic link; import its target instead")
                }
                ImportDecision::Import if kind.is_file() => self.add_file(&path, inner, room),
                ImportDecision::Reject(reason) => self.skip(&inner, reason),
                _ if kind.is_symlink() && format.descends_into(&inner) => {
                    self.skip(&inner, "it is a symbolic link; import its target instead")
                }
                _ => {}
            }
        }
    }

    fn add_file(&mut self, path: &Path, inner: String, room: &mut u64) {
        if self.files.len() >= MAX_FILES {
            return self.skip(inner, format!("there are more than {MAX_FILES} files"));
        }
        let is_text = inner.to_lowercase().ends_with(".md");
        let limit = if is_text { MAX_TEXT_BYTES } else { MAX_DATA_BYTES };
        match read(path, limit.min(*room)) {
            Ok(Some(bytes)) => {
                *room -= bytes.len() as u64;
                self.files.push(SourceFile { path: inner, bytes });
            }
            Ok(None) if *room < limit => {
                self.skip(inner, "the files together are too large; import them in parts")
            }
            Ok(None) => self.skip(
                inner,
                format!("it has more than {} MiB; split it and import the parts", limit >> 20),
            ),
            Err(error) => self.skip(inner, format!("it cannot be read: {error}")),
        }
    }

    fn skip(&mut self, location: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(SkippedImport { location: location.into(), reason: reason.into() });
    }
}

/// Reads the bytes of a file; `None` if there are more than `limit`.
fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    regular_file::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Lists a folder by name; `None` for a name that is no text, which cannot tell its file from others.
fn sorted_entries(folder: &Path) -> io::Result<Vec<(PathBuf, Option<String>, FileType)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok();
        entries.push((entry.path(), name, entry.file_type()?));
    }
    entries.sort_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
    Ok(entries)
}

/// Returns the path with forward slashes, so that a database means the same on every system.
fn with_forward_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
