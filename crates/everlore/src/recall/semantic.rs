//! Similarity in meaning: the query's vector beside every vector of the scope.

use super::{
    corpus::{Corpus, Doc},
    gather::Gathered,
    share::share,
};
use crate::{
    store::{Field, Segment},
    text::terms::{Term, terms},
    types::Vector,
};

/// How many of the most similar memories are offered although no term matches.
const OFFERED: usize = 50;

/// Documents that a thread takes at a time.
const PIECE: usize = 4_096;

/// What unrelated texts have on average of the similarity that they stay below: 0.08 of 0.3 over the conversations that the
/// gate was fitted on, by the built-in model.
const UNRELATED_SHARE: f64 = 0.27;

/// What a query means to a model.
pub(super) struct Meaning {
    pub(super) vector: Vector,
    /// What unrelated texts stay below.
    pub(super) least_similarity: f32,
}

/// How similar each document is to the query.
pub(super) struct Similarities {
    /// By number; not a number for documents without a vector.
    raw: Vec<f32>,
    pub(super) mean: f64,
    /// How similar texts are on average that have nothing to do with the query.
    pub(super) unrelated: f64,
    deviation: f64,
    /// The documents that are similar in themselves.
    near: Vec<(f32, Doc)>,
}

impl Similarities {
    /// Compares the query's vector with all of the scope. Texts below the least similarity of the model have nothing to
    /// do with the query, however they compare with the rest of a small scope.
    pub(super) fn new(meaning: &Meaning, corpus: &Corpus<'_>) -> Self {
        let raw = compared(&meaning.vector, corpus);
        let mut near = Vec::new();
        let (mut count, mut sum, mut squares) = (0u32, 0.0, 0.0);
        for doc in corpus.docs() {
            let similarity = raw[corpus.number(doc)];
            if similarity.is_nan() {
                continue;
            }
            if similarity >= meaning.least_similarity {
                near.push((similarity, doc));
            }
            count += 1;
            sum += f64::from(similarity);
            squares += f64::from(similarity) * f64::from(similarity);
        }
        let mean = sum / f64::from(count.max(1));
        let variance = squares / f64::from(count.max(1)) - mean * mean;
        let unrelated = UNRELATED_SHARE * f64::from(meaning.least_similarity);
        Self { raw, mean, unrelated, deviation: variance.max(0.0).sqrt(), near }
    }

    /// The similarity of the document with this number, if it has a vector.
    pub(super) fn raw(&self, number: usize) -> Option<f32> {
        Some(self.raw[number]).filter(|similarity| !similarity.is_nan())
    }

    /// The same in standard deviations above the mean of the scope; 0 without a vector.
    pub(super) fn standard(&self, number: usize) -> f32 {
        match self.raw(number) {
            Some(similarity) if self.deviation > 1e-6 => {
                ((f64::from(similarity) - self.mean) / self.deviation) as f32
            }
            _ => 0.0,
        }
    }

    /// The most similar documents among those that are meant.
    pub(super) fn best(&self, gathered: &Gathered, corpus: &Corpus<'_>) -> Vec<Doc> {
        let meant = self.near.iter().filter(|(_, doc)| gathered.is_within(corpus, *doc));
        let mut near: Vec<_> = meant.copied().collect();
        let order = |a: &(f32, Doc), b: &(f32, Doc)| {
            b.0.total_cmp(&a.0).then_with(|| corpus.place(a.1).cmp(&corpus.place(b.1)))
        };
        if near.len() > OFFERED {
            near.select_nth_unstable_by(OFFERED, order);
            near.truncate(OFFERED);
        }
        near.into_iter().map(|(_, doc)| doc).collect()
    }
}

/// How similar every document is to the query, by number; not a number for those without a vector.
fn compared(query: &Vector, corpus: &Corpus<'_>) -> Vec<f32> {
    let mut raw = vec![f32::NAN; corpus.slots()];
    let (mut rest, mut pieces) = (raw.as_mut_slice(), Vec::new());
    for (segment, count) in corpus.segments() {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(count);
        rest = after;
        let parts = own.chunks_mut(PIECE).enumerate().map(|(piece, out)| (piece * PIECE, out));
        if let Some(slots) = &segment.slots {
            pieces.extend(parts.map(|(first, out)| (slots, first, out)));
        }
    }
    share(corpus.slots(), pieces, |(slots, first, out)| {
        for (index, similarity) in out.iter_mut().enumerate() {
            *similarity = slots.similarity(first + index, query).unwrap_or(f32::NAN);
        }
    });
    raw
}

/// The query as it is embedded: without the names of speakers, which draw every greeting of that person near.
pub(super) fn without_speakers(query: &str, gathered: &Gathered) -> String {
    let speaks = |word: &str| {
        let terms: Vec<_> = terms(word).iter().map(|term| Term::of(term)).collect();
        !terms.is_empty() && terms.iter().all(|term| gathered.is_speaker(*term))
    };
    query.split_whitespace().filter(|word| !speaks(word)).collect::<Vec<_>>().join(" ")
}

impl Gathered {
    /// Whether anybody in the scope is called by this term.
    fn is_speaker(&self, term: Term) -> bool {
        let Some(list) = self.asked.iter().position(|asked| *asked == term) else { return false };
        let spoken = |segment: &Segment| {
            segment.postings[list].iter().any(|posting| posting.counts[Field::Speaker as usize] > 0)
        };
        self.segments.iter().any(spoken)
    }
}
