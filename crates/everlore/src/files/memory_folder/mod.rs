//! Memory folder: plain files that an agent keeps for itself by six commands: view, create, str_replace, insert,
//! delete, rename (Anthropic's memory tool, `memory_20250818`).
//!
//! The answers are those of that tool's documentation, to the letter; where its SDK differs, the documentation wins:
//! `Error: ` before some sentences, sizes such as `4.0K`, no slash after directories.
//!
//! A command is first planned and then committed, both under a lock that other processes honour. In between, the caller
//! may save what will be lost (see [`PreparedCommand::changes`]). No change leaves half a file: a text is written to a
//! temporary file, synced and renamed into place, and a folder is moved out in one step before it is deleted.

mod path;
mod text_edit;
#[cfg(unix)]
mod folder_handle;
#[cfg(not(unix))]
#[path = "folder_handle_unsupported.rs"]
mod folder_handle;
mod walk;
mod file_text;
mod plan;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use self::{
    folder_handle::FolderHandle,
    path::MemoryPath,
    plan::{CommandPlan, CommandPlanner},
};
use crate::{
    error::{Error, Result},
    text::secrets::{SecretKind, mask_all, mask_new},
};

/// Command of an agent on its folder. Paths begin with `/memories`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum MemoryToolCommand {
    /// Shows a directory, or a file with line numbers.
    View {
        /// File or directory.
        path: String,
        /// First and last line; -1 for the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<[i64; 2]>,
    },
    /// Creates a file that is not there yet.
    Create {
        /// File.
        path: String,
        /// Text.
        file_text: String,
    },
    /// Replaces a text that occurs once in a file.
    StrReplace {
        /// File.
        path: String,
        /// Text to replace, verbatim.
        old_str: String,
        /// Replacement; empty if left out.
        #[serde(default)]
        new_str: String,
    },
    /// Inserts lines into a file.
    Insert {
        /// File.
        path: String,
        /// Line to insert after; 0 for the beginning.
        insert_line: i64,
        /// Lines.
        insert_text: String,
    },
    /// Deletes a file, or a directory with all that is in it.
    Delete {
        /// File or directory.
        path: String,
    },
    /// Moves a file or a directory to another path.
    Rename {
        /// Current path.
        old_path: String,
        /// New path.
        new_path: String,
    },
}

impl MemoryToolCommand {
    /// Masks the secrets that it would write and returns their kinds.
    pub(crate) fn mask_secrets(&mut self) -> Vec<SecretKind> {
        match self {
            Self::Create { file_text: text, .. } | Self::Insert { insert_text: text, .. } => {
                mask_all([text])
            }
            Self::StrReplace { old_str, new_str, .. } => {
                let (masked, kinds) = mask_new(new_str, old_str);
                *new_str = masked.into_owned();
                kinds
            }
            Self::View { .. } | Self::Delete { .. } | Self::Rename { .. } => Vec::new(),
        }
    }

    /// Returns the path that it would create.
    pub fn new_path(&self) -> Option<&str> {
        match self {
            Self::Create { path, .. } | Self::Rename { new_path: path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Limits of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryFolderLimits {
    /// Most bytes of a file that a command writes.
    pub max_file_bytes: usize,
    /// Most files.
    pub max_files: usize,
    /// Most bytes of all files.
    pub max_total_bytes: u64,
}

impl Default for MemoryFolderLimits {
    /// A file as large as hosted memory stores take, which is as much as one answer can show; as many files as a large
    /// vault has beside the agent's own, which are listed in some milliseconds at each new file.
    fn default() -> Self {
        Self { max_file_bytes: 102_400, max_files: 20_000, max_total_bytes: 64 << 20 }
    }
}

/// Memory folder of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFolder {
    root: PathBuf,
    limits: MemoryFolderLimits,
}

/// Answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryToolOutput {
    /// Text for the agent.
    pub text: String,
    /// Set if nothing was done and the text says why.
    pub is_error: bool,
}

/// Change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// Path, from `/memories`.
    pub path: String,
    /// Text before; `None` if it was not there.
    pub before: Option<String>,
    /// Text after; `None` if it is deleted.
    pub after: Option<String>,
    /// Path before it was renamed.
    pub moved_from: Option<String>,
}

impl FileChange {
    /// Masks the secrets in its texts and returns their kinds.
    pub(crate) fn mask_secrets(&mut self) -> Vec<SecretKind> {
        mask_all([&mut self.before, &mut self.after].into_iter().flatten())
    }

