//! The local models of a home: a folder for each, and a note which one is in use and how.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::error::{CliError, Result};

/// The model that is part of the program.
pub(crate) const BUILTIN_MODEL: &str = "builtin";

/// The note beside the folders.
const ACTIVE_MODEL_FILE: &str = "in_use.json";

/// The models of a home.
pub(crate) struct LocalModels {
    folder: PathBuf,
}

/// A model in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActiveModel {
    /// Its name.
    pub(crate) name: String,
    /// Whether it makes the vectors of whole texts, instead of comparing the best candidates word by word.
    pub(crate) pooled: bool,
}

impl LocalModels {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("models") }
    }

    /// The folder of a model.
    pub(crate) fn model_folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The names of all, in their order.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| self.io_error(error))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.io_error(error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() && check_name(&name).is_ok() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The folder of a model that was added.
    pub(crate) fn added_model_folder(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        let path = self.model_folder(name);
        if path.is_dir() {
            return Ok(path);
        }
        let names = self.names()?;
        let there = if names.is_empty() { "there is none".to_owned() } else { names.join(", ") };
        Err(CliError::invalid(
            format!("there is no model `{name}`"),
            format!("added models: {there}; add one with `everlore model add PATH`"),
        ))
    }

    /// The model in use; none if it is the built-in one alone.
    pub(crate) fn active_model(&self) -> Result<Option<ActiveModel>> {
        let path = self.folder.join(ACTIVE_MODEL_FILE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| self.io_error(error))?,
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| {
            CliError::invalid(
                format!("{}: {error}", path.display()),
                "choose the model again with `everlore model use NAME`",
            )
        })
    }

    /// Takes a model into use, or the built-in one alone. The note is there as a whole or not at all.
    pub(crate) fn set_active_model(&self, chosen: Option<&ActiveModel>) -> Result<()> {
        let path = self.folder.join(ACTIVE_MODEL_FILE);
        let Some(chosen) = chosen else {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io_error(error)),
                _ => Ok(()),
            };
        };
        let part = self.folder.join(format!(".{ACTIVE_MODEL_FILE}.part"));
        let text = serde_json::to_vec_pretty(chosen).unwrap_or_default();
        fs::write(&part, text).and_then(|()| fs::rename(&part, &path)).map_err(|e| self.io_error(e))
    }

    fn io_error(&self, error: io::Error) -> CliError {
        CliError::io(self.folder.display().to_string(), error)
    }
}

/// A name is a folder's name and nothing else.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good =
        !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain);
    if good && name != BUILTIN_MODEL {
        return Ok(());
    }
    Err(CliError::invalid(
        format!("`{name}` cannot be the name of a model"),
        "use letters, digits, hyphens, dots and underscores, and not `builtin`: everlore model add PATH --name NAME",
    ))
}
