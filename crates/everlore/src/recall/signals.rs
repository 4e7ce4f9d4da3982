//! What recall tells of each hit: the numbers that made its score.

use serde::Serialize;

/// What the index said of a memory, number by number.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HitSignals {
    /// BM25F of the query's terms.
    pub bm25: f64,
    /// The same, as standard deviations above the mean of the scope.
    pub lexical: f64,
    /// Similarity in meaning, as standard deviations above the mean of the scope; 0 where no vectors are asked.
    pub semantic: f64,
    /// Added because the query names who said it.
    pub speaker: f64,
    /// Added because the query asks when and the text names a time.
    pub when: f64,
    /// Added because it was said in the time or session that the query names.
    pub date: f64,
    /// Added because the query asks who the user is.
    pub identity: f64,
    /// Added because its session has a good hit.
    pub session: f64,
    /// Added because it shares rare words with the best candidates.
    pub bridge: f64,
    /// Added by comparing query and text word by word, as standard deviations above the mean of the best candidates; 0
    /// where no model does so.
    #[serde(skip_serializing_if = "is_nothing")]
    pub rerank: f64,
    /// The sum of all but `bm25`.
    pub fused: f64,
    /// The share of the query's worth that its terms cover.
    pub coverage: f64,
    /// The terms that made up `bm25`.
    pub terms: Vec<TermSignal>,
}

fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

/// What one term of the query did for a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TermSignal {
    /// The term.
    pub term: String,
    /// How rare it is in the scope.
    pub idf: f64,
    /// How often the memory has it, by field weight, synonyms and neighbouring turns included.
    pub frequency: f64,
    /// What it added to `bm25`.
    pub score: f64,
}
