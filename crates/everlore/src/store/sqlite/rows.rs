//! Rows of memories: writing them, reading them, finding them by key.

use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value};
use serde::{Deserialize, Serialize};

use super::failed;
use crate::{
    error::{Error, Result},
    store::{DocAddress, ListOrder, ListQuery, MemoryFilter, MemoryKey, ScopeCounts},
    types::{Kind, Memory, MemoryId, MemorySource, Scope, Status, Timestamp},
};

/// A memory with what only the file knows of it.
pub(super) struct MemoryRow {
    pub(super) memory: Memory,
    pub(super) address: DocAddress,
    /// Its newest line in the journal.
    pub(super) seq: i64,
}

/// What has no column of its own.
#[derive(Serialize, Deserialize)]
struct MemoryRowDetail {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    metadata: serde_json::Map<String, serde_json::Value>,
    source: MemorySource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded_by: Option<MemoryId>,
}

/// The columns that [`select`] reads.
pub(super) const COLUMNS: &str = "place, id, seq, uri, kind, status, at, created_at, updated_at, last_used_at, version, \
    importance, confidence, weight, detail, name, description, content";

/// Writes a new row; false if its id or uri is taken.
pub(super) fn insert(db: &Connection, scope: i64, stored: &MemoryRow) -> Result<bool> {
    let sql = "INSERT INTO memories (scope, place, id, seq, uri, kind, status, at, created_at, updated_at, \
        last_used_at, version, importance, confidence, weight, text, detail, name, description, content) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";
    match write_row(db, sql, scope, stored) {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::ConstraintViolation =>
        {
            Ok(false)
        }
        result => result.map(|()| true).map_err(failed),
    }
}

/// Replaces the row at the same place.
pub(super) fn replace(db: &Connection, scope: i64, stored: &MemoryRow) -> Result<()> {
    let sql = "UPDATE memories SET id = ?3, seq = ?4, uri = ?5, kind = ?6, status = ?7, at = ?8, created_at = ?9, \
        updated_at = ?10, last_used_at = ?11, version = ?12, importance = ?13, confidence = ?14, weight = ?15, \
        text = ?16, detail = ?17, name = ?18, description = ?19, content = ?20 WHERE scope = ?1 AND place = ?2";
    write_row(db, sql, scope, stored).map_err(failed)
}

fn write_row(
    db: &Connection,
    sql: &str,
    scope: i64,
    MemoryRow { memory, address: place, seq }: &MemoryRow,
) -> rusqlite::Result<()> {
    let detail = MemoryRowDetail {
        tags: memory.tags.clone(),
        metadata: memory.metadata.clone(),
        source: memory.source.clone(),
        superseded_by: memory.superseded_by,
    };
    let detail = serde_json::to_string(&detail)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    db.prepare_cached(sql)?.execute(params![
        scope,
        place.to_bits() as i64,
        memory.id.as_bytes(),
        seq,
        memory.uri,
        memory.kind as u8,
        memory.status as u8,
        memory.at.as_millisecond(),
        memory.created_at.as_millisecond(),
        memory.updated_at.as_millisecond(),
        memory.last_used_at.map(|at| at.as_millisecond()),
        memory.version,
        memory.importance,
        memory.confidence,
        memory.weight,
        memory.fingerprint().as_bytes(),
        detail,
        memory.name,
        memory.description,
        memory.content,
    ])?;
    Ok(())
}

/// Removes the row at a place.
pub(super) fn delete(db: &Connection, scope: i64, place: DocAddress) -> Result<()> {
    db.prepare_cached("DELETE FROM memories WHERE scope = ?1 AND place = ?2")
        .and_then(|mut statement| statement.execute((scope, place.to_bits() as i64)))
        .map(drop)
        .map_err(failed)
}

/// The row of a memory.
pub(super) fn by_id(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    id: MemoryId,
) -> Result<Option<MemoryRow>> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE scope = ?1 AND id = ?2");
    let mut statement = db.prepare_cached(&sql).map_err(failed)?;
    let stored = statement
        .query_row(params![scope, id.as_bytes()], |row| Ok(read_row(row, owner)))
        .optional();
    stored.map_err(failed)?.transpose()
}

/// The memories at these places, in this order.
pub(super) fn by_address(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    places: &[DocAddress],
) -> Result<Vec<(DocAddress, Memory)>> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE scope = ?1 AND place = ?2");
    let mut statement = db.prepare_cached(&sql).map_err(failed)?;
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let stored = statement
            .query_row((scope, place.to_bits() as i64), |row| Ok(read_row(row, owner)))
            .optional()
            .map_err(failed)?
            .transpose()?;
        found.extend(stored.map(|stored| (*place, stored.memory)));
    }
    Ok(found)
}

