//! The first items of an order among many, in one pass over them.

use std::cmp::Ordering;

/// Collects the first `limit` items by `order`, which never calls two items equal.
pub(super) struct BestItems<T, F> {
    limit: usize,
    order: F,
    /// Items that may be among the first.
    items: Vec<T>,
    /// Item after which none is among the first.
    bound: Option<T>,
}

impl<T: Copy, F: Fn(&T, &T) -> Ordering> BestItems<T, F> {
    pub(super) fn new(limit: usize, order: F) -> Self {
        Self { limit, order, items: Vec::new(), bound: None }
    }

    /// Takes an item.
    #[inline]
    pub(super) fn push(&mut self, item: T) {
        if self.bound.is_some_and(|bound| (self.order)(&item, &bound) == Ordering::Greater) {
            return;
        }
        self.items.push(item);
        // At twice the limit, so that cutting costs a constant time for each item.
        if self.items.len() >= self.limit.saturating_mul(2).max(2) {
            self.cut();
        }
    }

    /// Returns the first items in their order.
    pub(super) fn into_sorted(mut self) -> Vec<T> {
        self.items.sort_unstable_by(&self.order);
        self.items.truncate(self.limit);
        self.items
    }

    fn cut(&mut self) {
        if let Some(last) = self.limit.checked_sub(1) {
            self.items.select_nth_unstable_by(last, &self.order);
            self.bound = Some(self.items[last]);
        }
        self.items.truncate(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn the_first_items_are_those_of_a_whole_sort(numbers in vec(any::<u16>(), 0..300), limit in 0..40usize) {
            let mut all: Vec<(u16, usize)> = numbers.into_iter().zip(0..).collect();
            let mut best = BestItems::new(limit, <(u16, usize)>::cmp);
            all.iter().for_each(|item| best.push(*item));
            all.sort_unstable();
            all.truncate(limit);
            prop_assert_eq!(best.into_sorted(), all);
        }
    }
}
