//! Changes to memories, and the journal that keeps every one of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CaptureCheckpoint, ChangeVectors, Fingerprint, Memory, MemoryId, Scope};

/// Who makes a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// A person, by command or by hand.
    Person,
    /// An agent, by a tool.
    Agent,
    /// The engine's own work: extraction, upkeep, sync, import.
    Engine,
}

/// Who makes changes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeAuthor {
    /// Who.
    pub actor: Actor,
    /// Why; the name of what is done where nothing is said.
    pub reason: Option<String>,
    /// The run that the changes belong to, where the work has none of its own.
    pub run: Option<String>,
}

impl ChangeAuthor {
    /// A person, who does what is asked for.
    pub const PERSON: Self = Self { actor: Actor::Person, reason: None, run: None };

    /// The reason that the journal keeps for `what`.
    pub fn reason_for(&self, what: &str) -> String {
        self.reason.clone().unwrap_or_else(|| what.to_owned())
    }
}

/// One change to one memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Stores a new memory. Its id and uri must be new in the scope and its version 1.
    Add(Box<Memory>),
    /// Replaces a memory. Its version must follow the stored one.
    Update(Box<Memory>),
    /// Removes a memory; the journal keeps what it said.
    Delete(MemoryId),
    /// Removes a memory and every trace of what it said.
    Erase(MemoryId),
}

/// A batch of changes to one scope, made by one actor for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteBatch {
    /// Whose memories are changed.
    pub scope: Scope,
    /// Who changes them.
    pub actor: Actor,
    /// Why, in a word or a sentence.
    pub reason: String,
    /// The run this batch belongs to, so that a whole run can be undone.
    pub run: Option<String>,
    /// When.
    pub at: Timestamp,
    /// The tokens a model spent on it; 0 where none was asked.
    pub cost: u64,
    /// What is changed, in order.
    pub changes: Vec<Change>,
    /// Texts that were erased elsewhere and must not come back here either.
    pub erased_texts: Vec<Fingerprint>,
    /// The vectors of what is stored; none where no model is asked.
    pub vectors: Option<ChangeVectors>,
    /// The turns that it was drawn from, which are read with it.
    pub checkpoint: Option<CaptureCheckpoint>,
}

impl WriteBatch {
    /// A batch without a run, a cost or erased texts.
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
            at,
            cost: 0,
            changes,
            erased_texts: Vec::new(),
            vectors: None,
            checkpoint: None,
        }
    }
}

/// What became of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedChange {
    /// The journal's number of the change.
    pub seq: u64,
    /// The memory that was changed.
    pub id: MemoryId,
    /// What an erasure removed.
    pub erasure: Option<ErasureReceipt>,
}

/// The receipt of an erasure: what was removed from where.
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
    /// Drafts removed that were taken from it or said the same.
    #[serde(default)]
    pub drafts: usize,
    /// Journal images whose text was removed.
    pub journal_images: usize,
    /// Tombstones left, one for each different text the memory ever had.
    pub tombstones: usize,
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeOp {
    /// A memory was stored.
    Add,
    /// A memory was replaced.
    Update,
    /// A memory was removed.
    Delete,
    /// A memory and its traces were removed.
    Erase,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct JournalEntry {
    /// Its number; numbers only rise.
    pub seq: u64,
    /// When the change was made.
    pub at: Timestamp,
    /// Who made it.
    pub actor: Actor,
    /// Why.
    pub cause: String,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The tokens a model spent on it.
    #[serde(default)]
    pub cost: u64,
    /// What it did.
    pub op: ChangeOp,
    /// The memory it changed.
    pub id: MemoryId,
    /// The memory before; none if there was none, or if its text was erased.
    pub before: Option<Box<Memory>>,
    /// The memory after; none if it was removed, or if its text was erased.
    pub after: Option<Box<Memory>>,
}

impl Change {
    /// The memory it is about.
    pub fn id(&self) -> MemoryId {
        match self {
            Self::Add(memory) | Self::Update(memory) => memory.id,
            Self::Delete(id) | Self::Erase(id) => *id,
        }
    }

    /// What it does.
    pub fn op(&self) -> ChangeOp {
        match self {
            Self::Add(_) => ChangeOp::Add,
            Self::Update(_) => ChangeOp::Update,
            Self::Delete(_) => ChangeOp::Delete,
            Self::Erase(_) => ChangeOp::Erase,
        }
    }

    /// The digest of the text it stores, if it stores one.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        match self {
            Self::Add(memory) | Self::Update(memory) => Some(memory.fingerprint()),
            Self::Delete(_) | Self::Erase(_) => None,
        }
    }
}
