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
    yaml_block::YamlBlock,
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
    /// Folders that were created for the file.
    #[serde(default)]
    created: Vec<PathBuf>,
}

/// Byte order mark, with which some editors begin a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Name of ours that every entry has in it.
const OUR_NAME: &str = "everlore";

/// Returns the text with the entries; `None` if it cannot be parsed.
pub(super) fn with_edit(text: &str, content: &EditContent) -> Option<String> {
    beside_mark(text, |text| insert_content(text, content))
}

fn without_edit(text: &str, content: &EditContent) -> Option<String> {
    beside_mark(text, |text| remove_content(text, content))
}

/// Edits the text after a byte order mark, which stays.
fn beside_mark(text: &str, edit: impl Fn(&str) -> Option<String>) -> Option<String> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => edit(rest).map(|edited| format!("{BYTE_ORDER_MARK}{edited}")),
        None => edit(text),
    }
}

/// Returns what a person has to add to a file that holds other things.
pub(super) fn text_to_paste(path: &Path, content: &EditContent) -> Option<String> {
    let has_content = read_file(path).ok().flatten().is_some_and(|text| !text.trim().is_empty());
    match content {
        EditContent::Yaml(blocks) if has_content => {
            Some(blocks.iter().map(YamlBlock::without_head).collect())
        }
        _ => with_edit("", content),
    }
}

fn insert_content(text: &str, content: &EditContent) -> Option<String> {
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

fn remove_content(text: &str, content: &EditContent) -> Option<String> {
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
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
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

/// Returns `true` if a text that cannot be parsed may have something of ours in it.
fn may_have_entry(text: &str, content: &EditContent) -> bool {
    let is_called = |entry: &JsonEntry| match entry {
        JsonEntry::Element { calls, .. } => text.contains(calls),
        JsonEntry::Member { .. } | JsonEntry::Required { .. } => false,
    };
    text.to_lowercase().contains(OUR_NAME)
        || matches!(content, EditContent::Json(entries) if entries.iter().any(is_called))
}

/// Returns `true` if a text begins with the first line of a file of ours.
fn has_mark(text: &str, file: &str) -> bool {
    text.lines().next() == file.lines().next()
}

/// Returns `true` if the file has all entries.
pub(super) fn is_applied(edit: &FileEdit) -> Result<bool> {
    let text = read_file(&edit.path)?.unwrap_or_default();
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    Ok(match &edit.content {
        EditContent::Json(entries) => json_entries::has_entries(text, entries),
        EditContent::Toml(section) => toml_section::has_section(text, section),
        EditContent::Yaml(blocks) => blocks.iter().all(|block| block.is_in(text)),
        EditContent::Whole(file) => has_mark(text, file),
    })
}

/// Writes the entries into a file and keeps a backup of it in the home. `known` are the entries of ours that the file can
/// have, of this connection or of another one.
pub(super) fn apply_edit(home: &Path, edit: &FileEdit, known: &EditContent) -> Result<EditOutcome> {
    let before = read_file(&edit.path)?;
    let text = before.clone().unwrap_or_default();
    let Some(after) = with_edit(&text, &edit.content) else { return Ok(EditOutcome::NotEditable) };
    if before.is_some() && after == text {
        return Ok(EditOutcome::Same);
    }
    FileBackup::new(home, &edit.path).save(before.as_deref(), &after, known)?;
    write_file(&edit.path, &after)?;
    Ok(EditOutcome::Changed)
}

/// Restores a file from its backup if it was not changed since; otherwise removes only our entries. Adds the folders that
/// `connect` created for it to `created`.
pub(super) fn revert_edit(
    home: &Path,
    edit: &FileEdit,
    created: &mut Vec<PathBuf>,
) -> Result<EditOutcome> {
    let backup = FileBackup::new(home, &edit.path);
    let folders = backup.record().map(|record| record.created).unwrap_or_default();
    let outcome = match read_file(&edit.path)? {
        Some(text) => revert_text(edit, &text, backup.original_text(&text))?,
        None => EditOutcome::Same,
    };
    if outcome != EditOutcome::NotEditable {
        created.extend(folders);
        backup.delete();
    }
    Ok(outcome)
}

/// Writes the original if it is known (`Some(None)`: there was no file); otherwise removes our entries.
fn revert_text(
    edit: &FileEdit,
    text: &str,
    original: Option<Option<String>>,
) -> Result<EditOutcome> {
    let reverted = match original {
        Some(original) => original,
        None => match without_edit(text, &edit.content) {
            None if may_have_entry(text, &edit.content) => return Ok(EditOutcome::NotEditable),
            None => return Ok(EditOutcome::Same),
            Some(after) if after == text => return Ok(EditOutcome::Same),
            Some(after) => {
                let is_gone = after.is_empty() && matches!(edit.content, EditContent::Whole(_));
                (!is_gone).then_some(after)
            }
        },
    };
    match reverted {
        Some(text) => write_file(&edit.path, &text)?,
        None => remove_if_exists(&edit.path).map_err(|error| io_error(&edit.path, error))?,
    }
    Ok(EditOutcome::Changed)
}

/// Removes folders that are empty, the innermost first.
pub(super) fn remove_empty_folders(mut folders: Vec<PathBuf>) {
    folders.sort();
    for folder in folders.iter().rev() {
        // One that the agent has used since stays.
        let _ = fs::remove_dir(folder);
    }
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

    /// Saves the text before an edit. If it is what an earlier `connect` wrote, the first backup stays the one to restore.
    fn save(&self, before: Option<&str>, after: &str, known: &EditContent) -> Result<()> {
        let failed = |error| io_error(&self.text_path, error);
        let folder = self.text_path.parent().unwrap_or(Path::new(""));
        create_private_folder(folder).map_err(failed)?;
        let mut created = self.record().map(|record| record.created).unwrap_or_default();
        created.extend(missing_folders(&self.path));
        let mut record = BackupRecord {
            path: self.path.clone(),
            after: digest(after),
            existed: before.is_some(),
            created,
        };
        if let Some(first) = before.and_then(|text| self.record_of(text)) {
            record.existed = first.existed;
        } else if before.is_some_and(|text| has_any_entry(text, known)) {
            // The file was changed since the last edit, so `disconnect` can only remove entries.
            self.delete();
            record.after = String::new();
        } else {
            write_private(&self.text_path, before.unwrap_or_default()).map_err(failed)?;
        }
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
        self.record().filter(|record| record.after == digest(text))
    }

    fn record(&self) -> Option<BackupRecord> {
        serde_json::from_slice(&fs::read(&self.record_path).ok()?).ok()
    }

    fn delete(&self) {
        // A record that stays behind matches no text any more.
        let _ = remove_if_exists(&self.record_path);
        let _ = remove_if_exists(&self.text_path);
    }
}

/// Returns the folders above a file that do not exist.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    above.map(Path::to_owned).collect()
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
