//! Copies of skills in the folders of assistants, as the home remembers them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use everlore::{
    Scope,
    internal::files::{
        regular_file::{MAX_SETTINGS_BYTES, read_to_string},
        skill_folder::write_skill_file,
    },
};
use serde::{Deserialize, Serialize};

use crate::{CliError, Result};

/// File of the home that lists the copies.
const COPIES_FILE: &str = "installed_skills.json";

/// Copies by the path of their file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InstalledSkills {
    copies: BTreeMap<PathBuf, InstalledCopy>,
}

/// Copy of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InstalledCopy {
    agent: String,
    user: String,
    name: String,
    /// Text that was written.
    text: String,
}

impl InstalledSkills {
    /// Loads the list of a home; empty if there is none.
    pub(super) fn load(home: &Path) -> Result<Self> {
        let path = home.join(COPIES_FILE);
        let failed = |error| CliError::io(path.display().to_string(), error);
        match read_to_string(&path, MAX_SETTINGS_BYTES) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                let message = format!("{} cannot be read: {error}", path.display());
                CliError::invalid(message, "move it away; copies are then no longer known as ours")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Stores the list in a home.
    pub(super) fn save(&self, home: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| CliError::io(COPIES_FILE, error.into()))?;
        Ok(write_skill_file(&home.join(COPIES_FILE), &(text + "\n"))?)
    }

    /// Returns `true` if a file is the copy that was written, unchanged.
    pub(super) fn is_ours(&self, path: &Path, text: &str) -> bool {
        self.copies.get(path).is_some_and(|copy| copy.text == text)
    }

    /// Remembers a copy.
    pub(super) fn insert(&mut self, path: PathBuf, scope: &Scope, name: &str, text: &str) {
        let (agent, user) = (scope.agent().to_owned(), scope.user().to_owned());
        let copy = InstalledCopy { agent, user, name: name.to_owned(), text: text.to_owned() };
        self.copies.insert(path, copy);
    }

    /// Forgets a copy.
    pub(super) fn remove(&mut self, path: &Path) {
        self.copies.remove(path);
    }

    /// Returns the files of a skill's copies.
    pub(super) fn copies_of(&self, scope: &Scope, name: &str) -> Vec<&Path> {
        let is_meant = |copy: &InstalledCopy| {
            copy.agent == scope.agent() && copy.user == scope.user() && copy.name == name
        };
        let copies = self.copies.iter().filter(|(_, copy)| is_meant(copy));
        copies.map(|(path, _)| path.as_path()).collect()
    }
}
