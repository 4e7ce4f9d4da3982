//! The files of agents: edited as little as possible, replaced in one step, and given back as they were.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    files::atomic_file::{TempFile, WriteOptions, create_private_folder, remove_if_exists},
    types::Fingerprint,
};
use serde::{Deserialize, Serialize};

use super::{
    agents::{EditContent, FileEdit},
    json, toml_section,
};
use crate::error::{CliError, Result};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EditOutcome {
    /// It was changed.
    Changed,
    /// It says so already, or never did.
    Same,
    /// It cannot be edited: it has comments, or is broken.
    Foreign,
}

/// What a file was before and after we changed it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BackupRecord {
    /// The file.
    path: PathBuf,
    /// A digest of what we made of it.
    after: String,
    /// Whether there was a file.
    existed: bool,
}

/// The text with what should stand in it; none if it cannot be edited.
pub(super) fn with_edit(text: &str, what: &EditContent) -> Option<String> {
    match what {
        EditContent::Json(puts) => json::with(text, puts),
        EditContent::Toml(section) => toml_section::insert_section(text, section),
    }
}

fn without_edit(text: &str, what: &EditContent) -> Option<String> {
    match what {
        EditContent::Json(puts) => json::without(text, puts),
        EditContent::Toml(section) => toml_section::remove_section(text, section),
    }
}

/// Whether a file says it all.
pub(super) fn is_applied(edit: &FileEdit) -> Result<bool> {
    let text = read_file(&edit.path)?.unwrap_or_default();
    Ok(match &edit.content {
        EditContent::Json(puts) => json::has(&text, puts),
        EditContent::Toml(section) => toml_section::has_section(&text, section),
    })
}

/// Writes what should stand in a file, and keeps in the home what it was before.
pub(super) fn apply_edit(home: &Path, edit: &FileEdit) -> Result<EditOutcome> {
    let before = read_file(&edit.path)?;
    let text = before.clone().unwrap_or_default();
    let Some(after) = with_edit(&text, &edit.content) else { return Ok(EditOutcome::Foreign) };
    if before.is_some() && after == text {
        return Ok(EditOutcome::Same);
    }
    FileBackup::new(home, &edit.path).save(before.as_deref(), &after, &edit.content)?;
    write_file(&edit.path, &after)?;
    Ok(EditOutcome::Changed)
}

/// Gives a file back as it was if nobody changed it since; otherwise only what is ours goes.
pub(super) fn revert_edit(home: &Path, edit: &FileEdit) -> Result<EditOutcome> {
    let Some(text) = read_file(&edit.path)? else { return Ok(EditOutcome::Same) };
    let backup = FileBackup::new(home, &edit.path);
    let became = match backup.original_text(&text) {
        Some(None) => {
            remove_if_exists(&edit.path).map_err(|error| io_error(&edit.path, error))?;
            EditOutcome::Changed
        }
        Some(Some(before)) => {
            write_file(&edit.path, &before)?;
            EditOutcome::Changed
        }
        None => match without_edit(&text, &edit.content) {
            None => return Ok(EditOutcome::Foreign),
            Some(after) if after == text => EditOutcome::Same,
            Some(after) => {
                write_file(&edit.path, &after)?;
                EditOutcome::Changed
            }
        },
    };
    backup.delete();
    Ok(became)
}

/// What a file was before, kept in the home.
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

    /// Keeps the text. If it has something of ours already, the first one stays what is given back.
    fn save(&self, before: Option<&str>, after: &str, what: &EditContent) -> Result<()> {
        let failed = |error| io_error(&self.text_path, error);
        let folder = self.text_path.parent().unwrap_or(Path::new(""));
        create_private_folder(folder).map_err(failed)?;
        let known: Option<BackupRecord> = self.read_record();
        let plain =
            before.is_none_or(|text| without_edit(text, what).is_some_and(|plain| plain == text));
        // A file that was changed since is given back by taking out what is ours.
        let mut existed = before.is_some();
        if plain {
            write_private(&self.text_path, before.unwrap_or_default()).map_err(failed)?;
        } else {
            match known.filter(|known| before.is_some_and(|text| known.after == digest(text))) {
                Some(known) => existed = known.existed,
                None => {
                    self.delete();
                    return Ok(());
                }
            }
        }
        let record = BackupRecord { path: self.path.clone(), after: digest(after), existed };
        let record = serde_json::to_string(&record).map_err(|error| failed(error.into()))?;
        write_private(&self.record_path, &record).map_err(failed)
    }

    /// What the file was before we made `text` of it, none inside if it was not there; nothing if it is another text now.
    fn original_text(&self, text: &str) -> Option<Option<String>> {
        let record = self.read_record().filter(|record| record.after == digest(text))?;
        match record.existed {
            true => Some(Some(fs::read_to_string(&self.text_path).ok()?)),
            false => Some(None),
        }
    }

    fn read_record(&self) -> Option<BackupRecord> {
        serde_json::from_slice(&fs::read(&self.record_path).ok()?).ok()
    }

    fn delete(&self) {
        // A record that stays behind fits no text any more.
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

/// Replaces a file, or what it is a link to, in one step; its permissions stay.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || -> io::Result<()> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
        let manner = WriteOptions { durable: true, private: false, permissions };
        let mut beside = target.clone().into_os_string();
        beside.push(format!(".{}.tmp", std::process::id()));
        TempFile::write(beside.into(), text.as_bytes(), manner)?.persist(&target)
    };
    replace().map_err(|error| io_error(&target, error))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let manner = WriteOptions { durable: true, private: true, permissions: None };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    TempFile::write(beside, text.as_bytes(), manner)?.persist(path)
}

fn io_error(path: &Path, error: io::Error) -> CliError {
    CliError::io(path.display().to_string(), error)
}
