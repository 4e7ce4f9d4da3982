//! Changes to memories, and the journal that records every one of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CaptureCheckpoint, ChangeVectors, Fingerprint, Memory, MemoryId, Scope};
use crate::error::{Error, Result};

/// Author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// Person: by command, by hand, or as a turn that a coding agent's hook reports.
    Person,
    /// Agent, by a tool.
    Agent,
    /// The engine itself: extraction, upkeep, sync, import.
    Engine,
}

/// Author of changes with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeAuthor {
    /// Author.
    pub actor: Actor,
    /// Reason; if `None`, the journal names the operation.
    pub reason: Option<String>,
    /// Run that the changes belong to, where the operation has none of its own.
    pub run: Option<String>,
}

impl ChangeAuthor {
    /// Person who does what is asked for.
    pub const PERSON: Self = Self { actor: Actor::Person, reason: None, run: None };

    /// Returns the reason that the journal records for `operation`.
    pub(crate) fn reason_for(&self, operation: &str) -> String {
        self.reason.clone().unwrap_or_else(|| operation.to_owned())
    }
}

/// Beginning of the names of runs that are one write each, made for a request that may be sent again, and to another
/// server.
pub const SINGLE_WRITE_RUN: &str = "http-";

/// Reason of the fixes of an audit.
pub(crate) const AUDIT_CAUSE: &str = "audit: fix";

/// Reason of an approved proposal.
pub(crate) const APPROVAL_CAUSE: &str = "proposal: approved";

/// Beginning of the reason of turns that the hook of a host reports.
pub const HOOK_CAUSE: &str = "observed by the hook of";

/// Reasons of changes whose undo restores memories exactly, even those that upkeep would archive next.
pub(crate) const EXACT_UNDO_CAUSES: [&str; 2] = [AUDIT_CAUSE, APPROVAL_CAUSE];

/// Change to one memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Stores a new memory. Its id and uri must be new in the scope and its version 1.
    Add(Box<Memory>),
    /// Replaces a memory. Its version must follow the stored one.
    Update(Box<Memory>),
    /// Removes a memory; the journal keeps its text.
    Delete(MemoryId),
    /// Removes a memory and every trace of its text.
    Erase(MemoryId),
}

/// A batch of changes to one scope, made by one actor for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteBatch {
    /// Scope of the memories.
    pub scope: Scope,
    /// Author.
    pub actor: Actor,
    /// Reason, in a word or a sentence.
    pub reason: String,
    /// Run that this batch belongs to, so that a whole run can be undone.
    pub run: Option<String>,
    /// Set when the batch is all of its run: it is refused with [`Error::Repeated`](crate::Error::Repeated) if the journal
    /// has a line with this run and this reason. An undo of the run has another reason.
    pub is_single: bool,
    /// Number of the newest journal line that its plan saw: it is refused with
    /// [`Error::Conflict`](crate::Error::Conflict) if another came since. `None` for a plan that no other write can make
    /// wrong.
    pub planned_after: Option<u64>,
    /// Time of the changes.
    pub at: Timestamp,
    /// Model tokens spent on it; 0 if no model was asked.
    pub cost: u64,
    /// Changes in their order.
    pub changes: Vec<Change>,
    /// Fingerprints of texts that were erased elsewhere and must not come back here either.
    pub erased_texts: Vec<Fingerprint>,
    /// Vectors of the stored texts; `None` if no model is asked.
    pub vectors: Option<ChangeVectors>,
    /// Checkpoint of the turns that the memories were extracted from.
    pub checkpoint: Option<CaptureCheckpoint>,
}

impl WriteBatch {
    /// Creates a batch without a run, a cost or erased texts.
    pub fn new(
        scope: &Scope,
        actor: Actor,
        cause: impl Into<String>,
        at: Timestamp,
        changes: Vec<Change>,
    ) -> Self {
        let (scope, reason) = (scope.clone(), cause.into());
        Self {
            scope,
            actor,
            reason,
            run: None,
            is_single: false,
            planned_after: None,
            at,
            cost: 0,
            changes,
            erased_texts: Vec::new(),
            vectors: None,
            checkpoint: None,
        }
    }