    fn deleted(path: String, text: String) -> Self {
        Self { path, before: Some(text), after: None, moved_from: None }
    }
}

/// Command that is planned and not committed yet. The folder is locked as long as it lives.
pub(crate) struct PreparedCommand {
    root: FolderHandle,
    output: MemoryToolOutput,
    step: FolderStep,
    changes: Vec<FileChange>,
}

/// Action on the folder.
enum FolderStep {
    Nothing,
    Write { path: MemoryPath, before: Option<String>, after: String },
    Remove(MemoryPath),
    Rename(MemoryPath, MemoryPath),
}

/// Reason why a command is not done.
#[derive(Debug)]
enum FolderCommandError {
    /// Refused, with a sentence for the agent that says why and what to do.
    Refused(String),
    /// Failure of the disk.
    Io(io::Error),
}

impl From<io::Error> for FolderCommandError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl MemoryFolder {
    /// Returns the folder at `root`, which is created on first use.
    pub fn new(root: impl Into<PathBuf>, limits: MemoryFolderLimits) -> Self {
        Self { root: root.into(), limits }
    }

    /// Returns its path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Plans and commits a command.
    pub fn run(&self, command: &MemoryToolCommand) -> Result<MemoryToolOutput> {
        self.prepare(command)?.commit()
    }

    /// Plans a command, once no other process is changing the folder.
    pub(crate) fn prepare(&self, command: &MemoryToolCommand) -> Result<PreparedCommand> {
        let failed = |error| self.io_error(error);
        let changes = !matches!(command, MemoryToolCommand::View { .. });
        let root = FolderHandle::open_root(&self.root).map_err(failed)?;
        root.lock(changes).map_err(failed)?;
        if changes {
            root.remove_temp_files().map_err(failed)?;
        }
        match (CommandPlanner { root: &root, limits: &self.limits }).plan(command) {
            Ok(CommandPlan { text, step, changes }) => Ok(PreparedCommand {
                root,
                output: MemoryToolOutput { text, is_error: false },
                step,
                changes,
            }),
            Err(FolderCommandError::Refused(text)) => Ok(PreparedCommand {
                root,
                output: MemoryToolOutput { text, is_error: true },
                step: FolderStep::Nothing,
                changes: Vec::new(),
            }),
            Err(FolderCommandError::Io(error)) => Err(failed(error)),
        }
    }

    fn io_error(&self, error: io::Error) -> Error {
        Error::io(self.root.display().to_string(), error)
    }
}

impl PreparedCommand {
    /// Returns the change of each file, so that what is lost can be saved first.
    pub(crate) fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Commits it. When it returns, the change survives a power cut.
    pub(crate) fn commit(self) -> Result<MemoryToolOutput> {
        let done = match &self.step {
            FolderStep::Nothing => Ok(()),
            FolderStep::Write { path, before, after } => self.write(path, before.as_deref(), after),
            FolderStep::Remove(path) => self.remove(path),
            FolderStep::Rename(from, to) => self.rename(from, to),
        };
        match done {
            Ok(()) => Ok(self.output),
            Err(FolderCommandError::Refused(text)) => Ok(MemoryToolOutput { text, is_error: true }),
            Err(FolderCommandError::Io(error)) => {
                // The temporary file is of no use; if it cannot be removed now, the next change removes it.
                let _ = self.root.remove_temp_files();
                Err(Error::io("changing the memory folder", error))
            }
        }
    }

    fn write(
        &self,
        path: &MemoryPath,
        before: Option<&str>,
        after: &str,
    ) -> Result<(), FolderCommandError> {
        let (parent, name) = self.open_parent(path)?;
        // People do not take the lock: what one of them wrote meanwhile must not be lost.
        let is_unchanged = match (parent.stat(name)?, before) {
            (folder_handle::FolderNode::Absent, None) => true,
            (folder_handle::FolderNode::File(_), Some(text)) => {
                parent.read_limited(name, text.len() as u64)? == text.as_bytes()
            }
            _ => false,
        };
        if !is_unchanged {
            let path = path.given();
            return Err(FolderCommandError::Refused(format!(
                "Error: {path} has been changed in the meantime. View it again and repeat the change."
            )));
        }
        let temporary = self.root.write_temp(after.as_bytes())?;
        Ok(self.root.rename_to(&temporary, &parent, name)?)
    }

    fn remove(&self, path: &MemoryPath) -> Result<(), FolderCommandError> {
        let (parent, name) = self.open_parent(path)?;
        Ok(self.root.remove_from(&parent, name)?)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), FolderCommandError> {
        let (source, name) = self.open_parent(from)?;
        let (target, new_name) = self.open_parent(to)?;
        Ok(source.rename_to(name, &target, new_name)?)
    }

    /// Opens the folder of a path, created if missing, and returns it with the name in it.
    fn open_parent<'a>(&self, path: &'a MemoryPath) -> io::Result<(FolderHandle, &'a str)> {
        let missing = || io::Error::other("the memory directory has no parent");
        let (name, above) = path.names().split_last().ok_or_else(missing)?;
        let mut folder = self.root.open_subfolder(".")?;
        for name in above {
            folder = folder.create_subfolder(name)?;
        }
        Ok((folder, name))
    }
}
