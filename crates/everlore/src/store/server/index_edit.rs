//! Changes of a scope's index by one write, as a pure function: from what the write found to what it stores.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    block_tables::{self, LAYOUT, ScopeBlock},
    scope_row::ScopeKey,
    sql::Statement,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        index::{Docs, IndexBlock, IndexEntry, merge_policy::SEAL_AT},
        plan::Effects,
    },
};

/// Index of a scope as far as a write needs it.
#[derive(Default)]
pub(super) struct IndexState {
    /// Addresses of the tail; `true` for those with a vector.
    pub(super) tail: BTreeMap<DocAddress, bool>,
    pub(super) blocks: Vec<ScopeBlock>,
    /// Number of the model in use; 0 if there is none.
    pub(super) model: u32,
}

/// Parts of an index that a write loads before its changes can be computed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexNeeds {
    /// Blocks whose records are searched for documents.
    pub(super) docs: Vec<i64>,
    /// Blocks that are replaced by others.
    pub(super) whole: Vec<i64>,
    /// Set when the tail is sealed.
    pub(super) seals: bool,
}

/// Parts that were loaded for [`IndexNeeds`].
#[derive(Default)]
pub(super) struct IndexLoaded {
    pub(super) docs: HashMap<i64, Docs>,
    pub(super) whole: HashMap<i64, IndexBlock>,
    pub(super) tail: Vec<IndexEntry>,
}

/// Changes of the index.
#[derive(Default)]
pub(super) struct IndexEdit {
    tail_removed: Vec<DocAddress>,
    tail_added: Vec<IndexEntry>,
    marked: Vec<(i64, u32)>,
    dropped: Vec<i64>,
    stored: Vec<IndexBlock>,
    /// Vectors that each erasure removed, in the order of the erasures.
    pub(super) erased_vectors: Vec<usize>,
}

impl IndexNeeds {
    /// Names what the effects of a write need.
    pub(super) fn of(state: &IndexState, effects: &Effects) -> Self {
        let holding = |addresses: Vec<DocAddress>| -> Vec<i64> {
            let holds = |block: &&ScopeBlock| addresses.iter().any(|it| block.may_hold(*it));
            state.blocks.iter().filter(holds).map(ScopeBlock::id).collect()
        };
        let unindexed = effects.unindexed.iter().copied();
        let sealed = unindexed.filter(|address| !state.tail.contains_key(address)).collect();
        let erased: Vec<_> = effects.erasures.iter().map(|erasure| erasure.address).collect();
        let leaving: BTreeSet<_> = effects.unindexed.iter().chain(&erased).collect();
        let staying = state.tail.keys().filter(|address| !leaving.contains(address)).count();
        let added = effects.indexed.len();
        let whole = holding(erased);
        let mut docs = holding(sealed);
        docs.retain(|block| !whole.contains(block));
        Self { docs, whole, seals: added > 0 && staying + added >= SEAL_AT }
    }
}

impl IndexEdit {
    /// Computes the changes. Takes the new entries out of the effects.
    pub(super) fn new(
        state: &IndexState,
        effects: &mut Effects,
        seals: bool,
        mut loaded: IndexLoaded,
    ) -> Result<Self> {
        let mut edit = Self::default();
        for address in &effects.unindexed {
            edit.remove(state, *address, &loaded)?;
        }
        for erasure in &effects.erasures {
            let vectors = edit.erase(state, erasure.address, &loaded);
            edit.erased_vectors.push(vectors);
        }
        edit.rewrite(state, effects, &mut loaded);
        let added = std::mem::take(&mut effects.indexed);
        if seals {
            edit.seal(state, added, loaded.tail);
        } else {
            edit.tail_added = added;
        }
        Ok(edit)
    }

