//! Codec of memory rows: the columns that every database has, and the JSON of everything else.

use serde::{Deserialize, Serialize};

use super::DocAddress;
use crate::{
    error::{Error, Result},
    types::{Actor, ChangeOp, Kind, Memory, MemoryId, MemorySource, Scope, Status, Timestamp},
};

/// Actors and operations by their numbers in a database.
pub(crate) const ACTORS: [Actor; 3] = [Actor::Person, Actor::Agent, Actor::Engine];
pub(crate) const OPS: [ChangeOp; 4] =
    [ChangeOp::Add, ChangeOp::Update, ChangeOp::Delete, ChangeOp::Erase];

/// A memory with its index address and its newest journal line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemoryRow {
    pub(crate) memory: Memory,
    pub(crate) address: DocAddress,
    pub(crate) seq: i64,
}

/// Columns of a row as a database returns them.
pub(crate) struct MemoryColumns {
    pub(crate) address: i64,
    pub(crate) id: [u8; 16],
    pub(crate) seq: i64,
    pub(crate) uri: String,
    pub(crate) kind: u8,
    pub(crate) status: u8,
    pub(crate) at: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) last_used_at: Option<i64>,
    pub(crate) version: u32,
    pub(crate) importance: f64,
    pub(crate) confidence: f64,
    pub(crate) weight: f64,
    pub(crate) detail: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) content: String,
}

/// Fields without a column of their own.
#[derive(Serialize, Deserialize)]
struct MemoryDetail {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    metadata: serde_json::Map<String, serde_json::Value>,
    source: MemorySource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<MemoryId>,
}

/// Encodes the fields of a memory that have no column.
pub(crate) fn encode_detail(memory: &Memory) -> Result<String> {
    let detail = MemoryDetail {
        tags: memory.tags.clone(),
        metadata: memory.metadata.clone(),
        source: memory.source.clone(),
        superseded_by: memory.superseded_by,
    };
    serde_json::to_string(&detail).map_err(Error::store)
}

impl MemoryColumns {
    /// Decodes the row of a memory of `scope`.
    pub(crate) fn decode(self, scope: &Scope) -> Result<MemoryRow> {
        let detail: MemoryDetail = serde_json::from_str(&self.detail)
            .map_err(|error| Error::damaged(error.to_string()))?;
        let memory = Memory {
            id: MemoryId::from_bytes(self.id),
            uri: self.uri,
            scope: scope.clone(),
            kind: by_number(&Kind::ALL, self.kind, "kind")?,
            name: self.name,
            description: self.description,
            content: self.content,
            tags: detail.tags,
            importance: self.importance,
            confidence: self.confidence,
            weight: self.weight,
            status: by_number(&Status::ALL, self.status, "status")?,
            metadata: detail.metadata,
            source: detail.source,
            at: timestamp(self.at)?,
            created_at: timestamp(self.created_at)?,
            updated_at: timestamp(self.updated_at)?,
            last_used_at: self.last_used_at.map(timestamp).transpose()?,
            superseded_by: detail.superseded_by,
            version: self.version,
        };
        let address = DocAddress::from_bits(self.address as u64);
        Ok(MemoryRow { memory, address, seq: self.seq })
    }
}

/// Decodes an enum that is stored as its position in `all`.
pub(crate) fn by_number<T: Copy>(all: &[T], number: u8, what: &str) -> Result<T> {
    let found = all.get(usize::from(number)).copied();
    found.ok_or_else(|| Error::damaged(format!("{what} {number}")))
}

/// Decodes a stored time.
pub(crate) fn timestamp(milliseconds: i64) -> Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| Error::damaged(format!("time {milliseconds}")))
}

/// Encodes a before-image of the journal.
pub(crate) fn encode_image(memory: &Memory) -> Result<Vec<u8>> {
    serde_json::to_vec(memory).map_err(Error::store)
}

/// Decodes a before-image of the journal.
pub(crate) fn decode_image(bytes: Option<Vec<u8>>) -> Result<Option<Memory>> {
    let image = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
    image.map_err(|error| Error::damaged(format!("a journal image: {error}")))
}
