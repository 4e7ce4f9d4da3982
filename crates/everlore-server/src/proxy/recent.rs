//! A small memory of the latest values by name.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

/// Far more than the conversations that are held at once.
const MOST: usize = 10_000;

/// The latest values that were put in.
pub(super) struct Recent<T>(Mutex<(HashMap<String, T>, VecDeque<String>)>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Recent<T> {
    pub(super) fn get(&self, key: &str) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Keeps a value; the oldest makes room for it.
    pub(super) fn put(&self, key: String, value: T) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (values, order) = &mut *held;
        if values.insert(key.clone(), value).is_none() {
            order.push_back(key);
        }
        while order.len() > MOST {
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
