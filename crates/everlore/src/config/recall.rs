//! Settings of `[recall]`: all constants of the ranking formula.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// Ranking of recall. The defaults were chosen by measurement; change them only with a measurement at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallConfig {
    /// Memories that a recall returns unless it asks for another number. From 1 to 1000.
    pub limit: usize,
    /// Files with domain vocabulary: terms, their synonyms and weights (see docs/configuration-guide.md). A relative
    /// path starts at the folder of the settings file.
    pub domains: Vec<String>,
    /// Saturation of repeated terms (BM25's k1). From 0 to 10; 0 counts each term once.
    pub k1: f64,
    /// Length normalization: how much long memories lose (BM25's b). From 0 to 1; 0 ignores length.
    pub b: f64,
    /// Weight of a term in a memory's name. From 0 to 100.
    pub name: f64,
    /// Weight of a term in a memory's description. From 0 to 100.
    pub description: f64,
    /// Weight of a term in a memory's content. From 0 to 100.
    pub content: f64,
    /// Weight of a term in a memory's tags. From 0 to 100.
    pub tags: f64,
    /// Weight of a term in the name of a turn's speaker. From 0 to 100.
    pub speaker: f64,
    /// Weight of a term in an earlier turn of the session, divided by its distance. From 0 to 1; 0 ignores them.
    pub neighbour: f64,
    /// Weight of a term in a later turn, divided by its distance: lower, because a question says more about its answer
    /// than an answer about its question. From 0 to 1; 0 ignores them.
    pub later_neighbour: f64,
    /// Turns before and after that count as neighbours. From 0 to 10.
    pub neighbour_span: usize,
    /// Weight of a single Chinese, Japanese or Korean character beside pairs of them. From 0 to 1.
    pub single_character: f64,
    /// Weight of a synonym beside the term itself. From 0 to 1; 0 ignores synonyms.
    pub synonym: f64,
    /// Weight of similarity in meaning beside terms; half of it where a local model reranks. From 0 to 10; 0 ignores
    /// it.
    pub semantic: f64,
    /// Weight of reranking, where a local model compares the best memories with the query word by word. From 0 to 10; 0
    /// leaves it out.
    pub rerank: f64,
    /// Best memories that a local model reranks. From 1 to 300.
    pub rerank_depth: usize,
    /// Boost of turns whose speaker is the only one the query names. From 0 to 100.
    pub speaker_boost: f64,
    /// Boost of texts with a time, when the query asks when. From 0 to 100.
    pub when_boost: f64,
    /// Boost of texts from the time that the query names. From 0 to 100.
    pub date_boost: f64,
    /// Boost of texts that share rare terms with the best ones: a second hop to what the query means but does not name.
    /// From 0 to 100; 0 ignores it.
    pub bridge: f64,
    /// Share of a session's best score that its other turns receive. From 0 to 1.
    pub session_prior: f64,
    /// Days after which a memory's freshness is halved. From 1 to 36500.
    pub recency_half_life_days: f64,
    /// Largest share of a score that freshness may move. From 0 to 1.
    pub recency_share: f64,
    /// Largest share of a score that the stored weight may move. From 0 to 1.
    pub weight_share: f64,
    /// Largest share of a score that importance may move. From 0 to 1.
    pub importance_share: f64,
    /// Least confidence that a memory answers the query at which it is injected. From 0 to 1; 0 injects anything that
    /// matches.
    pub min_confidence: f64,
    /// Least probability that a memory beside the best one bears on the message at which it is injected. From 0 to 1; 0
    /// injects anything that matches.
    pub floor: f64,
}

impl RecallConfig {
    /// Lists every value that is out of range.
    pub fn validate(&self) -> Vec<InvalidSetting> {
        let checks = [
            check_range("recall.limit", self.limit, 1..=1_000),
            check_range("recall.k1", self.k1, 0.0..=10.0),
            check_range("recall.b", self.b, 0.0..=1.0),
            check_range("recall.name", self.name, 0.0..=100.0),
            check_range("recall.description", self.description, 0.0..=100.0),
            check_range("recall.content", self.content, 0.0..=100.0),
            check_range("recall.tags", self.tags, 0.0..=100.0),
            check_range("recall.speaker", self.speaker, 0.0..=100.0),
            check_range("recall.neighbour", self.neighbour, 0.0..=1.0),
            check_range("recall.later_neighbour", self.later_neighbour, 0.0..=1.0),
            check_range("recall.neighbour_span", self.neighbour_span, 0..=10),
            check_range("recall.single_character", self.single_character, 0.0..=1.0),
            check_range("recall.synonym", self.synonym, 0.0..=1.0),
            check_range("recall.semantic", self.semantic, 0.0..=10.0),
            check_range("recall.rerank", self.rerank, 0.0..=10.0),
            check_range("recall.rerank_depth", self.rerank_depth, 1..=300),
            check_range("recall.speaker_boost", self.speaker_boost, 0.0..=100.0),
            check_range("recall.when_boost", self.when_boost, 0.0..=100.0),
            check_range("recall.date_boost", self.date_boost, 0.0..=100.0),
            check_range("recall.bridge", self.bridge, 0.0..=100.0),
            check_range("recall.session_prior", self.session_prior, 0.0..=1.0),
            check_range(
                "recall.recency_half_life_days",
                self.recency_half_life_days,
                1.0..=36_500.0,
            ),
            check_range("recall.recency_share", self.recency_share, 0.0..=1.0),
            check_range("recall.weight_share", self.weight_share, 0.0..=1.0),
            check_range("recall.importance_share", self.importance_share, 0.0..=1.0),
            check_range("recall.min_confidence", self.min_confidence, 0.0..=1.0),
            check_range("recall.floor", self.floor, 0.0..=1.0),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for RecallConfig {
    fn default() -> Self {
        Self {
            limit: 10,
            domains: Vec::new(),
            k1: 0.9,
            b: 0.55,
            name: 2.0,
            description: 1.5,
            content: 1.0,
            tags: 2.0,
            speaker: 1.0,
            neighbour: 0.65,
            later_neighbour: 0.35,
            neighbour_span: 2,
            single_character: 0.5,
            synonym: 0.4,
            semantic: 0.5,
            rerank: 0.7,
            rerank_depth: 50,
            speaker_boost: 2.5,
            when_boost: 1.0,
            date_boost: 3.0,
            bridge: 2.5,
            session_prior: 0.2,
            recency_half_life_days: 90.0,
            recency_share: 0.1,
            weight_share: 0.1,
            importance_share: 0.1,
            min_confidence: 0.4,
            floor: 0.06,
        }
    }
}
