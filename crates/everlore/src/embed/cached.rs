//! Embedder with a cache for one scope: a text that the model embedded before is looked up and not sent again.

use std::collections::HashMap;

use async_trait::async_trait;

use super::circuit_breaker::{CircuitBreaker, OpenCircuit};
use crate::{
    error::{Error, Result},
    llm::Embedder,
    store::{VectorCache, VectorInsert, VectorLookup},
    types::{EmbeddingModelId, Fingerprint, Scope, Timestamp, Vector},
};

/// Vectors written to the cache at a time: vectors that were paid for are safe even if the rest fails.
const CACHE_BATCH: usize = 64;

/// Vector cache of a store, with its size limit.
#[derive(Clone, Copy)]
pub(crate) struct VectorCacheHandle<'a> {
    pub(crate) cache: &'a dyn VectorCache,
    pub(crate) max_vectors: usize,
}

/// Embedder that serves one scope.
pub(crate) struct CachedEmbedder<'a> {
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) vector_cache: Option<VectorCacheHandle<'a>>,
    pub(crate) scope: &'a Scope,
    /// Circuit breaker for queries; `None` where memories are embedded.
    pub(crate) breaker: Option<&'a CircuitBreaker>,
    pub(crate) now: Timestamp,
}

#[async_trait]
impl Embedder for CachedEmbedder<'_> {
    fn model(&self) -> &EmbeddingModelId {
        self.embedder.model()
    }

    fn understands(&self, text: &str) -> bool {
        self.embedder.understands(text)
    }

    fn least_similarity(&self) -> f32 {
        self.embedder.least_similarity()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let Some(vector_cache) = self.vector_cache else { return self.call_model(texts).await };
        let digests: Vec<_> = texts.iter().map(|text| Fingerprint::of(text)).collect();
        let mut known = self.lookup_cached(vector_cache, &digests).await;
        // A text that occurs twice is sent once.
        let mut missing: Vec<_> = digests.iter().copied().zip(texts.iter().copied()).collect();
        missing.retain(|(print, _)| !known.contains_key(print));
        missing.sort_unstable();
        missing.dedup();
        for some in missing.chunks(CACHE_BATCH) {
            known.extend(self.embed_and_cache(vector_cache, some).await?);
        }
        let numbers = |print| known.get(print).map_or_else(Vec::new, Vector::dequantize);
        Ok(digests.iter().map(numbers).collect())
    }
}

impl CachedEmbedder<'_> {
    /// Looks up vectors in the cache. A cache that fails counts as an empty one.
    async fn lookup_cached(
        &self,
        vector_cache: VectorCacheHandle<'_>,
        digests: &[Fingerprint],
    ) -> HashMap<Fingerprint, Vector> {
        let request = VectorLookup {
            model: self.model().clone(),
            texts: digests.to_vec(),
            is_query: self.breaker.is_some(),
            now: self.now,
        };
        let found = vector_cache.cache.lookup(self.scope, &request).await.unwrap_or_else(|error| {
            tracing::warn!("{error}: cached vectors cannot be read");
            vec![None; digests.len()]
        });
        let usable = |vector: &Vector| vector.values.len() == self.model().dimensions;
        let pairs = digests.iter().copied().zip(found);
        pairs.filter_map(|(print, found)| Some((print, found.filter(usable)?))).collect()
    }

    /// Calls the model, unless it failed a moment ago: a query has a caller that waits.
    async fn call_model(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let Some(breaker) = self.breaker else { return self.embedder.embed(texts).await };
        let trial = breaker.attempt(self.now).map_err(open_circuit_error)?;
        let embeddings = self.embedder.embed(texts).await;
        match &embeddings {
            Ok(_) => trial.succeeded(),
            Err(error) => trial.failed(error),
        }
        embeddings
    }

    /// Calls the model and caches its vectors.
    async fn embed_and_cache(
        &self,
        vector_cache: VectorCacheHandle<'_>,
        missing: &[(Fingerprint, &str)],
    ) -> Result<Vec<(Fingerprint, Vector)>> {
        let texts: Vec<_> = missing.iter().map(|(_, text)| *text).collect();
        let embeddings = self.call_model(&texts).await?;
        let digests = missing.iter().map(|(print, _)| *print);
        let vectors: Vec<_> =
            digests.zip(embeddings.iter().map(|numbers| Vector::quantize(numbers))).collect();
        let keep = VectorInsert {
            model: self.model().clone(),
            vectors: vectors.clone(),
            is_query: self.breaker.is_some(),
            now: self.now,
            max_entries: vector_cache.max_vectors,
        };
        if let Err(error) = vector_cache.cache.insert(self.scope, keep).await {
            tracing::warn!("{error}: vectors cannot be cached");
        }
        Ok(vectors)
    }
}

/// Builds the error of a query that came too soon after a failure.
fn open_circuit_error(paused: OpenCircuit) -> Error {
    let OpenCircuit { failures, until, why } = paused;
    Error::Remote {
        message: format!("{why}; failed {failures} times, next attempt at {until:.0}"),
        hint: "`everlore doctor` tests it now".to_owned(),
    }
}
