//! Settings file of one agent: `agents/NAME/settings.toml` in the home, for every agent.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    atomic_file::{TempFile, WriteOptions, create_private_folder, lock, remove_if_exists},
    home::folder_name,
};
use crate::error::{Error, Result};
use crate::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// File name.
const FILE_NAME: &str = "settings.toml";

/// Settings file of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettingsFile {
    path: PathBuf,
}

/// Metadata that differs between two states of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    /// Inode number: a file that replaced another has another one.
    inode: u64,
}

impl AgentSettingsFile {
    /// Returns the file of an agent in a home. That of `default` lies beside the others, not in the home itself, where
    /// it would look like the settings of all agents.
    pub fn for_agent(home: &Path, agent: &str) -> Self {
        Self { path: home.join("agents").join(folder_name(agent)).join(FILE_NAME) }
    }

    /// Returns the files of all agents that have one.
    pub fn all(home: &Path) -> Vec<Self> {
        let Ok(folders) = fs::read_dir(home.join("agents")) else { return Vec::new() };
        let mut files: Vec<_> =
            folders.flatten().map(|folder| Self { path: folder.path().join(FILE_NAME) }).collect();
        files.retain(|file| file.path.symlink_metadata().is_ok());
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its current stamp; `None` if there is no file.
    pub fn stamp(&self) -> io::Result<Option<FileStamp>> {
        let data = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A dangling link is not the same as no file.
                return if self.path.is_symlink() { Err(error) } else { Ok(None) };
            }
            data => data?,
        };
        if !data.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let (modified, length) = (data.modified().ok(), data.len());
        Ok(Some(FileStamp { modified, length, inode: number(&data) }))
    }

    /// Reads its text; `None` if there is no file.
    pub fn read(&self) -> Result<Option<String>> {
        match self.stamp() {
            Ok(None) => Ok(None),
            Ok(Some(_)) => regular_file::read_to_string(&self.path, MAX_SETTINGS_BYTES)
                .map(Some)
                .map_err(|e| self.io_error(e)),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// Replaces the text in one step, under a lock, by what `make` returns for the old one; `None` removes the file.
    /// The new text survives a power cut.
    pub fn update(&self, make: impl FnOnce(Option<&str>) -> Result<Option<String>>) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        create_private_folder(folder).map_err(|e| self.io_error(e))?;
        let _lock = lock(&folder.join(".settings.lock")).map_err(|e| self.io_error(e))?;
        let before = self.read_lossy()?;
        match make(before.as_deref())? {
            after if after == before => Ok(()),
            Some(text) => self.write(&text).map_err(|e| self.io_error(e)),
            None => remove_if_exists(&self.path).map_err(|e| self.io_error(e)),
        }
    }

    /// Reads the text with invalid bytes replaced: a file that holds no text by mistake can still be overwritten.
    fn read_lossy(&self) -> Result<Option<String>> {
        match regular_file::read(&self.path, MAX_SETTINGS_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => {
                let bytes = bytes.map_err(|e| self.io_error(e))?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// Writes the file, or the file that it links to.
    fn write(&self, text: &str) -> io::Result<()> {
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let permissions = fs::metadata(&target).ok().map(|data| data.permissions());
        let options = WriteOptions { durable: true, private: true, permissions };
        let beside = target.with_extension("toml.tmp");
        TempFile::write(beside, text.as_bytes(), options)?.persist(&target)
    }

    fn io_error(&self, error: io::Error) -> Error {
        Error::io(self.path.display().to_string(), error)
    }
}

#[cfg(unix)]
fn number(data: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(data)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_file_of_its_own_below_the_home() {
        let path = |agent| {
            let file = AgentSettingsFile::for_agent(Path::new("/h"), agent);
            file.path().to_str().unwrap().replace('\\', "/")
        };
        assert_eq!(path("default"), "/h/agents/default/settings.toml");
        assert_eq!(path("助手"), "/h/agents/助手/settings.toml");
        assert_eq!(path("../../etc"), "/h/agents/%2e%2e%2f%2e%2e%2fetc/settings.toml");
    }

    #[test]
    fn a_change_is_told_by_the_stamp_and_nothing_is_left_beside() {
        let home = tempfile::tempdir().unwrap();
        let file = AgentSettingsFile::for_agent(home.path(), "助手");
        assert_eq!((file.stamp().unwrap(), file.read().unwrap()), (None, None));
        file.update(|before| {
            assert_eq!(before, None);
            Ok(Some("a = 1\n".to_owned()))
        })
        .unwrap();
        let first = file.stamp().unwrap();
        file.update(|_| Ok(Some("a = 2\n".to_owned()))).unwrap();
        assert_ne!(file.stamp().unwrap(), first, "the same length in the same moment");
        assert_eq!(file.read().unwrap().as_deref(), Some("a = 2\n"));
        assert_eq!(AgentSettingsFile::all(home.path()), std::slice::from_ref(&file));
        file.update(|_| Ok(None)).unwrap();
        assert_eq!(file.stamp().unwrap(), None);
        let names = fs::read_dir(file.path().parent().unwrap()).unwrap();
        let names: Vec<_> = names.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, [".settings.lock"]);
    }

    #[test]
    fn a_folder_in_its_place_is_told() {
        let home = tempfile::tempdir().unwrap();
        let file = AgentSettingsFile::for_agent(home.path(), "anna");
        fs::create_dir_all(file.path()).unwrap();
        assert!(file.stamp().is_err() && file.read().is_err());
        assert!(file.update(|_| Ok(Some(String::new()))).is_err());
    }
}
