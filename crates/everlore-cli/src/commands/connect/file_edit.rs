//! Settings files of agents: written atomically, with a backup in the home from which `disconnect` restores them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    internal::files::atomic_file::{
        TempFile, WriteOptions, create_private_folder, remove_if_exists,
    },
    types::Fingerprint,
};
use serde::{Deserialize, Serialize};

use super::{
    agent_entries::{EditContent, FileEdit},
    json_entries::{self, JsonEntry},
    toml_section,
};
use crate::{CliError, Result};

/// Outcome of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EditOutcome {
    /// The file was written.
    Changed,
    /// The file has the entries already, or has none to remove.
    Same,
    /// The file cannot be parsed.
    #[serde(rename = "foreign")]
    NotEditable,
}

/// Record beside a backup: which file it belongs to, and the text that `connect` wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BackupRecord {
    path: PathBuf,
    /// Digest of the text that was written.
    after: String,
    /// `true` if the file existed before.
    existed: bool,
}

/// Returns the text with the entries; `None` if it cannot be parsed.
pub(super) fn with_edit(text: &str, content: &EditContent) -> Option<String> {
    match content {
        EditContent::Json(entries) => json_entries::insert_entries(text, entries),
        EditContent::Toml(section) => toml_section::insert_section(text, section),
        EditContent::Yaml(blocks) => {
            blocks.iter().try_fold(text.to_owned(), |text, block| block.insert(&text))
        }
        EditContent::Whole(file) => {
            (text.trim().is_empty() || has_mark(text, file)).then(|| file.clone())
        }
    }
}

fn without_edit(text: &str, content: &EditContent) -> Option<String> {
    match content {
        EditContent::Json(entries) => json_entries::remove_entries(text, entries),
        EditContent::Toml(section) => toml_section::remove_section(text, section),
        EditContent::Yaml(blocks) => {
            blocks.iter().rev().try_fold(text.to_owned(), |text, block| block.remove(&text))
        }
        EditContent::Whole(file) if has_mark(text, file) => Some(String::new()),
        EditContent::Whole(_) => Some(text.to_owned()),
    }
}

/// Returns `true` if a text has one of the entries.
fn has_any_entry(text: &str, content: &EditContent) -> bool {
    match content {
        EditContent::Json(entries) => entries.iter().any(|entry| {
            let is_ours = !matches!(entry, JsonEntry::Required { .. });
            is_ours && json_entries::has_entries(text, std::slice::from_ref(entry))
        }),
        EditContent::Toml(section) => toml_section::has_section(text, section),
        EditContent::Yaml(blocks) => blocks.iter().any(|block| block.is_in(text)),
        EditContent::Whole(file) => has_mark(text, file),
    }
}

/// Returns `true` if a text begins with the first line of a file of ours.
fn has_mark(text: &str, file: &str) -> bool {
    text.lines().next() == file.lines().next()
}

/// Returns `true` if the file has all entries.
pub(super) fn is_applied(edit: &FileEdit) -> Result<bool> {
    let text = read_file(&edit.path)?.unwrap_or_default();
    Ok(match &edit.content {
        EditContent::Json(entries) => json_entries::has_entries(&text, entries),
        EditContent::Toml(section) => toml_section::has_section(&text, section),
        EditContent::Yaml(blocks) => blocks.iter().all(|block| block.is_in(&text)),
        EditContent::Whole(file) => has_mark(&text, file),
    })
}

/// Writes the entries into a file and keeps a backup of it in the home.
pub(super) fn apply_edit(home: &Path, edit: &FileEdit) -> Result<EditOutcome> {
    let before = read_file(&edit.path)?;
    let text = before.clone().unwrap_or_default();
    let Some(after) = with_edit(&text, &edit.content) else { return Ok(EditOutcome::NotEditable) };
    if before.is_some() && after == text {
        return Ok(EditOutcome::Same);
    }
    FileBackup::new(home, &edit.path).save(before.as_deref(), &after, &edit.content)?;
    write_file(&edit.path, &after)?;
    Ok(EditOutcome::Changed)
}

