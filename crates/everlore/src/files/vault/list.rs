//! Listing of a vault from the heads of its files, newest first.

use std::{fs, io::Read, path::Path};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::Serialize;

use super::{VaultPage, is_index_file};
use crate::files::regular_file;
use crate::{
    error::{Error, Result},
    text::age::Age,
    types::Kind,
};

/// Most files named in a prompt; search has no such limit.
pub const MAX_PROMPT_FILES: usize = 200;

/// Bytes at the start of a file that are read for a listing.
const HEAD_BYTES: u64 = 4 * 1024;

/// Contents of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct VaultListing {
    /// Memories, newest first.
    pub entries: Vec<VaultEntry>,
    /// Files that are no memories, with the reason.
    pub skipped: Vec<SkippedVaultFile>,
    /// Files beyond the limit, which were not read.
    pub left_out: usize,
}

/// File of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VaultEntry {
    /// File name.
    pub file: String,
    /// Kind of statement.
    pub kind: Kind,
    /// Title.
    pub name: String,
    /// Line by which a reader decides whether it matters.
    pub description: String,
    /// Time of the last change.
    pub modified_at: Timestamp,
}

/// File that is skipped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SkippedVaultFile {
    /// File name.
    pub file: String,
    /// Reason.
    pub reason: String,
}

impl VaultEntry {
    /// Returns `- [type] file (YYYY-MM-DD HH:MM): description`, for choosing relevant files.
    pub fn manifest_line(&self, zone: &TimeZone) -> String {
        let at = self.modified_at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
        let summary = if self.description.is_empty() { &self.name } else { &self.description };
        format!("- [{}] {} ({at}): {summary}", self.kind, self.file)
    }

    /// Returns its age.
    pub fn age(&self, now: &Zoned) -> Age {
        Age::new(self.modified_at, now)
    }
}

/// Reads the heads of the newest files until `limit` memories are found, or of all.
pub fn list(folder: &Path, limit: Option<usize>) -> Result<VaultListing> {
    let mut listing = VaultListing::default();
    let mut files = Vec::new();
    for entry in memory_files(folder)? {
        match entry {
            Ok((name, data)) => files.push((mtime(&data), name)),
            Err(skipped) => listing.skipped.push(skipped),
        }
    }
    files.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let limit = limit.unwrap_or(usize::MAX);
    for (at, (modified_at, file)) in files.iter().enumerate() {
        if listing.entries.len() == limit {
            listing.left_out = files.len() - at;
            break;
        }
        match read_entry(folder, file, *modified_at) {
            Ok(entry) => listing.entries.push(entry),
            Err(reason) => listing.skipped.push(SkippedVaultFile { file: file.clone(), reason }),
        }
    }
    listing.skipped.sort();
    Ok(listing)
}

