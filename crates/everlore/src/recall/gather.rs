//! Asking the index: one read brings the postings of all terms and the records of the scope.

use super::{
    Intent, QueryTerm, RecallDeps, RecallRequest,
    corpus::{Corpus, DocRef},
    repeated_questions, semantic,
    semantic::QueryEmbedding,
};
use crate::{
    error::Result,
    llm::Embedder,
    store::{DocAddress, MemoryFilter, Segment, SegmentVectors},
    text::terms::TermHash,
    types::Vector,
};

/// What the index answered.
pub(super) struct GatheredPostings {
    pub(super) segments: Vec<Segment>,
    /// The terms that were looked up, in the order of the segments' lists.
    pub(super) terms: Vec<TermHash>,
    /// For each query term, where the lists of its variants stand in the segments, with what a match is worth.
    pub(super) term_variants: Vec<Vec<(usize, f64)>>,
    pub(super) filter: MemoryFilter,
    /// The only places that are meant, in their order, where not all are.
    allowed: Option<Vec<DocAddress>>,
    /// Where the lists of the filter's own terms stand.
    filter_terms: std::ops::Range<usize>,
    /// What the query means, where a model has something to say about it.
    pub(super) query_embedding: Option<QueryEmbedding>,
    /// Why the query has no vector although a model was asked for one: words alone then decide.
    pub(super) semantic_unavailable: Option<String>,
}

/// Looks up every variant of every term, and what the filter requires, and embeds the query.
pub(super) async fn gather(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    intent: &Intent,
) -> Result<GatheredPostings> {
    let embedder = means
        .embedder
        // What a question for a period says has no meaning of its own.
        .filter(|_| !intent.asks_period)
        .filter(|model| means.config.semantic > 0.0 && model.understands(&request.query));
    let mut gathered = GatheredPostings::for_request(request, intent);
    let (store, scope) = (means.store, &request.scope);
    let read = store.index().postings(scope, &gathered.terms, embedder.map(Embedder::model));
    // While a store reads, this thread would only wait.
    let (segments, ()) = tokio::join!(read, async { repeated_questions::compile_patterns() });
    gathered.segments = segments?;
    if let Some(within) = &request.within {
        gathered.allowed = Some(store.uris().addresses(scope, within).await?);
    }
    if let Some(embedder) = embedder {
        gathered.embed(&request.query, embedder).await;
    }
    match gathered.score_remote_vectors(means, request).await? {
        true => Ok(gathered),
        // What was merged meanwhile is asked for again, and then read.
        false => Box::pin(gather(means, request, intent)).await,
    }
}

fn embedding_from(numbers: &[f32], embedder: &dyn Embedder) -> Option<QueryEmbedding> {
    let vector = Vector::quantize(numbers);
    (vector.scale > 0.0)
        .then(|| QueryEmbedding { vector, least_similarity: embedder.least_similarity() })
}

fn term_index(term: TermHash, asked: &mut Vec<TermHash>) -> usize {
    asked.iter().position(|other| *other == term).unwrap_or_else(|| {
        asked.push(term);
        asked.len() - 1
    })
}

impl GatheredPostings {
    /// What is to be asked: every variant of every term, then what the filter requires.
    fn for_request(request: &RecallRequest, intent: &Intent) -> Self {
        let (filter, mut terms) = (request.effective_filter(), Vec::new());
        let variants = |term: &QueryTerm, asked: &mut Vec<TermHash>| {
            term.variants().map(|(term, worth)| (term_index(term, asked), worth)).collect()
        };
        let term_variants = intent.terms.iter().map(|term| variants(term, &mut terms)).collect();
        let first_required = terms.len();
        terms.extend(filter.required_terms());
        let filter_terms = first_required..terms.len();
        let (segments, allowed) = (Vec::new(), None);
        let (query_embedding, semantic_unavailable) = (None, None);
        Self {
            segments,
            terms,
            term_variants,
            filter,
            allowed,
            filter_terms,
            query_embedding,
            semantic_unavailable,
        }
    }

    /// Says what the query means, where there is anything to compare it with.
    async fn embed(&mut self, query: &str, embedder: &dyn Embedder) {
        if !self.segments.iter().any(|segment| segment.vectors.is_some()) {
            return;
        }
        let query = semantic::without_speakers(query, self);
        match embedder.embed(&[&query]).await {
            Ok(made) => {
                self.query_embedding =
                    made.first().and_then(|numbers| embedding_from(numbers, embedder))
            }
            Err(error) => self.semantic_unavailable = Some(error.to_string()),
        }
    }

    /// Compares the vectors that the store did not hand out; false if they are no longer where they were.
    async fn score_remote_vectors(
        &mut self,
        means: RecallDeps<'_>,
        request: &RecallRequest,
    ) -> Result<bool> {
        let Some(meaning) = &self.query_embedding else { return Ok(true) };
        let stored = |slots: &SegmentVectors| match slots {
            SegmentVectors::Remote(number) => Some(*number),
            SegmentVectors::Loaded { .. } | SegmentVectors::Scored(_) => None,
        };
        let slots = || self.segments.iter().filter_map(|segment| segment.vectors.as_ref());
        let numbers: Vec<_> = slots().filter_map(stored).collect();
        if numbers.is_empty() {
            return Ok(true);
        }
        let compared =
            means.store.index().similarities(&request.scope, &numbers, &meaning.vector).await?;
        let Some(mut compared) = compared.map(Vec::into_iter) else { return Ok(false) };
        for slots in self.segments.iter_mut().filter_map(|segment| segment.vectors.as_mut()) {
            if let Some(similarities) = stored(slots).and_then(|_| compared.next()) {
                *slots = SegmentVectors::Scored(similarities);
            }
        }
        Ok(true)
    }

    /// Whether a document is among the only ones that are meant.
    pub(super) fn is_allowed(&self, corpus: &Corpus<'_>, doc: DocRef) -> bool {
        let has = |places: &Vec<DocAddress>| places.binary_search(&corpus.address(doc)).is_ok();
        self.allowed.as_ref().is_none_or(has)
    }

    /// The filter for each segment of the scope: few of them have anything from outside a time that is asked for.
    pub(super) fn segment_filters(&self, corpus: &Corpus<'_>) -> Vec<MemoryFilter> {
        corpus.time_ranges().map(|(first, last)| self.filter.within_span(first, last)).collect()
    }

    /// Whether the filter of its segment lets a document through.
    pub(super) fn passes_filter(
        &self,
        filter: &MemoryFilter,
        corpus: &Corpus<'_>,
        doc: DocRef,
    ) -> bool {
        let mark = corpus.flags(doc);
        filter.matches_doc(mark.kind, mark.status, || corpus.at(doc))
            && self.is_allowed(corpus, doc)
            && self.filter_terms.clone().all(|list| corpus.posting(doc, list).is_some())
    }
}
