//! Probability that a single hit bears on the message, from its similarity, its rank, the size of the scope and the
//! verdicts that it got.
//!
//! Fitted on 2,200 messages for everyday topics, in both languages, put to homes of 5 to 300 memories.

use super::confidence::feedback_part;
use crate::recall::Hit;

/// Hits that are told apart; the best cosine is that of the best among them.
const MAX_JUDGED: usize = 8;

const INTERCEPT: f64 = -1.01;

/// Relevance as a share of the best one's.
const SHARE: f64 = 0.49;

/// Logarithm of the rank: of two hits alike, the first is right more often.
const RANK: f64 = -0.40;

/// Cosine by the encoder, and its distance to the best cosine.
const COSINE: f64 = 1.03;
const COSINE_GAP: f64 = 4.90;

/// Match of the query's tokens by the encoder.
const MAX_SIM: f64 = 3.69;

/// Cosine by the static table.
const STATIC_COSINE: f64 = 2.41;

/// Logarithm of the number of memories: among more of them, more are similar by accident.
const SCOPE_SIZE: f64 = -0.67;

/// Sets the probability of each hit, best first, that the encoder compared.
pub(super) fn set_probabilities(hits: &mut [Hit], scope_size: usize) {
    let best_relevance = hits.iter().map(|hit| hit.factors.relevance).fold(0.0, f64::max);
    let cosines = hits.iter().take(MAX_JUDGED).filter_map(|hit| hit.signals.rerank_cosine);
    let Some(best_cosine) = cosines.reduce(f64::max) else { return };
    for (index, hit) in hits.iter_mut().enumerate() {
        let signals = &hit.signals;
        let feedback = feedback_part(hit).map_or(0.0, |part| part.adds);
        hit.probability = signals.rerank_cosine.map(|cosine| {
            let log_odds = INTERCEPT
                + SHARE * hit.factors.relevance / best_relevance.max(f64::MIN_POSITIVE)
                + RANK * (index as f64).ln_1p()
                + COSINE * cosine
                + COSINE_GAP * (cosine - best_cosine)
                + MAX_SIM * signals.max_sim.unwrap_or_default()
                + STATIC_COSINE * signals.cosine.unwrap_or_default()
                + SCOPE_SIZE * (scope_size.max(1) as f64).ln()
                + feedback;
            super::logistic::sigmoid(log_odds)
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        recall::{HitSignals, ScoreFactors},
        store::DocAddress,
        types::{FEEDBACK_KEY, Kind, Memory, MemorySource, Origin, Scope, Timestamp},
    };

    fn judged(feedback: serde_json::Value) -> Hit {
        let now = Timestamp::UNIX_EPOCH;
        let source = MemorySource::new(Origin::Remember);
        let text = "I like tea".to_owned();
        let mut memory =
            Memory::with_content(&Scope::default(), Kind::User, text, source, now, now);
        memory.metadata.insert(FEEDBACK_KEY.to_owned(), feedback);
        Hit {
            memory,
            score: 0.5,
            signals: HitSignals { rerank_cosine: Some(0.5), ..HitSignals::default() },
            factors: ScoreFactors { relevance: 1.0, ..ScoreFactors::default() },
            probability: None,
            newer: None,
            held_until: None,
            check: None,
            address: DocAddress::new(0, 0),
        }
    }

    #[test]
    fn verdicts_make_a_hit_more_or_less_probable_within_bounds() {
        let probability = |feedback| {
            let mut hits = [judged(feedback)];
            set_probabilities(&mut hits, 100);
            hits[0].probability.unwrap()
        };
        let plain = probability(json!({}));
        assert!(probability(json!({ "bad": 1 })) < plain);
        assert!(probability(json!({ "good": 1 })) > plain);
        assert_eq!(probability(json!({ "good": 1, "bad": 1 })), plain);
        assert_eq!(probability(json!({ "good": 3 })), probability(json!({ "good": 30 })));
    }
}
