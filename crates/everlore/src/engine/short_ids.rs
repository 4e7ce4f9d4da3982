//! Short ids: the shortest prefix of an id that names one memory, as people type and read it.

use super::Engine;
use crate::{
    error::Result,
    store::MemoryKey,
    types::{MemoryId, Scope},
};

/// Shortest prefix; a shorter one would look like a word.
const MIN_PREFIX_DIGITS: usize = 8;

impl Engine {
    /// Returns the shortest prefix of each id that no other memory of the scope shares, at least eight digits long.
    /// [`Engine::resolve`] turns such a prefix into the id again.
    pub async fn shorten_ids(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<String>> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let mut searches: Vec<_> = ids
            .iter()
            .map(|id| PrefixSearch::new(*id, distinct_prefix_digits(*id, &sorted)))
            .collect();
        loop {
            let mut open: Vec<_> = searches.iter_mut().filter(|search| search.is_open()).collect();
            if open.is_empty() {
                return Ok(searches.iter().map(PrefixSearch::prefix).collect());
            }
            let keys: Vec<_> = open.iter().map(|search| search.key()).collect();
            let found = self.store.memories().find(scope, &keys, 2).await?;
            for (search, memories) in open.iter_mut().zip(found) {
                search.narrow(memories.len() < 2);
            }
        }
    }
}

/// Binary search for the fewest digits that only one memory has. It tries the fewest first, which nearly always do.
struct PrefixSearch {
    id: MemoryId,
    digits: String,
    low: usize,
    high: usize,
    tried: usize,
}

impl PrefixSearch {
    fn new(id: MemoryId, at_least: usize) -> Self {
        let (digits, low) = (id.to_string().replace('-', ""), at_least.max(MIN_PREFIX_DIGITS));
        Self { id, high: digits.len(), digits, low, tried: low }
    }

    fn is_open(&self) -> bool {
        self.low < self.high
    }

    fn key(&self) -> MemoryKey {
        MemoryKey::IdPrefix(self.digits[..self.tried].to_owned())
    }

    fn narrow(&mut self, is_unique: bool) {
        if is_unique {
            self.high = self.tried;
        } else {
            self.low = self.tried + 1;
        }
        self.tried = self.low.midpoint(self.high);
    }

    fn prefix(&self) -> String {
        id_prefix(self.id, self.low)
    }
}

/// Returns the number of digits that tell an id from its neighbours among sorted ones.
fn distinct_prefix_digits(id: MemoryId, sorted: &[MemoryId]) -> usize {
    let index = sorted.partition_point(|other| *other < id);
    let neighbours = [index.checked_sub(1), index.checked_add(1)];
    let shared = |other: &MemoryId| {
        let digits = |id: &MemoryId| id.to_string().replace('-', "");
        digits(&id).chars().zip(digits(other).chars()).take_while(|(a, b)| a == b).count()
    };
    let neighbours = neighbours.into_iter().flatten().filter_map(|index| sorted.get(index));
    neighbours.map(|other| shared(other) + 1).max().unwrap_or(0)
}

/// Returns the first `count` digits of an id, with its hyphens.
fn id_prefix(id: MemoryId, count: usize) -> String {
    let text = id.to_string();
    let mut remaining = count;
    let is_taken = |c: &char| {
        let taken = *c == '-' || remaining > 0;
        remaining -= usize::from(*c != '-' && remaining > 0);
        taken
    };
    text.chars().take_while(is_taken).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_keeps_its_hyphens_but_does_not_end_with_one() {
        let id: MemoryId = "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04".parse().unwrap();
        assert_eq!(id_prefix(id, 8), "0199c3f2");
        assert_eq!(id_prefix(id, 9), "0199c3f2-7");
        assert_eq!(id_prefix(id, 32), "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04");
    }

    #[test]
    fn neighbours_say_how_many_digits_tell_an_id_apart() {
        let ids: Vec<MemoryId> = [
            "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04",
            "0199c3f2-7d4e-7a31-b0c6-5f2d1e8a9b04",
            "1199c3f2-7d4e-7a31-b0c6-5f2d1e8a9b04",
        ]
        .map(|id| id.parse().unwrap())
        .into();
        assert_eq!(distinct_prefix_digits(ids[0], &ids), 20);
        assert_eq!(distinct_prefix_digits(ids[2], &ids), 1);
    }
}
