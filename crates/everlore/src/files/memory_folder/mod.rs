//! A folder of plain files that an agent keeps for itself by six commands: view, create, str_replace, insert, delete,
//! rename (Anthropic's memory tool, `memory_20250818`).
//!
//! The answers are those of that tool's documentation, to the letter; where its SDK says something else, the
//! documentation holds: `Error: ` before some sentences, sizes such as `4.0K`, no slash after directories.
//!
//! A command is first worked out and then done, both under a lock that other processes honour. In between, the caller may
//! keep what will be lost (see [`Prepared::changes`]). No change leaves half a file: a text is written beside, synced and
//! renamed into place, and a folder is taken out in one step before it is taken apart.

mod path;
mod text;
#[cfg(unix)]
mod tree;
#[cfg(not(unix))]
#[path = "tree_elsewhere.rs"]
mod tree;
mod survey;
mod plan;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use self::{
    path::MemoryPath,
    plan::{Desk, Plan},
    tree::Folder,
};
use crate::{
    error::{Error, Result},
    text::secrets::{SecretKind, mask_all, mask_new},
};

/// What an agent can do with its folder. Paths begin with `/memories`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Shows a directory, or a file with line numbers.
    View {
        /// What to show.
        path: String,
        /// The first and the last line; -1 for the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<[i64; 2]>,
    },
    /// Makes a file that is not there yet.
    Create {
        /// The file.
        path: String,
        /// Its text.
        file_text: String,
    },
    /// Replaces a text that stands once in a file.
    StrReplace {
        /// The file.
        path: String,
        /// The text, verbatim.
        old_str: String,
        /// What takes its place; nothing if left out.
        #[serde(default)]
        new_str: String,
    },
    /// Adds lines to a file.
    Insert {
        /// The file.
        path: String,
        /// The line after which; 0 for the beginning.
        insert_line: i64,
        /// The lines.
        insert_text: String,
    },
    /// Deletes a file, or a directory with all that is in it.
    Delete {
        /// Which.
        path: String,
    },
    /// Gives a file or a directory another path.
    Rename {
        /// Where it is.
        old_path: String,
        /// Where it will be.
        new_path: String,
    },
}

impl Command {
    /// Masks the secrets that it would write and says what they were.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
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

    /// The path that it would make.
    pub fn new_path(&self) -> Option<&str> {
        match self {
            Self::Create { path, .. } | Self::Rename { new_path: path, .. } => Some(path),
            _ => None,
        }
    }
}

/// How much a folder may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes a file may be given.
    pub max_file_bytes: usize,
    /// The most files.
    pub max_files: usize,
    /// The most bytes of all files.
    pub max_total_bytes: u64,
}

impl Default for Limits {
    /// A file as large as hosted memory stores take, which is as much as one answer can show; as many as a large vault has
    /// beside the agent's own, which are looked through in some milliseconds at each new file.
    fn default() -> Self {
        Self { max_file_bytes: 102_400, max_files: 20_000, max_total_bytes: 64 << 20 }
    }
}

/// The folder of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFolder {
    root: PathBuf,
    limits: Limits,
}

/// What a command answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For the agent.
    pub text: String,
    /// Whether nothing was done and the text says why.
    pub is_error: bool,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path, from `/memories`.
    pub path: String,
    /// What it said; none if it was not there.
    pub before: Option<String>,
    /// What it will say; none if it goes.
    pub after: Option<String>,
    /// The path that it had before it was renamed.
    pub moved_from: Option<String>,
}

impl FileChange {
    /// Masks the secrets in what it says and says what they were.
    pub fn mask_secrets(&mut self) -> Vec<SecretKind> {
        mask_all([&mut self.before, &mut self.after].into_iter().flatten())
    }

    fn gone(path: String, text: String) -> Self {
        Self { path, before: Some(text), after: None, moved_from: None }
    }
}

/// A command that is worked out and not done yet. The folder is locked as long as it lives.
pub struct Prepared {
    root: Folder,
    answer: Answer,
    step: Step,
    changes: Vec<FileChange>,
}

