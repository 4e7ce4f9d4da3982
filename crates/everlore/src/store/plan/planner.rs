//! The planner: applies the changes of a batch one after the other to the loaded rows and collects the effects.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Deletion, Effects, Erasure, JournalImage, JournalLine, Loaded, SessionCounter};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, capture_queue::starts_exchange, check_next_version, index::IndexEntry,
        index_differs, row::MemoryRow, uri_conflict,
    },
    types::{
        AppliedChange, Change, ErasureReceipt, Fingerprint, Kind, Memory, MemoryId, Origin,
        WriteBatch,
    },
};

/// State of the scope while the changes of a batch are planned one after the other.
pub(super) struct Planner<'a> {
    write: &'a WriteBatch,
    loaded: Loaded,
    /// Rows as they are after the changes so far, for the memories that the batch touches.
    rows: HashMap<MemoryId, MemoryRow>,
    deletions: HashMap<MemoryId, Deletion>,
    /// Uris of `rows` that are no turns: those of turns end with their ids.
    uris: HashSet<String>,
    touched_sessions: BTreeSet<String>,
    /// Index entries of this batch; an address has at most one.
    indexed: BTreeMap<DocAddress, IndexEntry>,
    effects: Effects,
}

impl<'a> Planner<'a> {
    pub(super) fn new(write: &'a WriteBatch, loaded: Loaded) -> Self {
        let stored = loaded.rows.values().map(|row| &row.memory);
        let uris = stored.filter(|memory| has_unique_uri(memory)).map(|memory| memory.uri.clone());
        Self {
            write,
            uris: uris.collect(),
            rows: loaded.rows.clone(),
            deletions: loaded.deletions.clone(),
            touched_sessions: BTreeSet::new(),
            indexed: BTreeMap::new(),
            effects: Effects {
                counters: loaded.counters,
                erased_texts: write.erased_texts.clone(),
                checkpoint: write.checkpoint.clone(),
                ..Effects::default()
            },
            loaded,
        }
    }

    pub(super) fn change(
        &mut self,
        index: usize,
        change: &Change,
        entry: Option<IndexEntry>,
    ) -> Result<()> {
        self.effects.counters.changes += 1;
        let seq = self.effects.counters.changes;
        let mut erasure = None;
        let (prev, before) = match (change, entry) {
            (Change::Add(memory), Some(entry)) => (self.add(memory, entry)?, None),
            (Change::Update(memory), Some(entry)) => self.update(memory, entry)?,
            (Change::Delete(id), _) => self.delete(*id)?,
            (Change::Erase(id), _) => {
                let (prev, receipt) = self.erase(index, *id)?;
                erasure = Some(receipt);
                (Some(prev), None)
            }
            (Change::Add(_) | Change::Update(_), None) => {
                return Err(Error::damaged("a change was not analysed"));
            }
        };
        let (id, op) = (change.id(), change.op());
        self.effects.journal.push(JournalLine { seq, id, op, prev, before });
        self.effects.applied.push(AppliedChange { seq: seq as u64, id, erasure });
        Ok(())
    }

    /// Returns the newest journal line of the memory, if it was there before.
    fn add(&mut self, memory: &Memory, entry: IndexEntry) -> Result<Option<i64>> {
        let is_taken = has_unique_uri(memory) && !self.uris.insert(memory.uri.clone());
        if is_taken || self.rows.contains_key(&memory.id) {
            return Err(uri_conflict(memory));
        }
        let deletion = self.deletions.remove(&memory.id);
        let address = match deletion {
            Some(deletion) => deletion.address,
            None => self.next_address(memory),
        };
        if memory.kind == Kind::Turn {
            self.count_turn(memory, address, 1);
        } else if memory.source.via == Origin::Extract {
            self.effects.accepted_drafts.push(memory.id);
        }
        self.put(memory, address, entry);
        Ok(deletion.map(|deletion| deletion.seq))
    }

    fn update(
        &mut self,
        memory: &Memory,
        entry: IndexEntry,
    ) -> Result<(Option<i64>, Option<Memory>)> {
        let MemoryRow { memory: before, address, seq } = self.row(memory.id)?.clone();
        check_next_version(&before, memory)?;
        if before.content != memory.content {
            self.effects.stale_token_vectors.push(address);
        }
        if index_differs(&before, memory) {
            self.unindex(address);
            self.put(memory, address, entry);
        } else {
            self.put_row(memory, address);
        }
        Ok((Some(seq), Some(before)))
    }

    fn delete(&mut self, id: MemoryId) -> Result<(Option<i64>, Option<Memory>)> {
        let MemoryRow { memory: before, address, seq } = self.row(id)?.clone();
        self.remove(&before, address);
        self.unindex(address);
        self.effects.stale_token_vectors.push(address);
        Ok((Some(seq), Some(before)))
    }

