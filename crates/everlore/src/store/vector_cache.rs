//! What models said before, kept by a store so that they are not asked again.

use async_trait::async_trait;
use serde::Serialize;

use crate::{
    error::Result,
    types::{EmbeddingModelId, Fingerprint, Scope, Timestamp, Vector},
};

/// Keeps vectors by text. A scope finds only what it kept itself, so that not even the time of an answer tells of
/// others; erasing a memory takes its texts out, and with them every question, which may have quoted it.
#[async_trait]
pub trait VectorCache: Send + Sync {
    /// The vectors of these texts, in this order; `None` where none is kept.
    async fn lookup(&self, scope: &Scope, asked: &VectorLookup) -> Result<Vec<Option<Vector>>>;

    /// Keeps vectors; where there are more than `most`, those unused for longest go.
    async fn insert(&self, scope: &Scope, kept: VectorInsert) -> Result<()>;

    /// How many there are, and how often one was found.
    async fn status(&self) -> Result<VectorCacheStatus>;
}

/// Which vectors are looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorLookup {
    /// The model that must have made them.
    pub model: EmbeddingModelId,
    /// The texts.
    pub texts: Vec<Fingerprint>,
    /// Whether the texts are questions.
    pub is_query: bool,
    /// The time, by which it is told what was unused for longest.
    pub now: Timestamp,
}

/// What is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorInsert {
    /// The model that made them.
    pub model: EmbeddingModelId,
    /// The vectors with their texts.
    pub vectors: Vec<(Fingerprint, Vector)>,
    /// Whether the texts are questions.
    pub is_query: bool,
    /// The time.
    pub now: Timestamp,
    /// The most that are kept in all.
    pub max_entries: usize,
}

/// The state of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct VectorCacheStatus {
    /// How many vectors are kept.
    pub entries: u64,
    /// How often one was found.
    pub hits: u64,
    /// How often none was, and the model was asked.
    pub misses: u64,
}
