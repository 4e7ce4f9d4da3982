//! One write: its texts are analysed before the writer takes it; in the writer's transaction it loads the rows it
//! touches, plans, and executes the effects.

use rusqlite::{Connection, params};

use super::{
    ScopeDb, capture_rows, erase, index, quarantine, rows, seal::check_new_scope,
    statements::Statements, token_vectors, vectors,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        index::IndexEntry,
        plan::{
            Deletion, Effects, JournalLine, Loaded, ScopeCounters, SessionCounter, WriteNeeds,
            analyze_entries, plan,
        },
        row::encode_image,
        seal::check_index_version,
    },
    text::terms::TERMS_VERSION,
    types::{AppliedChange, MemoryId, Scope, WriteBatch},
};

/// A write whose texts were analysed, ready for the writer.
pub(super) struct PreparedWrite {
    write: WriteBatch,
    /// The index entry of each change that stores a memory, without its address.
    entries: Vec<Option<IndexEntry>>,
}

impl PreparedWrite {
    /// Checks a write and analyses its texts.
    pub(super) fn new(write: WriteBatch) -> Result<Self> {
        Ok(Self { entries: analyze_entries(&write)?, write })
    }

    /// Applies all changes; the caller rolls back if one fails.
    pub(super) fn apply(mut self, db: &Connection) -> Result<Vec<AppliedChange>> {
        self.attach_vectors(db)?;
        let (db, counters) = open_scope(db, &self.write.scope)?;
        let loaded = load(db, counters, &self.write)?;
        let effects = plan(&self.write, self.entries, loaded)?;
        execute(db, &self.write, effects)
    }

    fn attach_vectors(&mut self, db: &Connection) -> Result<()> {
        let vectors = self.write.vectors.as_ref();
        let Some(model) = vectors::model_number_for(db, vectors)? else { return Ok(()) };
        let vectors = vectors.map_or(&[][..], |vectors| &vectors.vectors);
        for (entry, vector) in self.entries.iter_mut().zip(vectors) {
            if let Some(entry) = entry {
                entry.vector = vector.as_ref().map(|vector| (model, vector.to_bytes()));
            }
        }
        Ok(())
    }
}

/// Returns a scope and its counters; it is created where needed. Fails if it is sealed or was indexed by a newer program.
fn open_scope<'a>(db: &'a Connection, scope: &'a Scope) -> Result<(ScopeDb<'a>, ScopeCounters)> {
    let sql = "SELECT id, changes, sessions, positions, index_version FROM scopes WHERE agent = ?1 AND user = ?2";
    let names = (scope.agent(), scope.user());
    let read = || db.one(sql, names, |row| <(i64, i64, u32, u32, u32)>::try_from(row));
    let found = match read()? {
        Some(found) => found,
        None => {
            check_new_scope(db, scope)?;
            let insert = "INSERT INTO scopes (agent, user, index_version) VALUES (?1, ?2, ?3)";
            db.run(insert, (scope.agent(), scope.user(), TERMS_VERSION))?;
            read()?.ok_or_else(|| Error::damaged("a scope was not stored"))?
        }
    };
    let (id, changes, sessions, positions, version) = found;
    check_index_version(version, || scope.agent().to_owned())?;
    let counters = ScopeCounters { changes, sessions, positions };
    Ok((ScopeDb { connection: db, scope, id }, counters))
}

fn load(db: ScopeDb<'_>, counters: ScopeCounters, write: &WriteBatch) -> Result<Loaded> {
    let needs = WriteNeeds::of(write);
    let is_repeated = is_repeated(db, write)?;
    let mut loaded = Loaded { counters, is_repeated, ..Loaded::default() };
    for id in &needs.changed {
        if let Some(row) = rows::by_id(db, *id)? {
            loaded.rows.insert(*id, row);
        }
    }
    for id in needs.added.union(&needs.changed) {
        if let Some(deletion) = deletion(db, *id)? {
            loaded.deletions.insert(*id, deletion);
        }
    }
    for name in &needs.sessions {
        if let Some(counter) = session(db, name)? {
            loaded.sessions.insert(name.clone(), counter);
        }
    }
    for id in &needs.erased {
        let stored = loaded.rows.get(id).map(|row| row.seq);
        let newest = stored.or_else(|| loaded.deletions.get(id).map(|deletion| deletion.seq));
        if let Some(newest) = newest {
            loaded.journal.insert(*id, erase::journal_images(db, newest)?);
        }
    }
    for session in loaded.session_numbers() {
        let checkpoint = capture_rows::next_position(db, session)?;
        loaded.capture_checkpoints.insert(session, checkpoint);
    }
    Ok(loaded)
}

