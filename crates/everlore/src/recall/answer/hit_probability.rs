//! Probability that a single hit bears on the message, from its similarity, its rank, the size of the scope and the
//! verdicts that it got.
//!
//! Where the message model tells what a message seeks, fitted on 2,490 messages put to 60 homes of 12 to 60 memories, in both
//! languages; otherwise on 2,200 messages for everyday topics put to homes of 5 to 300 memories.

use super::confidence::feedback_part;
use crate::{
    recall::{Hit, HitSignals},
    types::MemoryId,
};

/// Hits that are told apart; the best cosine is that of the best among them.
const MAX_JUDGED: usize = 8;

/// Coefficients of the log odds.
struct HitCoefficients {
    intercept: f64,
    /// Relevance as a share of the best one's.
    share: f64,
    /// Logarithm of the rank: of two hits alike, the first is right more often.
    rank: f64,
    /// Cosine by the encoder, of what the message seeks or else of the message, and its distance to the best one.
    cosine: f64,
    cosine_gap: f64,
    /// Match of the query's tokens by the encoder.
    max_sim: f64,
    /// Cosine by the static table.
    static_cosine: f64,
    /// Logarithm of the number of memories: among more of them, more are similar by accident.
    scope_size: f64,
}

const BY_SOUGHT: HitCoefficients = HitCoefficients {
    intercept: -4.50,
    share: 3.38,
    rank: -0.39,
    cosine: 3.04,
    cosine_gap: 4.66,
    max_sim: 4.31,
    static_cosine: 2.02,
    scope_size: -0.43,
};

const BY_COSINE: HitCoefficients = HitCoefficients {
    // Lower than fitted by 0.73: at one and the same `recall.floor` as many hits are told as by what is sought.
    intercept: -1.74,
    share: 0.49,
    rank: -0.40,
    cosine: 1.03,
    cosine_gap: 4.90,
    max_sim: 3.69,
    static_cosine: 2.41,
    scope_size: -0.67,
};

/// Sets the probability of each hit, best first, that the encoder compared.
pub(super) fn set_probabilities(hits: &mut [Hit], scope_size: usize) {
    let is_sought = hits.iter().any(|hit| hit.signals.sought_cosine.is_some());
    let by = if is_sought { &BY_SOUGHT } else { &BY_COSINE };
    let cosine = |signals: &HitSignals| {
        if is_sought { signals.sought_cosine } else { signals.rerank_cosine }
    };
    let best_relevance = hits.iter().map(|hit| hit.factors.relevance).fold(0.0, f64::max);
    let cosines = hits.iter().take(MAX_JUDGED).filter_map(|hit| cosine(&hit.signals));
    let Some(best_cosine) = cosines.reduce(f64::max) else { return };
    for (index, hit) in hits.iter_mut().enumerate() {
        let signals = &hit.signals;
        let feedback = feedback_part(hit).map_or(0.0, |part| part.adds);
        hit.probability = cosine(signals).map(|cosine| {
            let log_odds = by.intercept
                + by.share * hit.factors.relevance / best_relevance.max(f64::MIN_POSITIVE)
                + by.rank * (index as f64).ln_1p()
                + by.cosine * cosine
                + by.cosine_gap * (cosine - best_cosine)
                + by.max_sim * signals.max_sim.unwrap_or_default()
                + by.static_cosine * signals.cosine.unwrap_or_default()
                + by.scope_size * (scope_size.max(1) as f64).ln()
                + feedback;
            super::logistic::sigmoid(log_odds)
        });
    }
    accompany_replaced(hits);
}

/// Gives a hit that replaces another, or may do so, at least the probability of that one: what is told of the past needs
/// the present beside it.
fn accompany_replaced(hits: &mut [Hit]) {
    let replaced: Vec<(MemoryId, Option<f64>)> =
        hits.iter().filter_map(|hit| Some((hit.newer?, hit.probability))).collect();
    for (newer, probability) in replaced {
        if let Some(hit) = hits.iter_mut().find(|hit| hit.memory.id == newer) {
            hit.probability = hit.probability.into_iter().chain(probability).reduce(f64::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        recall::ScoreFactors,
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
    fn what_is_sought_decides_between_hits_that_resemble_the_message_alike() {
        let mut hits = [judged(json!({})), judged(json!({}))];
        hits[0].signals.sought_cosine = Some(0.2);
        hits[1].signals.sought_cosine = Some(0.6);
        set_probabilities(&mut hits, 100);
        assert!(hits[1].probability > hits[0].probability, "{hits:?}");
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
