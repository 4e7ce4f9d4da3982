//! The tree of uris, asked of the index of uris: from name to name, past everything in between.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params, types::Value};

use super::{SqliteStore, failed, rows};
use crate::{
    error::Result,
    store::{
        Name, Place, Talk, Tree,
        tree::{going_on, name_of},
    },
    types::{Memory, MemoryId, Scope},
};

/// Above every character that a uri has.
const LAST: char = char::MAX;

#[async_trait]
impl Tree for SqliteStore {
    async fn names(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let (owner, folder) = (scope.clone(), folder.to_owned());
        let after = after.map(str::to_owned);
        self.read(scope, move |db, number| {
            names(db, &owner, number, &folder, after.as_deref(), limit)
        })
        .await
    }

    async fn beginning(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (owner, end) = (scope.clone(), format!("{beginning}{LAST}"));
        let (from, is_in) = match after {
            Some(after) => (after.max(beginning).to_owned(), false),
            None => (beginning.to_owned(), true),
        };
        self.read(scope, move |db, number| range(db, &owner, number, (&from, is_in), &end, limit))
            .await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Talk>> {
        let after = after.map(str::to_owned);
        self.read(scope, move |db, number| talks(db, number, after.as_deref(), limit)).await
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
) -> Result<Vec<Name>> {
    let end = format!("{folder}{LAST}");
    let mut found: Vec<Name> = Vec::new();
    let mut key = after.map(str::to_owned);
    while found.len() < limit {
        let (from, is_in) = going_on(folder, key.as_deref());
        let next = range(db, owner, scope, (&from, is_in), &end, 1)?.pop();
        let Some(name) = next.and_then(|memory| name_of(folder, memory)) else { break };
        key = Some(name.key());
        found.push(name);
    }
    Ok(found)
}

/// Memories between two uris, in their order.
fn range(
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

fn talks(db: &Connection, scope: i64, after: Option<&str>, limit: usize) -> Result<Vec<Talk>> {
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
        if let Some((first, last)) = ends(db, scope, number)? {
            let (first_at, last_at) = (rows::moment(first)?, rows::moment(last)?);
            talks.push(Talk { session, first_at, last_at });
        }
    }
    Ok(talks)
}

/// When the first and the last turn of a conversation were said; none if it has none any more.
fn ends(db: &Connection, scope: i64, session: u32) -> Result<Option<(i64, i64)>> {
    let (from, to) = bounds(session);
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

fn bounds(session: u32) -> (Place, Place) {
    (Place::new(session, 0), Place::new(session.saturating_add(1), 0))
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
    let (mut from, to) = bounds(number);
    if let Some(after) = after {
        let Some(stored) = rows::by_id(db, owner, scope, after)? else { return Ok(Vec::new()) };
        from = Place::from_bits(stored.place.to_bits() + 1).max(from);
    }
    let found = rows::turns(db, owner, scope, (from, to), (false, limit))?;
    Ok(found.into_iter().map(|stored| stored.memory).collect())
}
