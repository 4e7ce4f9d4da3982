//! Exact BM25F over one scope: fields weighted, neighbouring turns counted, statistics of this scope alone.

use super::corpus::{Corpus, DocRef};
use crate::store::{IndexField, Posting};

/// What the terms of a query are worth to each document.
pub(super) struct Bm25Scores {
    /// BM25F by number; 0 where nothing matches.
    pub(super) bm25: Vec<f32>,
    /// Every document that any term or neighbour matches, once.
    pub(super) matched: Vec<DocRef>,
    /// How many documents have each term.
    pub(super) doc_frequencies: Vec<usize>,
}

/// The frequency of one term in the documents that have it or neighbour one that does.
struct TermFrequencies {
    /// By number.
    tf: Vec<f32>,
    matched: Vec<DocRef>,
}

impl Corpus<'_> {
    /// Scores all documents for the terms whose lists and weights are given.
    pub(super) fn score(&self, lists: &[Vec<(usize, f64)>], weights: &[f64]) -> Bm25Scores {
        let zeros = || vec![0.0; self.max_doc()];
        let mut scores = Bm25Scores {
            bm25: zeros(),
            matched: Vec::new(),
            doc_frequencies: Vec::with_capacity(lists.len()),
        };
        let mut frequencies = TermFrequencies { tf: zeros(), matched: Vec::new() };
        for (variants, weight) in lists.iter().zip(weights) {
            let known = self.accumulate_term(variants, &mut frequencies);
            let idf = self.idf(known);
            scores.doc_frequencies.push(known);
            for doc in frequencies.matched.drain(..) {
                let number = self.ordinal(doc);
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
    pub(super) fn term_frequency(
        &self,
        doc: DocRef,
        around: &[(DocRef, f32)],
        variants: &[(usize, f64)],
    ) -> f32 {
        let own =
            |list| self.posting(doc, list).map_or(0.0, |posting| self.weighted_frequency(posting));
        let near = |list| {
            let shared = around
                .iter()
                .map(|(doc, share)| share * self.posting(*doc, list).map_or(0.0, content_count));
            shared.sum::<f32>()
        };
        variants.iter().map(|(list, worth)| *worth as f32 * (own(*list) + near(*list))).sum()
    }

    /// What a frequency is worth in a document, before the term's rarity: it rises ever less.
    pub(super) fn saturate(&self, tf: f32, doc: DocRef) -> f32 {
        let (k1, b) = self.bm25_params();
        tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * self.length(doc)))
    }

    /// How rare a term is that this many documents have.
    pub(super) fn idf(&self, known: usize) -> f32 {
        bm25_idf(self.num_docs(), known)
    }

    /// Fills in the frequencies of a term and its synonyms; returns how many documents have the term itself or, if
    /// none has, a synonym.
    fn accumulate_term(&self, variants: &[(usize, f64)], into: &mut TermFrequencies) -> usize {
        let mut known = 0;
        for (list, worth) in variants {
            let worth = *worth as f32;
            for (doc, posting) in self.postings(*list) {
                into.add(doc, self.ordinal(doc), worth * self.weighted_frequency(posting));
                let content = worth * content_count(posting);
                if content > 0.0 {
                    self.for_each_neighbour(doc, |neighbour, share| {
                        into.add(neighbour, self.ordinal(neighbour), share.to_neighbour * content)
                    });
                }
            }
            if known == 0 {
                known = into.matched.len();
            }
        }
        known
    }
}

impl TermFrequencies {
    #[inline]
    fn add(&mut self, doc: DocRef, number: usize, tf: f32) {
        let sum = &mut self.tf[number];
        if *sum == 0.0 && tf > 0.0 {
            self.matched.push(doc);
        }
        *sum += tf;
    }
}

/// ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N documents have.
pub(super) fn bm25_idf(count: usize, known: usize) -> f32 {
    let (count, known) = (count as f32, known as f32);
    (1.0 + (count - known + 0.5) / (known + 0.5)).ln()
}

fn content_count(posting: &Posting) -> f32 {
    posting.counts[IndexField::Content as usize].into()
}
