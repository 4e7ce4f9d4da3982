//! Applying changes inside a transaction: rows, index and journal together.

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    capture_rows, erase, failed, index, quarantine, rows, rows::MemoryRow, token_vectors, usage,
    vectors,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, check_next_version, check_scope, index_differs, index_entry::IndexEntry,
        uri_conflict,
    },
    types::{
        AppliedChange, Change, ErasureReceipt, Kind, Memory, MemoryId, Origin, Scope, Timestamp,
        WriteBatch,
    },
};

/// A write whose texts are analysed, ready for the writer.
pub(super) struct PreparedWrite {
    write: WriteBatch,
    /// For each change the index entry of the memory it stores, still without its place.
    entries: Vec<Option<IndexEntry>>,
}

impl PreparedWrite {
    /// Checks a write and analyses its texts.
    pub(super) fn new(write: WriteBatch) -> Result<Self> {
        let mut entries = Vec::with_capacity(write.changes.len());
        for change in &write.changes {
            entries.push(match change {
                Change::Add(memory) | Change::Update(memory) => {
                    check_scope(&write, memory)?;
                    Some(IndexEntry::from_memory(memory, DocAddress::from_bits(0)))
                }
                Change::Delete(_) | Change::Erase(_) => None,
            });
        }
        Ok(Self { write, entries })
    }

    /// Applies all changes; the caller rolls back if one fails.
    pub(super) fn apply(self, db: &Connection) -> Result<Vec<AppliedChange>> {
        let mut applying = ScopeTransaction::start(db, self.write.scope.clone())?;
        let mut applied = Vec::with_capacity(self.entries.len());
        let model = vectors::model_number_for(db, self.write.vectors.as_ref())?;
        let made = |index: usize| self.write.vectors.as_ref()?.vectors.get(index)?.as_ref();
        for (index, (change, mut entry)) in self.write.changes.iter().zip(self.entries).enumerate()
        {
            if let Some(entry) = &mut entry {
                entry.vector =
                    model.zip(made(index)).map(|(model, vector)| (model, vector.to_bytes()));
            }
            applied.push(applying.change(&self.write, change, entry)?);
        }
        erase::add_tombstones(db, applying.scope, self.write.erased_texts)?;
        if let Some(extracted) = &self.write.checkpoint {
            capture_rows::commit_extraction(db, applying.scope, extracted, self.write.at)?;
        }
        applying.finish()?;
        Ok(applied)
    }
}

/// The scope being changed.
struct ScopeTransaction<'a> {
    db: &'a Connection,
    owner: Scope,
    scope: i64,
    /// Journal lines, sessions and places outside sessions given out so far.
    changes: i64,
    sessions: u32,
    positions: u32,
    /// Entries that the index gets at the end, all at once.
    new_entries: Vec<IndexEntry>,
}