/// Returns `true` if a batch that must be written once is in the journal.
fn is_repeated(db: ScopeDb<'_>, write: &WriteBatch) -> Result<bool> {
    let Some(run) = write.single_run() else { return Ok(false) };
    let sql = "SELECT 1 FROM changes WHERE scope = ?1 AND run = ?2 AND cause = ?3 LIMIT 1";
    Ok(db.one(sql, (db.id, run, &write.reason), |_| Ok(()))?.is_some())
}

fn deletion(db: ScopeDb<'_>, id: MemoryId) -> Result<Option<Deletion>> {
    let sql = "SELECT place, seq FROM gone WHERE scope = ?1 AND id = ?2";
    db.one(sql, params![db.id, id.as_bytes()], |row| {
        let address = DocAddress::from_bits(row.get::<_, i64>(0)? as u64);
        Ok(Deletion { address, seq: row.get(1)? })
    })
}

fn session(db: ScopeDb<'_>, name: &str) -> Result<Option<SessionCounter>> {
    let sql = "SELECT number, positions FROM sessions WHERE scope = ?1 AND name = ?2";
    db.one(sql, (db.id, name), |row| {
        Ok(SessionCounter { number: row.get(0)?, positions: row.get(1)? })
    })
}

fn execute(db: ScopeDb<'_>, write: &WriteBatch, effects: Effects) -> Result<Vec<AppliedChange>> {
    put_counters(db, &effects)?;
    put_rows(db, &effects)?;
    put_journal(db, write, &effects.journal)?;
    for (session, delta) in &effects.captures {
        capture_rows::apply_delta(db, *session, delta)?;
    }
    for address in effects.stale_token_vectors {
        token_vectors::remove(db, address)?;
    }
    quarantine::remove(db, &effects.accepted_drafts)?;
    for address in effects.unindexed {
        index::remove(db, address)?;
    }
    index::add(db, effects.indexed)?;
    let mut applied = effects.applied;
    for erasure in &effects.erasures {
        if let Some(receipt) = &mut applied[erasure.change].erasure {
            erase::execute(db, erasure, receipt)?;
        }
    }
    erase::bury(db, &effects.erased_texts)?;
    if let Some(checkpoint) = &effects.checkpoint {
        capture_rows::commit(db, checkpoint, write.at)?;
    }
    Ok(applied)
}

fn put_counters(db: ScopeDb<'_>, effects: &Effects) -> Result<()> {
    let ScopeCounters { changes, sessions, positions } = effects.counters;
    let sql = "UPDATE scopes SET changes = ?2, sessions = ?3, positions = ?4 WHERE id = ?1";
    db.run(sql, (db.id, changes, sessions, positions))?;
    let sql =
        "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET positions = ?4";
    for (name, SessionCounter { number, positions }) in &effects.sessions {
        db.run(sql, (db.id, name, number, positions))?;
    }
    Ok(())
}

fn put_rows(db: ScopeDb<'_>, effects: &Effects) -> Result<()> {
    for address in &effects.removed {
        rows::delete(db, *address)?;
    }
    for row in &effects.updated {
        rows::replace(db, row)?;
    }
    for row in &effects.inserted {
        rows::insert(db, row)?;
    }
    for id in &effects.restored {
        let sql = "DELETE FROM gone WHERE scope = ?1 AND id = ?2";
        db.run(sql, params![db.id, id.as_bytes()])?;
    }
    for (id, Deletion { address, seq }) in &effects.deleted {
        let sql = "INSERT OR REPLACE INTO gone VALUES (?1, ?2, ?3, ?4)";
        db.run(sql, params![db.id, id.as_bytes(), address.to_bits() as i64, seq])?;
    }
    Ok(())
}

fn put_journal(db: ScopeDb<'_>, write: &WriteBatch, lines: &[JournalLine]) -> Result<()> {
    let sql = "INSERT INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    for JournalLine { seq, id, op, prev, before } in lines {
        let before = before.as_ref().map(encode_image).transpose()?;
        db.run(
            sql,
            params![
                db.id,
                seq,
                id.as_bytes(),
                *op as u8,
                write.at.as_millisecond(),
                write.actor as u8,
                write.reason,
                write.run,
                write.cost as i64,
                prev,
                before,
            ],
        )?;
    }
    Ok(())
}
