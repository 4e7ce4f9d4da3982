//! Neighbours of a statement: memories of the same slot, and memories that share its rarest terms.

use std::collections::{BTreeMap, HashSet};

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

/// Returns the active memories near a draft, nearest first.
pub(super) async fn neighbours_of_draft(
    store: &dyn Store,
    scope: &Scope,
    draft: &Draft,
) -> Result<Vec<Memory>> {
    let slots = draft.slot.iter().flat_map(|slot| {
        let opposite = slot.attribute.opposite();
        let other = opposite.map(|attribute| Slot { attribute, ..slot.clone() });
        std::iter::once(slot_term(slot)).chain(other.as_ref().map(slot_term))
    });
    let text = [Some(&draft.content), draft.replaces.as_ref()].into_iter().flatten();
    let text: Vec<&str> = text.map(String::as_str).collect();
    find_neighbours(store, scope, slots.collect(), &text.join(" ")).await
}

/// Returns the active memories near a text, nearest first.
pub async fn neighbours_of_text(
    store: &dyn Store,
    scope: &Scope,
    text: &str,
) -> Result<Vec<Memory>> {
    find_neighbours(store, scope, Vec::new(), text).await
}

async fn find_neighbours(
    store: &dyn Store,
    scope: &Scope,
    slots: Vec<TermHash>,
    text: &str,
) -> Result<Vec<Memory>> {
    let mut seen = HashSet::new();
    let words = terms(text).into_iter().filter(|word| seen.insert(word.clone())).take(MAX_TERMS);
    let slot_count = slots.len();
    let query: Vec<TermHash> =
        slots.into_iter().chain(words.map(|word| TermHash::of(&word))).collect();
    let segments = store.index().postings(scope, &query, None).await?;
    let addresses = nearest_addresses(&segments, query.len(), slot_count);
    let found = store.memories().by_address(scope, &addresses).await?;
    Ok(found.into_iter().map(|(_, memory)| memory).collect())
}

/// Returns the addresses with the most and rarest terms; the first `slot_count` terms are slots.
fn nearest_addresses(
    segments: &[Segment],
    term_count: usize,
    slot_count: usize,
) -> Vec<DocAddress> {
    let all: usize = segments.iter().map(|segment| segment.docs.len()).sum();
    let mut scores: BTreeMap<DocAddress, f64> = BTreeMap::new();
    for term in 0..term_count {
        let found = || segments.iter().filter_map(move |it| Some((it, it.postings.get(term)?)));
        let count: usize = found().map(|(_, list)| list.len()).sum();
        let idf = if term < slot_count {
            SAME_SLOT_SCORE
        } else {
            (1.0 + all as f64 / (1.0 + count as f64)).ln()
        };
        for (segment, posting) in found().flat_map(|(it, list)| list.iter().map(move |p| (it, p))) {
            let doc = posting.doc as usize;
            let is_memory = segment.docs.kind(doc) != Kind::Turn;
            if is_memory && segment.docs.status(doc) == Status::Active {
                *scores.entry(segment.docs.address(doc)).or_default() += idf;
            }
        }
    }
    let mut best: Vec<(DocAddress, f64)> = scores.into_iter().collect();
    // Newest first among equals.
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    best.into_iter().take(MAX_NEIGHBOURS).map(|(address, _)| address).collect()
}
