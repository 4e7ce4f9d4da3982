//! Answer to a save: the stored memory, its receipt, and the older memories that it affects.

use serde::Serialize;

use crate::{
    text::secrets::SecretKind,
    types::{Kind, Memory, MemoryId, Status, Timestamp},
};

/// Stored memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SavedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Uri of the memory.
    pub uri: String,
    /// Kind of the memory.
    pub kind: Kind,
    /// Status of the memory.
    pub status: Status,
    /// Proof that it is stored.
    pub receipt: SaveReceipt,
    /// Secrets masked before anything was written, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub masked: Vec<SecretKind>,
    /// Older memories that it superseded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SupersededMemory>,
    /// Older memory that it may replace: both stand, and recall marks the older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_replace: Option<DoubtedMemory>,
    /// Run that undoes the save with all that it superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoRun>,
}

/// Memory that a newer one superseded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SupersededMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its text.
    pub content: String,
    /// Memory that took its place.
    pub by: MemoryId,
}

/// Memory that a newer one may have replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DoubtedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its text.
    pub content: String,
}

impl SupersededMemory {
    /// Describes a memory that was superseded by another.
    pub fn new(older: &Memory, by: MemoryId) -> Self {
        Self { id: older.id, content: older.content.clone(), by }
    }
}

/// Run of the journal that can be undone: `everlore memory undo --run RUN`, or the body of `POST /v1/undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UndoRun {
    /// Name of the run.
    pub run: String,
}

/// Receipt of a save: durable, with row and index entry read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SaveReceipt {
    /// Sequence number of the change in the journal.
    pub seq: u64,
    /// Time of the save.
    pub at: Timestamp,
    /// Set when the same statement existed and only its time was renewed.
    pub known: bool,
    /// Set when it was read back and found through the index. A save that cannot be verified is an error instead.
    pub verified: bool,
}