    /// Erases a memory, stored or deleted before; returns its newest journal line and what the plan itself removed.
    fn erase(&mut self, index: usize, id: MemoryId) -> Result<(i64, ErasureReceipt)> {
        let stored = self.rows.get(&id).cloned();
        let Deletion { address, seq } = match (&stored, self.deletions.get(&id)) {
            (Some(row), _) => Deletion { address: row.address, seq: row.seq },
            (None, Some(deletion)) => *deletion,
            (None, None) => return Err(Error::not_found("memory", id)),
        };
        let mut receipt = ErasureReceipt::default();
        let mut texts = BTreeSet::new();
        if let Some(MemoryRow { memory, .. }) = &stored {
            texts.insert(memory.fingerprint());
            receipt.rows = 1;
            receipt.index_terms = IndexEntry::from_memory(memory, address).terms.len();
            self.remove(memory, address);
        } else {
            self.leave_deletion(id, address);
        }
        let fresh = self.indexed.remove(&address);
        receipt.vectors = usize::from(fresh.is_some_and(|entry| entry.vector.is_some()));
        let (cleared_lines, own_images) = self.clear_images(id, &mut texts);
        receipt.journal_images = cleared_lines.len() + own_images;
        receipt.tombstones = texts.len();
        self.effects.erasures.push(Erasure { change: index, id, address, cleared_lines, texts });
        Ok((seq, receipt))
    }

    pub(super) fn finish(self) -> Effects {
        let Self { loaded, rows, deletions, touched_sessions, indexed, mut effects, .. } = self;
        effects.indexed = indexed.into_values().collect();
        for (id, row) in rows {
            match loaded.rows.get(&id) {
                None => effects.inserted.push(row),
                Some(before) if before.seq != row.seq => effects.updated.push(row),
                Some(_) => {}
            }
        }
        // Rows are written in the order of their addresses, which is the order of the table.
        effects.inserted.sort_by_key(|row| row.address);
        effects.updated.sort_by_key(|row| row.address);
        let is_new =
            |(id, deletion): &(MemoryId, Deletion)| loaded.deletions.get(id) != Some(deletion);
        effects.deleted = deletions.clone().into_iter().filter(is_new).collect();
        let is_back = |id: &&MemoryId| !deletions.contains_key(id);
        effects.restored = loaded.deletions.keys().filter(is_back).copied().collect();
        let changed =
            |name: String| loaded.sessions.get(&name).copied().map(|counter| (name, counter));
        effects.sessions = touched_sessions.into_iter().filter_map(changed).collect();
        effects
    }
}

impl Planner<'_> {
    fn row(&self, id: MemoryId) -> Result<&MemoryRow> {
        self.rows.get(&id).ok_or_else(|| Error::not_found("memory", id))
    }

    /// Stores a memory and its index entry.
    fn put(&mut self, memory: &Memory, address: DocAddress, mut entry: IndexEntry) {
        self.put_row(memory, address);
        entry.record.address = address;
        self.indexed.insert(address, entry);
    }

    fn put_row(&mut self, memory: &Memory, address: DocAddress) {
        let row = MemoryRow { memory: memory.clone(), address, seq: self.effects.counters.changes };
        self.rows.insert(memory.id, row);
    }

    /// Removes the row of a memory and leaves a deletion.
    fn remove(&mut self, memory: &Memory, address: DocAddress) {
        self.rows.remove(&memory.id);
        self.uris.remove(&memory.uri);
        if self.loaded.rows.contains_key(&memory.id) {
            self.effects.removed.push(address);
        }
        if memory.kind == Kind::Turn {
            self.count_turn(memory, address, -1);
        }
        self.leave_deletion(memory.id, address);
    }

    fn leave_deletion(&mut self, id: MemoryId, address: DocAddress) {
        self.deletions.insert(id, Deletion { address, seq: self.effects.counters.changes });
    }

    /// Counts a turn as waiting for capture, or no longer so, unless capture has read that far.
    fn count_turn(&mut self, turn: &Memory, address: DocAddress, by: i64) {
        let checkpoint = self.loaded.capture_checkpoints.get(&address.session()).copied();
        if checkpoint.unwrap_or(0) > address.position() {
            return;
        }
        let delta = self.effects.captures.entry(address.session()).or_default();
        delta.turns += by;
        delta.exchanges += if starts_exchange(turn) { by } else { 0 };
        if by > 0 {
            delta.last_at = Some(self.write.at);
        }
    }

    fn unindex(&mut self, address: DocAddress) {
        if self.indexed.remove(&address).is_none() {
            self.effects.unindexed.push(address);
        }
    }

    /// Clears the before-images of a memory and collects what they said; returns the stored lines that had one, and how
    /// many lines of this batch did.
    fn clear_images(
        &mut self,
        id: MemoryId,
        texts: &mut BTreeSet<Fingerprint>,
    ) -> (Vec<i64>, usize) {
        let mut stored = Vec::new();
        for JournalImage { seq, before } in self.loaded.journal.remove(&id).unwrap_or_default() {
            if let Some(before) = before {
                texts.insert(before.fingerprint());
                stored.push(seq);
            }
        }
        let own = self.effects.journal.iter_mut().filter(|line| line.id == id);
        let own = own.filter_map(|line| line.before.take());
        let own = own.map(|before| texts.insert(before.fingerprint())).count();
        (stored, own)
    }

    fn next_address(&mut self, memory: &Memory) -> DocAddress {
        let counters = &mut self.effects.counters;
        let Some(name) = &memory.source.session else {
            counters.positions += 1;
            return DocAddress::new(0, counters.positions - 1);
        };
        let counter = self.loaded.sessions.entry(name.clone()).or_insert_with(|| {
            counters.sessions += 1;
            SessionCounter { number: counters.sessions, positions: 0 }
        });
        counter.positions += 1;
        let address = DocAddress::new(counter.number, counter.positions - 1);
        self.touched_sessions.insert(name.clone());
        address
    }
}

/// Returns `true` unless the memory is a turn: ids identify turns, uris everything else.
fn has_unique_uri(memory: &Memory) -> bool {
    memory.kind != Kind::Turn
}
