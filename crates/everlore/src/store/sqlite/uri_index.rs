//! The tree of uris, asked of the index of uris: from name to name, past everything in between.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params, types::Value};

use super::{SqliteStore, failed, rows};
use crate::{
    error::Result,
    store::{
        AddressQuery, DocAddress, SessionSummary, UriChild, UriIndex,
        uri_index::{child_of, seek_after},
    },
    types::{Memory, MemoryId, Scope},
};

/// Above every character that a uri has.
const MAX_CHAR: char = char::MAX;

#[async_trait]
impl UriIndex for SqliteStore {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        let (owner, folder) = (scope.clone(), folder.to_owned());
        let after = after.map(str::to_owned);
        self.read(scope, move |db, number| {
            names(db, &owner, number, &folder, after.as_deref(), limit)
        })
        .await
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (owner, end) = (scope.clone(), format!("{beginning}{MAX_CHAR}"));
        let (from, is_in) = match after {
            Some(after) => (after.max(beginning).to_owned(), false),
            None => (beginning.to_owned(), true),
        };
        self.read(scope, move |db, number| {
            uri_range(db, &owner, number, (&from, is_in), &end, limit)
        })
        .await
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        let within = within.clone();
        self.read(scope, move |db, number| places(db, number, &within)).await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        let after = after.map(str::to_owned);
        self.read(scope, move |db, number| session_summaries(db, number, after.as_deref(), limit))
            .await
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (owner, session) = (scope.clone(), session.to_owned());
        self.read(scope, move |db, number| turns(db, &owner, number, &session, (after, limit)))
            .await
    }
}

fn names(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    folder: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<UriChild>> {
    let end = format!("{folder}{MAX_CHAR}");
    let mut found: Vec<UriChild> = Vec::new();
    let mut key = after.map(str::to_owned);
    while found.len() < limit {
        let (from, is_in) = seek_after(folder, key.as_deref());
        let next = uri_range(db, owner, scope, (&from, is_in), &end, 1)?.pop();
        let Some(name) = next.and_then(|memory| child_of(folder, memory)) else { break };
        key = Some(name.sort_key());
        found.push(name);
    }
    Ok(found)
}

/// Memories between two uris, in their order.
fn uri_range(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    (from, is_in): (&str, bool),
    end: &str,
    limit: usize,
) -> Result<Vec<Memory>> {
    let above = if is_in { ">=" } else { ">" };
    let sql = format!(
        "SELECT {} FROM memories INDEXED BY memories_uri \
         WHERE scope = ?1 AND kind <> 7 AND uri {above} ?2 AND uri < ?3 ORDER BY uri",
        rows::COLUMNS
    );
    let values = [Value::Integer(scope), Value::Text(from.to_owned()), Value::Text(end.to_owned())];
    rows::select(db, owner, &sql, values, |_| true, limit)
}

fn places(db: &Connection, scope: i64, within: &AddressQuery) -> Result<Vec<DocAddress>> {
    let mut found = match within {
        AddressQuery::Ids(ids) => addresses_of_ids(db, scope, ids)?,
        AddressQuery::Folder(uri) => addresses_under(db, scope, uri)?,
    };
    found.sort_unstable();
    Ok(found)
}

fn addresses_of_ids(db: &Connection, scope: i64, ids: &[MemoryId]) -> Result<Vec<DocAddress>> {
    let sql = "SELECT place FROM memories WHERE scope = ?1 AND id = ?2";
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let mut place = |id: &MemoryId| {
        statement.query_row(params![scope, id.as_bytes()], |row| row.get(0)).optional()
    };
    let found = ids.iter().map(|id| place(id).map_err(failed));
    Ok(found
        .collect::<Result<Vec<Option<i64>>>>()?
        .into_iter()
        .flatten()
        .map(address_from_bits)
        .collect())
}

fn addresses_under(db: &Connection, scope: i64, uri: &str) -> Result<Vec<DocAddress>> {
    // Two steps into the index of uris; with OR it would be walked through.
    let sql = "SELECT place FROM memories INDEXED BY memories_uri \
               WHERE scope = ?1 AND kind <> 7 AND uri = ?2 \
               UNION ALL SELECT place FROM memories INDEXED BY memories_uri \
               WHERE scope = ?1 AND kind <> 7 AND uri >= ?3 AND uri < ?4";
    let folder = format!("{uri}/");
    let end = format!("{folder}{MAX_CHAR}");
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let rows = statement.query_map(params![scope, uri, folder, end], |row| row.get(0));
    let found: Result<Vec<i64>, _> = rows.map_err(failed)?.collect();
    Ok(found.map_err(failed)?.into_iter().map(address_from_bits).collect())
}

fn address_from_bits(bits: i64) -> DocAddress {
    DocAddress::from_bits(bits as u64)
}

fn session_summaries(
    db: &Connection,
    scope: i64,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<SessionSummary>> {
    let mut statement = db
        .prepare_cached(
            "SELECT name, number FROM sessions WHERE scope = ?1 AND (?2 IS NULL OR name > ?2) ORDER BY name",
        )
        .map_err(failed)?;
    let mut rows = statement.query(params![scope, after]).map_err(failed)?;
    let mut talks = Vec::new();
    while talks.len() < limit
        && let Some(row) = rows.next().map_err(failed)?
    {
        let (session, number): (String, u32) =
            (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
        if let Some((first, last)) = first_and_last_at(db, scope, number)? {
            let (first_at, last_at) =
                (rows::decode_timestamp(first)?, rows::decode_timestamp(last)?);
            talks.push(SessionSummary { session, first_at, last_at });
        }
    }
    Ok(talks)
}

/// When the first and the last turn of a conversation were said; none if it has none any more.
fn first_and_last_at(db: &Connection, scope: i64, session: u32) -> Result<Option<(i64, i64)>> {
    let (from, to) = session_range(session);
    let one = |order: &str| {
        let sql = format!(
            "SELECT at FROM memories WHERE scope = ?1 AND place >= ?2 AND place < ?3 AND kind = 7 \
             ORDER BY place {order} LIMIT 1"
        );
        let mut statement = db.prepare_cached(&sql).map_err(failed)?;
        statement
            .query_row((scope, from.to_bits() as i64, to.to_bits() as i64), |row| row.get(0))
            .optional()
            .map_err(failed)
    };
    Ok(one("ASC")?.zip(one("DESC")?))
}

fn session_range(session: u32) -> (DocAddress, DocAddress) {
    (DocAddress::new(session, 0), DocAddress::new(session.saturating_add(1), 0))
}

fn turns(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    session: &str,
    (after, limit): (Option<MemoryId>, usize),
) -> Result<Vec<Memory>> {
    let number: Option<u32> = db
        .prepare_cached("SELECT number FROM sessions WHERE scope = ?1 AND name = ?2")
        .and_then(|mut statement| {
            statement.query_row((scope, session), |row| row.get(0)).optional()
        })
        .map_err(failed)?;
    let Some(number) = number else { return Ok(Vec::new()) };
    let (mut from, to) = session_range(number);
    if let Some(after) = after {
        let Some(stored) = rows::by_id(db, owner, scope, after)? else { return Ok(Vec::new()) };
        from = DocAddress::from_bits(stored.address.to_bits() + 1).max(from);
    }
    let found = rows::turns(db, owner, scope, (from, to), (false, limit))?;
    Ok(found.into_iter().map(|stored| stored.memory).collect())
}
