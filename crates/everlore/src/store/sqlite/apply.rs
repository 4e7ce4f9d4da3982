//! Applying changes inside a transaction: rows, index and journal together.

use rusqlite::{Connection, OptionalExtension, params};

use super::{captures, erase, failed, held, index, rows, rows::Stored, tokens, usage, vectors};
use crate::{
    error::{Error, Result},
    store::{Place, check_scope, check_successor, entry::IndexEntry, looks_different, taken},
    types::{Applied, Change, Erased, Kind, Memory, MemoryId, Scope, Timestamp, Via, Write},
};

/// A write whose texts are analysed, ready for the writer.
pub(super) struct Prepared {
    write: Write,
    /// For each change the index entry of the memory it stores, still without its place.
    entries: Vec<Option<IndexEntry>>,
}

impl Prepared {
    /// Checks a write and analyses its texts.
    pub(super) fn new(write: Write) -> Result<Self> {
        let mut entries = Vec::with_capacity(write.changes.len());
        for change in &write.changes {
            entries.push(match change {
                Change::Add(memory) | Change::Update(memory) => {
                    check_scope(&write, memory)?;
                    Some(IndexEntry::of(memory, Place::from_bits(0)))
                }
                Change::Delete(_) | Change::Erase(_) => None,
            });
        }
        Ok(Self { write, entries })
    }

    /// Applies all changes; the caller rolls back if one fails.
    pub(super) fn apply(self, db: &Connection) -> Result<Vec<Applied>> {
        let mut applying = Applying::start(db, self.write.scope.clone())?;
        let mut applied = Vec::with_capacity(self.entries.len());
        let model = vectors::number_for(db, self.write.vectors.as_ref())?;
        let made = |index: usize| self.write.vectors.as_ref()?.vectors.get(index)?.as_ref();
        for (index, (change, mut entry)) in self.write.changes.iter().zip(self.entries).enumerate()
        {
            if let Some(entry) = &mut entry {
                entry.vector =
                    model.zip(made(index)).map(|(model, vector)| (model, vector.to_slot()));
            }
            applied.push(applying.change(&self.write, change, entry)?);
        }
        erase::bury(db, applying.scope, self.write.erased_texts)?;
        if let Some(extracted) = &self.write.extracted {
            captures::commit(db, applying.scope, extracted, self.write.at)?;
        }
        applying.finish()?;
        Ok(applied)
    }
}

/// The scope being changed.
struct Applying<'a> {
    db: &'a Connection,
    owner: Scope,
    scope: i64,
    /// Journal lines, sessions and places outside sessions given out so far.
    changes: i64,
    sessions: u32,
    positions: u32,
    /// Entries that the index gets at the end, all at once.
    fresh: Vec<IndexEntry>,
}

