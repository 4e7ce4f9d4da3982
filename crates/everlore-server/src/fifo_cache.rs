//! Bounded cache that evicts in insertion order.

use std::{
    collections::{HashMap, VecDeque},
    sync::Mutex,
};

use crate::lock;

/// Far more entries than there are concurrent sessions.
const DEFAULT_CAPACITY: usize = 10_000;

/// Cache of a fixed capacity, first in, first out: a new key evicts the key inserted longest ago.
///
/// It is not an LRU: reading a value or replacing it does not keep its key longer. Its values can be computed again or
/// expire with their session, so the simpler order suffices.
pub(crate) struct FifoCache<T> {
    entries: Mutex<CacheEntries<T>>,
    capacity: usize,
}

struct CacheEntries<T> {
    values: HashMap<String, T>,
    /// Keys in the order of their insertion.
    insertion_order: VecDeque<String>,
}

impl<T> Default for FifoCache<T> {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

impl<T> FifoCache<T> {
    /// Creates an empty cache for this number of entries.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let entries = CacheEntries { values: HashMap::new(), insertion_order: VecDeque::new() };
        Self { entries: Mutex::new(entries), capacity }
    }
}

impl<T: Clone> FifoCache<T> {
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        lock(&self.entries).values.get(key).cloned()
    }

    /// Inserts or replaces a value, and evicts the oldest insertions beyond the capacity.
    pub(crate) fn put(&self, key: String, value: T) {
        let CacheEntries { values, insertion_order } = &mut *lock(&self.entries);
        if values.insert(key.clone(), value).is_none() {
            insertion_order.push_back(key);
        }
        while insertion_order.len() > self.capacity {
            insertion_order.pop_front().map(|oldest| values.remove(&oldest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_insertions_are_kept() {
        let cache = FifoCache::default();
        for number in 0..=DEFAULT_CAPACITY {
            cache.put(number.to_string(), number);
        }
        assert_eq!(
            (cache.get("0"), cache.get("1"), cache.get("10000")),
            (None, Some(1), Some(DEFAULT_CAPACITY))
        );
    }

    #[test]
    fn reading_and_replacing_do_not_keep_a_key() {
        let cache = FifoCache::with_capacity(2);
        for (key, value) in [("a", 1), ("b", 2), ("a", 3)] {
            cache.put(key.to_owned(), value);
        }
        assert_eq!(cache.get("a"), Some(3));
        cache.put("c".to_owned(), 4);
        assert_eq!((cache.get("a"), cache.get("b"), cache.get("c")), (None, Some(2), Some(4)));
    }
}
