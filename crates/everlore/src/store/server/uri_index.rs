//! The uri index facet: walks over the uris of memories that are no turns, and over conversations.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{
    ServerStore,
    database::rows as result_rows,
    rows,
    rows::TurnQuery,
    scope_row::ScopeKey,
    sql::{SqlRow, SqlValue, Statement, list, sql},
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{
        AddressQuery, DocAddress, SessionSummary, UriChild, UriIndex,
        row::timestamp,
        uri_index::{MAX_CHAR, seek_after, session_range},
    },
    types::{Memory, MemoryId, Scope},
};

/// Uris of one round trip of a walk: a walk passes over a folder with more of them in one step.
const WALK_URIS: usize = 256;

#[async_trait]
impl UriIndex for ServerStore {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        let names = self.child_keys(scope, folder, after, limit).await?;
        let uris = names.iter().filter(|name| !name.ends_with('/'));
        let uris = list(uris.map(|name| format!("{folder}{name}")));
        let files = rows::select(ScopeKey::of(scope), "AND listed_uri IN ?", vec![uris]);
        let files = rows::read_memories(self.db.read_one(files).await?, scope)?;
        let mut files: HashMap<String, Memory> =
            files.into_iter().map(|memory| (memory.uri.clone(), memory)).collect();
        let child = |name: String| match name.strip_suffix('/') {
            Some(name) => Some(UriChild::Folder(name.to_owned())),
            None => {
                let memory = files.remove(&format!("{folder}{name}"))?;
                Some(UriChild::File(name, Box::new(memory)))
            }
        };
        Ok(names.into_iter().filter_map(child).collect())
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let above = if after.is_none() { ">=" } else { ">" };
        let from = after.map_or(beginning, |after| after.max(beginning));
        let condition =
            format!("AND listed_uri {above} ? AND listed_uri < ? ORDER BY listed_uri LIMIT ?");
        let end = format!("{beginning}{MAX_CHAR}");
        let params = vec![from.into(), end.into(), rows::limit_value(limit)];
        let found = rows::select(ScopeKey::of(scope), &condition, params);
        rows::read_memories(self.db.read_one(found).await?, scope)
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        let found = self.db.read_one(select_addresses(ScopeKey::of(scope), within)).await?;
        let mut addresses: Vec<DocAddress> =
            found.into_iter().map(|mut row| row.address(0)).collect::<Result<_>>()?;
        addresses.sort_unstable();
        Ok(addresses)
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        let key = ScopeKey::of(scope);
        let (mut found, mut after) = (Vec::new(), after.unwrap_or_default().to_owned());
        loop {
            let asked = (limit - found.len()).min(WALK_URIS);
            let page = self.db.read_one(select_sessions(key, &after, asked)).await?;
            let is_last = page.len() < asked;
            for mut row in page {
                after = row.text(0)?;
                found.extend(read_session(&after, row)?);
            }
            if is_last || found.len() >= limit {
                return Ok(found);
            }
        }
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.db
            .retried(RetryRule::Idempotent, || self.read_turns(scope, session, after, limit))
            .await
    }
}

