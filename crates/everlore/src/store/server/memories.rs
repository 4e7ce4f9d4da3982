//! The memories facet: rows by id, key, list and address, and tombstones.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;

use super::{
    ServerStore,
    database::number,
    rows,
    scope_row::ScopeKey,
    sql::{SqlRow, list, sql},
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{
        DocAddress, ListOrder, ListQuery, Memories, MemoryKey, Posting, ScopeCounts, Segment,
        index::assemble::PostingsRequest, row::by_number,
    },
    types::{Fingerprint, Kind, Memory, MemoryId, Scope, Status},
};

/// Rows of one round trip where a filter cannot be answered by columns alone: a few hundred kilobytes.
const SCAN_ROWS: usize = 256;

#[async_trait]
impl Memories for ServerStore {
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        let found = rows::by_ids(ScopeKey::of(scope), ids.iter().copied());
        let found = rows::read_memories(self.db.read_one(found).await?, scope)?;
        let found: HashMap<MemoryId, Memory> =
            found.into_iter().map(|memory| (memory.id, memory)).collect();
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    async fn find(
        &self,
        scope: &Scope,
        keys: &[MemoryKey],
        limit: usize,
    ) -> Result<Vec<Vec<Memory>>> {
        let key = ScopeKey::of(scope);
        let queries: Vec<_> = keys.iter().map(|wanted| rows::find(key, wanted, limit)).collect();
        let statements: Vec<_> = queries.iter().flatten().cloned().collect();
        let results = self.db.retried(RetryRule::Idempotent, || async {
            self.db.snapshot().await?.commit(statements.clone()).await
        });
        let mut results = results.await?.into_iter();
        let mut read = |is_asked: bool| {
            let rows = if is_asked { results.next().map(|it| it.rows) } else { None };
            rows::read_memories(rows.unwrap_or_default(), scope)
        };
        let named = |(query, wanted): (&Option<_>, &MemoryKey)| {
            let mut found = read(query.is_some())?;
            found.retain(|memory| wanted.may_name(&memory.id));
            Ok(found)
        };
        queries.iter().zip(keys).map(named).collect()
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        match self.list_by_term(scope, page).await? {
            Some(found) => Ok(found),
            None => self.list_by_rows(scope, page).await,
        }
    }

    async fn by_address(
        &self,
        scope: &Scope,
        addresses: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        let found = rows::by_addresses(ScopeKey::of(scope), addresses);
        let found = rows::read_all(self.db.read_one(found).await?, scope)?;
        let mut found: HashMap<DocAddress, Memory> =
            found.into_iter().map(|row| (row.address, row.memory)).collect();
        let take = |address: &DocAddress| Some((*address, found.remove(address)?));
        Ok(addresses.iter().filter_map(take).collect())
    }

    async fn read_back(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        self.db.retried(RetryRule::Idempotent, || self.find_again(scope, ids)).await
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        let key = ScopeKey::of(scope);
        let kinds = "SELECT kind, status, count(*) FROM memories WHERE scope = ? GROUP BY kind, status \
                     ORDER BY kind, status";
        let [kinds, changes, tombstones] = self
            .db
            .read([
                sql!(kinds, key),
                sql!("SELECT changes FROM scopes WHERE scope = ?", key),
                sql!("SELECT count(*) FROM tombstones WHERE scope = ?", key),
            ])
            .await?;
        let decode = |mut row: SqlRow| {
            let kind = by_number(&Kind::ALL, row.int(0)?, "kind")?;
            Ok((kind, by_number(&Status::ALL, row.int(1)?, "status")?, row.int(2)?))
        };
        Ok(ScopeCounts {
            memories: kinds.into_iter().map(decode).collect::<Result<_>>()?,
            changes: number(changes)? as usize,
            tombstones: number(tombstones)? as usize,
        })
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        let text = "SELECT digest FROM tombstones WHERE scope = ? AND digest IN ?";
        let found = sql!(text, ScopeKey::of(scope), list(texts.iter().copied()));
        let found: BTreeSet<_> =
            read_digests(self.db.read_one(found).await?)?.into_iter().collect();
        Ok(texts.iter().map(|text| found.contains(text)).collect())
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        let text = "SELECT digest FROM tombstones WHERE scope = ? ORDER BY digest";
        read_digests(self.db.read_one(sql!(text, ScopeKey::of(scope))).await?)
    }
}

/// Decodes digests of texts.
pub(super) fn read_digests(rows: Vec<SqlRow>) -> Result<Vec<Fingerprint>> {
    rows.into_iter().map(|mut row| row.id(0).map(Fingerprint::from_bytes)).collect()
}

impl ServerStore {
    /// Returns one page from the search index: rows of other memories are not read. `None` if the filter has no terms,
    /// or if so many memories have them that going through the scope in order fills a page sooner.
    async fn list_by_term(&self, scope: &Scope, page: &ListQuery) -> Result<Option<Vec<Memory>>> {
        let terms = page.filter.required_terms();
        if terms.is_empty() {
            return Ok(None);
        }
        let request = PostingsRequest { terms, model: None };
        let segments = self.segments(scope, &request).await?;
        let all: usize = segments.iter().map(|segment| segment.docs.len()).sum();
        // Of n memories m match. Either m rows are read, or n / m for each memory of a page.
        let most = page.limit.min(all).saturating_mul(all).isqrt();
        let addresses: Vec<DocAddress> = segments.iter().flat_map(matching_addresses).collect();
        if addresses.len() > most {
            return Ok(None);
        }
        let found = self.by_address(scope, &addresses).await?.into_iter();
        let mut found: Vec<Memory> = found
            .map(|(_, memory)| memory)
            .filter(|memory| page.is_after_cursor(memory.id) && page.filter.matches(memory))
            .collect();
        found.sort_by_key(|memory| memory.id);
        if page.order == ListOrder::NewestFirst {
            found.reverse();
        }
        found.truncate(page.limit);
        Ok(Some(found))
    }

    /// Returns one page by going through the scope in order.
    async fn list_by_rows(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        let filter = &page.filter;
        let columns_answer =
            filter.tags.is_empty() && filter.session.is_none() && filter.turns_until.is_none();
        let (key, mut rest) = (ScopeKey::of(scope), page.clone());
        let mut found: Vec<Memory> = Vec::new();
        loop {
            let lacking = page.limit - found.len();
            let asked = if columns_answer { lacking } else { lacking.max(SCAN_ROWS) };
            let rows = self.db.read_one(rows::page(key, &rest, asked)).await?;
            let is_last = rows.len() < asked;
            let batch = rows::read_memories(rows, scope)?;
            rest.after = batch.last().map(|memory| memory.id);
            found.extend(batch.into_iter().filter(|memory| filter.matches(memory)).take(lacking));
            if is_last || found.len() >= page.limit {
                return Ok(found);
            }
        }
    }
}

/// Returns the addresses of a segment's documents that have all terms.
fn matching_addresses(segment: &Segment) -> Vec<DocAddress> {
    let Some((first, others)) = segment.postings.split_first() else { return Vec::new() };
    let is_in = |list: &Vec<Posting>, doc: u32| {
        list.binary_search_by_key(&doc, |posting| posting.doc).is_ok()
    };
    let docs = first.iter().map(|posting| posting.doc);
    docs.filter(|doc| others.iter().all(|list| is_in(list, *doc)))
        .map(|doc| segment.docs.address(doc as usize))
        .collect()
}
