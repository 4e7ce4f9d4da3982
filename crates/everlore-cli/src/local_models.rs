//! Local models of a home: one folder each, and the file `in_use.json` that names the active one.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{CliError, Result};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Name of the model that is part of the program.
pub(crate) const BUILTIN_MODEL: &str = "builtin";

/// File beside the folders that names the active model.
const ACTIVE_MODEL_FILE: &str = "in_use.json";

/// Folder `models/` of a home.
pub(crate) struct LocalModels {
    folder: PathBuf,
}

/// Active local model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActiveModel {
    /// Name of its folder.
    pub(crate) name: String,
    /// `true` if it embeds whole texts; `false` if it reranks the best candidates by token vectors.
    pub(crate) pooled: bool,
}

impl LocalModels {
    /// Returns the models of a home.
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("models") }
    }

    /// Returns the folder for a model, whether it exists or not.
    pub(crate) fn model_folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the names of all models, sorted.
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

    /// Returns the folder of an added model.
    pub(crate) fn added_model_folder(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        let path = self.model_folder(name);
        if path.is_dir() {
            return Ok(path);
        }
        let names = self.names()?;
        let added = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(CliError::invalid(
            format!("there is no model `{name}`"),
            format!("added models: {added}; add one with `everlore model add PATH`"),
        ))
    }

    /// Returns the active model; `None` if only the built-in one is used.
    pub(crate) fn active_model(&self) -> Result<Option<ActiveModel>> {
        let path = self.folder.join(ACTIVE_MODEL_FILE);
        let text = match regular_file::read(&path, MAX_SETTINGS_BYTES) {
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

    /// Makes a model the active one; `None` leaves only the built-in one. The file is replaced atomically.
    pub(crate) fn set_active_model(&self, model: Option<&ActiveModel>) -> Result<()> {
        let path = self.folder.join(ACTIVE_MODEL_FILE);
        let Some(model) = model else {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io_error(error)),
                _ => Ok(()),
            };
        };
        let temporary = self.folder.join(format!(".{ACTIVE_MODEL_FILE}.part"));
        let text = serde_json::to_vec_pretty(model).unwrap_or_default();
        let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|error| self.io_error(error))
    }

    fn io_error(&self, error: io::Error) -> CliError {
        CliError::io(self.folder.display().to_string(), error)
    }
}

/// Rejects a name that is not the plain name of a folder.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_plain = !name.is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && name.chars().all(allowed);
    if is_plain && name != BUILTIN_MODEL {
        return Ok(());
    }
    Err(CliError::invalid(
        format!("`{name}` cannot be the name of a model"),
        "use letters, digits, hyphens, dots and underscores, and not `builtin`: everlore model add PATH --name NAME",
    ))
}
