//! Similarity in meaning: the query's vector beside every vector of the scope.

use super::{
    corpus::{Corpus, DocRef},
    gather::GatheredPostings,
    parallel::join,
};
use crate::{
    store::{IndexField, Segment, SegmentVectors},
    text::terms::{TermHash, terms},
    types::Vector,
};

/// How many of the most similar memories are offered although no term matches.
const MAX_SIMILAR: usize = 50;

/// Documents that a thread takes at a time.
const CHUNK_DOCS: usize = 4_096;

/// What unrelated texts have on average of the similarity that they stay below: 0.08 of 0.3 over the conversations that the
/// gate was fitted on, by the built-in model.
const UNRELATED_SHARE: f64 = 0.27;

/// What a query means to a model.
pub(super) struct QueryEmbedding {
    pub(super) vector: Vector,
    /// What unrelated texts stay below.
    pub(super) least_similarity: f32,
}

/// How similar each document is to the query.
pub(super) struct DocSimilarities {
    /// By number; not a number for documents without a vector.
    raw: Vec<f32>,
    pub(super) mean: f64,
    /// How similar texts are on average that have nothing to do with the query.
    pub(super) unrelated: f64,
    deviation: f64,
    /// The most similar documents among those that are similar in themselves and meant.
    pub(super) best: Vec<DocRef>,
}

/// Some documents of a segment, one after the other, and what comes of comparing them.
struct SimilarityChunk<'a> {
    segment: usize,
    first: usize,
    vectors: &'a SegmentVectors,
    raw: &'a mut [f32],
    stats: &'a mut SimilarityStats,
}

/// What a piece has: all of it is added up, and only the most similar documents are handed on.
#[derive(Default)]
struct SimilarityStats {
    count: u32,
    sum: f64,
    squares: f64,
    best: Vec<(f32, DocRef)>,
}

impl DocSimilarities {
    /// Compares the query's vector with all of the scope, and does something `beside` it. Texts below the least similarity
    /// of the model have nothing to do with the query, however they compare with the rest of a small scope.
    pub(super) fn new<T>(
        meaning: &QueryEmbedding,
        gathered: &GatheredPostings,
        corpus: &Corpus<'_>,
        beside: impl FnOnce() -> T,
    ) -> (Self, T) {
        let mut raw = vec![f32::NAN; corpus.max_doc()];
        let mut found = Vec::new();
        found.resize_with(chunk_count(corpus), SimilarityStats::default);
        let compare = |piece: SimilarityChunk<'_>| piece.compare(meaning, gathered, corpus);
        let pieces = chunks(corpus, &mut raw, &mut found);
        let done = join(corpus.max_doc(), pieces, compare, beside);
        let count = f64::from(found.iter().map(|found| found.count).sum::<u32>().max(1));
        let mean = found.iter().map(|found| found.sum).sum::<f64>() / count;
        let squares = found.iter().map(|found| found.squares).sum::<f64>() / count;
        let unrelated = UNRELATED_SHARE * f64::from(meaning.least_similarity);
        let deviation = (squares - mean * mean).max(0.0).sqrt();
        let mut near = found.into_iter().flat_map(|found| found.best).collect();
        keep_best(&mut near, corpus);
        let best = near.into_iter().map(|(_, doc)| doc).collect();
        (Self { raw, mean, unrelated, deviation, best }, done)
    }

    /// The similarity of the document with this number, if it has a vector.
    pub(super) fn similarity(&self, number: usize) -> Option<f32> {
        Some(self.raw[number]).filter(|similarity| !similarity.is_nan())
    }

    /// The same in standard deviations above the mean of the scope; 0 without a vector.
    pub(super) fn z_score(&self, number: usize) -> f32 {
        match self.similarity(number) {
            Some(similarity) if self.deviation > 1e-6 => {
                ((f64::from(similarity) - self.mean) / self.deviation) as f32
            }
            _ => 0.0,
        }
    }
}

impl SimilarityChunk<'_> {
    fn compare(self, meaning: &QueryEmbedding, gathered: &GatheredPostings, corpus: &Corpus<'_>) {
        let Self { segment, first, vectors: slots, raw, stats: found } = self;
        for (index, raw) in raw.iter_mut().enumerate() {
            let Some(similarity) = slots.similarity(first + index, &meaning.vector) else {
                continue;
            };
            *raw = similarity;
            let doc = corpus.doc(segment, first + index);
            if !corpus.is_live(doc) {
                continue;
            }
            found.count += 1;
            found.sum += f64::from(similarity);
            found.squares += f64::from(similarity) * f64::from(similarity);
            if similarity >= meaning.least_similarity && gathered.is_allowed(corpus, doc) {
                found.best.push((similarity, doc));
            }
        }
        keep_best(&mut found.best, corpus);
    }
}

/// Leaves the most similar documents; of equal ones those whose places come first.
fn keep_best(near: &mut Vec<(f32, DocRef)>, corpus: &Corpus<'_>) {
    let order = |a: &(f32, DocRef), b: &(f32, DocRef)| {
        b.0.total_cmp(&a.0).then_with(|| corpus.address(a.1).cmp(&corpus.address(b.1)))
    };
    if near.len() > MAX_SIMILAR {
        near.select_nth_unstable_by(MAX_SIMILAR, order);
        near.truncate(MAX_SIMILAR);
    }
}

/// How many pieces the segments with vectors make.
fn chunk_count(corpus: &Corpus<'_>) -> usize {
    let with_slots = corpus.segments().filter(|(segment, _)| segment.vectors.is_some());
    with_slots.map(|(_, count)| count.div_ceil(CHUNK_DOCS)).sum()
}

/// The scope in pieces, each with the room for what comes of it.
fn chunks<'a>(
    corpus: &Corpus<'a>,
    raw: &'a mut [f32],
    found: &'a mut [SimilarityStats],
) -> Vec<SimilarityChunk<'a>> {
    let (mut rest, mut pieces, mut found) = (raw, Vec::new(), found.iter_mut());
    for (number, (segment, count)) in corpus.segments().enumerate() {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(count);
        rest = after;
        let Some(slots) = &segment.vectors else { continue };
        let parts = own.chunks_mut(CHUNK_DOCS).zip(&mut found).enumerate();
        pieces.extend(parts.map(|(piece, (raw, found))| SimilarityChunk {
            segment: number,
            first: piece * CHUNK_DOCS,
            vectors: slots,
            raw,
            stats: found,
        }));
    }
    pieces
}

/// The query as it is embedded: without the names of speakers, which draw every greeting of that person near.
pub(super) fn without_speakers(query: &str, gathered: &GatheredPostings) -> String {
    let speaks = |word: &str| {
        let terms: Vec<_> = terms(word).iter().map(|term| TermHash::of(term)).collect();
        !terms.is_empty() && terms.iter().all(|term| gathered.is_speaker(*term))
    };
    query.split_whitespace().filter(|word| !speaks(word)).collect::<Vec<_>>().join(" ")
}

impl GatheredPostings {
    /// Whether anybody in the scope is called by this term.
    fn is_speaker(&self, term: TermHash) -> bool {
        let Some(list) = self.terms.iter().position(|asked| *asked == term) else { return false };
        let spoken = |segment: &Segment| {
            segment.postings[list]
                .iter()
                .any(|posting| posting.counts[IndexField::Speaker as usize] > 0)
        };
        self.segments.iter().any(spoken)
    }
}
