//! Semantic relevance: cosine similarity of the query embedding to every vector of the scope, by exhaustive search.

use std::cmp::Ordering;

use super::{
    best_items::BestItems,
    corpus::{Corpus, DocRef},
    gather::GatheredPostings,
    parallel::join,
};
use crate::{
    store::SegmentVectors,
    text::terms::{TermHash, terms},
    types::Vector,
};

/// Number of the most similar memories that become candidates although no term matches, however low their similarity:
/// a question in other words is often nearest to its answer and yet not near. All memories of a home up to this size
/// are candidates.
const MAX_SIMILAR: usize = 200;

/// Documents per unit of parallel work.
const CHUNK_DOCS: usize = 4_096;

/// Mean similarity of unrelated texts, as a share of the model's least similarity: 0.08 of 0.3 with the built-in model,
/// over the conversations on which the confidence model was fitted.
const UNRELATED_SHARE: f64 = 0.27;

/// Quantized embedding of the query.
pub(super) struct QueryEmbedding {
    pub(super) vector: Vector,
    /// Similarity below which the model considers texts unrelated.
    pub(super) least_similarity: f32,
}

/// Similarity of each document to the query, with mean and standard deviation over the scope.
pub(crate) struct DocSimilarities {
    /// Similarity by ordinal; NaN for documents without a vector.
    raw: Vec<f32>,
    pub(crate) mean: f64,
    /// Expected similarity of texts that are unrelated to the query.
    pub(crate) unrelated: f64,
    deviation: f64,
    /// Most similar documents that the request allows.
    pub(super) best: Vec<DocRef>,
}

/// Consecutive documents of a segment, with the part of the results that they fill.
struct SimilarityChunk<'a> {
    segment: usize,
    first: usize,
    vectors: &'a SegmentVectors,
    raw: &'a mut [f32],
    stats: &'a mut SimilarityStats,
}

/// Sums over a chunk, and its most similar documents.
#[derive(Default)]
struct SimilarityStats {
    count: u32,
    sum: f64,
    squares: f64,
    best: Vec<(f32, DocRef)>,
}

impl DocSimilarities {
    /// Compares the query with all vectors of the scope while this thread runs `meanwhile`.
    pub(super) fn new<T>(
        embedding: &QueryEmbedding,
        gathered: &GatheredPostings,
        corpus: &Corpus<'_>,
        meanwhile: impl FnOnce() -> T,
    ) -> (Self, T) {
        let mut raw = vec![f32::NAN; corpus.max_doc()];
        let mut stats = Vec::new();
        stats.resize_with(chunk_count(corpus), SimilarityStats::default);
        let compare = |chunk: SimilarityChunk<'_>| chunk.compare(embedding, gathered, corpus);
        let work = chunks(corpus, &mut raw, &mut stats);
        let result = join(corpus.max_doc(), work, compare, meanwhile);
        let count = f64::from(stats.iter().map(|chunk| chunk.count).sum::<u32>().max(1));
        let mean = stats.iter().map(|chunk| chunk.sum).sum::<f64>() / count;
        let squares = stats.iter().map(|chunk| chunk.squares).sum::<f64>() / count;
        let unrelated = UNRELATED_SHARE * f64::from(embedding.least_similarity);
        let deviation = (squares - mean * mean).max(0.0).sqrt();
        let mut nearest = most_similar(corpus);
        stats.into_iter().flat_map(|chunk| chunk.best).for_each(|doc| nearest.push(doc));
        let best = nearest.into_sorted().into_iter().map(|(_, doc)| doc).collect();
        (Self { raw, mean, unrelated, deviation, best }, result)
    }

    /// Returns the similarity of the document with this ordinal, if it has a vector.
    pub(crate) fn similarity(&self, ordinal: usize) -> Option<f32> {
        Some(self.raw[ordinal]).filter(|similarity| !similarity.is_nan())
    }

    /// Returns the z-score of the similarity over the scope; 0 without a vector.
    pub(super) fn z_score(&self, ordinal: usize) -> f32 {
        match self.similarity(ordinal) {
            Some(similarity) if self.deviation > 1e-6 => {
                ((f64::from(similarity) - self.mean) / self.deviation) as f32
            }
            _ => 0.0,
        }
    }
}

impl SimilarityChunk<'_> {
    fn compare(self, embedding: &QueryEmbedding, gathered: &GatheredPostings, corpus: &Corpus<'_>) {
        let Self { segment, first, vectors, raw, stats } = self;
        let mut best = most_similar(corpus);
        for (index, raw) in raw.iter_mut().enumerate() {
            let Some(similarity) = vectors.similarity(first + index, &embedding.vector) else {
                continue;
            };
            *raw = similarity;
            let doc = corpus.doc(segment, first + index);
            if !corpus.is_live(doc) {
                continue;
            }
            stats.count += 1;
            stats.sum += f64::from(similarity);
            stats.squares += f64::from(similarity) * f64::from(similarity);
            if gathered.is_allowed(corpus, doc) {
                best.push((similarity, doc));
            }
        }
        stats.best = best.into_sorted();
    }
}

/// Document with its similarity.
type SimilarDoc = (f32, DocRef);

/// Collects the most similar documents; ties are broken by address.
fn most_similar(
    corpus: &Corpus<'_>,
) -> BestItems<SimilarDoc, impl Fn(&SimilarDoc, &SimilarDoc) -> Ordering> {
    BestItems::new(MAX_SIMILAR, |a: &SimilarDoc, b: &SimilarDoc| {
        b.0.total_cmp(&a.0).then_with(|| corpus.address(a.1).cmp(&corpus.address(b.1)))
    })
}

/// Returns the number of chunks in the segments with vectors.
fn chunk_count(corpus: &Corpus<'_>) -> usize {
    let with_vectors = corpus.segments().filter(|(segment, _)| segment.vectors.is_some());
    with_vectors.map(|(_, count)| count.div_ceil(CHUNK_DOCS)).sum()
}

/// Splits the scope into chunks, each with its own part of the results.
fn chunks<'a>(
    corpus: &Corpus<'a>,
    raw: &'a mut [f32],
    stats: &'a mut [SimilarityStats],
) -> Vec<SimilarityChunk<'a>> {
    let (mut rest, mut chunks, mut stats) = (raw, Vec::new(), stats.iter_mut());
    for (number, (segment, count)) in corpus.segments().enumerate() {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(count);
        rest = after;
        let Some(vectors) = &segment.vectors else { continue };
        let parts = own.chunks_mut(CHUNK_DOCS).zip(&mut stats).enumerate();
        chunks.extend(parts.map(|(chunk, (raw, stats))| SimilarityChunk {
            segment: number,
            first: chunk * CHUNK_DOCS,
            vectors,
            raw,
            stats,
        }));
    }
    chunks
}

/// Returns the query without the names of speakers, which would pull every greeting of that person near.
pub(super) fn without_speakers(query: &str, gathered: &GatheredPostings) -> String {
    let is_speaker = |word: &str| {
        let terms: Vec<_> = terms(word).iter().map(|term| TermHash::of(term)).collect();
        !terms.is_empty() && terms.iter().all(|term| gathered.is_speaker(*term))
    };
    query.split_whitespace().filter(|word| !is_speaker(word)).collect::<Vec<_>>().join(" ")
}

impl GatheredPostings {
    /// Returns `true` if the term is part of a speaker's name in the scope.
    fn is_speaker(&self, term: TermHash) -> bool {
        let list = self.terms.iter().position(|other| *other == term);
        list.is_some_and(|list| self.names_speaker(list))
    }
}
