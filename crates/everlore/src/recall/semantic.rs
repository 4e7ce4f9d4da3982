//! Similarity in meaning: the query's vector beside every vector of the scope.

use super::{
    gather::Gathered,
    lexical::{Corpus, Doc},
};
use crate::{
    llm::dot,
    store::{Field, Segment},
    text::terms::{Term, terms},
    types::Vector,
};

/// How many of the most similar memories are offered although no term matches.
const OFFERED: usize = 50;

/// What a query means to a model.
pub(super) struct Meaning {
    pub(super) vector: Vector,
    /// What unrelated texts stay below.
    pub(super) least_similarity: f32,
}

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
    /// Compares the query's vector with all of the scope. Texts below the least similarity of the model have nothing to
    /// do with the query, however they compare with the rest of a small scope.
    pub(super) fn new(meaning: &Meaning, corpus: &Corpus<'_>) -> Self {
        let Meaning { vector: query, least_similarity } = meaning;
        let mut raw: Vec<Option<f32>> = vec![None; corpus.count()];
        for (segment, doc, number) in corpus.living() {
            let slot = segment.slots.as_ref().and_then(|slots| slots.get(doc));
            raw[number] =
                slot.map(|(scale, values)| dot(&query.values, values) as f32 * scale * query.scale);
        }
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
        let near = |doc: &Doc| raw[*doc].is_some_and(|similarity| similarity >= *least_similarity);
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
