//! The journal in SQLite. A line stores the memory before its change; the memory after it is the one before the next
//! line of the same memory, or its row.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use rusqlite::{Row, params};

use super::{ScopeDb, SqliteStore, rows, statements::Statements};
use crate::{
    error::Result,
    store::{
        Journal, JournalQuery,
        row::{ACTORS, OPS, by_number, decode_image, timestamp},
    },
    types::{JournalEntry, Memory, MemoryId, Scope, Timestamp},
};

const COLUMNS: &str = "seq, id, op, at, actor, cause, run, cost, prev, before";

#[async_trait]
impl Journal for SqliteStore {
    async fn entries(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        let query = query.clone();
        self.read(scope, move |db| match query.id {
            Some(id) => {
                let history = memory_history(db, id)?.into_iter();
                let limit = query.limit.unwrap_or(usize::MAX);
                Ok(history.filter(|entry| query.selects(entry)).take(limit).collect())
            }
            None => scope_entries(db, &query),
        })
        .await
    }

    async fn newest_seq(&self, scope: &Scope) -> Result<u64> {
        self.read(scope, |db| {
            let sql = "SELECT changes FROM scopes WHERE id = ?1";
            let newest: Option<i64> = db.one(sql, [db.id], |row| row.get(0))?;
            Ok(newest.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0))
        })
        .await
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        self.read(scope, move |db| as_of(db, at)).await
    }
}

/// Rewinds the memories of a scope to the end of a moment.
fn as_of(db: ScopeDb<'_>, at: Timestamp) -> Result<Vec<Memory>> {
    let mut memories: BTreeMap<MemoryId, Memory> = BTreeMap::new();
    rows::for_each(db, |row| {
        memories.insert(row.memory.id, row.memory);
        Ok(())
    })?;
    let sql = "SELECT id, before FROM changes WHERE scope = ?1 AND at > ?2 ORDER BY seq DESC";
    let mut statement = db.prepare_cached(sql)?;
    let mut lines = statement.query((db.id, at.as_millisecond()))?;
    while let Some(line) = lines.next()? {
        let id = MemoryId::from_bytes(line.get(0)?);
        match decode_image(line.get(1)?)? {
            Some(before) => memories.insert(id, before),
            None => memories.remove(&id),
        };
    }
    Ok(memories.into_values().collect())
}

/// Returns lines of the whole scope, newest first.
fn scope_entries(db: ScopeDb<'_>, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
    let number = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let limit = query.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(i64::MAX);
    let values = params![db.id, query.run, number(query.seq), number(query.before), limit];
    let mut statement = db.prepare_cached(&entries_sql(query))?;
    let mut lines = statement.query(values)?;
    let mut entries = Vec::new();
    // Each memory before the oldest of its lines so far, which is the memory after the next one. The lines of one run
    // leave others of the same memory out.
    let mut images: HashMap<MemoryId, Option<Box<Memory>>> = HashMap::new();
    while let Some(line) = lines.next()? {
        let mut entry = read_line(line)?.entry;
        entry.after = match images.remove(&entry.id) {
            Some(after) if query.run.is_none() => after,
            _ => image_after(db, &entry)?,
        };
        images.insert(entry.id, entry.before.clone());
        entries.push(entry);
    }
    Ok(entries)
}

/// Builds a statement with a condition for each field of a query that is set; the parameters of the others are compared
/// with NULL. By itself SQLite would look for a run in all lines of the scope, because they are in the order of the
/// result.
fn entries_sql(query: &JournalQuery) -> String {
    let (index, run) = match query.run {
        Some(_) => ("INDEXED BY changes_run", "run = ?2"),
        None => ("", "?2 IS NULL"),
    };
    let seq = if query.seq.is_some() { "seq = ?3" } else { "?3 IS NULL" };
    let before = if query.before.is_some() { "seq < ?4" } else { "?4 IS NULL" };
    format!(
        "SELECT {COLUMNS} FROM changes {index} WHERE scope = ?1 AND {run} AND {seq} AND {before} \
         ORDER BY seq DESC LIMIT ?5"
    )
}

/// Returns the memory after a line.
fn image_after(db: ScopeDb<'_>, entry: &JournalEntry) -> Result<Option<Box<Memory>>> {
    let history = memory_history(db, entry.id)?;
    Ok(history.into_iter().find(|line| line.seq == entry.seq).and_then(|line| line.after))
}

/// Returns all lines of one memory, newest first, by the chain of their `prev`.
fn memory_history(db: ScopeDb<'_>, id: MemoryId) -> Result<Vec<JournalEntry>> {
    let (mut next, mut after) = match rows::by_id(db, id)? {
        Some(row) => (Some(row.seq), Some(Box::new(row.memory))),
        None => (deleted_seq(db, id)?, None),
    };
    let sql = format!("SELECT {COLUMNS} FROM changes WHERE scope = ?1 AND seq = ?2");
    let mut statement = db.prepare_cached(&sql)?;
    let mut history = Vec::new();
    while let Some(seq) = next {
        let JournalRow { mut entry, prev } =
            statement.query_row((db.id, seq), |row| Ok(read_line(row)))??;
        entry.after = std::mem::replace(&mut after, entry.before.clone());
        history.push(entry);
        next = prev;
    }
    Ok(history)
}

/// Returns the newest line of a deleted memory.
fn deleted_seq(db: ScopeDb<'_>, id: MemoryId) -> Result<Option<i64>> {
    let sql = "SELECT seq FROM gone WHERE scope = ?1 AND id = ?2";
    db.one(sql, (db.id, id.as_bytes()), |row| row.get(0))
}

/// A line, still without the memory after it.
struct JournalRow {
    entry: JournalEntry,
    /// The line before of the same memory.
    prev: Option<i64>,
}

fn read_line(row: &Row<'_>) -> Result<JournalRow> {
    let entry = JournalEntry {
        seq: row.get::<_, i64>(0)? as u64,
        at: timestamp(row.get(3)?)?,
        actor: by_number(&ACTORS, row.get(4)?, "actor")?,
        cause: row.get(5)?,
        run: row.get(6)?,
        cost: row.get::<_, i64>(7)? as u64,
        op: by_number(&OPS, row.get(2)?, "journal operation")?,
        id: MemoryId::from_bytes(row.get(1)?),
        before: decode_image(row.get(9)?)?.map(Box::new),
        after: None,
    };
    Ok(JournalRow { entry, prev: row.get(8)? })
}

#[cfg(test)]
mod tests {
    use super::{super::open, *};

    #[test]
    fn a_run_is_looked_up_and_not_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (db, _) = open::prepare(&folder.path().join("everlore.db")).unwrap();
        let query = JournalQuery { run: Some("r".into()), limit: Some(1), ..Default::default() };
        let plan: String = db
            .query_row(
                &format!("EXPLAIN QUERY PLAN {}", entries_sql(&query)),
                params![1, "r", None::<i64>, None::<i64>, 1],
                |row| row.get(3),
            )
            .unwrap();
        assert!(plan.contains("changes_run (scope=? AND run=?)"), "{plan}");
    }
}
