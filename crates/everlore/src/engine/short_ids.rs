//! Short ids: the shortest prefix of an id's random part that names one memory, as people type and read it.
//!
//! An id begins with its time, so that the first digits of all ids of a minute are the same; its last group is random, and
//! eight digits of it stay unique while a home grows.

use super::Engine;
use crate::{
    error::Result,
    store::MemoryKey,
    types::{MemoryId, Scope},
};

/// Digits of a short id: with a hundred thousand more memories, one of forty thousand becomes ambiguous.
const SHORT_DIGITS: usize = 8;

impl Engine {
    /// Returns the shortest prefix of each id's last group that no other memory of the scope shares, at least eight digits
    /// long; the whole id, if there is none. [`Engine::resolve`] turns it into the id again.
    pub async fn shorten_ids(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let short: Vec<String> =
            ids.iter().map(|id| id.random_digits()[..SHORT_DIGITS].to_owned()).collect();
        // A short id must not look like the beginning of another id either.
        let beginnings = short.iter().cloned().map(MemoryKey::IdPrefix);
        let keys: Vec<_> =
            std::iter::once(MemoryKey::RandomPrefix(short.clone())).chain(beginnings).collect();
        let limit = ids.len() * 2 + MAX_RIVALS;
        let found = self.store.memories().find(scope, &keys, limit).await?;
        let rivals: Vec<MemoryId> = found.iter().flatten().map(|memory| memory.id).collect();
        Ok(ids.iter().map(|id| short_id(*id, &rivals)).collect())
    }
}

/// Memories beyond the named ones that may share their digits.
const MAX_RIVALS: usize = 100;

/// Returns the fewest digits that tell an id from its rivals.
fn short_id(id: MemoryId, rivals: &[MemoryId]) -> String {
    let digits = id.random_digits();
    let shared = |rival: &MemoryId| {
        let whole = rival.to_string().replace('-', "");
        common_prefix(&digits, &whole).max(common_prefix(&digits, &rival.random_digits()))
    };
    let rivals = rivals.iter().filter(|rival| **rival != id);
    let needed = rivals.map(|rival| shared(rival) + 1).max().unwrap_or(0).max(SHORT_DIGITS);
    digits.get(..needed).map_or_else(|| id.to_string(), str::to_owned)
}

fn common_prefix(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> MemoryId {
        text.parse().unwrap()
    }

    #[test]
    fn a_short_id_is_the_beginning_of_the_random_part() {
        let tea = id("0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04");
        assert_eq!(short_id(tea, &[tea]), "5f2d1e8a");
        let rival = id("0199c3f2-7d4e-7a31-b0c6-5f2d1e8a9c04");
        assert_eq!(short_id(tea, &[tea, rival]), "5f2d1e8a9b");
        let twin = id("0199c3f2-7d4e-7a31-b0c6-5f2d1e8a9b04");
        assert_eq!(short_id(tea, &[tea, twin]), tea.to_string());
        let early = id("5f2d1e8a-9d4e-7a31-b0c6-000000000000");
        assert_eq!(short_id(tea, &[early, tea]), "5f2d1e8a9b");
    }

    #[test]
    fn ids_of_one_moment_differ_in_their_short_form() {
        let now = "2026-03-02T12:00:00Z".parse().unwrap();
        let ids: Vec<MemoryId> = (0..1_000).map(|_| MemoryId::new(now)).collect();
        let mut short: Vec<String> = ids.iter().map(|id| short_id(*id, &ids)).collect();
        assert!(short.iter().all(|short| short.len() == SHORT_DIGITS), "{short:?}");
        short.sort_unstable();
        short.dedup();
        assert_eq!(short.len(), ids.len());
    }
}
