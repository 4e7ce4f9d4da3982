//! The last step of recall: explains the hits, abstains if the confidence in the best one is too low, and cuts the rest
//! to the request's minimums and limit.

use super::{
    confidence::{
        ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, estimate_confidence,
    },
    hit_probability::set_probabilities,
};
use crate::recall::{
    Hit, Recall, RecallRequest,
    rank::{RankedHits, source_turns},
};

/// Coverage above which a hit contains every term; sums of fractions fall a little short of 1.
const FULL_COVERAGE: f64 = 0.999;

/// Least relevance of a hit, as a share of the best one's, where no encoder compared it.
const MIN_RELEVANCE_SHARE: f64 = 0.4;

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
    set_probabilities(&mut hits, fusion.corpus.num_docs());
    let estimate = estimate_confidence(intent, &hits, features, coefficients);
    let mut hits = drop_weak(hits, &estimate, request);
    if request.for_prompt && !request.keeps_told_turns && !intent.asks_period {
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

/// Returns `true` if a hit is likely enough to bear on the message. The best one always is; one that the encoder did not
/// compare must be nearly as relevant.
pub(super) fn is_likely(hits: &[Hit], index: usize, request: &RecallRequest) -> bool {
    let hit = &hits[index];
    let best = hits.iter().map(|hit| hit.factors.relevance).fold(0.0, f64::max);
    index == 0
        || request.min_probability == 0.0
        || match hit.probability {
            Some(probability) => probability >= request.min_probability,
            None => hit.factors.relevance >= MIN_RELEVANCE_SHARE * best,
        }
}

/// Drops the hits below the minimum score or probability; all of them if the confidence is below its minimum.
fn drop_weak(hits: Vec<Hit>, estimate: &ConfidenceEstimate, request: &RecallRequest) -> Vec<Hit> {
    if estimate.confidence < request.min_confidence {
        return Vec::new();
    }
    // A period and a profile are wanted whole.
    let is_whole = matches!(estimate.basis, ConfidenceBasis::Period | ConfidenceBasis::Profile);
    let kept: Vec<bool> = (0..hits.len())
        .map(|index| {
            hits[index].score >= request.min_score && (is_whole || is_likely(&hits, index, request))
        })
        .collect();
    hits.into_iter().zip(kept).filter_map(|(hit, is_kept)| is_kept.then_some(hit)).collect()
}
