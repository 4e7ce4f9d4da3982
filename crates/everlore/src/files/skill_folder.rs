//! Files of skills and workflows in a home: `skills/NAME/SKILL.md` and `workflows/NAME.md` beside the memories of a scope.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    atomic_file::{TempFile, WriteOptions, create_private_folder, remove_if_exists},
    front_matter::{FrontMatter, parse_string_map},
    home::scope_folder,
    regular_file,
};
use crate::{
    error::{Error, Result},
    types::Scope,
};

/// Folders of skills and workflows beside the memories of a scope.
pub(crate) const SKILL_FOLDERS: [&str; 2] = ["skills", "workflows"];

/// File of a skill in its folder.
pub const SKILL_FILE: &str = "SKILL.md";

/// Most bytes of a file: the format allows some thousand tokens.
pub const MAX_SKILL_BYTES: u64 = 256 * 1024;

/// Key and value of the front matter's metadata by which our files are known.
const MARK: (&str, &str) = ("generated-by", "everlore");

/// Skills and workflows of a scope, as files.
#[derive(Debug, Clone)]
pub(crate) struct SkillFolder {
    root: PathBuf,
}

/// File of a skill or workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillFile {
    /// Set for a workflow.
    pub is_workflow: bool,
    /// Name, by its folder or file.
    pub name: String,
    /// Text.
    pub text: String,
}

impl SkillFolder {
    /// Returns the folder of a scope in a home.
    pub(crate) fn new(home: &Path, scope: &Scope) -> Self {
        Self { root: scope_folder(home, scope) }
    }

    /// Returns the file of a skill or workflow. The name has letters, digits and hyphens only.
    pub(crate) fn path(&self, is_workflow: bool, name: &str) -> PathBuf {
        if is_workflow {
            self.root.join(SKILL_FOLDERS[1]).join(format!("{name}.md"))
        } else {
            self.root.join(SKILL_FOLDERS[0]).join(name).join(SKILL_FILE)
        }
    }

    /// Returns `true` if there are no files.
    pub(crate) fn is_empty(&self) -> bool {
        SKILL_FOLDERS.iter().all(|folder| !self.root.join(folder).is_dir())
    }

    /// Returns all files that can be read, by form and name.
    pub(crate) fn files(&self) -> Result<Vec<SkillFile>> {
        let mut files = Vec::new();
        for (name, path) in self.entries(SKILL_FOLDERS[0])? {
            files.push((false, name, path.join(SKILL_FILE)));
        }
        for (name, path) in self.entries(SKILL_FOLDERS[1])? {
            let name = name.strip_suffix(".md").map(str::to_owned);
            files.extend(name.map(|name| (true, name, path)));
        }
        files.sort();
        let read = |(is_workflow, name, path): (bool, String, PathBuf)| {
            let text = read_skill_file(&path).ok()??;
            Some(SkillFile { is_workflow, name, text })
        };
        Ok(files.into_iter().filter_map(read).collect())
    }

    /// Replaces a file as a whole.
    pub(crate) fn write(&self, is_workflow: bool, name: &str, text: &str) -> Result<()> {
        write_skill_file(&self.path(is_workflow, name), text)
    }

    /// Removes a file, and the folder of a skill if nothing else is in it.
    pub(crate) fn remove(&self, is_workflow: bool, name: &str) -> Result<()> {
        let path = self.path(is_workflow, name);
        remove_if_exists(&path).map_err(|error| Error::io(path.display().to_string(), error))?;
        if !is_workflow && let Some(folder) = path.parent() {
            // A folder with other files of the user stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    fn entries(&self, folder: &str) -> Result<Vec<(String, PathBuf)>> {
        let path = self.root.join(folder);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| Error::io(path.display().to_string(), error))?,
        };
        let named =
            |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
        let is_shown = |(name, _): &(String, PathBuf)| !name.starts_with('.');
        Ok(entries.flatten().filter_map(named).filter(is_shown).collect())
    }
}

/// Reads a file; `None` if there is none.
pub fn read_skill_file(path: &Path) -> Result<Option<String>> {
    match regular_file::read_to_string(path, MAX_SKILL_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path.display().to_string(), error)),
    }
}

/// Replaces a file as a whole and creates the folders above it.
pub fn write_skill_file(path: &Path, text: &str) -> Result<()> {
    let failed = |error| Error::io(path.display().to_string(), error);
    create_private_folder(path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let options = WriteOptions { durable: true, private: false, permissions: None };
    TempFile::write(temporary.into(), text.as_bytes(), options)
        .and_then(|written| written.persist(path))
        .map_err(failed)
}

/// Returns `true` if a text carries our mark.
pub(crate) fn is_generated(text: &str) -> bool {
    let front = FrontMatter::parse(text).ok().flatten();
    let pairs = front.and_then(|front| parse_string_map(front.yaml(), "metadata").ok().flatten());
    pairs.is_some_and(|pairs| pairs.iter().any(|(key, value)| (&**key, &**value) == MARK))
}
