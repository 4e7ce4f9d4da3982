//! Relevance signals of a hit: the numbers that `fuse` adds up, reported with the answer.

use serde::Serialize;

/// Relevance signals of a memory for a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HitSignals {
    /// BM25F of the query's terms; not part of `fused`.
    pub bm25: f64,
    /// Z-score of `bm25` over the scope: standard deviations above its mean.
    pub lexical: f64,
    /// Weighted z-score of the cosine similarity over the scope; 0 without vectors.
    pub semantic: f64,
    /// Boost if the query names the speaker.
    pub speaker: f64,
    /// Boost if the query asks for a time and the text names one.
    pub when: f64,
    /// Boost if the memory is of the time or session that the query names.
    pub date: f64,
    /// Boost for memories about the user if the query asks about the user.
    pub identity: f64,
    /// Boost by the best hit of its session.
    pub session: f64,
    /// Second-hop boost for rare words that it shares with the best candidates.
    pub bridge: f64,
    /// Weighted z-score of the late-interaction comparison over the best candidates; 0 without a reranker.
    #[serde(skip_serializing_if = "is_zero")]
    pub rerank: f64,
    /// Cosine of the embeddings of query and memory; `None` without vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// Cosine of the pooled vectors of the reranking model; `None` if it did not compare this memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_cosine: Option<f64>,
    /// Cosine of the memory and of what the message seeks, by the message model; `None` if they were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sought_cosine: Option<f64>,
    /// Weighted mean of each query token's best match in the memory and the turns beside it, by the reranking model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sim: Option<f64>,
    /// Sum of all weighted signals and boosts.
    pub fused: f64,
    /// Share of the query's term weights, by rarity, that the memory covers.
    pub coverage: f64,
    /// Terms that made up `bm25`.
    pub terms: Vec<TermSignal>,
}

/// Cosines by the static table and by the reranking model below which a memory without a term of the query has nothing
/// to do with it. Of the memories that messages in other words are about, one in fifty is below both, far down the list; a
/// single word has 0.17 with a text that it has nothing to do with.
const UNRELATED_COSINE: f64 = 0.12;
const UNRELATED_RERANK_COSINE: f64 = 0.175;

impl HitSignals {
    /// Returns `true` if anything relates the memory to the query: a term, a boost, or similarity by either model.
    pub(super) fn is_related(&self) -> bool {
        let is_similar = match (self.cosine, self.rerank_cosine) {
            (None, None) => true,
            (cosine, rerank) => {
                cosine.is_some_and(|cosine| cosine >= UNRELATED_COSINE)
                    || rerank.is_some_and(|cosine| cosine >= UNRELATED_RERANK_COSINE)
            }
        };
        is_similar || self.bm25 > 0.0 || self.speaker + self.date + self.identity > 0.0
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Contribution of one query term to a memory's BM25F.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TermSignal {
    /// Term as it is looked up.
    pub term: String,
    /// Inverse document frequency in the scope.
    pub idf: f64,
    /// Frequency in the memory by field weight, synonyms and neighbouring turns included.
    pub frequency: f64,
    /// Summand of `bm25`.
    pub score: f64,
}
