//! Block cache: blocks kept in RAM between queries. A block's records and vectors never change once it is written, and
//! its id is never reused, so nothing here can be out of date; deleted documents are read anew each time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::sync::lock;

use super::segment::PackedDocs;

/// Default size limit in bytes: the whole of a scope of three hundred thousand memories, or the active ones of a busy
/// server.
pub(crate) const DEFAULT_MAX_BYTES: usize = 96 * 1024 * 1024;

/// Cached blocks of one database, seen from one scope if block ids are unique only within theirs.
#[derive(Clone)]
pub(crate) struct BlockCache {
    lru: Arc<Mutex<BlockLru>>,
    /// Size limit in bytes.
    max_bytes: usize,
    /// Key of the scope; 0 where ids are unique in the database.
    scope: u128,
}

#[derive(Default)]
struct BlockLru {
    blocks: HashMap<(u128, i64), LruEntry>,
    bytes: usize,
    /// Number of queries so far, which orders blocks by last use.
    clock: u64,
}

struct LruEntry {
    block: CachedBlock,
    last_used: u64,
}

/// Cached part of a block.
#[derive(Clone)]
pub(crate) struct CachedBlock {
    pub(crate) docs: Arc<PackedDocs>,
    pub(crate) vectors: CachedVectors,
}

/// Cached vectors of a block.
#[derive(Clone)]
pub(crate) enum CachedVectors {
    /// No query needed them, or there are none.
    NotRequested,
    /// One query did, and the store scored them in place.
    RequestedOnce,
    Loaded(Arc<Vec<u8>>),
}

impl Default for BlockCache {
    fn default() -> Self {
        Self::with_limit(DEFAULT_MAX_BYTES)
    }
}

impl BlockCache {
    /// Creates an empty cache for this many bytes.
    pub(crate) fn with_limit(max_bytes: usize) -> Self {
        Self { lru: Arc::default(), max_bytes, scope: 0 }
    }

    /// Returns the most bytes of a scope's vectors that stay in the cache: most of it, the rest is for records.
    pub(crate) fn max_vector_bytes(&self) -> usize {
        self.max_bytes / 4 * 3
    }

    /// Returns the same cache, seen from a scope: it finds no block of another one.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn of_scope(&self, scope: u128) -> Self {
        Self { scope, ..self.clone() }
    }

    /// Returns a cached block.
    pub(crate) fn get(&self, block: i64) -> Option<CachedBlock> {
        let mut lru = self.lock();
        lru.clock += 1;
        let now = lru.clock;
        let used = lru.blocks.get_mut(&(self.scope, block))?;
        used.last_used = now;
        Some(used.block.clone())
    }

    /// Caches a block, and evicts those that were not used for longest.
    pub(crate) fn put(&self, block: i64, cached: CachedBlock) {
        let mut lru = self.lock();
        lru.clock += 1;
        let at = lru.clock;
        lru.bytes += cached.bytes();
        let entry = LruEntry { block: cached, last_used: at };
        if let Some(before) = lru.blocks.insert((self.scope, block), entry) {
            lru.bytes -= before.block.bytes();
        }
        while lru.bytes > self.max_bytes {
            let Some(oldest) =
                lru.blocks.iter().min_by_key(|(_, used)| used.last_used).map(|(block, _)| *block)
            else {
                return;
            };
            if let Some(used) = lru.blocks.remove(&oldest) {
                lru.bytes -= used.block.bytes();
            }
        }
    }

    /// Removes everything, after an erasure.
    pub(crate) fn clear(&self) {
        *self.lock() = BlockLru::default();
    }

    fn lock(&self) -> MutexGuard<'_, BlockLru> {
        lock(&self.lru)
    }
}

impl CachedBlock {
    /// Returns `true` if the vectors are cached.
    pub(crate) fn has_vectors(&self) -> bool {
        matches!(self.vectors, CachedVectors::Loaded(_))
    }

    fn bytes(&self) -> usize {
        // Values that recall derives from the records take about half as much again.
        self.docs.bytes() * 3 / 2 + self.vectors.bytes()
    }
}

impl CachedVectors {
    fn bytes(&self) -> usize {
        if let Self::Loaded(slots) = self { slots.len() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(megabytes: usize) -> CachedBlock {
        CachedBlock {
            docs: Arc::new(PackedDocs::new(vec![0; megabytes * 1024 * 1024])),
            vectors: CachedVectors::NotRequested,
        }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let cache = BlockCache::default();
        for number in 0..3 {
            cache.put(number, block(20));
        }
        assert!(cache.get(0).is_some());
        cache.put(3, block(20));
        let cached: Vec<_> = (0..4).map(|number| cache.get(number).is_some()).collect();
        assert_eq!(cached, [true, false, true, true]);
        cache.clear();
        assert!(cache.get(0).is_none());
    }

    #[test]
    fn a_limit_of_its_own_holds() {
        let cache = BlockCache::with_limit(40 * 1024 * 1024);
        cache.put(1, block(20));
        cache.put(2, block(20));
        assert!(cache.get(1).is_none() && cache.get(2).is_some());
        assert_eq!(cache.max_vector_bytes(), 30 * 1024 * 1024);
    }

    #[cfg(any(feature = "postgres", feature = "mysql"))]
    #[test]
    fn a_scope_finds_no_block_of_another() {
        let cache = BlockCache::default();
        cache.of_scope(1).put(7, block(1));
        assert!(cache.of_scope(1).get(7).is_some());
        assert!(cache.of_scope(2).get(7).is_none() && cache.get(7).is_none());
    }
}
