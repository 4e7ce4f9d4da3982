//! BM25 over the lists that any index returns: one ranking for all of them.

use std::collections::HashMap;

use super::Found;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The best `limit` memories with their scores, best first; of equal ones the older first.
pub(crate) fn top(found: &Found, limit: usize) -> Vec<(i64, f64)> {
    let docs = found.docs as f64;
    let mean_length = found.total_length as f64 / docs.max(1.0);
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for list in &found.lists {
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

/// How much a term tells, by how few memories have it.
fn idf(docs: f64, having: f64) -> f64 {
    (1.0 + (docs - having + 0.5) / (having + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Posting;

    fn posting(id: i64, frequency: u32, length: u32) -> Posting {
        Posting { id, frequency, length }
    }

    #[test]
    fn rare_terms_short_texts_and_repeats_count_more() {
        let common = vec![posting(1, 1, 10), posting(2, 1, 20), posting(3, 2, 10)];
        let rare = vec![posting(4, 1, 10)];
        let found = Found { docs: 4, total_length: 50, lists: vec![common, rare] };
        let ids: Vec<_> = top(&found, 3).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [4, 3, 1]);
    }

    #[test]
    fn the_score_is_that_of_the_formula() {
        let found = Found { docs: 2, total_length: 20, lists: vec![vec![posting(1, 1, 10)]] };
        // idf = ln(1 + 1.5 / 1.5) = ln 2; the text has the mean length, so the rest is 2.2 / 2.2.
        assert!((top(&found, 1)[0].1 - std::f64::consts::LN_2).abs() < 1e-12);
    }
}
