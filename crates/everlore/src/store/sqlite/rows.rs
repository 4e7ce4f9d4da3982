//! The `memories` table: writing rows, reading them, finding them by key.

use rusqlite::{Connection, Row, params, params_from_iter, types::Value};

use super::{ScopeDb, statements::Statements};
use crate::{
    error::Result,
    store::{
        DocAddress, ListOrder, ListQuery, MemoryFilter, MemoryKey, ScopeCounts,
        memories::{id_range, random_bytes},
        row::{MemoryColumns, MemoryRow, by_number, encode_detail},
        uri_conflict,
    },
    types::{Kind, Memory, MemoryId, Scope, Status},
};

/// The columns that [`read`] decodes.
pub(super) const COLUMNS: &str = "place, id, seq, uri, kind, status, at, created_at, updated_at, last_used_at, version, \
    importance, confidence, weight, detail, name, description, content";

// Statements say `kind = 7` for turns: the planner matches the literal with the conditions of partial indexes.

/// Turns of a session to read.
pub(super) struct TurnRange {
    /// The first address.
    pub(super) from: DocAddress,
    /// The address after the last.
    pub(super) to: DocAddress,
    /// Set to get the last turns of the range instead of the first, still in order.
    pub(super) last: bool,
    /// The most turns.
    pub(super) limit: usize,
}

/// Inserts a row. Fails with a conflict if its id or uri is taken.
pub(super) fn insert(db: ScopeDb<'_>, row: &MemoryRow) -> Result<()> {
    let sql = "INSERT INTO memories (scope, place, id, seq, uri, kind, status, at, created_at, updated_at, \
        last_used_at, version, importance, confidence, weight, text, detail, name, description, content) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) \
        ON CONFLICT DO NOTHING";
    write(db, sql, row)
}

/// Replaces the row at the same address. Fails with a conflict if its uri is taken.
pub(super) fn replace(db: ScopeDb<'_>, row: &MemoryRow) -> Result<()> {
    let sql = "UPDATE OR IGNORE memories SET id = ?3, seq = ?4, uri = ?5, kind = ?6, status = ?7, at = ?8, \
        created_at = ?9, updated_at = ?10, last_used_at = ?11, version = ?12, importance = ?13, confidence = ?14, \
        weight = ?15, text = ?16, detail = ?17, name = ?18, description = ?19, content = ?20 \
        WHERE scope = ?1 AND place = ?2";
    write(db, sql, row)
}

fn write(db: ScopeDb<'_>, sql: &str, row: &MemoryRow) -> Result<()> {
    let MemoryRow { memory, address, seq } = row;
    let written = db.run(
        sql,
        params![
            db.id,
            address.to_bits() as i64,
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
            encode_detail(memory)?,
            memory.name,
            memory.description,
            memory.content,
        ],
    )?;
    if written == 0 { Err(uri_conflict(memory)) } else { Ok(()) }
}

/// Removes the row at an address.
pub(super) fn delete(db: ScopeDb<'_>, address: DocAddress) -> Result<()> {
    let sql = "DELETE FROM memories WHERE scope = ?1 AND place = ?2";
    db.run(sql, (db.id, address.to_bits() as i64)).map(drop)
}

/// Returns the row of a memory.
pub(super) fn by_id(db: ScopeDb<'_>, id: MemoryId) -> Result<Option<MemoryRow>> {
    let sql = select_sql("WHERE scope = ?1 AND id = ?2");
    let found = db.one(&sql, params![db.id, id.as_bytes()], |row| Ok(read(row, db.scope)))?;
    found.transpose()
}

/// Returns the memories at these addresses, in this order, without deleted ones.
pub(super) fn by_address(
    db: ScopeDb<'_>,
    addresses: &[DocAddress],
) -> Result<Vec<(DocAddress, Memory)>> {
    let sql = select_sql("WHERE scope = ?1 AND place = ?2");
    let mut statement = db.prepare_cached(&sql)?;
    let mut found = Vec::with_capacity(addresses.len());
    for address in addresses {
        let mut rows = statement.query((db.id, address.to_bits() as i64))?;
        if let Some(row) = rows.next()? {
            found.push((*address, read(row, db.scope)?.memory));
        }
    }
    Ok(found)
}