/// What is done to the folder.
enum Step {
    Nothing,
    Write { path: MemoryPath, before: Option<String>, after: String },
    Remove(MemoryPath),
    Rename(MemoryPath, MemoryPath),
}

/// Why a command cannot be done.
#[derive(Debug)]
enum Stop {
    /// The agent is told why and what to do.
    Refused(String),
    /// The disk failed.
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl MemoryFolder {
    /// The folder at `root`, which is made when it is first used.
    pub fn new(root: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { root: root.into(), limits }
    }

    /// Where it lies.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Works a command out and does it.
    pub fn run(&self, command: &Command) -> Result<Answer> {
        self.prepare(command)?.commit()
    }

    /// Works a command out, once nobody else is changing the folder.
    pub fn prepare(&self, command: &Command) -> Result<Prepared> {
        let failed = |error| self.failed(error);
        let changes = !matches!(command, Command::View { .. });
        let root = Folder::root(&self.root).map_err(failed)?;
        root.lock(changes).map_err(failed)?;
        if changes {
            root.sweep().map_err(failed)?;
        }
        match (Desk { root: &root, limits: &self.limits }).plan(command) {
            Ok(Plan { text, step, changes }) => {
                Ok(Prepared { root, answer: Answer { text, is_error: false }, step, changes })
            }
            Err(Stop::Refused(text)) => Ok(Prepared {
                root,
                answer: Answer { text, is_error: true },
                step: Step::Nothing,
                changes: Vec::new(),
            }),
            Err(Stop::Failed(error)) => Err(failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(self.root.display().to_string(), error)
    }
}

impl Prepared {
    /// What will become of which file, so that what is lost can be kept first.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Does it. When it returns, the change survives a power cut.
    pub fn commit(self) -> Result<Answer> {
        let done = match &self.step {
            Step::Nothing => Ok(()),
            Step::Write { path, before, after } => self.write(path, before.as_deref(), after),
            Step::Remove(path) => self.remove(path),
            Step::Rename(from, to) => self.rename(from, to),
        };
        match done {
            Ok(()) => Ok(self.answer),
            Err(Stop::Refused(text)) => Ok(Answer { text, is_error: true }),
            Err(Stop::Failed(error)) => {
                // What was on its way is of no use; if it cannot be removed now, the next change does.
                let _ = self.root.sweep();
                Err(Error::io("changing the memory folder", error))
            }
        }
    }

    fn write(&self, path: &MemoryPath, before: Option<&str>, after: &str) -> Result<(), Stop> {
        let (parent, name) = self.parent(path)?;
        // People do not take the lock: what one of them wrote meanwhile must not be lost.
        let found = match (parent.node(name)?, before) {
            (tree::Node::Absent, None) => true,
            (tree::Node::File(_), Some(text)) => {
                parent.read(name, text.len() as u64)? == text.as_bytes()
            }
            _ => false,
        };
        if !found {
            let path = path.given();
            return Err(Stop::Refused(format!(
                "Error: {path} was changed by someone else meanwhile. View it again and repeat the change."
            )));
        }
        let temporary = self.root.temporary(after.as_bytes())?;
        Ok(self.root.moved(&temporary, &parent, name)?)
    }

    fn remove(&self, path: &MemoryPath) -> Result<(), Stop> {
        let (parent, name) = self.parent(path)?;
        Ok(self.root.removed_from(&parent, name)?)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), Stop> {
        let (source, name) = self.parent(from)?;
        let (target, new_name) = self.parent(to)?;
        Ok(source.moved(name, &target, new_name)?)
    }

    /// The folder that a path lies in, made where it is not there, and the name in it.
    fn parent<'a>(&self, path: &'a MemoryPath) -> io::Result<(Folder, &'a str)> {
        let missing = || io::Error::other("the memory directory has no parent");
        let (name, above) = path.names().split_last().ok_or_else(missing)?;
        let mut folder = self.root.sub(".")?;
        for name in above {
            folder = folder.made(name)?;
        }
        Ok((folder, name))
    }
}
