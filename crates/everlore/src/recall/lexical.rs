//! Exact BM25F over one scope: fields weighted, neighbouring turns counted, statistics of this scope alone.

use super::corpus::{Corpus, Doc};
use crate::store::{Field, Posting};

/// What the terms of a query are worth to each document.
pub(super) struct Scores {
    /// BM25F by number; 0 where nothing matches.
    pub(super) bm25: Vec<f32>,
    /// Every document that any term or neighbour matches, once.
    pub(super) matched: Vec<Doc>,
    /// How many documents have each term.
    pub(super) known: Vec<usize>,
}

/// The frequency of one term in the documents that have it or neighbour one that does.
struct Frequencies {
    /// By number.
    tf: Vec<f32>,
    touched: Vec<Doc>,
}

impl Corpus<'_> {
    /// Scores all documents for the terms whose lists and weights are given.
    pub(super) fn score(&self, lists: &[Vec<(usize, f64)>], weights: &[f64]) -> Scores {
        let zeros = || vec![0.0; self.slots()];
        let mut scores =
            Scores { bm25: zeros(), matched: Vec::new(), known: Vec::with_capacity(lists.len()) };
        let mut frequencies = Frequencies { tf: zeros(), touched: Vec::new() };
        for (variants, weight) in lists.iter().zip(weights) {
            let known = self.count_term(variants, &mut frequencies);
            let idf = self.idf(known);
            scores.known.push(known);
            for doc in frequencies.touched.drain(..) {
                let number = self.number(doc);
                let tf = std::mem::take(&mut frequencies.tf[number]);
                let score = &mut scores.bm25[number];
                if *score == 0.0 {
                    scores.matched.push(doc);
                }
                *score += *weight as f32 * idf * self.saturate(tf, doc);
            }
        }
        scores
    }

    /// How often a document with these neighbours has a term, by the same measure as the score.
    pub(super) fn frequency(
        &self,
        doc: Doc,
        around: &[(Doc, f32)],
        variants: &[(usize, f64)],
    ) -> f32 {
        let own = |list| self.posting(doc, list).map_or(0.0, |posting| self.own(posting));
        let near = |list| {
            let shared = around
                .iter()
                .map(|(doc, share)| share * self.posting(*doc, list).map_or(0.0, content));
            shared.sum::<f32>()
        };
        variants.iter().map(|(list, worth)| *worth as f32 * (own(*list) + near(*list))).sum()
    }

    /// What a frequency is worth in a document, before the term's rarity: it rises ever less.
    pub(super) fn saturate(&self, tf: f32, doc: Doc) -> f32 {
        let (k1, b) = self.saturation();
        tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * self.length(doc)))
    }

    /// How rare a term is that this many documents have.
    pub(super) fn idf(&self, known: usize) -> f32 {
        rarity(self.count(), known)
    }

    /// Fills in the frequencies of a term and its synonyms; returns how many documents have the term itself or, if
    /// none has, a synonym.
    fn count_term(&self, variants: &[(usize, f64)], into: &mut Frequencies) -> usize {
        let mut known = 0;
        for (list, worth) in variants {
            let worth = *worth as f32;
            for (doc, posting) in self.listed(*list) {
                into.add(doc, self.number(doc), worth * self.own(posting));
                let content = worth * content(posting);
                if content > 0.0 {
                    self.for_each_neighbour(doc, |neighbour, share| {
                        into.add(neighbour, self.number(neighbour), share.given * content)
                    });
                }
            }
            if known == 0 {
                known = into.touched.len();
            }
        }
        known
    }
}

impl Frequencies {
    #[inline]
    fn add(&mut self, doc: Doc, number: usize, tf: f32) {
        let sum = &mut self.tf[number];
        if *sum == 0.0 && tf > 0.0 {
            self.touched.push(doc);
        }
        *sum += tf;
    }
}

/// ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N documents have.
pub(super) fn rarity(count: usize, known: usize) -> f32 {
    let (count, known) = (count as f32, known as f32);
    (1.0 + (count - known + 0.5) / (known + 0.5)).ln()
}

fn content(posting: &Posting) -> f32 {
    posting.counts[Field::Content as usize].into()
}
