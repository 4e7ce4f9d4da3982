//! A small memory of the latest values by name.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

/// Far more than the conversations that are held at once.
const MOST: usize = 10_000;

/// The latest values that were put in.
pub(crate) struct Recent<T> {
    held: Mutex<(HashMap<String, T>, VecDeque<String>)>,
    most: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self::with_room_for(MOST)
    }
}

impl<T> Recent<T> {
    /// Keeps so many.
    pub(crate) fn with_room_for(most: usize) -> Self {
        Self { held: Mutex::default(), most }
    }
}

impl<T: Clone> Recent<T> {
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Keeps a value; the oldest makes room for it.
    pub(crate) fn put(&self, key: String, value: T) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (values, order) = &mut *held;
        if values.insert(key.clone(), value).is_none() {
            order.push_back(key);
        }
        while order.len() > self.most {
            order.pop_front().map(|oldest| values.remove(&oldest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept() {
        let recent = Recent::default();
        for number in 0..=MOST {
            recent.put(number.to_string(), number);
        }
        assert_eq!(
            (recent.get("0"), recent.get("1"), recent.get("10000")),
            (None, Some(1), Some(MOST))
        );
    }
}
