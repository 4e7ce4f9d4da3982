//! The last step of recall: explains the hits, abstains if the confidence in the best one is too low, and cuts the rest
//! to the request's minimums and limit.

use super::confidence::{ConfidenceCoefficients, estimate_confidence};
use crate::recall::{
    Hit, Recall, RecallRequest,
    rank::{RankedHits, source_turns},
};

/// Coverage above which a hit contains every term; sums of fractions fall a little short of 1.
const FULL_COVERAGE: f64 = 0.999;

/// Turns ranked hits into the answer: explains them, estimates the confidence in the best one, drops those below the
/// request's minimums (all if the confidence is), and truncates them to its limit.
pub(crate) fn abstain(
    ranked: RankedHits<'_>,
    request: &RecallRequest,
    coefficients: &ConfidenceCoefficients,
) -> Recall {
    let RankedHits { fusion, mut hits } = ranked;
    let intent = fusion.intent;
    for hit in hits.iter_mut().take(request.limit) {
        fusion.explain(hit.address, &mut hit.signals);
    }
    let features = fusion.confidence_features(&hits, coefficients);
    if intent.requires_all_terms {
        hits.retain(|hit| hit.signals.coverage > FULL_COVERAGE);
    }
    let estimate = estimate_confidence(intent, &hits, features, coefficients);
    let mut hits = drop_weak(hits, estimate.confidence, request);
    if request.for_prompt && !intent.asks_period {
        source_turns::arrange_for_prompt(&mut hits, intent);
    }
    if !(intent.asks_period && request.whole_period) {
        hits.truncate(request.limit);
    }
    for hit in hits.iter_mut().filter(|hit| hit.signals.terms.is_empty()) {
        fusion.explain(hit.address, &mut hit.signals);
    }
    Recall {
        intent: intent.clone(),
        abstained: hits.is_empty(),
        hits,
        confidence: estimate.confidence,
        candidates: fusion.candidate_count(),
        without_meaning: fusion.gathered.semantic_unavailable.clone(),
        judgement: estimate,
    }
}

/// Returns the minimum relevance of a hit: a share of the highest relevance.
pub(super) fn relevance_floor(hits: &[Hit], request: &RecallRequest) -> f64 {
    request.min_relevance_share * hits.iter().map(|hit| hit.factors.relevance).fold(0.0, f64::max)
}

/// Drops the hits below the minimum score or relevance; all of them if the confidence is below its minimum.
fn drop_weak(mut hits: Vec<Hit>, confidence: f64, request: &RecallRequest) -> Vec<Hit> {
    if confidence < request.min_confidence {
        return Vec::new();
    }
    let floor = relevance_floor(&hits, request);
    hits.retain(|hit| hit.score >= request.min_score && hit.factors.relevance >= floor);
    hits
}
