//! Neighbours of a statement: memories of the same slot, memories that share its rarest terms, and memories with a
//! similar vector of the built-in table.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::extract::Draft;
use crate::{
    error::Result,
    store::{DocAddress, Segment, Store, slot_term},
    sync::boxed,
    text::terms::{TermHash, terms},
    types::{EmbeddingModelId, Kind, Memory, Scope, Slot, Status, Vector},
};

/// Most neighbours of a statement: further ones share only a common word.
const MAX_NEIGHBOURS: usize = 24;

/// Most neighbours that only have a similar vector: a change in other words ("gave up coffee", "two espressos a day") is
/// among them as often as not.
const MAX_SIMILAR: usize = 8;

/// Largest scope, in documents, whose vectors are compared: that takes a fraction of a millisecond.
const MAX_COMPARED_DOCS: usize = 10_000;

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

/// Vector of a statement by the model whose vectors the index has.
#[derive(Clone)]
pub(super) struct StatementVector {
    pub(super) model: EmbeddingModelId,
    pub(super) vector: Vector,
}

/// Returns the active memories near a text, nearest first, then those with a vector like the given one.
pub(super) async fn neighbours_like(
    store: &dyn Store,
    scope: &Scope,
    text: &str,
    vector: Option<StatementVector>,
) -> Result<Vec<Memory>> {
    let query = NeighbourQuery { vector, ..NeighbourQuery::new(Vec::new(), text) };
    Ok(find_neighbours(store, scope, vec![query]).await?.concat())
}

/// Returns the active memories near a text, nearest first.
#[boxed]
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
    /// Vector that further neighbours resemble.
    vector: Option<StatementVector>,
}

impl NeighbourQuery {
    fn new(slots: Vec<TermHash>, text: &str) -> Self {
        let mut seen = HashSet::new();
        let words = terms(text).into_iter().filter(|word| seen.insert(word.clone()));
        let (slot_count, words) = (slots.len(), words.take(MAX_TERMS));
        let terms = slots.into_iter().chain(words.map(|word| TermHash::of(&word))).collect();
        Self { terms, turns: false, slot_count, vector: None }
    }

    /// Returns `true` for an active document of the kind that is looked for.
    fn seeks(&self, segment: &Segment, doc: usize) -> bool {
        let kind = segment.docs.kind(doc);
        let is_sought = if self.turns { kind == Kind::Turn } else { kind.is_statement() };
        is_sought && segment.docs.status(doc) == Status::Active && !segment.docs.is_deleted(doc)
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
    let model = queries.iter().find_map(|query| Some(&query.vector.as_ref()?.model));
    let segments = store.index().postings(scope, &terms, model).await?;
    let near = |query: &NeighbourQuery| {
        let by_terms = nearest_addresses(&segments, &terms, query);
        let similar = similar_addresses(&segments, query, &by_terms);
        [by_terms, similar].concat()
    };
    let nearest: Vec<_> = queries.iter().map(near).collect();
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
            if query.seeks(segment, doc) {
                *scores.entry(segment.docs.address(doc)).or_default() += idf;
            }
        }
    }
    let mut best: Vec<(DocAddress, f64)> = scores.into_iter().collect();
    // Newest first among equals.
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    best.into_iter().take(MAX_NEIGHBOURS).map(|(address, _)| address).collect()
}

/// Returns the addresses of the documents that resemble the vector of a query most, without those in `known`.
fn similar_addresses(
    segments: &[Segment],
    query: &NeighbourQuery,
    known: &[DocAddress],
) -> Vec<DocAddress> {
    let Some(StatementVector { vector, .. }) = &query.vector else { return Vec::new() };
    if segments.iter().map(|segment| segment.docs.len()).sum::<usize>() > MAX_COMPARED_DOCS {
        return Vec::new();
    }
    let mut similar: Vec<(f32, DocAddress)> = Vec::new();
    for segment in segments {
        let Some(vectors) = &segment.vectors else { continue };
        for doc in (0..segment.docs.len()).filter(|doc| query.seeks(segment, *doc)) {
            let similarity = vectors.similarity(doc, vector);
            similar.extend(similarity.map(|it| (it, segment.docs.address(doc))));
        }
    }
    similar.retain(|(_, address)| !known.contains(address));
    similar.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    similar.into_iter().take(MAX_SIMILAR).map(|(_, address)| address).collect()
}
