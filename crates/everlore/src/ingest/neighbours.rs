//! The memories near a statement: those of the same slot, and those that share the most telling words.

use std::collections::{BTreeMap, HashSet};

use super::extract::Draft;
use crate::{
    error::Result,
    store::{DocAddress, Segment, Store, slot_term},
    text::terms::{TermHash, terms},
    types::{Kind, Memory, Scope, Slot, Status},
};

/// The most memories that a statement is compared with: more share only a common word.
const MAX_NEIGHBOURS: usize = 24;

/// A statement that two memories of one slot make stands above any number of shared words.
const SAME_SLOT_SCORE: f64 = 1_000.0;

/// Words of a long text that are looked up; the rest adds cost and little else.
const MAX_TERMS: usize = 64;

/// The active memories near a draft, the nearest first.
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

/// The active memories near a text, the nearest first.
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
    let rivals = slots.len();
    let asked: Vec<TermHash> =
        slots.into_iter().chain(words.map(|word| TermHash::of(&word))).collect();
    let segments = store.index().postings(scope, &asked, None).await?;
    let places = nearest_addresses(&segments, asked.len(), rivals);
    let found = store.memories().by_address(scope, &places).await?;
    Ok(found.into_iter().map(|(_, memory)| memory).collect())
}

/// The places with the most and rarest of the terms; the first `rivals` terms are slots.
fn nearest_addresses(segments: &[Segment], asked: usize, rivals: usize) -> Vec<DocAddress> {
    let all: usize = segments.iter().map(|segment| segment.docs.len()).sum();
    let mut scores: BTreeMap<DocAddress, f64> = BTreeMap::new();
    for term in 0..asked {
        let found = || segments.iter().filter_map(move |it| Some((it, it.postings.get(term)?)));
        let count: usize = found().map(|(_, list)| list.len()).sum();
        let worth = match term < rivals {
            true => SAME_SLOT_SCORE,
            false => (1.0 + all as f64 / (1.0 + count as f64)).ln(),
        };
        for (segment, posting) in found().flat_map(|(it, list)| list.iter().map(move |p| (it, p))) {
            let doc = posting.doc as usize;
            let is_memory = segment.docs.kind(doc) != Kind::Turn;
            if is_memory && segment.docs.status(doc) == Status::Active {
                *scores.entry(segment.docs.address(doc)).or_default() += worth;
            }
        }
    }
    let mut best: Vec<(DocAddress, f64)> = scores.into_iter().collect();
    // Of equally near ones the newest first.
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    best.into_iter().take(MAX_NEIGHBOURS).map(|(place, _)| place).collect()
}
