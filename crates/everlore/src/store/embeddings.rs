//! The vectors facet: one embedding per memory, of one model at a time; and the token vectors facet of a reranker.

use async_trait::async_trait;

use super::DocAddress;
use crate::{
    error::Result,
    types::{EmbeddingModelId, Memory, MemoryId, Scope, Vector},
};

/// Least size of the batch that [`Embeddings::missing`] returns, if so many are missing: worth one call of a model.
pub(super) const EMBED_BATCH: usize = 512;

/// Stores the embeddings of memories. Vectors of two models never mix.
#[async_trait]
pub trait Embeddings: Send + Sync {
    /// Returns the model in use; `None` until the first vector is stored.
    async fn model(&self) -> Result<Option<EmbeddingModelId>>;

    /// Takes a model into use. Vectors of other models are no longer returned; a backfill computes new ones.
    async fn set_model(&self, model: &EmbeddingModelId) -> Result<()>;

    /// Counts the memories of all scopes with and without a vector of the model in use.
    async fn counts(&self) -> Result<(usize, usize)>;

    /// Returns some memories of one scope, of this one if given, without a vector of the model in use; empty when every
    /// memory has one.
    async fn missing(&self, scope: Option<&Scope>) -> Result<Vec<Memory>>;

    /// Stores vectors for memories that [`Embeddings::missing`] returned and skips memories that changed since.
    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        embeddings: Vec<NewEmbedding>,
    ) -> Result<()>;
}

/// Stores the token vectors that a late-interaction reranker computed for each text, for one model at a time.
#[async_trait]
pub trait TokenVectors: Send + Sync {
    /// Returns the token vectors of the texts at these addresses, in this order; `None` where the model has not encoded
    /// the text as it is now.
    async fn get(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        addresses: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// Stores token vectors, skips memories that changed since, and removes those of any other model.
    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        encoded: Vec<NewTokenVectors>,
    ) -> Result<()>;

    /// Returns the first memories of the scope after one, by age, that the model has not encoded.
    async fn missing(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>>;

    /// Counts the memories of all scopes that the model has and has not encoded.
    async fn counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)>;
}

/// A vector for a memory at one of its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    /// The memory.
    pub id: MemoryId,
    /// The version whose text was embedded.
    pub version: u32,
    /// The vector.
    pub vector: Vector,
}

/// Token vectors for a memory at one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTokenVectors {
    /// The memory.
    pub id: MemoryId,
    /// The version whose text was encoded.
    pub version: u32,
    /// The vectors, in a form that only the model knows.
    pub token_vectors: Vec<u8>,
}
