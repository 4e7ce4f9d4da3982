//! The uri index in SQLite: a walk seeks from name to name and skips everything in between.
//!
//! `kind` 7 in statements is [`Kind::Turn`](crate::types::Kind::Turn), a literal as in the partial index
//! `memories_uri`, which leaves turns out.

use async_trait::async_trait;
use rusqlite::{Row, types::Value};

use super::{
    ScopeDb, SqliteStore, capture_rows::session_number, rows, rows::TurnRange,
    statements::Statements,
};
use crate::{
    error::Result,
    store::{
        AddressQuery, DocAddress, SessionSummary, UriChild, UriIndex,
        row::timestamp,
        uri_index::{MAX_CHAR, child_of, seek_after, session_range},
    },
    types::{Memory, MemoryId, Scope},
};

#[async_trait]
impl UriIndex for SqliteStore {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        let folder = folder.to_owned();
        let after = after.map(str::to_owned);
        self.read(scope, move |db| children(db, &folder, after, limit)).await
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let range = UriRange {
            from: after.map_or(beginning, |after| after.max(beginning)).to_owned(),
            is_inclusive: after.is_none(),
            end: format!("{beginning}{MAX_CHAR}"),
        };
        self.read(scope, move |db| in_range(db, range, limit)).await
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        let query = within.clone();
        self.read(scope, move |db| {
            let mut addresses = match &query {
                AddressQuery::Ids(ids) => addresses_of_ids(db, ids)?,
                AddressQuery::Folder(uri) => addresses_under(db, uri)?,
            };
            addresses.sort_unstable();
            Ok(addresses)
        })
        .await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        let after = after.map(str::to_owned);
        self.read(scope, move |db| sessions(db, after.as_deref(), limit)).await
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let session = session.to_owned();
        self.read(scope, move |db| turns(db, &session, after, limit)).await
    }
}

/// Uris after `from`, or from it on, and before `end`.
struct UriRange {
    from: String,
    is_inclusive: bool,
    end: String,
}

fn children(
    db: ScopeDb<'_>,
    folder: &str,
    mut after: Option<String>,
    limit: usize,
) -> Result<Vec<UriChild>> {
    let mut children = Vec::new();
    while children.len() < limit {
        let (from, is_inclusive) = seek_after(folder, after.as_deref());
        let range = UriRange { from, is_inclusive, end: format!("{folder}{MAX_CHAR}") };
        let next = in_range(db, range, 1)?.pop();
        let Some(child) = next.and_then(|memory| child_of(folder, memory)) else { break };
        after = Some(child.sort_key());
        children.push(child);
    }
    Ok(children)
}

/// Returns the first memories of a range, in the order of uris.
fn in_range(
    db: ScopeDb<'_>,
    UriRange { from, is_inclusive, end }: UriRange,
    limit: usize,
) -> Result<Vec<Memory>> {
    let above = if is_inclusive { ">=" } else { ">" };
    let sql = format!(
        "SELECT {} FROM memories INDEXED BY memories_uri \
         WHERE scope = ?1 AND kind <> 7 AND uri {above} ?2 AND uri < ?3 ORDER BY uri",
        rows::COLUMNS
    );
    let values = [Value::Integer(db.id), Value::Text(from), Value::Text(end)];
    rows::select(db, &sql, values, |_| true, limit)
}

fn addresses_of_ids(db: ScopeDb<'_>, ids: &[MemoryId]) -> Result<Vec<DocAddress>> {
    let sql = "SELECT place FROM memories WHERE scope = ?1 AND id = ?2";
    let address = |id: &MemoryId| db.one(sql, (db.id, id.as_bytes()), read_address);
    ids.iter().filter_map(|id| address(id).transpose()).collect()
}

fn addresses_under(db: ScopeDb<'_>, uri: &str) -> Result<Vec<DocAddress>> {
    // Two seeks in the index of uris; with OR SQLite would walk through it.
    let sql = "SELECT place FROM memories INDEXED BY memories_uri \
               WHERE scope = ?1 AND kind <> 7 AND uri = ?2 \
               UNION ALL SELECT place FROM memories INDEXED BY memories_uri \
               WHERE scope = ?1 AND kind <> 7 AND uri >= ?3 AND uri < ?4";
    let folder = format!("{uri}/");
    let end = format!("{folder}{MAX_CHAR}");
    db.all(sql, (db.id, uri, folder, end), read_address)
}

fn read_address(row: &Row<'_>) -> rusqlite::Result<DocAddress> {
    row.get::<_, i64>(0).map(|bits| DocAddress::from_bits(bits as u64))
}

fn sessions(db: ScopeDb<'_>, after: Option<&str>, limit: usize) -> Result<Vec<SessionSummary>> {
    let mut statement = db.prepare_cached(
        "SELECT name, number FROM sessions WHERE scope = ?1 AND (?2 IS NULL OR name > ?2) ORDER BY name",
    )?;
    let mut rows = statement.query((db.id, after))?;
    let mut sessions = Vec::new();
    while sessions.len() < limit
        && let Some(row) = rows.next()?
    {
        // A session whose turns were all deleted still has its row.
        if let Some((first, last)) = first_and_last_at(db, row.get(1)?)? {
            let (first_at, last_at) = (timestamp(first)?, timestamp(last)?);
            sessions.push(SessionSummary { session: row.get(0)?, first_at, last_at });
        }
    }
    Ok(sessions)
}

/// Returns the times of the first and the last turn of a session; `None` if it has no turns.
fn first_and_last_at(db: ScopeDb<'_>, session: u32) -> Result<Option<(i64, i64)>> {
    let (from, to) = session_range(session);
    let (from, to) = (from.to_bits() as i64, to.to_bits() as i64);
    let at = |order: &str| {
        let sql = format!(
            "SELECT at FROM memories WHERE scope = ?1 AND place >= ?2 AND place < ?3 AND kind = 7 \
             ORDER BY place {order} LIMIT 1"
        );
        db.one(&sql, (db.id, from, to), |row| row.get(0))
    };
    Ok(at("ASC")?.zip(at("DESC")?))
}

fn turns(
    db: ScopeDb<'_>,
    session: &str,
    after: Option<MemoryId>,
    limit: usize,
) -> Result<Vec<Memory>> {
    let Some(number) = session_number(db, Some(session))? else { return Ok(Vec::new()) };
    let (mut from, to) = session_range(number);
    if let Some(after) = after {
        let Some(row) = rows::by_id(db, after)? else { return Ok(Vec::new()) };
        from = DocAddress::from_bits(row.address.to_bits() + 1).max(from);
    }
    let turns = rows::turns(db, TurnRange { from, to, last: false, limit })?;
    Ok(turns.into_iter().map(|turn| turn.memory).collect())
}
