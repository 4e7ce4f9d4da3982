//! Scoring: multiplies the relevance of each candidate with bounded factors for age, weight, importance and kind.

use std::collections::HashMap;

use serde::Serialize;

use super::{
    doubts,
    fuse::{Fusion, RecallCandidate},
    load::LoadedCandidates,
    time_order, updates,
};
use crate::{
    config::RecallConfig,
    recall::{Hit, RankingStrategy},
    store::DocAddress,
    types::{Memory, Timestamp},
};

/// Milliseconds of a day.
const DAY_MILLIS: f64 = 86_400_000.0;

/// Relevance, and the factors near 1 that it is multiplied with.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreFactors {
    /// Fused signals as one positive number: ln(1 + e^fused).
    pub relevance: f64,
    /// Factor for age; newer is higher.
    pub recency: f64,
    /// Factor for the stored weight; often used is higher.
    pub weight: f64,
    /// Factor for importance.
    pub importance: f64,
    /// Factor for a kind that the query is after.
    pub kind: f64,
    /// Factor that moves the newest of several statements of the same thing to the rank of the best of them, and the
    /// others right below it; 1 for any other memory.
    pub update: f64,
}

impl ScoreFactors {
    /// Returns the relevance times all factors.
    pub(super) fn product(&self) -> f64 {
        self.relevance * self.recency * self.weight * self.importance * self.kind * self.update
    }
}

/// Hits of a query with the signals that ranked them.
pub(crate) struct RankedHits<'a> {
    pub(crate) fusion: Fusion<'a>,
    /// Hits, best first; in order of time if the query asks for a period.
    pub(crate) hits: Vec<Hit>,
}

/// Scores the loaded candidates and sorts them, best first; those of a period by time.
pub(crate) fn score(loaded: LoadedCandidates<'_>, now: Timestamp) -> RankedHits<'_> {
    let LoadedCandidates { fusion, candidates, rows } = loaded;
    let mut hits = score_candidates(candidates, rows, &fusion, now);
    if fusion.intent.asks_period {
        time_order::sort_by_time(&mut hits);
    } else {
        updates::promote_newest(&mut hits, fusion.intent);
        doubts::mark_doubted(&mut hits);
    }
    RankedHits { fusion, hits }
}

fn score_candidates(
    candidates: Vec<RecallCandidate>,
    rows: Vec<(DocAddress, Memory)>,
    fusion: &Fusion<'_>,
    now: Timestamp,
) -> Vec<Hit> {
    let strategy = fusion.intent.kind.strategy();
    let mut rows: HashMap<DocAddress, Memory> = rows.into_iter().collect();
    let mut hits: Vec<Hit> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let memory = rows.remove(&candidate.address)?;
            let factors = factors(&candidate, &memory, &strategy, &fusion.config, now);
            Some(Hit {
                score: combined_score(&factors),
                memory,
                signals: candidate.signals,
                factors,
                probability: None,
                newer: None,
                held_until: None,
                check: None,
                address: candidate.address,
            })
        })
        .collect();
    // The sort is stable: equal scores stay in the order of the candidates.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

/// Maps the product p of all factors to p / (1 + p), which lies between 0 and 1 and keeps the order.
pub(super) fn combined_score(factors: &ScoreFactors) -> f64 {
    let product = factors.product();
    product / (1.0 + product)
}

fn factors(
    candidate: &RecallCandidate,
    memory: &Memory,
    strategy: &RankingStrategy,
    config: &RecallConfig,
    now: Timestamp,
) -> ScoreFactors {
    let half_life = config.recency_half_life_days * strategy.recency_scale;
    ScoreFactors {
        relevance: softplus(candidate.signals.fused),
        recency: around_one(freshness(memory.at, now, half_life), config.recency_share),
        // Every memory begins with weight 1; twice that gives the highest factor.
        weight: around_one((memory.weight_at(now) / 2.0).clamp(0.0, 1.0), config.weight_share),
        importance: around_one(memory.importance.clamp(0.0, 1.0), config.importance_share),
        kind: if strategy.kinds.contains(&candidate.kind) { strategy.kind_boost } else { 1.0 },
        update: 1.0,
    }
}

/// Returns ln(1 + e^x), which is positive, keeps the order, and approaches x for large x.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Maps `value` from 0..1 to the range from 1 - share/2 to 1 + share/2.
fn around_one(value: f64, share: f64) -> f64 {
    1.0 + share * (value - 0.5)
}

/// Returns 1 for `now`, halved after each half-life.
fn freshness(at: Timestamp, now: Timestamp, half_life_days: f64) -> f64 {
    let days = (now.as_millisecond() - at.as_millisecond()) as f64 / DAY_MILLIS;
    (-days.max(0.0) / half_life_days).exp2()
}