    /// Refuses a batch whose plan did not see the newest of `lines` journal lines.
    pub(crate) fn check_plan(&self, lines: u64) -> Result<()> {
        match self.planned_after {
            Some(seen) if seen != lines => {
                Err(Error::Conflict { what: format!("`{}`", self.scope) })
            }
            _ => Ok(()),
        }
    }

    /// Returns the run of a batch that must not be written twice.
    pub(crate) fn single_run(&self) -> Option<&str> {
        self.run.as_deref().filter(|_| self.is_single)
    }
}

/// Result of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedChange {
    /// Journal number of the change.
    pub seq: u64,
    /// Memory that was changed.
    pub id: MemoryId,
    /// Receipt, if the change was an erasure.
    pub erasure: Option<ErasureReceipt>,
}

/// Receipt of an erasure: how much was removed from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErasureReceipt {
    /// Rows removed.
    pub rows: usize,
    /// Index entries (distinct terms) removed.
    pub index_terms: usize,
    /// Vectors removed.
    pub vectors: usize,
    /// Vectors removed from the cache of models on other servers, those of questions included.
    #[serde(default)]
    pub cached_vectors: usize,
    /// Lines of the usage log removed.
    #[serde(default)]
    pub usage_lines: usize,
    /// Drafts removed that were taken from the memory or had the same text.
    #[serde(default)]
    pub drafts: usize,
    /// Journal images whose text was removed.
    pub journal_images: usize,
    /// Tombstones left, one for each different text that the memory ever had.
    pub tombstones: usize,
}

impl std::ops::AddAssign for ErasureReceipt {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.index_terms += other.index_terms;
        self.vectors += other.vectors;
        self.cached_vectors += other.cached_vectors;
        self.usage_lines += other.usage_lines;
        self.drafts += other.drafts;
        self.journal_images += other.journal_images;
        self.tombstones += other.tombstones;
    }
}

/// Operation of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeOp {
    /// Stored a memory.
    Add,
    /// Replaced a memory.
    Update,
    /// Removed a memory.
    Delete,
    /// Removed a memory and its traces.
    Erase,
}

/// Line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct JournalEntry {
    /// Sequence number; numbers only rise.
    pub seq: u64,
    /// Time of the change.
    pub at: Timestamp,
    /// Author.
    pub actor: Actor,
    /// Reason.
    pub cause: String,
    /// Run that the change belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Model tokens spent on it.
    #[serde(default)]
    pub cost: u64,
    /// Operation.
    pub op: ChangeOp,
    /// Memory that was changed.
    pub id: MemoryId,
    /// Memory before the change; `None` if there was none, or if its text was erased.
    pub before: Option<Box<Memory>>,
    /// Memory after the change; `None` if it was removed, or if its text was erased.
    pub after: Option<Box<Memory>>,
}

/// Names a run by its operation and its time; the end of an id tells it from others of the same moment.
pub(crate) fn run_name(what: &str, now: Timestamp) -> String {
    let id = MemoryId::new(now);
    let [.., a, b] = *id.as_bytes();
    format!("{what}-{}{:05}", now.as_millisecond(), u16::from_be_bytes([a, b]))
}

impl Change {
    /// Returns the id of the memory that it changes.
    pub fn id(&self) -> MemoryId {
        match self {
            Self::Add(memory) | Self::Update(memory) => memory.id,
            Self::Delete(id) | Self::Erase(id) => *id,
        }
    }

    /// Returns the memory that it adds or updates, as it is stored; `None` if it removes one.
    pub fn written(&self) -> Option<&Memory> {
        match self {
            Self::Add(memory) | Self::Update(memory) => Some(memory),
            Self::Delete(_) | Self::Erase(_) => None,
        }
    }

    /// Returns its operation.
    pub fn op(&self) -> ChangeOp {
        match self {
            Self::Add(_) => ChangeOp::Add,
            Self::Update(_) => ChangeOp::Update,
            Self::Delete(_) => ChangeOp::Delete,
            Self::Erase(_) => ChangeOp::Erase,
        }
    }

    /// Returns the fingerprint of the text that it stores, if it stores one.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.written().map(Memory::fingerprint)
    }
}