/// Returns turns of a session in order.
pub(super) fn turns(
    db: ScopeDb<'_>,
    TurnRange { from, to, last, limit }: TurnRange,
) -> Result<Vec<MemoryRow>> {
    let order = if last { "DESC" } else { "ASC" };
    let sql = select_sql(&format!(
        "WHERE scope = ?1 AND place >= ?2 AND place < ?3 AND kind = 7 ORDER BY place {order} LIMIT ?4"
    ));
    let (from, to) = (from.to_bits() as i64, to.to_bits() as i64);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = db.all(&sql, (db.id, from, to, limit), |row| Ok(read(row, db.scope)))?;
    let mut turns = found.into_iter().collect::<Result<Vec<_>>>()?;
    if last {
        turns.reverse();
    }
    Ok(turns)
}

/// Returns the memories that a key names, oldest first.
pub(super) fn find(db: ScopeDb<'_>, key: &MemoryKey, limit: usize) -> Result<Vec<Memory>> {
    let (index, condition, values) = match key {
        MemoryKey::IdPrefix(prefix) => match id_range(prefix) {
            Some((low, high)) => {
                let range = vec![Value::Blob(low), Value::Blob(high)];
                ("memories_id", "id BETWEEN ?2 AND ?3", range)
            }
            None => return Ok(Vec::new()),
        },
        MemoryKey::RandomPrefix(prefixes) => return find_random(db, key, prefixes, limit),
        MemoryKey::Uri(uri) => {
            ("memories_uri", "kind <> 7 AND uri = ?2", vec![Value::Text(uri.clone())])
        }
        MemoryKey::Text(text) => {
            let text = vec![Value::Blob(text.as_bytes().to_vec())];
            ("memories_text", "kind <> 7 AND text = ?2", text)
        }
    };
    // Without INDEXED BY the planner expects few rows in a scope and reads all of them.
    let sql = format!(
        "SELECT {COLUMNS} FROM memories INDEXED BY {index} WHERE scope = ?1 AND {condition} ORDER BY id"
    );
    let values = std::iter::once(Value::Integer(db.id)).chain(values);
    select(db, &sql, values, |_| true, limit)
}

/// Returns the memories whose ids have one of these random parts. It reads the ids of the scope in the index of ids: an index
/// of its own would cost every save a page.
fn find_random(
    db: ScopeDb<'_>,
    key: &MemoryKey,
    prefixes: &[String],
    limit: usize,
) -> Result<Vec<Memory>> {
    let Some((count, bytes)) = random_bytes(prefixes) else { return Ok(Vec::new()) };
    let marks = vec!["?"; bytes.len()].join(", ");
    let sql = format!(
        "SELECT {COLUMNS} FROM memories INDEXED BY memories_id WHERE scope = ? \
         AND substr(id, 11, {count}) IN ({marks}) ORDER BY id"
    );
    let values = std::iter::once(Value::Integer(db.id)).chain(bytes.into_iter().map(Value::Blob));
    select(db, &sql, values, |memory| key.may_name(&memory.id), limit)
}

/// Returns a page of the memories that match a filter.
pub(super) fn list(db: ScopeDb<'_>, page: &ListQuery) -> Result<Vec<Memory>> {
    let mut sql = format!("SELECT {COLUMNS} FROM memories WHERE scope = ?");
    let mut values = vec![Value::Integer(db.id)];
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
    select(db, &sql, values, |memory| page.filter.matches(memory), page.limit)
}

