//! Settings of `[recall]`: all constants of the ranking formula.

use super::validate::settings;

settings! {
    /// Ranking of recall. The defaults were chosen by measurement; change them only with a measurement at hand.
    pub struct RecallConfig in "recall" {
        /// Memories that a recall returns unless it asks for another number. From 1 to 1000.
        pub limit: usize = 10, in 1..=1_000;
        /// Files with domain vocabulary: terms, their synonyms and weights (see docs/configuration-guide.md). A relative
        /// path starts at the folder of the settings file.
        pub domains: Vec<String> = Vec::new();
        /// Saturation of repeated terms (BM25's k1). From 0 to 10; 0 counts each term once.
        pub k1: f64 = 0.9, in 0.0..=10.0;
        /// Length normalization: how much long memories lose (BM25's b). From 0 to 1; 0 ignores length.
        pub b: f64 = 0.55, in 0.0..=1.0;
        /// Weight of a term in a memory's name. From 0 to 100.
        pub name: f64 = 2.0, in 0.0..=100.0;
        /// Weight of a term in a memory's description. From 0 to 100.
        pub description: f64 = 1.5, in 0.0..=100.0;
        /// Weight of a term in a memory's content. From 0 to 100.
        pub content: f64 = 1.0, in 0.0..=100.0;
        /// Weight of a term in a memory's tags. From 0 to 100.
        pub tags: f64 = 2.0, in 0.0..=100.0;
        /// Weight of a term in the name of a turn's speaker. From 0 to 100.
        pub speaker: f64 = 1.0, in 0.0..=100.0;
        /// Weight of a term in an earlier turn of the session, divided by its distance. From 0 to 1; 0 ignores them.
        pub neighbour: f64 = 0.65, in 0.0..=1.0;
        /// Weight of a term in a later turn, divided by its distance: lower, because a question says more about its answer
        /// than an answer about its question. From 0 to 1; 0 ignores them.
        pub later_neighbour: f64 = 0.35, in 0.0..=1.0;
        /// Turns before and after that count as neighbours. From 0 to 10.
        pub neighbour_span: usize = 2, in 0..=10;
        /// Weight of a single Chinese, Japanese or Korean character beside pairs of them. From 0 to 1.
        pub single_character: f64 = 0.5, in 0.0..=1.0;
        /// Weight of a synonym beside the term itself. From 0 to 1; 0 ignores synonyms.
        pub synonym: f64 = 0.4, in 0.0..=1.0;
        /// Weight of similarity in meaning beside terms; half of it where a local model reranks. From 0 to 10; 0 ignores
        /// it.
        pub semantic: f64 = 0.5, in 0.0..=10.0;
        /// Weight of reranking, where a local model compares the best memories with the query word by word. From 0 to 10; 0
        /// leaves it out.
        pub rerank: f64 = 0.7, in 0.0..=10.0;
        /// Best memories that a local model reranks. From 1 to 300.
        pub rerank_depth: usize = 50, in 1..=300;
        /// Boost of turns whose speaker is the only one the query names. From 0 to 100.
        pub speaker_boost: f64 = 2.5, in 0.0..=100.0;
        /// Boost of texts with a time, when the query asks when. From 0 to 100.
        pub when_boost: f64 = 1.0, in 0.0..=100.0;
        /// Boost of texts from the time that the query names. From 0 to 100.
        pub date_boost: f64 = 3.0, in 0.0..=100.0;
        /// Boost of texts that share rare terms with the best ones: a second hop to what the query means but does not name.
        /// From 0 to 100; 0 ignores it.
        pub bridge: f64 = 2.5, in 0.0..=100.0;
        /// Share of a session's best score that its other turns receive. From 0 to 1.
        pub session_prior: f64 = 0.2, in 0.0..=1.0;
        /// Days after which a memory's freshness is halved. From 1 to 36500.
        pub recency_half_life_days: f64 = 90.0, in 1.0..=36_500.0;
        /// Largest share of a score that freshness may move. From 0 to 1.
        pub recency_share: f64 = 0.1, in 0.0..=1.0;
        /// Largest share of a score that the stored weight may move. From 0 to 1.
        pub weight_share: f64 = 0.1, in 0.0..=1.0;
        /// Largest share of a score that importance may move. From 0 to 1.
        pub importance_share: f64 = 0.1, in 0.0..=1.0;
        /// Least confidence that a memory answers the query at which it is injected. From 0 to 1; 0 injects anything that
        /// matches.
        pub min_confidence: f64 = 0.4, in 0.0..=1.0;
        /// Least probability that a memory beside the best one bears on the message at which it is injected. From 0 to 1; 0
        /// injects anything that matches.
        pub floor: f64 = 0.035, in 0.0..=1.0;
    }
}
