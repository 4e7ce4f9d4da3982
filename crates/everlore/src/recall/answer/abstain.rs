//! Abstention: explains the hits, estimates the confidence in the best one, and cuts the rest to the request's minimums
//! and limit. The profile and the events of a period are added afterwards (`profile.rs`, `period_events.rs`).

use super::{
    confidence::{
        ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, estimate_confidence,
    },
    hit_probability::set_probabilities,
};
use crate::{
    recall::{
        Hit, Recall, RecallRequest,
        query::StatedLimits,
        rank::{RankedHits, source_turns},
    },
    types::{MemoryId, Role},
};

/// Coverage above which a hit contains every term; sums of fractions fall a little short of 1.
const FULL_COVERAGE: f64 = 0.999;

/// Least relevance of a hit, as a share of the best one's, where no encoder compared it.
const MIN_RELEVANCE_SHARE: f64 = 0.4;

/// Most limits that a request is told: those who share a table have few.
const MAX_LIMITS: usize = 3;

/// Share of the least confidence at which a request is told the limits that bear on it and nothing else.
const LIMITS_SHARE: f64 = 0.25;

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
    let limits = stated_limits(&hits, request);
    let mut hits = drop_weak(hits, &estimate, request, &limits);
    if request.for_prompt && !request.keeps_told_turns && !intent.asks_period {
        source_turns::arrange_for_prompt(&mut hits, intent);
    }
    if !(intent.asks_period && request.whole_period) {
        truncate_around(&mut hits, request.limit, &limits);
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
fn drop_weak(
    mut hits: Vec<Hit>,
    estimate: &ConfidenceEstimate,
    request: &RecallRequest,
    limits: &[MemoryId],
) -> Vec<Hit> {
    if estimate.confidence < request.min_confidence {
        let is_near = estimate.confidence >= LIMITS_SHARE * request.min_confidence;
        hits.retain(|hit| is_near && limits.contains(&hit.memory.id));
        return hits;
    }
    // A period and a profile are wanted whole.
    let is_whole = matches!(estimate.basis, ConfidenceBasis::Period | ConfidenceBasis::Profile);
    let kept: Vec<bool> = (0..hits.len())
        .map(|index| {
            hits[index].score >= request.min_score
                && (is_whole
                    || limits.contains(&hits[index].memory.id)
                    || is_likely(&hits, index, request))
        })
        .collect();
    hits.into_iter().zip(kept).filter_map(|(hit, is_kept)| is_kept.then_some(hit)).collect()
}

/// Returns the best hits that state a limit which bears on the request of a prompt: an allergy for a dinner.
fn stated_limits(hits: &[Hit], request: &RecallRequest) -> Vec<MemoryId> {
    if !request.for_prompt {
        return Vec::new();
    }
    let limits = StatedLimits::on_request(&request.query);
    let is_limit = |hit: &&Hit| {
        hit.memory.source.role.is_none_or(|role| role == Role::User)
            && hit.newer.is_none()
            && limits.are_in(&hit.memory.content)
    };
    hits.iter().filter(is_limit).take(MAX_LIMITS).map(|hit| hit.memory.id).collect()
}

/// Truncates hits; those of `limits` stay in place of others.
fn truncate_around(hits: &mut Vec<Hit>, most: usize, limits: &[MemoryId]) {
    while hits.len() > most {
        let last = hits.iter().rposition(|hit| !limits.contains(&hit.memory.id));
        hits.remove(last.unwrap_or(hits.len() - 1));
    }
}
