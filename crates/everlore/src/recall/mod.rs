//! Read path: finds the memories that the model should know for a query.
//!
//! [`recall`] runs the pipeline. Each folder answers one question:
//!
//! - `query/`: what does the query ask for? `analyze` turns its text into an [`Intent`].
//! - `rank/`: which memories are relevant? `gather` reads the index, `fuse` adds up the signals, `load` reads the rows
//!   of the best candidates, `score` multiplies their relevance with bounded factors.
//! - `answer/`: is the best hit good enough, and how is it shown? `abstain` estimates the confidence, `pack` and
//!   `render` fit the hits into a token budget, `why_not` explains why a memory is missing.
//!
//! Invariant: `query/` uses neither of the other two, and `rank/` does not use `answer/`.

mod query;
mod rank;
mod answer;

use jiff::Zoned;
use serde::Serialize;

pub use answer::{
    BlockRequest, ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, ConfidenceFeatures,
    ConfidenceTuning, FEATURE_COUNT, FeatureContribution, MemoryBlock, MemoryBlockEntry,
    TrainingSample, WhyNot, fit_logistic, logistic, pack,
};
pub(crate) use answer::{RenderedMemory, recall_named_memory, render_recall, why_not};
use answer::{abstain, add_events, add_profile, events_of_period, profile_candidates};
pub(crate) use answer::{content_units, synthetic_query};
pub use query::{
    Domain, DomainTerm, Domains, FORM_COUNT, IdentityQuestion, Intent, MemoryNeed, MessageForm,
    QueryKind, QueryTerm, analyze,
};
pub(crate) use query::{FactQuestion, classify_identity};
use query::{RankingStrategy, analyze_by_time_words, analyze_with_domains};
pub use rank::{HitSignals, ScoreFactors, TermSignal, VisibleContext};
use rank::{QueryModels, fuse, gather, load, score, source_turns};

use crate::{
    config::RecallConfig,
    error::Result,
    llm::{Embedder, MessageModel, Reranker},
    store::{AddressQuery, DocAddress, MemoryFilter, Store},
    types::{CheckResult, Memory, MemoryId, Scope, Status, Timestamp},
};

/// Bytes of a message that recall reads: twenty pages. The limit bounds the work of its analysis.
const MAX_QUERY_BYTES: usize = 64 * 1024;

/// Finds the memories worth knowing for `request`, best first.
///
/// A query for a period in which nothing was said is read a second time, by the words that name the period: a memory
/// may mention that very time.
pub(crate) async fn recall(deps: RecallDeps<'_>, request: &RecallRequest) -> Result<Recall> {
    let mut models = QueryModels::start(deps, request).await;
    let mut intent = analyze_with_domains(&request.query, deps.domains, deps.config, deps.now);
    loop {
        let gathered = gather(deps, request, &intent).await?;
        let fusion = fuse(deps, request, &gathered, &intent);
        let loaded = load(deps, request, fusion, &mut models).await?;
        let mut ranked = score(loaded, deps.now.timestamp());
        source_turns::mark_superseded(deps, request, &mut ranked).await?;
        if !ranked.hits.is_empty() || !intent.asks_period {
            let about_user = profile_candidates(&ranked);
            let events = events_of_period(&ranked);
            let answer = abstain(ranked, request, &deps.coefficients);
            let answer = add_profile(deps, request, answer, &about_user).await?;
            return Ok(add_events(answer, events, request));
        }
        intent = analyze_by_time_words(&request.query, deps.config, deps.now);
    }
}

/// Store, models and settings that recall works with.
#[derive(Clone, Copy)]
pub(crate) struct RecallDeps<'a> {
    /// Store that holds the memories.
    pub store: &'a dyn Store,
    /// Embedder for similarity in meaning; `None` ranks by words alone.
    pub embedder: Option<&'a dyn Embedder>,
    /// Late-interaction model that compares the best candidates with the query word by word; `None` skips reranking.
    pub reranker: Option<&'a dyn Reranker>,
    /// Model that tells whether a message calls for memory, and for which; `None` judges by its form alone.
    pub message_model: Option<&'a dyn MessageModel>,
    /// Constants of ranking.
    pub config: &'a RecallConfig,
    /// Vocabularies of special fields that the user supplied.
    pub domains: &'a Domains,
    /// Coefficients of the logistic confidence model.
    pub coefficients: ConfidenceCoefficients,
    /// Moment of the query, in the user's time zone.
    pub now: &'a Zoned,
}