/// Turns between two places, the second excluded, in order, or the last of them if asked for.
pub(super) fn turns(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    (from, to): (DocAddress, DocAddress),
    (last, limit): (bool, usize),
) -> Result<Vec<MemoryRow>> {
    let order = if last { "DESC" } else { "ASC" };
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE scope = ?1 AND place >= ?2 AND place < ?3 AND kind = 7 \
         ORDER BY place {order} LIMIT ?4"
    );
    let mut statement = db.prepare_cached(&sql).map_err(failed)?;
    let (from, to) = (from.to_bits() as i64, to.to_bits() as i64);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![scope, from, to, limit]).map_err(failed)?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        turns.push(read_row(row, owner)?);
    }
    if last {
        turns.reverse();
    }
    Ok(turns)
}

/// The memories a key fits, oldest first.
pub(super) fn find(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    key: &MemoryKey,
    limit: usize,
) -> Result<Vec<Memory>> {
    let (index, condition, values) = match key {
        MemoryKey::IdPrefix(prefix) => match id_range(prefix) {
            Some((low, high)) => {
                let range = vec![Value::Blob(low), Value::Blob(high)];
                ("memories_id", "id BETWEEN ?2 AND ?3", range)
            }
            None => return Ok(Vec::new()),
        },
        MemoryKey::Uri(uri) => {
            ("memories_uri", "kind <> 7 AND uri = ?2", vec![Value::Text(uri.clone())])
        }
        MemoryKey::Text(text) => {
            let text = vec![Value::Blob(text.as_bytes().to_vec())];
            ("memories_text", "kind <> 7 AND text = ?2", text)
        }
    };
    // SQLite expects few rows in a scope and would rather read all of them than look a text up.
    let sql = format!(
        "SELECT {COLUMNS} FROM memories INDEXED BY {index} WHERE scope = ?1 AND {condition} ORDER BY id LIMIT {limit}"
    );
    select(db, owner, &sql, std::iter::once(Value::Integer(scope)).chain(values), |_| true, limit)
}

/// The lowest and highest id that start with these hexadecimal digits.
fn id_range(prefix: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let bytes = |fill: char| {
        // 32 digits are a whole id.
        let digits: String = prefix.chars().chain(std::iter::repeat(fill)).take(32).collect();
        u128::from_str_radix(&digits, 16).ok().map(|id| id.to_be_bytes().to_vec())
    };
    (prefix.len() <= 32).then(|| Some((bytes('0')?, bytes('f')?)))?
}

/// The memories a filter lets through, in the order asked for.
pub(super) fn list(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    page: &ListQuery,
) -> Result<Vec<Memory>> {
    let mut sql = format!("SELECT {COLUMNS} FROM memories WHERE scope = ?");
    let mut values = vec![Value::Integer(scope)];
    let (beyond, order) = match page.order {
        ListOrder::NewestFirst => ("<", "DESC"),
        ListOrder::OldestFirst => (">", "ASC"),
    };
    if let Some(after) = page.after {
        sql.push_str(&format!(" AND id {beyond} ?"));
        values.push(Value::Blob(after.as_bytes().to_vec()));
    }
    push_filter(&page.filter, &mut sql, &mut values);
    sql.push_str(&format!(" ORDER BY id {order}"));
    select(db, owner, &sql, values, |memory| page.filter.matches(memory), page.limit)
}

/// Adds what columns can answer of a filter; the rest is asked of the memory itself.
fn push_filter(filter: &MemoryFilter, sql: &mut String, values: &mut Vec<Value>) {
    let numbers =
        |numbers: Vec<u8>| numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    if !filter.kinds.is_empty() {
        let kinds = numbers(filter.kinds.iter().map(|kind| *kind as u8).collect());
        sql.push_str(&format!(" AND kind IN ({kinds})"));
    }
    if !filter.statuses.is_empty() {
        let statuses = numbers(filter.statuses.iter().map(|status| *status as u8).collect());
        sql.push_str(&format!(" AND status IN ({statuses})"));
    }
    for (bound, operator) in [(filter.since, ">="), (filter.until, "<")] {
        if let Some(at) = bound {
            sql.push_str(&format!(" AND at {operator} ?"));
            values.push(Value::Integer(at.as_millisecond()));
        }
    }
}

