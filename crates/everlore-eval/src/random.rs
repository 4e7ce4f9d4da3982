//! Pseudo-random numbers with the same sequence on every machine and in every version, so that two runs measure the
//! same corpus.

/// SplitMix64 generator.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator that depends on `keys` alone: equal keys give equal sequences, whatever else was drawn
    /// before.
    pub(crate) fn from_keys(keys: &[u64]) -> Self {
        let mut random = Self(0);
        for key in keys {
            random.0 = random.next() ^ key;
        }
        random
    }

    /// Returns the next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound` - 1.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns `true` in `percent` of a hundred draws.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of `items`, each with the same probability.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_give_equal_sequences_and_other_keys_others() {
        let draw = |keys: &[u64]| SplitMix64::from_keys(keys).next();
        assert_eq!(draw(&[7, 1]), draw(&[7, 1]));
        assert_ne!(draw(&[7, 1]), draw(&[1, 7]));
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut random = SplitMix64::from_keys(&[1]);
        let draws: Vec<_> = (0..500).map(|_| random.between(3, 6)).collect();
        assert_eq!(draws.iter().min(), Some(&3));
        assert_eq!(draws.iter().max(), Some(&6));
    }
}
