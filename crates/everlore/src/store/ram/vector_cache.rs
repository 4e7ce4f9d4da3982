//! The vector cache in RAM.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::RamStore;
use crate::{
    error::Result,
    store::{VectorCache, VectorCacheStatus, VectorInsert, VectorLookup},
    sync::lock,
    types::{Fingerprint, Scope, Timestamp, Vector},
};

/// Key of a cached vector: scope, model, `true` for queries, text.
type CacheKey = (Scope, String, bool, Fingerprint);

/// Cached vectors with their last use.
#[derive(Debug, Default)]
pub(super) struct CachedVectorMap {
    vectors: BTreeMap<CacheKey, (Vector, Timestamp)>,
    hits: u64,
    misses: u64,
}

impl CachedVectorMap {
    /// Removes the vectors of erased texts, and every query of the scope, which may have quoted one; returns how many
    /// vectors there were.
    pub(super) fn forget(&mut self, scope: &Scope, texts: &BTreeSet<Fingerprint>) -> usize {
        let before = self.vectors.len();
        self.vectors.retain(|(owner, _, question, text), _| {
            owner != scope || !(*question || texts.contains(text))
        });
        before - self.vectors.len()
    }

    /// Removes the vectors of an agent.
    pub(super) fn remove_agent(&mut self, agent: &str) {
        self.vectors.retain(|(owner, ..), _| owner.agent() != agent);
    }
}

#[async_trait]
impl VectorCache for RamStore {
    async fn lookup(&self, scope: &Scope, request: &VectorLookup) -> Result<Vec<Option<Vector>>> {
        let mut cache = lock(&self.cached_vectors);
        let mut found = Vec::with_capacity(request.texts.len());
        for text in &request.texts {
            let key = (scope.clone(), request.model.name.clone(), request.is_query, *text);
            let hit = cache.vectors.get_mut(&key).map(|(vector, used)| {
                *used = request.now;
                vector.clone()
            });
            *if hit.is_some() { &mut cache.hits } else { &mut cache.misses } += 1;
            found.push(hit);
        }
        Ok(found)
    }

    async fn insert(&self, scope: &Scope, insert: VectorInsert) -> Result<()> {
        let erased = |text: &Fingerprint| self.read(scope, |data| data.tombstones.contains(text));
        let fresh: Vec<_> = insert.vectors.into_iter().filter(|(text, _)| !erased(text)).collect();
        let mut cache = lock(&self.cached_vectors);
        for (text, vector) in fresh {
            let key = (scope.clone(), insert.model.name.clone(), insert.is_query, text);
            cache.vectors.entry(key).or_insert((vector, insert.now));
        }
        while cache.vectors.len() > insert.max_entries {
            let oldest = cache.vectors.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            cache.vectors.remove(&oldest);
        }
        Ok(())
    }

    async fn status(&self) -> Result<VectorCacheStatus> {
        let cache = lock(&self.cached_vectors);
        let entries = cache.vectors.len() as u64;
        Ok(VectorCacheStatus { entries, hits: cache.hits, misses: cache.misses })
    }
}
