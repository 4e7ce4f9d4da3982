//! Similarity in meaning: the query's vector beside every vector of the scope.

use super::{
    gather::Gathered,
    lexical::{Corpus, Doc},
};
use crate::{
    store::{Field, Segment},
    text::{
        language::cjk_share,
        terms::{Term, terms},
    },
    types::Vector,
};

/// How many of the most similar memories are offered although no term matches.
const OFFERED: usize = 50;

/// How similar each document is to the query, in standard deviations above the mean of the scope.
pub(super) struct Similarities {
    /// By document; 0 for documents without a vector.
    pub(super) standard: Vec<f32>,
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
        Self { standard: raw.into_iter().map(standard).collect() }
    }

    /// The most similar documents.
    pub(super) fn best(&self) -> Vec<Doc> {
        let mut docs: Vec<Doc> =
            (0..self.standard.len()).filter(|doc| self.standard[*doc] > 0.0).collect();
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

/// The product of two vectors of bytes; `slot` holds them as a store keeps them.
fn dot(query: &[i8], slot: &[u8]) -> i32 {
    query.iter().zip(slot).map(|(a, b)| i32::from(i16::from(*a) * i16::from(b.cast_signed()))).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_multiply_like_numbers() {
        let (a, b) = (Vector::quantize(&[0.5, -1.0, 0.25]), Vector::quantize(&[-0.5, -0.25, 1.0]));
        let slot = b.to_slot();
        let product = dot(&a.values, &slot[4..]) as f32 * a.scale * b.scale;
        assert!((product - 0.25).abs() < 0.01, "{product}");
    }
}
