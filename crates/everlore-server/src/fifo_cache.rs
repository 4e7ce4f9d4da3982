//! A small memory of the latest values by name.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

/// Far more than the conversations that are held at once.
const DEFAULT_CAPACITY: usize = 10_000;

/// The latest values that were put in.
pub(crate) struct FifoCache<T> {
    entries: Mutex<(HashMap<String, T>, VecDeque<String>)>,
    capacity: usize,
}

impl<T> Default for FifoCache<T> {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

impl<T> FifoCache<T> {
    /// Keeps so many.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { entries: Mutex::default(), capacity }
    }
}

impl<T: Clone> FifoCache<T> {
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Keeps a value; the oldest makes room for it.
    pub(crate) fn put(&self, key: String, value: T) {
        let mut held = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (values, order) = &mut *held;
        if values.insert(key.clone(), value).is_none() {
            order.push_back(key);
        }
        while order.len() > self.capacity {
            order.pop_front().map(|oldest| values.remove(&oldest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept() {
        let recent = FifoCache::default();
        for number in 0..=DEFAULT_CAPACITY {
            recent.put(number.to_string(), number);
        }
        assert_eq!(
            (recent.get("0"), recent.get("1"), recent.get("10000")),
            (None, Some(1), Some(DEFAULT_CAPACITY))
        );
    }
}
