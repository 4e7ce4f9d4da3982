//! The `memories` table: statements that write and read rows, and their decoding.

use super::{
    scope_row::ScopeKey,
    sql::{OnConflict, SqlRow, SqlValue, Statement, insert, list, sql, sql_row},
    tables::MEMORIES,
};
use crate::{
    error::Result,
    store::{
        DocAddress, ListOrder, ListQuery, MemoryFilter, MemoryKey,
        memories::{id_range, random_bytes},
        row::{MemoryColumns, MemoryRow, encode_detail},
    },
    types::{Memory, MemoryId, Scope},
};

/// Beginning of a query whose rows [`read`] decodes.
const SELECT: &str = "SELECT address, id, seq, uri, kind, status, at, created_at, updated_at, last_used_at, version, \
    importance, confidence, weight, detail, name, description, content FROM memories WHERE scope = ?";

/// Turns of a session to read.
pub(super) struct TurnQuery {
    /// The first address.
    pub(super) from: DocAddress,
    /// The address after the last.
    pub(super) to: DocAddress,
    /// Set to get the last turns of the range, newest first.
    pub(super) last: bool,
    /// The most turns.
    pub(super) limit: usize,
}

/// Creates the statement that inserts rows, or replaces those at the same addresses.
pub(super) fn put(key: ScopeKey, rows: &[MemoryRow], on_conflict: OnConflict) -> Result<Statement> {
    let rows = rows.iter().map(|row| encode(key, row)).collect::<Result<Vec<_>>>()?;
    Ok(insert(&MEMORIES, rows, on_conflict))
}

fn encode(key: ScopeKey, row: &MemoryRow) -> Result<Vec<SqlValue>> {
    let MemoryRow { memory, address, seq } = row;
    Ok(sql_row![
        key,
        *address,
        memory.id,
        *seq,
        &memory.uri,
        memory.kind as u8,
        memory.status as u8,
        memory.at,
        memory.created_at,
        memory.updated_at,
        memory.last_used_at,
        memory.version,
        memory.importance,
        memory.confidence,
        memory.weight,
        memory.fingerprint(),
        encode_detail(memory)?,
        &memory.name,
        &memory.description,
        &memory.content,
    ])
}

/// Creates the statement that removes rows.
pub(super) fn delete(key: ScopeKey, addresses: &[DocAddress]) -> Statement {
    let addresses = list(addresses.iter().copied());
    sql!("DELETE FROM memories WHERE scope = ? AND address IN ?", key, addresses)
}

/// Creates a query with more conditions and an order.
pub(super) fn select(key: ScopeKey, rest: &str, params: Vec<SqlValue>) -> Statement {
    let params = std::iter::once(SqlValue::from(key)).chain(params).collect();
    Statement::Plain { text: format!("{SELECT} {rest}").into(), params }
}

/// Creates the query for memories by id.
pub(super) fn by_ids(key: ScopeKey, ids: impl IntoIterator<Item = MemoryId>) -> Statement {
    select(key, "AND id IN ?", vec![list(ids)])
}

/// Creates the query for memories by address.
pub(super) fn by_addresses(key: ScopeKey, addresses: &[DocAddress]) -> Statement {
    select(key, "AND address IN ?", vec![list(addresses.iter().copied())])
}

/// Creates the query for turns of a session.
pub(super) fn turns(key: ScopeKey, TurnQuery { from, to, last, limit }: TurnQuery) -> Statement {
    let order = if last { "DESC" } else { "ASC" };
    let rest =
        format!("AND address >= ? AND address < ? AND kind = 7 ORDER BY address {order} LIMIT ?");
    select(key, &rest, vec![from.into(), to.into(), limit_value(limit)])
}