impl ServerStore {
    /// Returns the keys of a folder's children in order: names, those of folders with a slash.
    async fn child_keys(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>> {
        let mut keys: Vec<String> = Vec::new();
        loop {
            let last = keys.last().map(String::as_str).or(after);
            let (from, is_inclusive) = seek_after(folder, last);
            let above = if is_inclusive { ">=" } else { ">" };
            let text = format!(
                "SELECT listed_uri FROM memories WHERE scope = ? AND listed_uri {above} ? AND listed_uri < ? \
                 ORDER BY listed_uri LIMIT ?"
            );
            let end = format!("{folder}{MAX_CHAR}");
            let uris = sql!(text, ScopeKey::of(scope), from, end, rows::limit_value(WALK_URIS));
            let uris = self.db.read_one(uris).await?;
            let is_last = uris.len() < WALK_URIS;
            for mut row in uris {
                let key = child_key(folder, &row.text(0)?);
                if keys.last() != Some(&key) && keys.len() < limit {
                    keys.push(key);
                }
            }
            if is_last || keys.len() >= limit {
                return Ok(keys);
            }
        }
    }

    async fn read_turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let key = ScopeKey::of(scope);
        let mut tx = self.db.snapshot().await?;
        let text = "SELECT number, (SELECT address FROM memories WHERE scope = ? AND id = ?) \
                    FROM sessions WHERE scope = ? AND name = ?";
        let [found] = result_rows(tx.run(vec![sql!(text, key, after, key, session)]).await?)?;
        let found = found.into_iter().next();
        let range = found.map(|row| turns_after(row, after.is_some(), limit)).transpose()?;
        let Some(range) = range.flatten() else {
            tx.finish();
            return Ok(Vec::new());
        };
        let [turns] = result_rows(tx.commit(vec![rows::turns(key, range)]).await?)?;
        rows::read_memories(turns, scope)
    }
}

/// Returns the range of a session after one of its turns; `None` if that turn is not there.
fn turns_after(mut row: SqlRow, is_after: bool, limit: usize) -> Result<Option<TurnQuery>> {
    let (mut from, to) = session_range(row.int(0)?);
    if is_after {
        let Some(last) = row.opt_int::<i64>(1)? else { return Ok(None) };
        from = DocAddress::from_bits(last as u64 + 1).max(from);
    }
    Ok(Some(TurnQuery { from, to, last: false, limit }))
}

/// Returns the key of the child of a folder that leads to a uri.
fn child_key(folder: &str, uri: &str) -> String {
    let rest = uri.strip_prefix(folder).unwrap_or(uri);
    rest.find('/').map_or(rest, |slash| &rest[..=slash]).to_owned()
}

fn select_addresses(key: ScopeKey, within: &AddressQuery) -> Statement {
    match within {
        AddressQuery::Ids(ids) => sql!(
            "SELECT address FROM memories WHERE scope = ? AND id IN ?",
            key,
            list(ids.iter().copied())
        ),
        AddressQuery::Folder(uri) => {
            let folder = format!("{uri}/");
            let end = format!("{folder}{MAX_CHAR}");
            sql!(
                "SELECT address FROM memories WHERE scope = ? AND listed_uri = ? UNION ALL \
                 SELECT address FROM memories WHERE scope = ? AND listed_uri >= ? AND listed_uri < ?",
                key,
                uri,
                key,
                folder,
                end
            )
        }
    }
}

/// Creates the query for sessions after a name, with the times of their first and last turns; no name is empty.
fn select_sessions(key: ScopeKey, after: &str, limit: usize) -> Statement {
    // Addresses of session n begin at n * 2^32.
    let at = |order: &str| {
        format!(
            "(SELECT m.at FROM memories m WHERE m.scope = s.scope AND m.kind = 7 \
             AND m.address >= s.number * 4294967296 AND m.address < (s.number + 1) * 4294967296 \
             ORDER BY m.address {order} LIMIT 1)"
        )
    };
    let text = format!(
        "SELECT s.name, {}, {} FROM sessions s WHERE s.scope = ? AND s.name > ? ORDER BY s.name LIMIT ?",
        at("ASC"),
        at("DESC")
    );
    let params = vec![key.into(), SqlValue::from(after), rows::limit_value(limit)];
    Statement::Plain { text: text.into(), params }
}

/// Decodes a session; `None` if its turns were all deleted.
fn read_session(name: &str, mut row: SqlRow) -> Result<Option<SessionSummary>> {
    let (Some(first), Some(last)) = (row.opt_int(1)?, row.opt_int(2)?) else { return Ok(None) };
    let (first_at, last_at) = (timestamp(first)?, timestamp(last)?);
    Ok(Some(SessionSummary { session: name.to_owned(), first_at, last_at }))
}