impl<'a> ScopeTransaction<'a> {
    fn start(db: &'a Connection, owner: Scope) -> Result<Self> {
        db.prepare_cached(
            "INSERT INTO scopes (agent, user) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )
        .and_then(|mut insert| insert.execute((owner.agent(), owner.user())))
        .map_err(failed)?;
        let (scope, changes, sessions, positions) = db
            .prepare_cached("SELECT id, changes, sessions, positions FROM scopes WHERE agent = ?1 AND user = ?2")
            .and_then(|mut select| {
                select.query_row((owner.agent(), owner.user()), |row| row.try_into())
            })
            .map_err(failed)?;
        Ok(Self { db, owner, scope, changes, sessions, positions, new_entries: Vec::new() })
    }

    fn finish(self) -> Result<()> {
        index::add(self.db, self.scope, self.new_entries)?;
        self.db
            .prepare_cached(
                "UPDATE scopes SET changes = ?2, sessions = ?3, positions = ?4 WHERE id = ?1",
            )
            .and_then(|mut update| {
                update.execute((self.scope, self.changes, self.sessions, self.positions))
            })
            .map(drop)
            .map_err(failed)
    }

    fn change(
        &mut self,
        write: &WriteBatch,
        change: &Change,
        entry: Option<IndexEntry>,
    ) -> Result<AppliedChange> {
        self.changes += 1;
        let (seq, id) = (self.changes, change.id());
        let mut erased = None;
        let (prev, before) = match (change, entry) {
            (Change::Add(memory), Some(entry)) => (self.add(memory, entry, write.at)?, None),
            (Change::Update(memory), Some(entry)) => self.update(memory, entry)?,
            (Change::Erase(id), _) => {
                let (prev, receipt) = self.erase(*id)?;
                erased = Some(receipt);
                (Some(prev), None)
            }
            (Change::Delete(id), _) => self.delete(*id)?,
            (Change::Add(_) | Change::Update(_), None) => {
                return Err(Error::damaged("a change was not analysed"));
            }
        };
        self.append_journal(write, change, prev, before.as_ref())?;
        Ok(AppliedChange { seq: seq as u64, id, erasure: erased })
    }

    /// Returns the newest line of the memory in the journal, if it was there before.
    fn add(&mut self, memory: &Memory, entry: IndexEntry, now: Timestamp) -> Result<Option<i64>> {
        let (place, prev) = match self.take_deleted(memory.id)? {
            Some((place, prev)) => (place, Some(prev)),
            None => (self.next_address(memory)?, None),
        };
        let stored = MemoryRow { memory: memory.clone(), address: place, seq: self.changes };
        if !rows::insert(self.db, self.scope, &stored)? {
            return Err(uri_conflict(memory));
        }
        match (memory.kind, memory.source.via) {
            (Kind::Turn, _) => {
                capture_rows::note_turn_added(self.db, self.scope, memory, place, now)?
            }
            (_, Origin::Extract) => drop(quarantine::remove(self.db, self.scope, &[memory.id])?),
            _ => {}
        }
        self.new_entries.push(with_address(entry, place));
        Ok(prev)
    }

    fn update(
        &mut self,
        memory: &Memory,
        entry: IndexEntry,
    ) -> Result<(Option<i64>, Option<Memory>)> {
        let stored = self.require_row(memory.id)?;
        check_next_version(&stored.memory, memory)?;
        let row = MemoryRow { memory: memory.clone(), address: stored.address, seq: self.changes };
        rows::replace(self.db, self.scope, &row)?;
        if stored.memory.content != memory.content {
            token_vectors::remove(self.db, self.scope, stored.address)?;
        }
        if index_differs(&stored.memory, memory) {
            self.unindex(stored.address)?;
            self.new_entries.push(with_address(entry, stored.address));
        }
        Ok((Some(stored.seq), Some(stored.memory)))
    }

    fn delete(&mut self, id: MemoryId) -> Result<(Option<i64>, Option<Memory>)> {
        let stored = self.require_row(id)?;
        rows::delete(self.db, self.scope, stored.address)?;
        capture_rows::note_turn_removed(self.db, self.scope, &stored.memory, stored.address)?;
        self.unindex(stored.address)?;
        token_vectors::remove(self.db, self.scope, stored.address)?;
        self.record_deleted(id, stored.address)?;
        Ok((Some(stored.seq), Some(stored.memory)))
    }

    /// Erases a memory, whether it is still there or was deleted before; returns its newest line and the receipt.
    fn erase(&mut self, id: MemoryId) -> Result<(i64, ErasureReceipt)> {
        // What this very write added is indexed first, so that one way of erasing serves all.
        index::add(self.db, self.scope, std::mem::take(&mut self.new_entries))?;
        let stored = rows::by_id(self.db, &self.owner, self.scope, id)?;
        let (place, seq) = match (&stored, self.take_deleted(id)?) {
            (Some(stored), _) => (stored.address, stored.seq),
            (None, Some(gone)) => gone,
            (None, None) => return Err(Error::not_found("memory", id)),
        };
        if let Some(stored) = &stored {
            capture_rows::note_turn_removed(self.db, self.scope, &stored.memory, place)?;
        }
        let mut receipt = erase::erase(self.db, self.scope, id, (place, seq), stored)?;
        receipt.vectors += token_vectors::remove(self.db, self.scope, place)?;
        receipt.usage_lines = usage::remove_memory(self.db, self.scope, id)?;
        self.record_deleted(id, place)?;
        Ok((seq, receipt))
    }

    fn require_row(&self, id: MemoryId) -> Result<MemoryRow> {
        rows::by_id(self.db, &self.owner, self.scope, id)?
            .ok_or_else(|| Error::not_found("memory", id))
    }

    fn unindex(&mut self, place: DocAddress) -> Result<()> {
        match self.new_entries.iter().position(|entry| entry.record.address == place) {
            Some(index) => drop(self.new_entries.remove(index)),
            None => index::remove(self.db, self.scope, place)?,
        }
        Ok(())
    }

    fn next_address(&mut self, memory: &Memory) -> Result<DocAddress> {
        let Some(name) = &memory.source.session else {
            let place = DocAddress::new(0, self.positions);
            self.positions += 1;
            return Ok(place);
        };
        let next = self.sessions + 1;
        let (number, positions): (u32, u32) = self
            .db
            .prepare_cached(
                "INSERT INTO sessions VALUES (?1, ?2, ?3, 1) \
                 ON CONFLICT DO UPDATE SET positions = positions + 1 RETURNING number, positions",
            )
            .and_then(|mut insert| {
                insert.query_row(params![self.scope, name, next], |row| row.try_into())
            })
            .map_err(failed)?;
        self.sessions = self.sessions.max(number);
        Ok(DocAddress::new(number, positions - 1))
    }

    fn take_deleted(&self, id: MemoryId) -> Result<Option<(DocAddress, i64)>> {
        self.db
            .prepare_cached("DELETE FROM gone WHERE scope = ?1 AND id = ?2 RETURNING place, seq")
            .and_then(|mut delete| {
                delete
                    .query_row(params![self.scope, id.as_bytes()], |row| {
                        Ok((DocAddress::from_bits(row.get::<_, i64>(0)? as u64), row.get(1)?))
                    })
                    .optional()
            })
            .map_err(failed)
    }

    fn record_deleted(&self, id: MemoryId, place: DocAddress) -> Result<()> {
        self.db
            .prepare_cached("INSERT INTO gone VALUES (?1, ?2, ?3, ?4)")
            .and_then(|mut insert| {
                insert.execute(params![
                    self.scope,
                    id.as_bytes(),
                    place.to_bits() as i64,
                    self.changes
                ])
            })
            .map(drop)
            .map_err(failed)
    }

    fn append_journal(
        &self,
        write: &WriteBatch,
        change: &Change,
        prev: Option<i64>,
        before: Option<&Memory>,
    ) -> Result<()> {
        let before = before.map(serde_json::to_vec).transpose().map_err(Error::store)?;
        self.db
            .prepare_cached(
                "INSERT INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    self.scope,
                    self.changes,
                    change.id().as_bytes(),
                    change.op() as u8,
                    write.at.as_millisecond(),
                    write.actor as u8,
                    write.reason,
                    write.run,
                    write.cost as i64,
                    prev,
                    before,
                ])
            })
            .map(drop)
            .map_err(failed)
    }
}

fn with_address(mut entry: IndexEntry, place: DocAddress) -> IndexEntry {
    entry.record.address = place;
    entry
}
