//! The local models of a home: a folder for each, and a note which one is in use and how.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// The model that is part of the program.
pub(crate) const BUILTIN: &str = "builtin";

/// The note beside the folders.
const IN_USE: &str = "in_use.json";

/// The models of a home.
pub(crate) struct Models {
    folder: PathBuf,
}

/// A model in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InUse {
    /// Its name.
    pub(crate) name: String,
    /// Whether it makes the vectors of whole texts, instead of comparing the best candidates word by word.
    pub(crate) pooled: bool,
}

impl Models {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("models") }
    }

    /// The folder of a model.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The names of all, in their order.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| self.failed(error))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.failed(error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() && check_name(&name).is_ok() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The folder of a model that was added.
    pub(crate) fn known(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        let path = self.path(name);
        if path.is_dir() {
            return Ok(path);
        }
        let names = self.names()?;
        let there = if names.is_empty() { "there is none".to_owned() } else { names.join(", ") };
        Err(Failure::invalid(
            format!("there is no model `{name}`"),
            format!("added models: {there}; add one with `everlore model add PATH`"),
        ))
    }

    /// The model in use; none if it is the built-in one alone.
    pub(crate) fn in_use(&self) -> Result<Option<InUse>> {
        let path = self.folder.join(IN_USE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| self.failed(error))?,
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| {
            Failure::invalid(
                format!("{}: {error}", path.display()),
                "choose the model again with `everlore model use NAME`",
            )
        })
    }

    /// Takes a model into use, or the built-in one alone. The note is there as a whole or not at all.
    pub(crate) fn take(&self, chosen: Option<&InUse>) -> Result<()> {
        let path = self.folder.join(IN_USE);
        let Some(chosen) = chosen else {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
                _ => Ok(()),
            };
        };
        let part = self.folder.join(format!(".{IN_USE}.part"));
        let text = serde_json::to_vec_pretty(chosen).unwrap_or_default();
        fs::write(&part, text).and_then(|()| fs::rename(&part, &path)).map_err(|e| self.failed(e))
    }

    fn failed(&self, error: io::Error) -> Failure {
        Failure::io(self.folder.display().to_string(), error)
    }
}

/// A name is a folder's name and nothing else.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good =
        !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain);
    if good && name != BUILTIN {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("`{name}` cannot be the name of a model"),
        "use letters, digits, hyphens, dots and underscores, and not `builtin`: everlore model add PATH --name NAME",
    ))
}