/// Query with its scope, filters and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// Agent and user whose memories are searched.
    pub scope: Scope,
    /// Message that the agent is about to answer.
    pub query: String,
    /// Filter that every hit must pass; without statuses, only active memories pass.
    pub filter: MemoryFilter,
    /// Part of the scope to search; `None` searches all of it.
    pub within: Option<AddressQuery>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Set to return all memories of a period, beyond the limit, if the query asks for nothing else ("What did we talk
    /// about last week?"). Otherwise such a query gets `limit` memories, spread evenly over the period.
    pub whole_period: bool,
    /// Minimum score of a hit.
    pub min_score: f64,
    /// Minimum confidence that the best hit answers the query; below it, recall returns nothing.
    pub min_confidence: f64,
    /// Minimum probability that a hit beside the best one bears on the message (the setting `recall.floor`).
    pub min_probability: f64,
    /// Part of the current conversation that the model still sees; recall leaves it out.
    pub visible: Option<VisibleContext>,
    /// Set if the hits are told to a model: turns that tell nothing, and turns whose memory is a hit as well, then leave
    /// their places to others.
    pub for_prompt: bool,
    /// Set to keep turns beside the memories that tell them, to explain an answer.
    pub keeps_told_turns: bool,
    /// Set if the conversation is known to have had an earlier message, for the setting
    /// `memory.inject.first_round_empty`; otherwise the stored turns of the session tell.
    pub is_later_round: bool,
    /// Set if the query is the error of a failed tool: a prompt is then given cures of the same failure or of a near one,
    /// and nothing else.
    pub only_cures: bool,
}

impl RecallRequest {
    /// Creates a request for the best memories of `scope`, with the limit of `config` and without minimum scores.
    pub fn new(scope: Scope, query: impl Into<String>, config: &RecallConfig) -> Self {
        Self {
            scope,
            query: bounded_query(query.into()),
            filter: MemoryFilter::default(),
            within: None,
            limit: config.limit,
            whole_period: false,
            min_score: 0.0,
            min_confidence: 0.0,
            min_probability: 0.0,
            visible: None,
            for_prompt: false,
            keeps_told_turns: false,
            is_later_round: false,
            only_cures: false,
        }
    }

    /// Returns the filter with its defaults filled in: active memories that are no records.
    fn effective_filter(&self) -> MemoryFilter {
        let mut filter = self.filter.clone().without_records();
        if filter.statuses.is_empty() {
            filter.statuses.push(Status::Active);
        }
        filter
    }
}

/// Returns a message as far as recall reads it: whole up to [`MAX_QUERY_BYTES`], otherwise its beginning and its end,
/// where people ask. What lies between is a document.
pub(crate) fn bounded_query(query: String) -> String {
    if query.len() <= MAX_QUERY_BYTES {
        return query;
    }
    let half = MAX_QUERY_BYTES / 2;
    let boundary = |at: usize| (at..).find(|at| query.is_char_boundary(*at)).unwrap_or(at);
    format!("{}\n{}", &query[..boundary(half)], &query[boundary(query.len() - half)..])
}

/// Answer to a [`RecallRequest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recall {
    /// Analysed query.
    pub intent: Intent,
    /// Hits, best first; in order of time if the query asks for a period.
    pub hits: Vec<Hit>,
    /// Probability from 0 to 1 that the best hit answers the query.
    pub confidence: f64,
    /// `true` if there are no hits: nothing was found, the confidence is too low, or every hit is below a minimum.
    pub abstained: bool,
    /// Number of memories that matched the query by any signal.
    pub candidates: usize,
    /// Error of the embedder; set if it failed and words alone decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_meaning: Option<String>,
    /// Derivation of the confidence.
    pub judgement: ConfidenceEstimate,
}

/// Memory chosen for a query, with every number that made its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Worth for this query, from 0 to 1.
    pub score: f64,
    /// Relevance signals from the index and the models.
    pub signals: HitSignals,
    /// Factors for age, weight, importance and kind that turn the relevance into the score.
    pub factors: ScoreFactors,
    /// Probability that the memory bears on the message; `None` if the encoder did not compare it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Newer memory that states the same thing differently, or that may do so: then `held_until` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<MemoryId>,
    /// Time until which it held, if a newer memory replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_until: Option<Timestamp>,
    /// Current result of the memory's check, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckResult>,
    /// Address in the index.
    #[serde(skip)]
    pub address: DocAddress,
}
