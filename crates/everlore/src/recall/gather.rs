//! Asking the index: one read brings the postings of all terms and the records of the scope.

use super::{Intent, RecallRequest};
use crate::{
    error::Result,
    store::{Filter, Segment, Store},
    text::terms::Term,
};

/// What the index answered.
pub(super) struct Gathered {
    pub(super) segments: Vec<Segment>,
    /// For each query term, where the lists of its variants stand in the segments, with what a match is worth.
    pub(super) lists: Vec<Vec<(usize, f64)>>,
    pub(super) filter: Filter,
    /// Where the lists of the filter's own terms stand.
    required: std::ops::Range<usize>,
}

/// Looks up every variant of every term, and what the filter requires.
pub(super) async fn gather(
    store: &dyn Store,
    request: &RecallRequest,
    intent: &Intent,
) -> Result<Gathered> {
    let filter = request.effective_filter();
    let mut asked: Vec<Term> = Vec::new();
    let lists = intent
        .terms
        .iter()
        .map(|term| {
            term.variants().map(|(term, worth)| (position_of(term, &mut asked), worth)).collect()
        })
        .collect();
    let first_required = asked.len();
    asked.extend(filter.terms());
    let segments = store.postings(&request.scope, &asked, None).await?;
    Ok(Gathered { segments, lists, filter, required: first_required..asked.len() })
}

fn position_of(term: Term, asked: &mut Vec<Term>) -> usize {
    asked.iter().position(|other| *other == term).unwrap_or_else(|| {
        asked.push(term);
        asked.len() - 1
    })
}

impl Gathered {
    /// Whether the filter lets a document of a segment through.
    pub(super) fn lets_through(&self, (segment, doc): (usize, usize)) -> bool {
        let Segment { docs, postings, .. } = &self.segments[segment];
        let has = |list: usize| {
            postings[list].binary_search_by_key(&(doc as u32), |posting| posting.doc).is_ok()
        };
        let passes = self.filter.lets_through(docs.kind(doc), docs.status(doc), docs.at(doc));
        passes && self.required.clone().all(has)
    }
}
