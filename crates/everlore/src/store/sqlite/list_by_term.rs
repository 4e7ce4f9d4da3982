//! A list of what has tags or belongs to a conversation, from the index: rows of other memories are not read.

use rusqlite::Connection;

use super::{
    block_tables::{BlockHeader, addresses_of, headers, load_deleted, term_postings},
    index::tail,
    rows,
};
use crate::{
    error::Result,
    store::{DocAddress, ListOrder, ListQuery, Posting, index_entry::IndexEntry},
    text::terms::TermHash,
    types::{Memory, MemoryId, Scope},
};

/// The memories a filter lets through, in the order asked for; none if the index cannot tell, or if so many have what is
/// asked for that a page is full sooner by going through the scope in order.
pub(super) fn list(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    page: &ListQuery,
) -> Result<Option<Vec<Memory>>> {
    let terms = page.filter.required_terms();
    if terms.is_empty() {
        return Ok(None);
    }
    let Some(places) = matching_addresses(db, scope, &terms, page.limit)? else { return Ok(None) };
    let found = rows::by_address(db, owner, scope, &places)?.into_iter().map(|(_, memory)| memory);
    let fits = |memory: &Memory| is_after_cursor(page, memory.id) && page.filter.matches(memory);
    let mut found: Vec<Memory> = found.filter(fits).collect();
    found.sort_by_key(|memory| memory.id);
    if page.order == ListOrder::NewestFirst {
        found.reverse();
    }
    found.truncate(page.limit);
    Ok(Some(found))
}

/// Whether a memory comes after what was listed before.
fn is_after_cursor(page: &ListQuery, id: MemoryId) -> bool {
    page.after.is_none_or(|after| match page.order {
        ListOrder::NewestFirst => id < after,
        ListOrder::OldestFirst => id > after,
    })
}

/// Where the memories stand that have all terms, unless they are too many.
fn matching_addresses(
    db: &Connection,
    scope: i64,
    terms: &[TermHash],
    limit: usize,
) -> Result<Option<Vec<DocAddress>>> {
    let (headers, tail) = (headers(db, scope)?, tail(db, scope)?);
    let all = headers.iter().map(|header| header.docs).sum::<usize>() + tail.len();
    // Of n memories m fit. Either m rows are read, or n / m for each of a page.
    let most = limit.min(all).saturating_mul(all).isqrt();
    let has_all = |entry: &&IndexEntry| {
        terms.iter().all(|term| entry.terms.iter().any(|(own, _)| own == term))
    };
    let mut places: Vec<DocAddress> =
        tail.iter().filter(has_all).map(|entry| entry.record.address).collect();
    for header in &headers {
        let docs = matching_docs(db, header, terms)?;
        if places.len() + docs.len() > most {
            return Ok(None);
        }
        places.extend(addresses_of(db, header.id, &docs)?);
    }
    Ok(Some(places))
}

/// The living documents of a block that have all terms, in order.
fn matching_docs(db: &Connection, header: &BlockHeader, terms: &[TermHash]) -> Result<Vec<u32>> {
    let lists = term_postings(db, header, terms)?;
    let gone = load_deleted(db, header.id)?;
    let Some((first, others)) = lists.split_first() else { return Ok(Vec::new()) };
    let is_in = |list: &Vec<Posting>, doc: u32| {
        list.binary_search_by_key(&doc, |posting| posting.doc).is_ok()
    };
    let docs = first.iter().map(|posting| posting.doc);
    Ok(docs
        .filter(|doc| others.iter().all(|list| is_in(list, *doc)))
        .filter(|doc| gone.binary_search(doc).is_err())
        .collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        Engine, RememberRequest, Turn,
        store::{MemoryFilter, SqliteStore, Store},
    };

    /// A store of a few tagged memories among many turns, in blocks and in the tail.
    async fn filled() -> (Arc<SqliteStore>, Scope) {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap());
        let (engine, scope) = (Engine::new(store.clone()), Scope::default());
        for round in 0..4 {
            let said = |n| Turn {
                text: format!("round {round} 第 {n} 句"),
                session: Some(if n == 0 { "rare" } else { "common" }.into()),
                ..Turn::default()
            };
            engine.observe(&scope, (0..90).map(said).collect()).await.unwrap();
            let tags = ["茶".to_owned(), format!("round-{round}")];
            let fact = format!("The tea of round {round} is 龙井");
            let remembered = RememberRequest {
                content: fact,
                tags: tags.to_vec(),
                ..RememberRequest::default()
            };
            engine.remember(&scope, remembered).await.unwrap();
        }
        (store, scope)
    }

    async fn both(store: &SqliteStore, owner: &Scope, page: &ListQuery) -> (Option<usize>, bool) {
        let (asked, own) = (page.clone(), owner.clone());
        let read = move |db: &Connection, number| {
            Ok(Some((list(db, &own, number, &asked)?, rows::list(db, &own, number, &asked)?)))
        };
        let (listed, scanned) = store.read(owner, read).await.unwrap().unwrap();
        (listed.as_ref().map(Vec::len), listed.is_none_or(|listed| listed == scanned))
    }

    #[tokio::test]
    async fn a_list_by_the_index_is_the_one_by_the_rows() {
        let (store, scope) = filled().await;
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
                let first = store.list(&scope, &page).await.unwrap();
                let after = first.last().map(|memory| memory.id);
                let rest = ListQuery { after, ..page };
                assert_eq!(both(&store, &scope, &rest).await, (Some(count - count.min(3)), true));
            }
        }
        let common =
            ListQuery { filter: of("common"), after: None, order: ListOrder::default(), limit: 9 };
        assert_eq!(both(&store, &scope, &common).await, (None, true), "a page is full at once");
        assert_eq!(store.list(&scope, &common).await.unwrap().len(), 9);
    }
}