/// Creates the query for the memories that a key names, oldest first; `None` if it can name none.
pub(super) fn find(key: ScopeKey, wanted: &MemoryKey, limit: usize) -> Option<Statement> {
    let (condition, mut params) = match wanted {
        MemoryKey::IdPrefix(prefix) => {
            let (low, high) = id_range(prefix)?;
            ("AND id BETWEEN ? AND ?", sql_row![low, high])
        }
        MemoryKey::RandomPrefix(prefixes) => {
            let (count, bytes) = random_bytes(prefixes)?;
            let condition =
                format!("AND substr(BYTES_OF(id), 11, {count}) IN ? ORDER BY id LIMIT ?");
            return Some(select(key, &condition, vec![list(bytes), limit_value(limit)]));
        }
        MemoryKey::Uri(uri) => ("AND listed_uri = ?", sql_row![uri]),
        MemoryKey::Text(text) => ("AND kind <> 7 AND digest = ?", sql_row![*text]),
    };
    params.push(limit_value(limit));
    Some(select(key, &format!("{condition} ORDER BY id LIMIT ?"), params))
}

/// Creates the query for a page of a list, from a cursor on: filters that columns can answer, then at most `limit`.
pub(super) fn page(key: ScopeKey, page: &ListQuery, limit: usize) -> Statement {
    let (beyond, order) = match page.order {
        ListOrder::NewestFirst => ("<", "DESC"),
        ListOrder::OldestFirst => (">", "ASC"),
    };
    let (mut rest, mut params) = (String::new(), Vec::new());
    if let Some(after) = page.after {
        rest.push_str(&format!("AND id {beyond} ? "));
        params.push(after.into());
    }
    push_filter(&page.filter, &mut rest, &mut params);
    rest.push_str(&format!("ORDER BY id {order} LIMIT ?"));
    params.push(limit_value(limit));
    select(key, &rest, params)
}

/// Adds the conditions of a filter that columns can answer; the memory itself answers the rest.
fn push_filter(filter: &MemoryFilter, rest: &mut String, params: &mut Vec<SqlValue>) {
    let mut push_numbers = |column: &str, numbers: SqlValue| {
        if numbers != SqlValue::List(Vec::new()) {
            rest.push_str(&format!("AND {column} IN ? "));
            params.push(numbers);
        }
    };
    push_numbers("kind", list(filter.kinds.iter().map(|kind| *kind as u8)));
    push_numbers("status", list(filter.statuses.iter().map(|status| *status as u8)));
    for (bound, operator) in [(filter.since, ">="), (filter.until, "<")] {
        if let Some(at) = bound {
            rest.push_str(&format!("AND at {operator} ? "));
            params.push(at.into());
        }
    }
}

/// Returns a limit that every database accepts.
pub(super) fn limit_value(limit: usize) -> SqlValue {
    SqlValue::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Decodes the rows of a query.
pub(super) fn read_all(rows: Vec<SqlRow>, scope: &Scope) -> Result<Vec<MemoryRow>> {
    rows.into_iter().map(|row| read(row, scope)).collect()
}

/// Decodes the memories of a query.
pub(super) fn read_memories(rows: Vec<SqlRow>, scope: &Scope) -> Result<Vec<Memory>> {
    rows.into_iter().map(|row| Ok(read(row, scope)?.memory)).collect()
}

fn read(mut row: SqlRow, scope: &Scope) -> Result<MemoryRow> {
    let columns = MemoryColumns {
        address: row.int(0)?,
        id: row.id(1)?,
        seq: row.int(2)?,
        uri: row.text(3)?,
        kind: row.int(4)?,
        status: row.int(5)?,
        at: row.int(6)?,
        created_at: row.int(7)?,
        updated_at: row.int(8)?,
        last_used_at: row.opt_int(9)?,
        version: row.int(10)?,
        importance: row.real(11)?,
        confidence: row.real(12)?,
        weight: row.real(13)?,
        detail: row.text(14)?,
        name: row.text(15)?,
        description: row.text(16)?,
        content: row.text(17)?,
    };
    columns.decode(scope)
}
