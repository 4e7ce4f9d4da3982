//! Reading the journal: what changed, and what was known at a moment.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{failed, rows, rows::decode_timestamp};
use crate::{
    error::{Error, Result},
    store::JournalQuery,
    types::{Actor, ChangeOp, JournalEntry, Memory, MemoryId, Scope, Timestamp},
};

const COLUMNS: &str = "seq, id, op, at, actor, cause, run, cost, prev, before";

/// A line as the file keeps it.
struct JournalRow {
    entry: JournalEntry,
    prev: Option<i64>,
}

/// The lines a query asks for, newest first, each with what the memory said before and after.
pub(super) fn read(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    query: &JournalQuery,
) -> Result<Vec<JournalEntry>> {
    let limit = query.limit.unwrap_or(usize::MAX);
    let lines = match query.id {
        Some(id) => memory_history(db, owner, scope, id)?
            .into_iter()
            .filter(|entry| fits(query, entry))
            .take(limit)
            .collect(),
        None => scope_entries(db, owner, scope, query, limit)?,
    };
    Ok(lines)
}

/// Every memory as it was at the end of that moment, oldest first.
pub(super) fn as_of(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    at: Timestamp,
) -> Result<Vec<Memory>> {
    let mut then: BTreeMap<MemoryId, Memory> = BTreeMap::new();
    rows::for_each(db, owner, scope, |stored| {
        then.insert(stored.memory.id, stored.memory);
        Ok(())
    })?;
    let sql = "SELECT id, before FROM changes WHERE scope = ?1 AND at > ?2 ORDER BY seq DESC";
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query((scope, at.as_millisecond())).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let id = MemoryId::from_bytes(row.get(0).map_err(failed)?);
        match decode_image(row.get(1).map_err(failed)?)? {
            Some(before) => then.insert(id, before),
            None => then.remove(&id),
        };
    }
    Ok(then.into_values().collect())
}

/// Lines of the whole scope. What a memory said after a line is looked up in the memory's own lines.
fn scope_entries(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    query: &JournalQuery,
    limit: usize,
) -> Result<Vec<JournalEntry>> {
    let mut statement = db.prepare_cached(&lines_sql(query)).map_err(failed)?;
    let number = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement
        .query(params![scope, query.run, number(query.seq), number(query.before), limit])
        .map_err(failed)?;
    let mut entries = Vec::new();
    // What each memory said before the oldest line seen so far, which is what it said after the next one.
    let mut later: HashMap<MemoryId, Option<Box<Memory>>> = HashMap::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut entry = read_row(row)?.entry;
        entry.after = match later.remove(&entry.id) {
            Some(after) if query.run.is_none() => after,
            _ => image_after(db, owner, scope, &entry)?,
        };
        later.insert(entry.id, entry.before.clone());
        entries.push(entry);
    }
    Ok(entries)
}

/// Only what is asked for stands in the statement; the rest is compared with nothing. By itself SQLite would look for a run
/// in all lines of the scope, because they are in the order that is asked for.
fn lines_sql(query: &JournalQuery) -> String {
    let (index, run) = match query.run {
        Some(_) => ("INDEXED BY changes_run", "run = ?2"),
        None => ("", "?2 IS NULL"),
    };
    let seq = if query.seq.is_some() { "seq = ?3" } else { "?3 IS NULL" };
    let before = if query.before.is_some() { "seq < ?4" } else { "?4 IS NULL" };
    format!(
        "SELECT {COLUMNS} FROM changes {index} WHERE scope = ?1 AND {run} AND {seq} AND {before} ORDER BY seq DESC LIMIT ?5"
    )
}

/// What the memory said after a line.
fn image_after(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    entry: &JournalEntry,
) -> Result<Option<Box<Memory>>> {
    let chain = memory_history(db, owner, scope, entry.id)?;
    Ok(chain.into_iter().find(|found| found.seq == entry.seq).and_then(|found| found.after))
}

