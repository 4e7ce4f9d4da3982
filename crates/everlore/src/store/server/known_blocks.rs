//! Blocks that scopes had when they were last read, so that a query asks for postings in the round trip that reads the
//! headers. They may be out of date: a query uses what it reads itself, and asks again for what it lacks.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::scope_row::ScopeKey;
use crate::{store::index::assemble::BlockHeader, sync::lock};

/// Most scopes that are remembered: a megabyte or two. The next query of one that was forgotten takes one more round trip.
const MAX_SCOPES: usize = 4_096;

/// Headers of blocks by scope.
#[derive(Default)]
pub(super) struct KnownBlocks {
    scopes: Mutex<BTreeMap<ScopeKey, Arc<[BlockHeader]>>>,
}

impl KnownBlocks {
    /// Returns the blocks that a scope had; none if it was not read yet.
    pub(super) fn of_scope(&self, key: ScopeKey) -> Arc<[BlockHeader]> {
        lock(&self.scopes).get(&key).map(Arc::clone).unwrap_or_default()
    }

    /// Remembers the blocks of a scope.
    pub(super) fn put(&self, key: ScopeKey, blocks: Arc<[BlockHeader]>) {
        let mut scopes = lock(&self.scopes);
        if scopes.len() >= MAX_SCOPES && !scopes.contains_key(&key) {
            scopes.clear();
        }
        scopes.insert(key, blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Scope;

    #[test]
    fn blocks_are_those_read_last_and_scopes_are_bounded() {
        let known = KnownBlocks::default();
        let key = |number: usize| ScopeKey::of(&Scope::new("agent", &number.to_string()).unwrap());
        let header = |id| BlockHeader { id, part_bits: 3, model: 0, missing: 0, docs: 9 };
        let ids = |number| known.of_scope(key(number)).iter().map(|it| it.id).collect::<Vec<_>>();
        assert!(ids(0).is_empty());
        known.put(key(0), [header(1), header(2)].into());
        known.put(key(0), [header(3)].into());
        assert_eq!(ids(0), [3]);
        for number in 1..=MAX_SCOPES {
            known.put(key(number), [header(1)].into());
        }
        assert!(ids(0).is_empty(), "the oldest are forgotten");
        assert_eq!(ids(MAX_SCOPES), [1]);
    }
}