impl<'a> Applying<'a> {
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
        Ok(Self { db, owner, scope, changes, sessions, positions, fresh: Vec::new() })
    }

    fn finish(self) -> Result<()> {
        index::add(self.db, self.scope, self.fresh)?;
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
        write: &Write,
        change: &Change,
        entry: Option<IndexEntry>,
    ) -> Result<Applied> {
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
        self.log(write, change, prev, before.as_ref())?;
        Ok(Applied { seq: seq as u64, id, erased })
    }

    /// Returns the newest line of the memory in the journal, if it was there before.
    fn add(&mut self, memory: &Memory, entry: IndexEntry, now: Timestamp) -> Result<Option<i64>> {
        let (place, prev) = match self.take_gone(memory.id)? {
            Some((place, prev)) => (place, Some(prev)),
            None => (self.next_place(memory)?, None),
        };
        let stored = Stored { memory: memory.clone(), place, seq: self.changes };
        if !rows::insert(self.db, self.scope, &stored)? {
            return Err(taken(memory));
        }
        match (memory.kind, memory.source.via) {
            (Kind::Turn, _) => captures::count_in(self.db, self.scope, memory, place, now)?,
            (_, Via::Extract) => drop(held::remove(self.db, self.scope, &[memory.id])?),
            _ => {}
        }
        self.fresh.push(at(entry, place));
        Ok(prev)
    }

    fn update(
        &mut self,
        memory: &Memory,
        entry: IndexEntry,
    ) -> Result<(Option<i64>, Option<Memory>)> {
        let stored = self.stored(memory.id)?;
        check_successor(&stored.memory, memory)?;
        let row = Stored { memory: memory.clone(), place: stored.place, seq: self.changes };
        rows::replace(self.db, self.scope, &row)?;
        if stored.memory.content != memory.content {
            tokens::remove(self.db, self.scope, stored.place)?;
        }
        if looks_different(&stored.memory, memory) {
            self.unindex(stored.place)?;
            self.fresh.push(at(entry, stored.place));
        }
        Ok((Some(stored.seq), Some(stored.memory)))
    }

    fn delete(&mut self, id: MemoryId) -> Result<(Option<i64>, Option<Memory>)> {
        let stored = self.stored(id)?;
        rows::delete(self.db, self.scope, stored.place)?;
        captures::count_out(self.db, self.scope, &stored.memory, stored.place)?;
        self.unindex(stored.place)?;
        tokens::remove(self.db, self.scope, stored.place)?;
        self.leave_gone(id, stored.place)?;
        Ok((Some(stored.seq), Some(stored.memory)))
    }

    /// Erases a memory, whether it is still there or was deleted before; returns its newest line and the receipt.
    fn erase(&mut self, id: MemoryId) -> Result<(i64, Erased)> {
        // What this very write added is indexed first, so that one way of erasing serves all.
        index::add(self.db, self.scope, std::mem::take(&mut self.fresh))?;
        let stored = rows::by_id(self.db, &self.owner, self.scope, id)?;
        let (place, seq) = match (&stored, self.take_gone(id)?) {
            (Some(stored), _) => (stored.place, stored.seq),
            (None, Some(gone)) => gone,
            (None, None) => return Err(Error::not_found("memory", id)),
        };
        if let Some(stored) = &stored {
            captures::count_out(self.db, self.scope, &stored.memory, place)?;
        }
        let mut receipt = erase::erase(self.db, self.scope, id, (place, seq), stored)?;
        receipt.vectors += tokens::remove(self.db, self.scope, place)?;
        receipt.usage_lines = usage::forget(self.db, self.scope, id)?;
        self.leave_gone(id, place)?;
        Ok((seq, receipt))
    }

    fn stored(&self, id: MemoryId) -> Result<Stored> {
        rows::by_id(self.db, &self.owner, self.scope, id)?
            .ok_or_else(|| Error::not_found("memory", id))
    }

    fn unindex(&mut self, place: Place) -> Result<()> {
        match self.fresh.iter().position(|entry| entry.record.place == place) {
            Some(index) => drop(self.fresh.remove(index)),
            None => index::remove(self.db, self.scope, place)?,
        }
        Ok(())
    }

    fn next_place(&mut self, memory: &Memory) -> Result<Place> {
        let Some(name) = &memory.source.session else {
            let place = Place::new(0, self.positions);
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
        Ok(Place::new(number, positions - 1))
    }

    fn take_gone(&self, id: MemoryId) -> Result<Option<(Place, i64)>> {
        self.db
            .prepare_cached("DELETE FROM gone WHERE scope = ?1 AND id = ?2 RETURNING place, seq")
            .and_then(|mut delete| {
                delete
                    .query_row(params![self.scope, id.as_bytes()], |row| {
                        Ok((Place::from_bits(row.get::<_, i64>(0)? as u64), row.get(1)?))
                    })
                    .optional()
            })
            .map_err(failed)
    }

    fn leave_gone(&self, id: MemoryId, place: Place) -> Result<()> {
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

    fn log(
        &self,
        write: &Write,
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
                    write.cause,
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

fn at(mut entry: IndexEntry, place: Place) -> IndexEntry {
    entry.record.place = place;
    entry
}
