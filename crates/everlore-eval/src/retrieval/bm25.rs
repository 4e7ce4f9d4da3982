//! Okapi BM25 over posting lists: the ranking of the lexical baseline.

use std::collections::HashMap;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Occurrence of a term in a document, with the numbers that BM25 needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) id: usize,
    pub(super) frequency: u32,
    /// Terms of the document, repeats included.
    pub(super) length: u32,
}

/// Posting lists of a query's terms within one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QueryPostings {
    /// Documents in the scope.
    pub(super) docs: usize,
    /// Sum of the documents' lengths.
    pub(super) total_length: usize,
    /// One list for each term that the scope has.
    pub(super) lists: Vec<Vec<Posting>>,
}

/// Returns the best `limit` documents with their scores, best first; ties go to the older document.
pub(super) fn top(postings: &QueryPostings, limit: usize) -> Vec<(usize, f64)> {
    let docs = postings.docs as f64;
    let mean_length = postings.total_length as f64 / docs.max(1.0);
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for list in &postings.lists {
        let weight = idf(docs, list.len() as f64);
        for posting in list {
            let frequency = f64::from(posting.frequency);
            let relative = f64::from(posting.length) / mean_length.max(1.0);
            let saturated = frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * relative));
            *scores.entry(posting.id).or_default() += weight * saturated;
        }
    }
    let mut ranked: Vec<_> = scores.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(limit);
    ranked
}

/// Returns the inverse document frequency of a term that `df` of `docs` documents have.
fn idf(docs: f64, df: f64) -> f64 {
    (1.0 + (docs - df + 0.5) / (df + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posting(id: usize, frequency: u32, length: u32) -> Posting {
        Posting { id, frequency, length }
    }

    #[test]
    fn rare_terms_short_texts_and_repeats_count_more() {
        let common = vec![posting(1, 1, 10), posting(2, 1, 20), posting(3, 2, 10)];
        let rare = vec![posting(4, 1, 10)];
        let postings = QueryPostings { docs: 4, total_length: 50, lists: vec![common, rare] };
        let ids: Vec<_> = top(&postings, 3).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [4, 3, 1]);
    }

    #[test]
    fn the_score_is_that_of_the_formula() {
        let lists = vec![vec![posting(1, 1, 10)]];
        let postings = QueryPostings { docs: 2, total_length: 20, lists };
        // idf = ln(1 + 1.5 / 1.5) = ln 2; the text has the mean length, so the rest is 2.2 / 2.2.
        assert!((top(&postings, 1)[0].1 - std::f64::consts::LN_2).abs() < 1e-12);
    }
}