/// Restores a file from its backup if it was not changed since; otherwise removes only our entries.
pub(super) fn revert_edit(home: &Path, edit: &FileEdit) -> Result<EditOutcome> {
    let Some(text) = read_file(&edit.path)? else { return Ok(EditOutcome::Same) };
    let backup = FileBackup::new(home, &edit.path);
    let outcome = match backup.original_text(&text) {
        Some(None) => {
            remove_if_exists(&edit.path).map_err(|error| io_error(&edit.path, error))?;
            EditOutcome::Changed
        }
        Some(Some(before)) => {
            write_file(&edit.path, &before)?;
            EditOutcome::Changed
        }
        None => match without_edit(&text, &edit.content) {
            None => return Ok(EditOutcome::NotEditable),
            Some(after) if after == text => EditOutcome::Same,
            Some(after) if after.is_empty() && matches!(edit.content, EditContent::Whole(_)) => {
                remove_if_exists(&edit.path).map_err(|error| io_error(&edit.path, error))?;
                EditOutcome::Changed
            }
            Some(after) => {
                write_file(&edit.path, &after)?;
                EditOutcome::Changed
            }
        },
    };
    backup.delete();
    Ok(outcome)
}

/// Backup of a file, in `connections/` of the home.
struct FileBackup {
    path: PathBuf,
    text_path: PathBuf,
    record_path: PathBuf,
}

impl FileBackup {
    fn new(home: &Path, path: &Path) -> Self {
        let name = digest(&path.display().to_string());
        let folder = home.join("connections");
        let text_path = folder.join(format!("{name}.before"));
        Self { path: path.to_owned(), text_path, record_path: folder.join(format!("{name}.json")) }
    }

    /// Saves the text before an edit. If it has entries of ours already, the first backup stays the one to restore.
    fn save(&self, before: Option<&str>, after: &str, content: &EditContent) -> Result<()> {
        let failed = |error| io_error(&self.text_path, error);
        let folder = self.text_path.parent().unwrap_or(Path::new(""));
        create_private_folder(folder).map_err(failed)?;
        let has_no_entries = |text: &str| !has_any_entry(text, content);
        let mut existed = before.is_some();
        if before.is_none_or(has_no_entries) {
            write_private(&self.text_path, before.unwrap_or_default()).map_err(failed)?;
        } else if let Some(record) = before.and_then(|text| self.record_of(text)) {
            existed = record.existed;
        } else {
            // The file was changed since the last edit, so `disconnect` can only remove entries.
            self.delete();
            return Ok(());
        }
        let record = BackupRecord { path: self.path.clone(), after: digest(after), existed };
        let record = serde_json::to_string(&record).map_err(|error| failed(error.into()))?;
        write_private(&self.record_path, &record).map_err(failed)
    }

    /// Returns the original of `text`: `Some(None)` if there was no file, `None` if `text` is not what `connect` wrote.
    fn original_text(&self, text: &str) -> Option<Option<String>> {
        if self.record_of(text)?.existed {
            Some(Some(fs::read_to_string(&self.text_path).ok()?))
        } else {
            Some(None)
        }
    }

    /// Returns the record of the edit that wrote `text`.
    fn record_of(&self, text: &str) -> Option<BackupRecord> {
        let record = serde_json::from_slice(&fs::read(&self.record_path).ok()?).ok();
        record.filter(|record: &BackupRecord| record.after == digest(text))
    }

    fn delete(&self) {
        // A record that stays behind matches no text any more.
        let _ = remove_if_exists(&self.record_path);
        let _ = remove_if_exists(&self.text_path);
    }
}

fn digest(text: &str) -> String {
    let digest = Fingerprint::of(&format!("{}:{text}.", text.len()));
    digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_file(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path, error)),
    }
}

/// Replaces a file, or the target of a link, in one step; its permissions stay.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || -> io::Result<()> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
        let options = WriteOptions { durable: true, private: false, permissions };
        let mut temporary = target.clone().into_os_string();
        temporary.push(format!(".{}.tmp", std::process::id()));
        TempFile::write(temporary.into(), text.as_bytes(), options)?.persist(&target)
    };
    replace().map_err(|error| io_error(&target, error))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let options = WriteOptions { durable: true, private: true, permissions: None };
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(temporary, text.as_bytes(), options)?.persist(path)
}

fn io_error(path: &Path, error: io::Error) -> CliError {
    CliError::io(path.display().to_string(), error)
}