/// Adds the conditions of a filter that columns can answer; the memory itself answers the rest.
fn push_filter(filter: &MemoryFilter, sql: &mut String, values: &mut Vec<Value>) {
    let mut push_numbers = |column: &str, numbers: Vec<String>| {
        if !numbers.is_empty() {
            sql.push_str(&format!(" AND {column} IN ({})", numbers.join(", ")));
        }
    };
    push_numbers("kind", filter.kinds.iter().map(|kind| (*kind as u8).to_string()).collect());
    let statuses = filter.statuses.iter().map(|status| (*status as u8).to_string());
    push_numbers("status", statuses.collect());
    for (bound, operator) in [(filter.since, ">="), (filter.until, "<")] {
        if let Some(at) = bound {
            sql.push_str(&format!(" AND at {operator} ?"));
            values.push(Value::Integer(at.as_millisecond()));
        }
    }
}

/// Returns the memories that a statement finds and `fits` accepts, at most `limit`.
pub(super) fn select(
    db: ScopeDb<'_>,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
    fits: impl Fn(&Memory) -> bool,
    limit: usize,
) -> Result<Vec<Memory>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let memory = read(row, db.scope)?.memory;
        if fits(&memory) {
            found.push(memory);
        }
    }
    Ok(found)
}

/// Calls `each` with every row of the scope, in the order of addresses.
pub(super) fn for_each(
    db: ScopeDb<'_>,
    mut each: impl FnMut(MemoryRow) -> Result<()>,
) -> Result<()> {
    let sql = select_sql("WHERE scope = ?1 ORDER BY place");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([db.id])?;
    while let Some(row) = rows.next()? {
        each(read(row, db.scope)?)?;
    }
    Ok(())
}

/// Counts memories, journal lines and tombstones of the scope.
pub(super) fn count(db: ScopeDb<'_>) -> Result<ScopeCounts> {
    let sql = "SELECT kind, status, count(*) FROM memories WHERE scope = ?1 GROUP BY kind, status ORDER BY kind, status";
    let counts: Vec<(u8, u8, i64)> = db.all(sql, [db.id], |row| row.try_into())?;
    let decode = |(kind, status, count)| {
        let kind = by_number(&Kind::ALL, kind, "kind")?;
        Ok((kind, by_number(&Status::ALL, status, "status")?, count as usize))
    };
    let number = |sql: &str| -> Result<usize> {
        Ok(db.one(sql, [db.id], |row| row.get::<_, i64>(0))?.unwrap_or(0) as usize)
    };
    Ok(ScopeCounts {
        memories: counts.into_iter().map(decode).collect::<Result<_>>()?,
        changes: number("SELECT changes FROM scopes WHERE id = ?1")?,
        tombstones: number("SELECT count(*) FROM tombstones WHERE scope = ?1")?,
    })
}

/// Returns every scope of the file.
pub(super) fn scopes(db: &Connection) -> Result<Vec<Scope>> {
    let sql = "SELECT agent, user FROM scopes ORDER BY agent, user";
    let names: Vec<(String, String)> = db.all(sql, [], |row| row.try_into())?;
    names.iter().map(|(agent, user)| Scope::new(agent, user)).collect()
}

/// Decodes a row that was selected with [`COLUMNS`].
pub(super) fn read(row: &Row<'_>, scope: &Scope) -> Result<MemoryRow> {
    let columns = MemoryColumns {
        address: row.get(0)?,
        id: row.get(1)?,
        seq: row.get(2)?,
        uri: row.get(3)?,
        kind: row.get(4)?,
        status: row.get(5)?,
        at: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        last_used_at: row.get(9)?,
        version: row.get(10)?,
        importance: row.get(11)?,
        confidence: row.get(12)?,
        weight: row.get(13)?,
        detail: row.get(14)?,
        name: row.get(15)?,
        description: row.get(16)?,
        content: row.get(17)?,
    };
    columns.decode(scope)
}

fn select_sql(rest: &str) -> String {
    format!("SELECT {COLUMNS} FROM memories {rest}")
}
