//! Index read: fetches the postings and vectors of the scope for all query terms, and embeds the query.

use super::{
    corpus::{Corpus, DocRef},
    repeated_questions, semantic,
    semantic::QueryEmbedding,
};
use crate::{
    error::{Error, Result},
    llm::Embedder,
    recall::{Intent, QueryTerm, RecallDeps, RecallRequest},
    store::{DocAddress, IndexField, MemoryFilter, Posting, Segment, SegmentVectors},
    text::terms::TermHash,
    types::Vector,
};

/// Attempts to read the index before giving up. Merges are rare, so the second attempt nearly always succeeds.
const MAX_READS: usize = 5;

/// Postings, vectors and filters for one query.
pub(crate) struct GatheredPostings {
    pub(super) segments: Vec<Segment>,
    /// Terms that were looked up, in the order of the segments' posting lists.
    pub(super) terms: Vec<TermHash>,
    /// For each query term, the posting lists of its variants with the share that a match counts.
    pub(crate) term_variants: Vec<Vec<(usize, f64)>>,
    pub(super) filter: MemoryFilter,
    /// Addresses that the request allows, sorted; `None` allows all.
    allowed: Option<Vec<DocAddress>>,
    /// Posting lists of the filter's own terms.
    filter_terms: std::ops::Range<usize>,
    /// Embedding of the query, if the embedder understands it.
    pub(super) query_embedding: Option<QueryEmbedding>,
    /// Posting lists with the name of a speaker, in the order of `terms`.
    speaker_lists: Vec<bool>,
    /// Error of the embedder, if it failed; words alone then decide.
    pub(crate) semantic_unavailable: Option<String>,
}

/// Looks up every variant of every query term and every term of the filter, and embeds the query.
///
/// A store merges segments in the background. If it merges one between the reads of its postings and its vectors, both
/// are read again; after [`MAX_READS`] attempts the function fails.
pub(crate) async fn gather(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    intent: &Intent,
) -> Result<GatheredPostings> {
    retry_merged(|| read_index(deps, request, intent)).await
}

/// Repeats `read` while it returns `None`, at most [`MAX_READS`] times.
async fn retry_merged<T, F>(read: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    for _ in 0..MAX_READS {
        if let Some(found) = read().await? {
            return Ok(found);
        }
    }
    Err(Error::store(format!("the index was merged during each of {MAX_READS} reads")))
}

/// Reads the index once; `None` if the store merged segments meanwhile.
async fn read_index(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    intent: &Intent,
) -> Result<Option<GatheredPostings>> {
    let embedder = deps
        .embedder
        // The words of a question for a period have no meaning of their own.
        .filter(|_| !intent.asks_period)
        .filter(|model| deps.config.semantic > 0.0 && model.understands(&request.query));
    let mut gathered = GatheredPostings::for_request(request, intent);
    let (store, scope) = (deps.store, &request.scope);
    let read = store.index().postings(scope, &gathered.terms, embedder.map(Embedder::model));
    // This thread would otherwise only wait for the store.
    let (segments, ()) = tokio::join!(read, async { repeated_questions::compile_patterns() });
    gathered.set_segments(segments?);
    if let Some(within) = &request.within {
        gathered.allowed = Some(store.uris().addresses(scope, within).await?);
    }
    if let Some(embedder) = embedder {
        gathered.embed(&request.query, embedder).await;
    }
    let is_current = gathered.score_unloaded_vectors(deps, request).await?;
    Ok(is_current.then_some(gathered))
}

fn embedding_from(numbers: &[f32], embedder: &dyn Embedder) -> Option<QueryEmbedding> {
    let vector = Vector::quantize(numbers);
    (vector.scale > 0.0)
        .then(|| QueryEmbedding { vector, least_similarity: embedder.least_similarity() })
}

/// Returns `true` if a posting counts the name of the speaker.
pub(super) fn is_by_speaker(posting: &Posting) -> bool {
    posting.counts[IndexField::Speaker as usize] > 0
}

/// Returns the index of `term` in `terms`, after adding it if it is new.
fn term_index(term: TermHash, terms: &mut Vec<TermHash>) -> usize {
    terms.iter().position(|other| *other == term).unwrap_or_else(|| {
        terms.push(term);
        terms.len() - 1
    })
}