/// The memories that a statement finds and `fits` lets through, at most `limit`.
pub(super) fn select(
    db: &Connection,
    owner: &Scope,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
    fits: impl Fn(&Memory) -> bool,
    limit: usize,
) -> Result<Vec<Memory>> {
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next().map_err(failed)?
    {
        let memory = read_row(row, owner)?.memory;
        if fits(&memory) {
            found.push(memory);
        }
    }
    Ok(found)
}

/// Calls `each` with every row of the scope, in the order of places.
pub(super) fn for_each(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    mut each: impl FnMut(MemoryRow) -> Result<()>,
) -> Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE scope = ?1 ORDER BY place");
    let mut statement = db.prepare_cached(&sql).map_err(failed)?;
    let mut rows = statement.query([scope]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        each(read_row(row, owner)?)?;
    }
    Ok(())
}

/// How many memories, journal lines and tombstones the scope has.
pub(super) fn count(db: &Connection, scope: i64) -> Result<ScopeCounts> {
    let mut statement = db
        .prepare_cached("SELECT kind, status, count(*) FROM memories WHERE scope = ?1 GROUP BY kind, status ORDER BY kind, status")
        .map_err(failed)?;
    let mut rows = statement.query([scope]).map_err(failed)?;
    let mut memories = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        memories.push((
            decode_kind(row.get(0).map_err(failed)?)?,
            decode_status(row.get(1).map_err(failed)?)?,
            read_count(row, 2)?,
        ));
    }
    let count = |sql: &str| {
        db.query_row(sql, [scope], |row| row.get::<_, i64>(0))
            .map(|count| count as usize)
            .map_err(failed)
    };
    Ok(ScopeCounts {
        memories,
        changes: count("SELECT changes FROM scopes WHERE id = ?1")?,
        tombstones: count("SELECT count(*) FROM tombstones WHERE scope = ?1")?,
    })
}

fn read_count(row: &Row<'_>, column: usize) -> Result<usize> {
    row.get::<_, i64>(column).map(|count| count as usize).map_err(failed)
}

/// Every scope of the file.
pub(super) fn scopes(db: &Connection) -> Result<Vec<Scope>> {
    let mut statement =
        db.prepare_cached("SELECT agent, user FROM scopes ORDER BY agent, user").map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut scopes = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (agent, user): (String, String) =
            (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
        scopes.push(Scope::new(&agent, &user)?);
    }
    Ok(scopes)
}

fn read_row(row: &Row<'_>, owner: &Scope) -> Result<MemoryRow> {
    let columns = || -> rusqlite::Result<_> {
        let detail: String = row.get(14)?;
        let stored = (row.get::<_, i64>(0)?, row.get::<_, [u8; 16]>(1)?, row.get(2)?);
        let kinds = (row.get(4)?, row.get(5)?);
        let times = (row.get(6)?, row.get(7)?, row.get(8)?, row.get::<_, Option<i64>>(9)?);
        Ok((stored, kinds, times, detail))
    };
    let ((place, id, seq), (kind_number, status_number), (at, created, updated, used), detail) =
        columns().map_err(failed)?;
    let detail: MemoryRowDetail =
        serde_json::from_str(&detail).map_err(|error| Error::damaged(error.to_string()))?;
    let memory = Memory {
        id: MemoryId::from_bytes(id),
        uri: row.get(3).map_err(failed)?,
        scope: owner.clone(),
        kind: decode_kind(kind_number)?,
        name: row.get(15).map_err(failed)?,
        description: row.get(16).map_err(failed)?,
        content: row.get(17).map_err(failed)?,
        tags: detail.tags,
        importance: row.get(11).map_err(failed)?,
        confidence: row.get(12).map_err(failed)?,
        weight: row.get(13).map_err(failed)?,
        status: decode_status(status_number)?,
        metadata: detail.metadata,
        source: detail.source,
        at: decode_timestamp(at)?,
        created_at: decode_timestamp(created)?,
        updated_at: decode_timestamp(updated)?,
        last_used_at: used.map(decode_timestamp).transpose()?,
        superseded_by: detail.superseded_by,
        version: row.get(10).map_err(failed)?,
    };
    Ok(MemoryRow { memory, address: DocAddress::from_bits(place as u64), seq })
}

fn decode_kind(number: u8) -> Result<Kind> {
    Kind::ALL
        .get(usize::from(number))
        .copied()
        .ok_or_else(|| Error::damaged(format!("kind {number}")))
}

fn decode_status(number: u8) -> Result<Status> {
    Status::ALL
        .get(usize::from(number))
        .copied()
        .ok_or_else(|| Error::damaged(format!("status {number}")))
}

/// A stored time.
pub(super) fn decode_timestamp(milliseconds: i64) -> Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| Error::damaged(format!("time {milliseconds}")))
}
