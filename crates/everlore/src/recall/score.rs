//! What a memory is worth for the query: its relevance, moved within bounds by its age, weight and importance.

use std::collections::HashMap;

use serde::Serialize;

use super::{Hit, Intent, fuse::RecallCandidate, query_kind::RankingStrategy};
use crate::{
    config::RecallConfig,
    store::DocAddress,
    types::{Memory, Timestamp},
};

/// A day in milliseconds.
const DAY_MILLIS: f64 = 86_400_000.0;

/// Numbers near 1 that relevance is multiplied with.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreFactors {
    /// The signals as one positive number: ln(1 + e^fused).
    pub relevance: f64,
    /// Newer is better.
    pub recency: f64,
    /// Often used is better.
    pub weight: f64,
    /// Important is better.
    pub importance: f64,
    /// The kind the query is after is better.
    pub kind: f64,
    /// The newest of several statements of the same thing stands where the best of them did, the others right below it;
    /// 1 for anything else.
    pub update: f64,
}

impl ScoreFactors {
    /// All of them multiplied.
    pub(super) fn product(&self) -> f64 {
        self.relevance * self.recency * self.weight * self.importance * self.kind * self.update
    }
}

/// Weighs the candidates whose rows were read, best first.
pub(super) fn score(
    candidates: Vec<RecallCandidate>,
    loaded: Vec<(DocAddress, Memory)>,
    intent: &Intent,
    config: &RecallConfig,
    now: Timestamp,
) -> Vec<Hit> {
    let strategy = intent.aim.strategy();
    let mut rows: HashMap<DocAddress, Memory> = loaded.into_iter().collect();
    let mut hits: Vec<Hit> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let memory = rows.remove(&candidate.address)?;
            let factors = factors(&candidate, &memory, &strategy, config, now);
            Some(Hit {
                score: combined_score(&factors),
                memory,
                signals: candidate.signals,
                factors,
                newer: None,
                check: None,
                address: candidate.address,
            })
        })
        .collect();
    // Equal scores stay in the order of the candidates.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits
}

/// The product of all factors, brought between 0 and 1 without changing the order.
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
        // A weight of 1 is where every memory begins; twice that is as good as it gets.
        weight: around_one((memory.weight_at(now) / 2.0).clamp(0.0, 1.0), config.weight_share),
        importance: around_one(memory.importance.clamp(0.0, 1.0), config.importance_share),
        kind: if strategy.kinds.contains(&candidate.kind) { strategy.kind_boost } else { 1.0 },
        update: 1.0,
    }
}

/// ln(1 + e^x), which is positive, keeps the order, and is x itself for large x.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// From 1 - share/2 to 1 + share/2 as `value` goes from 0 to 1.
fn around_one(value: f64, share: f64) -> f64 {
    1.0 + share * (value - 0.5)
}

/// 1 for now, a half after each half life.
fn freshness(at: Timestamp, now: Timestamp, half_life_days: f64) -> f64 {
    let days = (now.as_millisecond() - at.as_millisecond()) as f64 / DAY_MILLIS;
    (-days.max(0.0) / half_life_days).exp2()
}