impl GatheredPostings {
    /// Lists the terms to look up: every variant of every query term, then the terms of the filter.
    fn for_request(request: &RecallRequest, intent: &Intent) -> Self {
        let (filter, mut terms) = (request.effective_filter(), Vec::new());
        let variants = |term: &QueryTerm, terms: &mut Vec<TermHash>| {
            term.variants().map(|(term, share)| (term_index(term, terms), share)).collect()
        };
        let term_variants = intent.terms.iter().map(|term| variants(term, &mut terms)).collect();
        let first_required = terms.len();
        terms.extend(filter.required_terms());
        let filter_terms = first_required..terms.len();
        Self {
            segments: Vec::new(),
            terms,
            term_variants,
            filter,
            allowed: None,
            filter_terms,
            query_embedding: None,
            speaker_lists: Vec::new(),
            semantic_unavailable: None,
        }
    }

    fn set_segments(&mut self, segments: Vec<Segment>) {
        let names_speaker = |list: usize| {
            segments.iter().any(|segment| segment.postings[list].iter().any(is_by_speaker))
        };
        self.speaker_lists = (0..self.terms.len()).map(names_speaker).collect();
        self.segments = segments;
    }

    /// Returns `true` if a posting list has the name of a speaker in the scope.
    pub(super) fn names_speaker(&self, list: usize) -> bool {
        self.speaker_lists[list]
    }

    /// Embeds the query, if any segment has vectors to compare it with.
    async fn embed(&mut self, query: &str, embedder: &dyn Embedder) {
        if !self.segments.iter().any(|segment| segment.vectors.is_some()) {
            return;
        }
        let query = semantic::without_speakers(query, self);
        match embedder.embed(&[&query]).await {
            Ok(vectors) => {
                self.query_embedding =
                    vectors.first().and_then(|numbers| embedding_from(numbers, embedder))
            }
            Err(error) => self.semantic_unavailable = Some(error.to_string()),
        }
    }

    /// Compares the vectors that the store did not hand out; `false` if it merged them away meanwhile.
    async fn score_unloaded_vectors(
        &mut self,
        deps: RecallDeps<'_>,
        request: &RecallRequest,
    ) -> Result<bool> {
        let Some(embedding) = &self.query_embedding else { return Ok(true) };
        let unloaded_block = |vectors: &SegmentVectors| match vectors {
            SegmentVectors::Unloaded(number) => Some(*number),
            SegmentVectors::Loaded { .. } | SegmentVectors::Scored(_) => None,
        };
        let vectors = self.segments.iter().filter_map(|segment| segment.vectors.as_ref());
        let numbers: Vec<_> = vectors.filter_map(unloaded_block).collect();
        if numbers.is_empty() {
            return Ok(true);
        }
        let answer =
            deps.store.index().similarities(&request.scope, &numbers, &embedding.vector).await?;
        let Some(mut compared) = answer.map(Vec::into_iter) else { return Ok(false) };
        for vectors in self.segments.iter_mut().filter_map(|segment| segment.vectors.as_mut()) {
            if let Some(similarities) = unloaded_block(vectors).and_then(|_| compared.next()) {
                *vectors = SegmentVectors::Scored(similarities);
            }
        }
        Ok(true)
    }

    /// Returns `true` if the request allows the address of a document.
    pub(super) fn is_allowed(&self, corpus: &Corpus<'_>, doc: DocRef) -> bool {
        let has =
            |addresses: &Vec<DocAddress>| addresses.binary_search(&corpus.address(doc)).is_ok();
        self.allowed.as_ref().is_none_or(has)
    }

    /// Returns the filter of each segment, without the time limits that all of its documents meet.
    pub(super) fn segment_filters(&self, corpus: &Corpus<'_>) -> Vec<MemoryFilter> {
        corpus.time_ranges().map(|(first, last)| self.filter.within_span(first, last)).collect()
    }

    /// Returns `true` if a document passes the filter of its segment.
    pub(super) fn passes_filter(
        &self,
        filter: &MemoryFilter,
        corpus: &Corpus<'_>,
        doc: DocRef,
    ) -> bool {
        let flags = corpus.flags(doc);
        filter.matches_doc(flags.kind, flags.status, || corpus.at(doc))
            && self.is_allowed(corpus, doc)
            && self.filter_terms.clone().all(|list| corpus.posting(doc, list).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_merge_during_a_read_is_retried_and_endless_merges_are_an_error() {
        let reads = Cell::new(0);
        let read = |merges: usize| {
            reads.set(reads.get() + 1);
            let found = (reads.get() > merges).then_some(reads.get());
            async move { Ok(found) }
        };
        assert_eq!(retry_merged(|| read(2)).await.unwrap(), 3);
        reads.set(0);
        let error = retry_merged(|| read(usize::MAX)).await.unwrap_err();
        assert_eq!((error.code(), reads.get()), ("store", MAX_READS));
    }
}
