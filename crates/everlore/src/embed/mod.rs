//! Embedding: connects the models that compute vectors with the store that keeps them.
//!
//! [`EmbedOnWrite`] attaches vectors to writes or defers them to the [`EmbeddingBackfill`]; [`CachedEmbedder`] asks the
//! vector cache before a remote model; [`CircuitBreaker`] spares a server that does not answer; [`TokenBackfill`] encodes
//! new memories for the reranker.

mod circuit_breaker;
mod cached;
mod backfill;
mod token_backfill;
mod on_write;

pub(crate) use backfill::EmbeddingBackfill;
pub(crate) use cached::CachedEmbedder;
pub(crate) use circuit_breaker::CircuitBreaker;
pub use circuit_breaker::OpenCircuit;
pub(crate) use on_write::{EmbedOnWrite, EmbeddingPath};
pub(crate) use token_backfill::TokenBackfill;
