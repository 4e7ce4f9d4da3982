//! Request of a vault sync, and the report of its steps.

use std::path::PathBuf;

use serde::Serialize;

use crate::types::{ChangeAuthor, Kind, MemoryId, Scope};

/// Request for a sync.
#[derive(Debug, Clone)]
pub struct SyncRequest {
    /// Vault folder.
    pub folder: PathBuf,
    /// Scope of the memories.
    pub scope: Scope,
    /// Kinds that get files; empty for the kinds of the last sync, or the default ones. A file of any kind but a turn
    /// gets a memory.
    pub kinds: Vec<Kind>,
    /// Set to report the steps without executing them.
    pub dry_run: bool,
    /// Author of the changes to the files, where it is known; otherwise the journal names the engine as the actor.
    pub author: Option<ChangeAuthor>,
    /// Set to mask secrets in files on their way to memory; the engine goes by its settings. Files keep what people
    /// typed, and the report names them.
    pub mask_secrets: bool,
}

impl SyncRequest {
    /// Kinds that people and agents write; the others are the engine's own.
    pub const DEFAULT_KINDS: [Kind; 4] =
        [Kind::User, Kind::Feedback, Kind::Project, Kind::Reference];

    /// Creates a request for the kinds of the last sync.
    pub fn new(folder: impl Into<PathBuf>, scope: &Scope) -> Self {
        let (folder, scope) = (folder.into(), scope.clone());
        Self { folder, scope, kinds: Vec::new(), dry_run: false, author: None, mask_secrets: false }
    }
}

/// Outcome of a sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// Run id, to undo the changes to memories; `None` if there were none.
    pub run: Option<String>,
    /// Steps that were executed, or would be.
    pub done: Vec<SyncStep>,
    /// Number of files that equal their memories.
    pub unchanged: usize,
    /// Memories that new or edited files superseded; the engine finds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<MemoryId>,
}

impl SyncReport {
    /// Counts the steps with an action.
    pub fn count(&self, what: SyncAction) -> usize {
        self.done.iter().filter(|done| done.what == what).count()
    }

    /// Returns `true` if both sides agree, apart from skipped files.
    pub fn is_unchanged(&self) -> bool {
        self.done.iter().all(|done| done.what == SyncAction::Skipped)
    }
}

/// Step of a sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncStep {
    /// Action of the step.
    pub what: SyncAction,
    /// File that was changed, or caused the change.
    pub file: String,
    /// Memory of the step, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Reason, where it is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Actions of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncAction {
    /// A file became a memory.
    Stored,
    /// A memory was updated from its file.
    Updated,
    /// A memory was deleted, as its file was.
    Deleted,
    /// A file was written from its memory.
    Written,
    /// A file was removed, as its memory was.
    Removed,
    /// A file was found under another name.
    Renamed,
    /// Both sides were edited, and both versions are kept.
    Conflict,
    /// A file was left alone.
    Skipped,
}
