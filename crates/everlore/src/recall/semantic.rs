//! Similarity in meaning: the query's vector beside every vector of the scope.

use super::{
    gather::Gathered,
    lexical::{Corpus, Doc},
};
use crate::{
    llm::dot,
    store::{Field, Segment},
    text::{
        language::cjk_share,
        terms::{Term, terms},
    },
    types::Vector,
};

/// How many of the most similar memories are offered although no term matches.
const OFFERED: usize = 50;

/// Texts less similar than this have nothing to do with each other, however they compare with the rest of a small scope:
/// the cosine of unrelated texts is 0.1 on average.
const LEAST: f32 = 0.3;

/// How similar each document is to the query, in standard deviations above the mean of the scope.
pub(super) struct Similarities {
    /// By document; 0 for documents without a vector.
    pub(super) standard: Vec<f32>,
    pub(super) raw: Vec<Option<f32>>,
    pub(super) mean: f64,
    /// The documents that are similar in themselves.
    near: Vec<Doc>,
}

impl Similarities {
    /// Compares the query's vector with all of the scope.
    pub(super) fn new(query: &Vector, segments: &[Segment], corpus: &Corpus<'_>) -> Self {
        let similar = |doc: Doc| {
            let (segment, index) = corpus.home(doc);
            let (scale, values) = segments[segment].slots.as_ref()?.get(index)?;
            Some(dot(&query.values, values) as f32 * scale * query.scale)
        };
        let raw: Vec<Option<f32>> = (0..corpus.count()).map(similar).collect();
        let known = || raw.iter().flatten().map(|similarity| f64::from(*similarity));
        let count = known().count().max(1) as f64;
        let mean = known().sum::<f64>() / count;
        let deviation =
            (known().map(|similarity| (similarity - mean).powi(2)).sum::<f64>() / count).sqrt();
        let standard = |similarity: Option<f32>| match similarity {
            Some(similarity) if deviation > 1e-6 => {
                ((f64::from(similarity) - mean) / deviation) as f32
            }
            _ => 0.0,
        };
        let near = |doc: &Doc| raw[*doc].is_some_and(|similarity| similarity >= LEAST);
        let near = (0..corpus.count()).filter(near).collect();
        Self { standard: raw.iter().map(|s| standard(*s)).collect(), raw, mean, near }
    }

    /// The most similar documents.
    pub(super) fn best(&self) -> Vec<Doc> {
        let mut docs = self.near.clone();
        let order = |a: &Doc, b: &Doc| self.standard[*b].total_cmp(&self.standard[*a]);
        if docs.len() > OFFERED {
            docs.select_nth_unstable_by(OFFERED, order);
            docs.truncate(OFFERED);
        }
        docs
    }
}

/// The query as it is embedded: without the names of speakers, which draw every greeting of that person near.
pub(super) fn without_speakers(query: &str, gathered: &Gathered) -> String {
    let speaks = |word: &str| {
        let terms: Vec<_> = terms(word).iter().map(|term| Term::of(term)).collect();
        !terms.is_empty() && terms.iter().all(|term| gathered.is_speaker(*term))
    };
    query.split_whitespace().filter(|word| !speaks(word)).collect::<Vec<_>>().join(" ")
}

/// How much the built-in model has to say about a text: it knows no Chinese, Japanese or Korean.
pub(super) fn say(query: &str) -> f64 {
    // Some names and identifiers in a Chinese question carry it no further than their words do.
    if cjk_share(query) > 0.3 { 0.0 } else { 1.0 }
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