    /// Removes the live entry at an address. Its postings in a block stay until the block is merged.
    fn remove(
        &mut self,
        state: &IndexState,
        address: DocAddress,
        loaded: &IndexLoaded,
    ) -> Result<()> {
        if state.tail.contains_key(&address) {
            self.tail_removed.push(address);
            return Ok(());
        }
        let found = state.blocks.iter().find_map(|block| {
            let doc = loaded.doc(block.id(), address)?;
            block.snapshot.deleted.binary_search(&doc).is_err().then_some((block.id(), doc))
        });
        let found = found.ok_or_else(|| {
            Error::damaged(format!("the index has no entry at address {}", address.to_bits()))
        })?;
        self.marked.push(found);
        Ok(())
    }

    /// Counts the vectors of all entries that ever stood at an address; those in blocks go with [`IndexEdit::rewrite`].
    fn erase(&mut self, state: &IndexState, address: DocAddress, loaded: &IndexLoaded) -> usize {
        let in_tail = state.tail.get(&address).copied();
        if in_tail.is_some() {
            self.tail_removed.push(address);
        }
        let has_vector = |block: &&IndexBlock| {
            let doc = block.docs.index_of(address);
            doc.is_some_and(|doc| block.vector(doc).is_some())
        };
        usize::from(in_tail == Some(true)) + loaded.whole.values().filter(has_vector).count()
    }

    /// Replaces the blocks that held erased documents by blocks without them.
    fn rewrite(&mut self, state: &IndexState, effects: &Effects, loaded: &mut IndexLoaded) {
        for (id, block) in std::mem::take(&mut loaded.whole) {
            let erased = effects.erasures.iter();
            let erased = erased.filter_map(|erasure| block.docs.index_of(erasure.address));
            let erased: BTreeSet<u32> = erased.map(|doc| doc as u32).collect();
            if erased.is_empty() {
                continue;
            }
            let marked = self.marked.iter().filter(|(marked, _)| *marked == id);
            let gone: BTreeSet<u32> = marked.map(|(_, doc)| *doc).chain(erased).collect();
            let docs = block.docs.with_deleted(gone);
            let kept = IndexBlock { docs, ..block };
            self.dropped.push(id);
            self.stored.push(IndexBlock::merge(&[kept], state.model, &LAYOUT));
        }
        let dropped = &self.dropped;
        self.marked.retain(|(block, _)| !dropped.contains(block));
    }

    fn seal(&mut self, state: &IndexState, added: Vec<IndexEntry>, tail: Vec<IndexEntry>) {
        let removed = std::mem::take(&mut self.tail_removed);
        self.tail_removed = state.tail.keys().copied().collect();
        let staying = tail.into_iter().filter(|entry| !removed.contains(&entry.record.address));
        let entries: Vec<_> = staying.chain(added).collect();
        self.stored.push(IndexBlock::seal(&entries, state.model, &LAYOUT));
    }

    /// Returns `true` if blocks or their deleted documents change, so that a merge may be due.
    pub(super) fn changes_blocks(&self) -> bool {
        !self.stored.is_empty() || !self.marked.is_empty()
    }

    /// Creates the statements of the changes; `blocks` is the last block id of the scope, and moves on.
    pub(super) fn into_statements(self, key: ScopeKey, blocks: &mut i64) -> Vec<Statement> {
        let mut statements = Vec::new();
        if !self.tail_removed.is_empty() {
            statements.push(block_tables::delete_tail(key, self.tail_removed));
        }
        statements.push(block_tables::mark_deleted(key, &self.marked));
        statements.extend(block_tables::drop_blocks(key, &self.dropped));
        for block in &self.stored {
            *blocks += 1;
            statements.extend(block_tables::store(key, *blocks, block));
        }
        statements.push(block_tables::append_tail(key, &self.tail_added));
        statements
    }
}

impl IndexLoaded {
    fn doc(&self, block: i64, address: DocAddress) -> Option<u32> {
        let docs = self.docs.get(&block).or_else(|| Some(&self.whole.get(&block)?.docs))?;
        docs.index_of(address).map(|doc| doc as u32)
    }
}
