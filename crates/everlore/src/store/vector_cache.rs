//! The vector cache facet: vectors of remote models, so that no text is sent to a model twice.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde::Serialize;

use crate::{
    error::Result,
    types::{EmbeddingModelId, Fingerprint, Scope, Timestamp, Vector},
};

/// Keeps vectors by text. A scope finds only its own vectors, so that response times reveal nothing about other scopes.
/// Erasing a memory removes its texts and with them every query, which may have quoted it.
#[async_trait]
pub trait VectorCache: Send + Sync {
    /// Returns the vectors of these texts, in this order; `None` where none is cached.
    async fn lookup(&self, scope: &Scope, request: &VectorLookup) -> Result<Vec<Option<Vector>>>;

    /// Caches vectors; where there are more than `max_entries`, those unused for longest are evicted.
    async fn insert(&self, scope: &Scope, batch: VectorInsert) -> Result<()>;

    /// Returns the number of vectors, hits and misses.
    async fn status(&self) -> Result<VectorCacheStatus>;
}

/// Request for cached vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorLookup {
    /// Model that made the vectors.
    pub model: EmbeddingModelId,
    /// Digests of the texts.
    pub texts: Vec<Fingerprint>,
    /// Set when the texts are queries.
    pub is_query: bool,
    /// Current time, recorded as the last use of each hit.
    pub now: Timestamp,
}

/// Vectors to cache.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorInsert {
    /// Model that made the vectors.
    pub model: EmbeddingModelId,
    /// Vectors with the digests of their texts.
    pub vectors: Vec<(Fingerprint, Vector)>,
    /// Set when the texts are queries.
    pub is_query: bool,
    /// Current time.
    pub now: Timestamp,
    /// The most vectors kept in all.
    pub max_entries: usize,
}

/// Status of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct VectorCacheStatus {
    /// Cached vectors.
    pub entries: u64,
    /// Lookups that found a vector.
    pub hits: u64,
    /// Lookups that found none, so that the model was called.
    pub misses: u64,
}

/// A full cache evicts one entry in so many beyond the surplus, so that not every insert evicts.
pub(super) const EVICTED_SHARE: usize = 16;

/// Hits and misses of this process that are not in the database yet: a lookup writes nothing.
#[derive(Debug, Default)]
pub(super) struct CacheTally {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CacheTally {
    pub(super) fn count<T>(&self, found: &[Option<T>]) {
        let hits = found.iter().flatten().count();
        self.hits.fetch_add(hits as u64, Ordering::Relaxed);
        self.misses.fetch_add((found.len() - hits) as u64, Ordering::Relaxed);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hits.load(Ordering::Relaxed) + self.misses.load(Ordering::Relaxed) == 0
    }

    /// Takes hits and misses out.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.hits.swap(0, Ordering::Relaxed), self.misses.swap(0, Ordering::Relaxed))
    }
}

/// Returns the day of a time, counted from 1970.
pub(super) fn day(at: Timestamp) -> i64 {
    at.as_second() / 86_400
}
