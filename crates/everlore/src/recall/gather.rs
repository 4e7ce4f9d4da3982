//! Asking the index: one read brings the postings of all terms and the records of the scope.

use super::{
    Intent, Means, QueryTerm, RecallRequest, asked_before,
    corpus::{Corpus, Doc},
    semantic,
    semantic::Meaning,
};
use crate::{
    error::Result,
    llm::Embedder,
    store::{Filter, Place, Segment, Slots},
    text::terms::Term,
    types::Vector,
};

/// What the index answered.
pub(super) struct Gathered {
    pub(super) segments: Vec<Segment>,
    /// The terms that were looked up, in the order of the segments' lists.
    pub(super) asked: Vec<Term>,
    /// For each query term, where the lists of its variants stand in the segments, with what a match is worth.
    pub(super) lists: Vec<Vec<(usize, f64)>>,
    pub(super) filter: Filter,
    /// The only places that are meant, in their order, where not all are.
    within: Option<Vec<Place>>,
    /// Where the lists of the filter's own terms stand.
    required: std::ops::Range<usize>,
    /// What the query means, where a model has something to say about it.
    pub(super) meaning: Option<Meaning>,
    /// Why the query has no vector although a model was asked for one: words alone then decide.
    pub(super) without_meaning: Option<String>,
}

/// Looks up every variant of every term, and what the filter requires, and embeds the query.
pub(super) async fn gather(
    means: Means<'_>,
    request: &RecallRequest,
    intent: &Intent,
) -> Result<Gathered> {
    let embedder = means
        .embedder
        // What a question for a period says has no meaning of its own.
        .filter(|_| !intent.asks_period)
        .filter(|model| means.config.semantic > 0.0 && model.understands(&request.query));
    let mut gathered = Gathered::asking(request, intent);
    let (store, scope) = (means.store, &request.scope);
    let read = store.postings(scope, &gathered.asked, embedder.map(Embedder::model));
    // While a store reads, this thread would only wait.
    let (segments, ()) = tokio::join!(read, async { asked_before::prepare() });
    gathered.segments = segments?;
    if let Some(within) = &request.within {
        gathered.within = Some(store.places(scope, within).await?);
    }
    if let Some(embedder) = embedder {
        gathered.embed(&request.query, embedder).await;
    }
    match gathered.compare(means, request).await? {
        true => Ok(gathered),
        // What was merged meanwhile is asked for again, and then read.
        false => Box::pin(gather(means, request, intent)).await,
    }
}

fn meaning(numbers: &[f32], embedder: &dyn Embedder) -> Option<Meaning> {
    let vector = Vector::quantize(numbers);
    (vector.scale > 0.0).then(|| Meaning { vector, least_similarity: embedder.least_similarity() })
}

fn position_of(term: Term, asked: &mut Vec<Term>) -> usize {
    asked.iter().position(|other| *other == term).unwrap_or_else(|| {
        asked.push(term);
        asked.len() - 1
    })
}

impl Gathered {
    /// What is to be asked: every variant of every term, then what the filter requires.
    fn asking(request: &RecallRequest, intent: &Intent) -> Self {
        let (filter, mut asked) = (request.effective_filter(), Vec::new());
        let variants = |term: &QueryTerm, asked: &mut Vec<Term>| {
            term.variants().map(|(term, worth)| (position_of(term, asked), worth)).collect()
        };
        let lists = intent.terms.iter().map(|term| variants(term, &mut asked)).collect();
        let first_required = asked.len();
        asked.extend(filter.terms());
        let required = first_required..asked.len();
        let (segments, within) = (Vec::new(), None);
        let (meaning, without_meaning) = (None, None);
        Self { segments, asked, lists, filter, within, required, meaning, without_meaning }
    }

    /// Says what the query means, where there is anything to compare it with.
    async fn embed(&mut self, query: &str, embedder: &dyn Embedder) {
        if !self.segments.iter().any(|segment| segment.slots.is_some()) {
            return;
        }
        let query = semantic::without_speakers(query, self);
        match embedder.embed(&[&query]).await {
            Ok(made) => self.meaning = made.first().and_then(|numbers| meaning(numbers, embedder)),
            Err(error) => self.without_meaning = Some(error.to_string()),
        }
    }

    /// Compares the vectors that the store did not hand out; false if they are no longer where they were.
    async fn compare(&mut self, means: Means<'_>, request: &RecallRequest) -> Result<bool> {
        let Some(meaning) = &self.meaning else { return Ok(true) };
        let stored = |slots: &Slots| match slots {
            Slots::Stored(number) => Some(*number),
            Slots::Held { .. } | Slots::Compared(_) => None,
        };
        let slots = || self.segments.iter().filter_map(|segment| segment.slots.as_ref());
        let numbers: Vec<_> = slots().filter_map(stored).collect();
        if numbers.is_empty() {
            return Ok(true);
        }
        let compared = means.store.similarities(&request.scope, &numbers, &meaning.vector).await?;
        let Some(mut compared) = compared.map(Vec::into_iter) else { return Ok(false) };
        for slots in self.segments.iter_mut().filter_map(|segment| segment.slots.as_mut()) {
            if let Some(similarities) = stored(slots).and_then(|_| compared.next()) {
                *slots = Slots::Compared(similarities);
            }
        }
        Ok(true)
    }

    /// Whether a document is among the only ones that are meant.
    pub(super) fn is_within(&self, corpus: &Corpus<'_>, doc: Doc) -> bool {
        let has = |places: &Vec<Place>| places.binary_search(&corpus.place(doc)).is_ok();
        self.within.as_ref().is_none_or(has)
    }

    /// The filter for each segment of the scope: few of them have anything from outside a time that is asked for.
    pub(super) fn filters(&self, corpus: &Corpus<'_>) -> Vec<Filter> {
        corpus.between().map(|(first, last)| self.filter.between(first, last)).collect()
    }

    /// Whether the filter of its segment lets a document through.
    pub(super) fn lets_through(&self, filter: &Filter, corpus: &Corpus<'_>, doc: Doc) -> bool {
        let mark = corpus.mark(doc);
        filter.lets_through(mark.kind, mark.status, || corpus.at(doc))
            && self.is_within(corpus, doc)
            && self.required.clone().all(|list| corpus.posting(doc, list).is_some())
    }
}
