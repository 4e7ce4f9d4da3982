//! Neighbours of a statement: memories of the same slot, and memories that share its rarest terms.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::extract::Draft;
use crate::{
    error::Result,
    store::{DocAddress, Segment, Store, slot_term},
    text::terms::{TermHash, terms},
    types::{Kind, Memory, Scope, Slot, Status},
};

/// Most neighbours of a statement: further ones share only a common word.
const MAX_NEIGHBOURS: usize = 24;

/// Score of a shared slot, above any number of shared terms.
const SAME_SLOT_SCORE: f64 = 1_000.0;

/// Terms of a long text that are looked up; the rest adds cost and little else.
const MAX_TERMS: usize = 64;

/// Returns for each draft the active memories near it, nearest first. One read of the index serves all drafts.
pub(super) async fn neighbours_of_drafts(
    store: &dyn Store,
    scope: &Scope,
    drafts: &[Draft],
) -> Result<Vec<Vec<Memory>>> {
    find_neighbours(store, scope, drafts.iter().map(NeighbourQuery::of_draft).collect()).await
}

/// Returns the active memories near a text, nearest first.
pub(crate) async fn neighbours_of_text(
    store: &dyn Store,
    scope: &Scope,
    text: &str,
) -> Result<Vec<Memory>> {
    Ok(find_neighbours(store, scope, vec![NeighbourQuery::new(Vec::new(), text)]).await?.concat())
}

/// Returns the turns near a text, nearest first.
pub(super) async fn turns_near_text(
    store: &dyn Store,
    scope: &Scope,
    text: &str,
) -> Result<Vec<Memory>> {
    let query = NeighbourQuery { turns: true, ..NeighbourQuery::new(Vec::new(), text) };
    Ok(find_neighbours(store, scope, vec![query]).await?.concat())
}

/// Terms by which neighbours are found.
struct NeighbourQuery {
    terms: Vec<TermHash>,
    /// Set to look for turns instead of memories.
    turns: bool,
    /// The first terms are slots.
    slot_count: usize,
}

impl NeighbourQuery {
    fn new(slots: Vec<TermHash>, text: &str) -> Self {
        let mut seen = HashSet::new();
        let words = terms(text).into_iter().filter(|word| seen.insert(word.clone()));
        let (slot_count, words) = (slots.len(), words.take(MAX_TERMS));
        let terms = slots.into_iter().chain(words.map(|word| TermHash::of(&word))).collect();
        Self { terms, turns: false, slot_count }
    }

    fn of_draft(draft: &Draft) -> Self {
        let slots = draft.slot.iter().flat_map(|slot| {
            let opposite = slot.attribute.opposite();
            let other = opposite.map(|attribute| Slot { attribute, ..slot.clone() });
            std::iter::once(slot_term(slot)).chain(other.as_ref().map(slot_term))
        });
        let text = [Some(&draft.content), draft.replaces.as_ref()].into_iter().flatten();
        let text: Vec<&str> = text.map(String::as_str).collect();
        Self::new(slots.collect(), &text.join(" "))
    }
}

async fn find_neighbours(
    store: &dyn Store,
    scope: &Scope,
    queries: Vec<NeighbourQuery>,
) -> Result<Vec<Vec<Memory>>> {
    let all: BTreeSet<TermHash> = queries.iter().flat_map(|query| query.terms.clone()).collect();
    let terms: Vec<TermHash> = all.into_iter().collect();
    let segments = store.index().postings(scope, &terms, None).await?;
    let nearest: Vec<_> =
        queries.iter().map(|query| nearest_addresses(&segments, &terms, query)).collect();
    let addresses: BTreeSet<DocAddress> = nearest.iter().flatten().copied().collect();
    let addresses: Vec<_> = addresses.into_iter().collect();
    let found: BTreeMap<DocAddress, Memory> =
        store.memories().by_address(scope, &addresses).await?.into_iter().collect();
    let memories = |near: Vec<DocAddress>| {
        near.iter().filter_map(|address| found.get(address).cloned()).collect()
    };
    Ok(nearest.into_iter().map(memories).collect())
}

/// Returns the addresses with the most and rarest terms of a query. `terms` are those of the segments' postings, sorted.
fn nearest_addresses(
    segments: &[Segment],
    terms: &[TermHash],
    query: &NeighbourQuery,
) -> Vec<DocAddress> {
    let all: usize = segments.iter().map(|segment| segment.docs.len()).sum();
    let mut scores: BTreeMap<DocAddress, f64> = BTreeMap::new();
    for (index, term) in query.terms.iter().enumerate() {
        let Ok(list) = terms.binary_search(term) else { continue };
        let found = || segments.iter().filter_map(move |it| Some((it, it.postings.get(list)?)));
        let count: usize = found().map(|(_, list)| list.len()).sum();
        let idf = if index < query.slot_count {
            SAME_SLOT_SCORE
        } else {
            (1.0 + all as f64 / (1.0 + count as f64)).ln()
        };
        for (segment, posting) in found().flat_map(|(it, list)| list.iter().map(move |p| (it, p))) {
            let doc = posting.doc as usize;
            let kind = segment.docs.kind(doc);
            let is_sought = if query.turns { kind == Kind::Turn } else { kind.is_statement() };
            if is_sought && segment.docs.status(doc) == Status::Active {
                *scores.entry(segment.docs.address(doc)).or_default() += idf;
            }
        }
    }
    let mut best: Vec<(DocAddress, f64)> = scores.into_iter().collect();
    // Newest first among equals.
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    best.into_iter().take(MAX_NEIGHBOURS).map(|(address, _)| address).collect()
}
