//! Lexical relevance: exact BM25F over one scope, with weighted fields, neighbouring turns, and statistics of this
//! scope alone.

use everlore_kernel::{Bm25Sums, TermFrequencies, TermWorth};

use super::corpus::{Corpus, DocRef};
use crate::store::{IndexField, Posting};

/// Background documents added to the scope when coverage weighs a term: in a scope of three memories every term is
/// common, which says nothing about the term.
const BACKGROUND_DOCS: usize = 1_000;

/// BM25F of every document of the corpus for one query.
pub(crate) struct Bm25Matches {
    /// BM25F and coverage by ordinal, and the ordinals of the documents that match in the text or in a neighbour.
    pub(super) sums: Bm25Sums,
    /// Number of documents that contain each query term.
    pub(crate) doc_frequencies: Vec<usize>,
}

impl Corpus<'_> {
    /// Computes BM25F of all documents for terms with these posting lists and weights.
    pub(super) fn bm25(&self, lists: &[Vec<(usize, f64)>], weights: &[f64]) -> Bm25Matches {
        let zeros = || vec![0.0; self.max_doc()];
        let mut sums = Bm25Sums { bm25: zeros(), covered: zeros(), matched: Vec::new() };
        let mut frequencies = TermFrequencies { tf: zeros(), matched: Vec::new() };
        let (norms, k1) = (self.length_norms(), self.length_norm().k1);
        let mut doc_frequencies = Vec::with_capacity(lists.len());
        for (variants, weight) in lists.iter().zip(weights) {
            let (df, weight) = (self.accumulate_term(variants, &mut frequencies), *weight as f32);
            let (bm25, coverage) = (weight * self.idf(df), weight * self.background_idf(df));
            sums.add_term(&mut frequencies, &norms, &TermWorth { bm25, coverage, k1 });
            doc_frequencies.push(df);
        }
        Bm25Matches { sums, doc_frequencies }
    }

    /// Returns the frequency of a term in a document and its neighbours, measured as in [`Self::bm25`].
    pub(crate) fn term_frequency(
        &self,
        doc: DocRef,
        neighbours: &[(DocRef, f32)],
        variants: &[(usize, f64)],
    ) -> f32 {
        let own =
            |list| self.posting(doc, list).map_or(0.0, |posting| self.weighted_frequency(posting));
        let near = |list| {
            let shared = neighbours
                .iter()
                .map(|(doc, share)| share * self.posting(*doc, list).map_or(0.0, content_count));
            shared.sum::<f32>()
        };
        variants.iter().map(|(list, share)| *share as f32 * (own(*list) + near(*list))).sum()
    }

    /// Returns the saturated, length-normalized frequency of BM25, before the factor idf.
    pub(super) fn saturate(&self, tf: f32, doc: DocRef) -> f32 {
        let norm = self.length_norm();
        tf * (norm.k1 + 1.0) / (tf + norm.of(self.length(doc)))
    }

    /// Returns the inverse document frequency of a term that `df` documents contain.
    pub(crate) fn idf(&self, df: usize) -> f32 {
        bm25_idf(self.num_docs(), df)
    }

    /// Returns the rarity of a term for coverage: its idf in the scope and [`BACKGROUND_DOCS`] other documents.
    pub(crate) fn background_idf(&self, df: usize) -> f32 {
        bm25_idf(self.num_docs() + BACKGROUND_DOCS, df)
    }

    /// Adds up the frequencies of a term and its synonyms; returns the number of documents that contain the term itself
    /// or, if none does, a synonym.
    fn accumulate_term(&self, variants: &[(usize, f64)], into: &mut TermFrequencies) -> usize {
        let mut df = 0;
        for (list, share) in variants {
            self.add_postings(*list, *share as f32, into);
            if df == 0 {
                df = into.matched.len();
            }
        }
        df
    }
}

/// Returns ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N documents contain.
pub(super) fn bm25_idf(num_docs: usize, df: usize) -> f32 {
    let (num_docs, df) = (num_docs as f32, df as f32);
    (1.0 + (num_docs - df + 0.5) / (df + 0.5)).ln()
}

fn content_count(posting: &Posting) -> f32 {
    posting.counts[IndexField::Content as usize].into()
}
