//! Text of a home that is on its way to memory, or was only typed: the hook spool (`hooks/waiting`), the rescue log
//! (`unsaved*.jsonl`) and the lines typed in `chat`. Forgetting reaches it here.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::atomic_file::{TempFile, WriteOptions, remove_if_exists};
use crate::types::Scope;

/// File of the lines typed in `chat`, one JSON string each.
pub const TYPED_LINES_FILE: &str = "chat_history.jsonl";

/// Age after which a spooled turn counts as overdue. Draining takes much less: its process starts with the hook.
const DRAIN_DEADLINE: Duration = Duration::from_secs(60);

/// Extension of turns in the hook spool.
const SPOOLED_EXTENSION: &str = "json";

/// Extension of turns that the store refused.
const REFUSED_EXTENSION: &str = "refused";

/// Removes turns of a scope that wait in the hook spool, and those set aside there, if `is_erased` says so of one of
/// their texts. Returns their number.
pub(crate) fn erase_spooled(
    home: &Path,
    scope: &Scope,
    is_erased: &dyn Fn(&str) -> bool,
) -> io::Result<usize> {
    let mut erased = 0;
    for path in files_of(&spool_folder(home)) {
        let Ok(entry) = serde_json::from_slice::<Value>(&fs::read(&path).unwrap_or_default())
        else {
            continue;
        };
        if scope_of(&entry).as_ref() == Some(scope) && has_text(&entry["turn"], is_erased) {
            remove_if_exists(&path)?;
            erased += 1;
        }
    }
    Ok(erased)
}

/// Removes lines of a scope's rescue log. Returns their number.
pub(crate) fn erase_unsaved(
    home: &Path,
    scope: &Scope,
    is_erased: &dyn Fn(&str) -> bool,
) -> io::Result<usize> {
    let mut erased = 0;
    for path in files_of(home).into_iter().filter(|path| is_rescue_file(path)) {
        let text = fs::read_to_string(&path)?;
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let owner = serde_json::from_str::<Value>(header).ok().and_then(|line| scope_of(&line));
        if owner.as_ref() != Some(scope) {
            continue;
        }
        let is_kept = |line: &&str| {
            !serde_json::from_str::<Value>(line).is_ok_and(|line| has_text(&line, is_erased))
        };
        let (before, kept): (_, Vec<&str>) =
            (text.lines().count(), lines.filter(is_kept).collect());
        erased += before - 1 - kept.len();
        rewrite(&path, header, &kept, before - 1)?;
    }
    Ok(erased)
}

/// Removes typed lines. Returns their number.
pub(crate) fn erase_typed(home: &Path, is_erased: &dyn Fn(&str) -> bool) -> io::Result<usize> {
    let path = home.join(TYPED_LINES_FILE);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        text => text?,
    };
    let is_kept =
        |line: &&str| !serde_json::from_str::<String>(line).is_ok_and(|line| is_erased(&line));
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    let erased = text.lines().count() - kept.len();
    if erased > 0 {
        write_lines(&path, &kept)?;
    }
    Ok(erased)
}

/// Files of a home that wait for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingFiles {
    /// Turns in the hook spool.
    pub spooled: usize,
    /// Turns in the hook spool that should have been stored by now.
    pub overdue: usize,
    /// Turns that the store refused.
    pub refused: usize,
    /// Rescue logs.
    pub unsaved: usize,
}

impl PendingFiles {
    /// Counts the files of a home.
    pub fn scan(home: &Path) -> Self {
        let unsaved = files_of(home).iter().filter(|path| is_rescue_file(path)).count();
        let mut found = Self { unsaved, ..Self::default() };
        for path in files_of(&spool_folder(home)) {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some(SPOOLED_EXTENSION) => {
                    found.spooled += 1;
                    found.overdue += usize::from(is_older_than(&path, DRAIN_DEADLINE));
                }
                Some(REFUSED_EXTENSION) => found.refused += 1,
                _ => {}
            }
        }
        found
    }
}

/// Returns the folder of the hook spool.
pub fn spool_folder(home: &Path) -> PathBuf {
    home.join("hooks").join("waiting")
}

/// Returns `true` if a file was last written longer ago than this; a time in the future says nothing.
fn is_older_than(path: &Path, limit: Duration) -> bool {
    let age = fs::metadata(path).and_then(|data| data.modified()).map(|at| at.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > limit))
}

/// Returns `true` if a path is a rescue log by its name.
pub fn is_rescue_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "unsaved.jsonl" || name.starts_with("unsaved-") && name.ends_with(".jsonl")
}

/// Returns the backups of the database in a home.
pub fn database_backups(home: &Path) -> Vec<PathBuf> {
    let is_backup = |path: &PathBuf| path.extension().is_some_and(|end| end == "backup");
    files_of(home).into_iter().filter(is_backup).collect()
}

/// Writes what is left of a rescue log; one without lines is removed.
fn rewrite(path: &Path, header: &str, kept: &[&str], before: usize) -> io::Result<()> {
    if kept.len() == before {
        return Ok(());
    }
    if kept.is_empty() {
        return remove_if_exists(path);
    }
    write_lines(path, &[&[header], kept].concat())
}

fn write_lines(path: &Path, lines: &[&str]) -> io::Result<()> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let options = WriteOptions { durable: true, private: true, permissions: None };
    TempFile::write(path.with_extension("new"), text.as_bytes(), options)?.persist(path)
}

fn scope_of(entry: &Value) -> Option<Scope> {
    serde_json::from_value(entry.get("scope")?.clone()).ok()
}

/// Returns `true` if any string of a value is erased.
fn has_text(value: &Value, is_erased: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_erased(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, is_erased)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, is_erased)),
        _ => false,
    }
}

/// Returns the regular files of a folder, in order.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut files: Vec<_> = entries.flatten().filter(is_file).map(|entry| entry.path()).collect();
    files.sort();
    files
}
