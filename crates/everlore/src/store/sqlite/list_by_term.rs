//! A list of memories by tag or session from the search index: rows of other memories are not read.

use rusqlite::Connection;

use super::{
    ScopeDb,
    block_tables::{headers, load_deleted, term_postings},
    index::tail,
    locate::addresses_of,
    rows,
};
use crate::{
    error::Result,
    store::{
        DocAddress, ListOrder, ListQuery, Posting,
        index::{IndexEntry, assemble::BlockHeader},
    },
    text::terms::TermHash,
    types::Memory,
};

/// Returns one page of the memories that match a filter; `None` if the filter has no terms, or if so many memories have
/// them that going through the scope in order fills a page sooner.
pub(super) fn list(db: ScopeDb<'_>, page: &ListQuery) -> Result<Option<Vec<Memory>>> {
    let terms = page.filter.required_terms();
    if terms.is_empty() {
        return Ok(None);
    }
    let Some(addresses) = matching_addresses(db, &terms, page.limit)? else {
        return Ok(None);
    };
    let found = rows::by_address(db, &addresses)?.into_iter();
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

/// Returns the addresses of the memories that have all terms; `None` if there are too many.
fn matching_addresses(
    db: ScopeDb<'_>,
    terms: &[TermHash],
    limit: usize,
) -> Result<Option<Vec<DocAddress>>> {
    let (headers, tail) = (headers(db)?, tail(db)?);
    let all = headers.iter().map(|header| header.docs).sum::<usize>() + tail.len();
    // Of n memories m match. Either m rows are read, or n / m for each memory of a page.
    let most = limit.min(all).saturating_mul(all).isqrt();
    let has_all = |entry: &&IndexEntry| {
        terms.iter().all(|term| entry.terms.iter().any(|(own, _)| own == term))
    };
    let in_tail = tail.iter().filter(has_all).map(|entry| entry.record.address);
    let mut addresses: Vec<DocAddress> = in_tail.collect();
    for header in &headers {
        let docs = matching_docs(&db, header, terms)?;
        if addresses.len() + docs.len() > most {
            return Ok(None);
        }
        addresses.extend(addresses_of(&db, header.id, &docs)?);
    }
    Ok(Some(addresses))
}

/// Returns the documents of a block that have all terms and are not deleted, in order.
fn matching_docs(db: &Connection, header: &BlockHeader, terms: &[TermHash]) -> Result<Vec<u32>> {
    let lists = term_postings(db, header, terms)?;
    let deleted = load_deleted(db, header.id)?;
    let Some((first, others)) = lists.split_first() else { return Ok(Vec::new()) };
    let is_in = |list: &Vec<Posting>, doc: u32| {
        list.binary_search_by_key(&doc, |posting| posting.doc).is_ok()
    };
    let docs = first.iter().map(|posting| posting.doc);
    Ok(docs
        .filter(|doc| others.iter().all(|list| is_in(list, *doc)))
        .filter(|doc| deleted.binary_search(doc).is_err())
        .collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::*;
    use crate::{
        Engine, RememberRequest, Turn,
        store::{MemoryFilter, SqliteStore, Store},
        types::Scope,
    };

    /// Fills a store with a few tagged memories among many turns, in blocks and in the tail.
    async fn filled() -> (TempDir, Arc<SqliteStore>, Scope) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        let store = Arc::new(SqliteStore::open(path).await.unwrap());
        let (engine, scope) = (Engine::new(store.clone()), Scope::default());
        for round in 0..4 {
            let turn = |n| Turn {
                text: format!("round {round} 第 {n} 句"),
                session: Some(if n == 0 { "rare" } else { "common" }.into()),
                ..Turn::default()
            };
            engine.observe(&scope, (0..90).map(turn).collect()).await.unwrap();
            let tags = ["茶".to_owned(), format!("round-{round}")];
            let fact = format!("The tea of round {round} is 龙井");
            let remembered = RememberRequest {
                content: fact,
                tags: tags.to_vec(),
                ..RememberRequest::default()
            };
            engine.remember(&scope, remembered).await.unwrap();
        }
        (folder, store, scope)
    }

    /// Lists by the index and by the rows: returns how many the index finds, and `true` if both agree.
    async fn both(store: &SqliteStore, scope: &Scope, page: &ListQuery) -> (Option<usize>, bool) {
        let page = page.clone();
        let read = move |db: ScopeDb<'_>| {
            let by_rows = rows::list(db, &page)?;
            Ok(Some((list(db, &page)?, by_rows)))
        };
        let (by_index, by_rows) = store.read(scope, read).await.unwrap().unwrap();
        (by_index.as_ref().map(Vec::len), by_index.is_none_or(|found| found == by_rows))
    }

    #[tokio::test]
    async fn a_list_by_the_index_is_the_one_by_the_rows() {
        let (_folder, store, scope) = filled().await;
        let tagged = |tags: &[&str]| MemoryFilter {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..MemoryFilter::default()
        };
        let of = |session: &str| MemoryFilter {
            session: Some(session.into()),
            ..MemoryFilter::default()
        };
        let cases = [
            (tagged(&["茶"]), 4),
            (tagged(&["茶", "round-2"]), 1),
            (tagged(&["coffee"]), 0),
            (of("rare"), 4),
        ];
        for (filter, count) in cases {
            for order in [ListOrder::NewestFirst, ListOrder::OldestFirst] {
                let page = ListQuery { filter: filter.clone(), after: None, order, limit: 3 };
                assert_eq!(both(&store, &scope, &page).await, (Some(count.min(3)), true));
                let first = store.memories().list(&scope, &page).await.unwrap();
                let after = first.last().map(|memory| memory.id);
                let rest = ListQuery { after, ..page };
                assert_eq!(both(&store, &scope, &rest).await, (Some(count - count.min(3)), true));
            }
        }
        let common =
            ListQuery { filter: of("common"), after: None, order: ListOrder::default(), limit: 9 };
        assert_eq!(both(&store, &scope, &common).await, (None, true), "a page is full at once");
        assert_eq!(store.memories().list(&scope, &common).await.unwrap().len(), 9);
    }
}
