//! The files of agents: edited as little as possible, replaced in one step, and given back as they were.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    files::disk::{Manner, Temporary, make_private_folder, remove},
    types::Fingerprint,
};
use serde::{Deserialize, Serialize};

use super::{
    agents::{Edit, What},
    json, toml,
};
use crate::failure::{Failure, Result};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Became {
    /// It was changed.
    Changed,
    /// It says so already, or never did.
    Same,
    /// It cannot be edited: it has comments, or is broken.
    Foreign,
}

/// What a file was before and after we changed it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// The file.
    path: PathBuf,
    /// A digest of what we made of it.
    after: String,
    /// Whether there was a file.
    existed: bool,
}

/// The text with what should stand in it; none if it cannot be edited.
pub(super) fn laid(text: &str, what: &What) -> Option<String> {
    match what {
        What::Json(puts) => json::with(text, puts),
        What::Toml(section) => toml::with(text, section),
    }
}

fn taken(text: &str, what: &What) -> Option<String> {
    match what {
        What::Json(puts) => json::without(text, puts),
        What::Toml(section) => toml::without(text, section),
    }
}

/// Whether a file says it all.
pub(super) fn has(edit: &Edit) -> Result<bool> {
    let text = read(&edit.path)?.unwrap_or_default();
    Ok(match &edit.what {
        What::Json(puts) => json::has(&text, puts),
        What::Toml(section) => toml::has(&text, section),
    })
}

/// Writes what should stand in a file, and keeps in the home what it was before.
pub(super) fn connect(home: &Path, edit: &Edit) -> Result<Became> {
    let before = read(&edit.path)?;
    let text = before.clone().unwrap_or_default();
    let Some(after) = laid(&text, &edit.what) else { return Ok(Became::Foreign) };
    if before.is_some() && after == text {
        return Ok(Became::Same);
    }
    Backup::of(home, &edit.path).keep(before.as_deref(), &after, &edit.what)?;
    write(&edit.path, &after)?;
    Ok(Became::Changed)
}

/// Gives a file back as it was if nobody changed it since; otherwise only what is ours goes.
pub(super) fn disconnect(home: &Path, edit: &Edit) -> Result<Became> {
    let Some(text) = read(&edit.path)? else { return Ok(Became::Same) };
    let backup = Backup::of(home, &edit.path);
    let became = match backup.before(&text) {
        Some(None) => {
            remove(&edit.path).map_err(|error| failed(&edit.path, error))?;
            Became::Changed
        }
        Some(Some(before)) => {
            write(&edit.path, &before)?;
            Became::Changed
        }
        None => match taken(&text, &edit.what) {
            None => return Ok(Became::Foreign),
            Some(after) if after == text => Became::Same,
            Some(after) => {
                write(&edit.path, &after)?;
                Became::Changed
            }
        },
    };
    backup.drop_it();
    Ok(became)
}

/// What a file was before, kept in the home.
struct Backup {
    path: PathBuf,
    text: PathBuf,
    record: PathBuf,
}

impl Backup {
    fn of(home: &Path, path: &Path) -> Self {
        let name = digest(&path.display().to_string());
        let folder = home.join("connections");
        let text = folder.join(format!("{name}.before"));
        Self { path: path.to_owned(), text, record: folder.join(format!("{name}.json")) }
    }

    /// Keeps the text. If it has something of ours already, the first one stays what is given back.
    fn keep(&self, before: Option<&str>, after: &str, what: &What) -> Result<()> {
        let failed = |error| failed(&self.text, error);
        let folder = self.text.parent().unwrap_or(Path::new(""));
        make_private_folder(folder).map_err(failed)?;
        let known: Option<Record> = self.known();
        let plain = before.is_none_or(|text| taken(text, what).is_some_and(|plain| plain == text));
        // A file that was changed since is given back by taking out what is ours.
        let mut existed = before.is_some();
        if plain {
            write_private(&self.text, before.unwrap_or_default()).map_err(failed)?;
        } else {
            match known.filter(|known| before.is_some_and(|text| known.after == digest(text))) {
                Some(known) => existed = known.existed,
                None => {
                    self.drop_it();
                    return Ok(());
                }
            }
        }
        let record = Record { path: self.path.clone(), after: digest(after), existed };
        let record = serde_json::to_string(&record).map_err(|error| failed(error.into()))?;
        write_private(&self.record, &record).map_err(failed)
    }

    /// What the file was before we made `text` of it, none inside if it was not there; nothing if it is another text now.
    fn before(&self, text: &str) -> Option<Option<String>> {
        let record = self.known().filter(|record| record.after == digest(text))?;
        match record.existed {
            true => Some(Some(fs::read_to_string(&self.text).ok()?)),
            false => Some(None),
        }
    }

    fn known(&self) -> Option<Record> {
        serde_json::from_slice(&fs::read(&self.record).ok()?).ok()
    }

    fn drop_it(&self) {
        // A record that stays behind fits no text any more.
        let _ = remove(&self.record);
        let _ = remove(&self.text);
    }
}

fn digest(text: &str) -> String {
    let digest = Fingerprint::of(&format!("{}:{text}.", text.len()));
    digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

/// Replaces a file, or what it is a link to, in one step; its permissions stay.
fn write(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || -> io::Result<()> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
        let manner = Manner { durable: true, private: false, permissions };
        let mut beside = target.clone().into_os_string();
        beside.push(format!(".{}.tmp", std::process::id()));
        Temporary::written(beside.into(), text.as_bytes(), manner)?.replace(&target)
    };
    replace().map_err(|error| failed(&target, error))
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let manner = Manner { durable: true, private: true, permissions: None };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    Temporary::written(beside, text.as_bytes(), manner)?.replace(path)
}

fn failed(path: &Path, error: io::Error) -> Failure {
    Failure::io(path.display().to_string(), error)
}