/// Returns the files of a folder that could be memories: markdown, not hidden, not the index; links are reported as
/// skipped.
pub(crate) fn memory_files(
    folder: &Path,
) -> Result<Vec<std::result::Result<(String, fs::Metadata), SkippedVaultFile>>> {
    let failed = |error| Error::io(folder.display().to_string(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let shown = name.to_string_lossy().into_owned();
        if !is_memory_file(&shown) {
            continue;
        }
        let skipped =
            |reason: &str| Err(SkippedVaultFile { file: shown.clone(), reason: reason.to_owned() });
        match entry.metadata() {
            _ if name.to_str().is_none() => files.push(skipped("its name is not UTF-8")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => files.push(skipped(&error.to_string())),
            // The metadata of an entry is that of the link itself.
            Ok(data) if data.is_symlink() => files.push(skipped("it is a link to another file")),
            Ok(data) if data.is_file() => files.push(Ok((shown, data))),
            Ok(_) => {}
        }
    }
    Ok(files)
}

/// Returns `true` if a file of this name could be a memory.
pub(crate) fn is_memory_file(name: &str) -> bool {
    !name.starts_with('.') && name.to_lowercase().ends_with(".md") && !is_index_file(name)
}

/// Reads the head of a file, or returns why it is no memory.
fn read_entry(
    folder: &Path,
    file: &str,
    modified_at: Timestamp,
) -> std::result::Result<VaultEntry, String> {
    let head = read_head(&folder.join(file)).map_err(|error| error.to_string())?;
    let is_whole = head.len() < HEAD_BYTES as usize;
    let page =
        if is_whole { VaultPage::parse_strict(&head) } else { VaultPage::parse_head_strict(&head) };
    let page = page.map_err(|error| error.to_string())?;
    Ok(VaultEntry {
        file: file.to_owned(),
        kind: page.kind,
        name: page.name.unwrap_or_else(|| file.trim_end_matches(".md").replace('_', " ")),
        description: page.description.unwrap_or_default(),
        // A copy or a clone is newer than its contents.
        modified_at: page.modified.filter(|written| *written < modified_at).unwrap_or(modified_at),
    })
}

/// Reads the beginning of a file, cut between two characters.
fn read_head(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES as usize);
    regular_file::open(path)?.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    match std::str::from_utf8(&bytes) {
        Err(error) if error.error_len().is_none() => bytes.truncate(error.valid_up_to()),
        _ => {}
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}

fn mtime(data: &fs::Metadata) -> Timestamp {
    data.modified()
        .ok()
        .and_then(|at| Timestamp::try_from(at).ok())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn put(folder: &Path, file: &str, text: &str, age_days: u64) {
        let path = folder.join(file);
        fs::write(&path, text).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_452_800 - age_days * 86_400);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn memories_come_newest_first_and_others_are_told_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let page = |name: &str| {
            format!("---\nname: {name}\ndescription: about {name}\ntype: user\n---\nx")
        };
        put(folder.path(), "user_old.md", &page("old"), 9);
        put(folder.path(), "user_新.md", &page("新"), 0);
        put(folder.path(), "plain.md", "no front matter", 1);
        put(folder.path(), "MEMORY.md", "- [x](x.md)", 1);
        put(folder.path(), "notes.txt", "x", 1);
        put(folder.path(), "crlf.md", &page("old").replace('\n', "\r\n"), 1);
        put(folder.path(), "empty.md", "---\ntype: user\n---\n", 1);
        fs::write(folder.path().join("bytes.md"), b"\xff\xfe").unwrap();
        put(folder.path(), "long.md", &format!("---\nname: {}\n", "x".repeat(9_000)), 2);
        #[cfg(unix)]
        std::os::unix::fs::symlink("user_old.md", folder.path().join("link.md")).unwrap();
        let listing = list(folder.path(), None).unwrap();
        let files: Vec<_> = listing.entries.iter().map(|entry| entry.file.as_str()).collect();
        assert_eq!(files, ["user_新.md", "user_old.md"]);
        let described =
            |skipped: &SkippedVaultFile| format!("{}: {}", skipped.file, skipped.reason);
        let skipped: Vec<String> = listing.skipped.iter().map(described).collect();
        let expected = [
            "bytes.md: it is not UTF-8",
            "crlf.md: its lines end in CRLF; save it with LF",
            "empty.md: it has no text",
            "link.md: it is a link to another file",
            "plain.md: it has no front matter",
        ];
        for expected in expected.into_iter().filter(|line| cfg!(unix) || !line.contains("link")) {
            assert!(skipped.iter().any(|line| line == expected), "{expected} in {skipped:?}");
        }
        assert!(skipped.iter().any(|line| line.starts_with("long.md: ")), "{skipped:?}");
        assert_eq!(
            listing.entries[0].manifest_line(&TimeZone::UTC),
            "- [user] user_新.md (2026-03-02 12:00): about 新"
        );
        let now: Zoned = "2026-03-02T13:00:00[UTC]".parse().unwrap();
        assert_eq!(
            (listing.entries[0].age(&now).days, listing.entries[1].age(&now).is_stale()),
            (0, true)
        );
        let limited = list(folder.path(), Some(1)).unwrap();
        assert_eq!((limited.entries.len(), limited.left_out), (1, 5));
    }
}