/// All lines of one memory, newest first, complete.
fn memory_history(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    id: MemoryId,
) -> Result<Vec<JournalEntry>> {
    let stored = rows::by_id(db, owner, scope, id)?;
    let (mut next, mut after) = match stored {
        Some(stored) => (Some(stored.seq), Some(Box::new(stored.memory))),
        None => (deleted_seq(db, scope, id)?, None),
    };
    let sql = format!("SELECT {COLUMNS} FROM changes WHERE scope = ?1 AND seq = ?2");
    let mut statement = db.prepare_cached(&sql).map_err(failed)?;
    let mut entries = Vec::new();
    while let Some(seq) = next {
        let JournalRow { mut entry, prev } =
            statement.query_row((scope, seq), |row| Ok(read_row(row))).map_err(failed)??;
        entry.after = std::mem::replace(&mut after, entry.before.clone());
        entries.push(entry);
        next = prev;
    }
    Ok(entries)
}

fn deleted_seq(db: &Connection, scope: i64, id: MemoryId) -> Result<Option<i64>> {
    db.prepare_cached("SELECT seq FROM gone WHERE scope = ?1 AND id = ?2")
        .and_then(|mut statement| {
            statement.query_row(params![scope, id.as_bytes()], |row| row.get(0)).optional()
        })
        .map_err(failed)
}

fn fits(query: &JournalQuery, entry: &JournalEntry) -> bool {
    query.run.as_ref().is_none_or(|run| entry.run.as_ref() == Some(run))
        && query.seq.is_none_or(|seq| entry.seq == seq)
        && query.before.is_none_or(|before| entry.seq < before)
}

fn read_row(row: &Row<'_>) -> Result<JournalRow> {
    let get = || -> rusqlite::Result<_> {
        Ok((
            row.get::<_, i64>(0)?,
            row.get(1)?,
            row.get::<_, u8>(2)?,
            row.get(3)?,
            row.get::<_, u8>(4)?,
        ))
    };
    let (seq, id, op, at, actor) = get().map_err(failed)?;
    let entry = JournalEntry {
        seq: seq as u64,
        at: decode_timestamp(at)?,
        actor: decode_enum(&[Actor::Person, Actor::Agent, Actor::Engine], actor)?,
        cause: row.get(5).map_err(failed)?,
        run: row.get(6).map_err(failed)?,
        cost: row.get::<_, i64>(7).map_err(failed)? as u64,
        op: decode_enum(&[ChangeOp::Add, ChangeOp::Update, ChangeOp::Delete, ChangeOp::Erase], op)?,
        id: MemoryId::from_bytes(id),
        before: decode_image(row.get(9).map_err(failed)?)?.map(Box::new),
        after: None,
    };
    Ok(JournalRow { entry, prev: row.get(8).map_err(failed)? })
}

fn decode_enum<T: Copy>(all: &[T], number: u8) -> Result<T> {
    all.get(usize::from(number))
        .copied()
        .ok_or_else(|| Error::damaged(format!("journal code {number}")))
}

/// A stored image of a memory.
pub(super) fn decode_image(bytes: Option<Vec<u8>>) -> Result<Option<Memory>> {
    bytes
        .map(|bytes| serde_json::from_slice(&bytes))
        .transpose()
        .map_err(|error| Error::damaged(format!("a journal image: {error}")))
}

#[cfg(test)]
mod tests {
    use super::{super::open, *};

    #[test]
    fn a_run_is_looked_up_and_not_looked_for() {
        let path = tempfile::tempdir().unwrap().keep().join("everlore.db");
        let (db, _) = open::prepare(&path).unwrap();
        let query = JournalQuery { run: Some("r".into()), limit: Some(1), ..Default::default() };
        let plan: String = db
            .query_row(
                &format!("EXPLAIN QUERY PLAN {}", lines_sql(&query)),
                params![1, "r", None::<i64>, None::<i64>, 1],
                |row| row.get(3),
            )
            .unwrap();
        assert!(plan.contains("changes_run (scope=? AND run=?)"), "{plan}");
    }
}
