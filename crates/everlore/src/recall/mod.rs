//! The read path: what should the model know now?
//!
//! `analyze` understands the query, `gather` asks the index, `fuse` brings the signals together, `rerank` looks at the best
//! of them again where a model is at hand, `asked_before` leaves out what only asks the same, `seen` what the conversation still shows, `bridge` lifts what the best lead to, `score` weighs what a memory is worth,
//! `abstain` decides whether anything is good enough, `pack` fits it into a prompt. A query for
//! a period is answered by `period` in the order of time; `outdated` puts the newest of several statements first.

mod analyze;
mod synonyms;
mod personal_constraints;
mod domains;
pub mod query_kind;
mod identity;
mod phrases;
mod small_talk;
mod memory_need;
mod period;
mod gather;
mod doc_stats;
mod corpus;
mod parallel;
mod lexical;
mod semantic;
mod signals;
mod fuse;
mod rerank;
mod repeated_questions;
mod visible_context;
mod second_hop;
mod score;
mod updates;
mod confidence_features;
mod abstain;
mod logistic;
mod synthetic_queries;
mod pack;
mod render;
mod why_not;

use jiff::Zoned;
use serde::Serialize;

pub use abstain::{
    ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, ConfidenceTuning, FEATURE_COUNT,
    FeatureContribution,
};
pub use analyze::{Intent, QueryTerm, analyze};
pub use confidence_features::ConfidenceFeatures;
pub use domains::{Domain, DomainTerm, Domains};
use fuse::{Fusion, RecallCandidate};
use gather::GatheredPostings;
pub use identity::IdentityQuestion;
pub use logistic::{TrainingSample, fit_coefficients};
pub use memory_need::MemoryNeed;
pub use pack::{MemoryBlock, MemoryBlockEntry, pack};
pub use render::{RenderedMemory, recall_named_memory, render_recall};
pub use score::ScoreFactors;
pub use signals::{HitSignals, TermSignal};
pub(crate) use synthetic_queries::{content_units, synthetic_query};
pub use visible_context::VisibleContext;
pub use why_not::WhyNot;

pub use crate::text::tiers::{one_line, overview};
use crate::{
    config::RecallConfig,
    error::Result,
    llm::{Embedder, Reranker},
    store::{AddressQuery, DocAddress, MemoryFilter, Store},
    types::{CheckResult, Memory, MemoryId, Scope, Status},
};

/// Candidates whose rows are read beside twice as many as are asked for: the bounded factors reorder near equals, and
/// hardly ever lift a memory from further down.
const EXTRA_LOADED: usize = 10;

/// How many times more candidates are read where most of them ask what the query asks.
const DEPTH_GROWTH: usize = 4;

/// A coverage above this has every word; sums of fractions fall a little short of one.
const FULL_COVERAGE: f64 = 0.999;

/// What to look for, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// Whose memories.
    pub scope: Scope,
    /// What the agent is about to answer.
    pub query: String,
    /// Which memories may be returned. Without statuses, only active ones.
    pub filter: MemoryFilter,
    /// Only these of them; any if left out.
    pub within: Option<AddressQuery>,
    /// The most hits.
    pub limit: usize,
    /// Whether a query that asks for nothing but a period ("What did we talk about last week?") gets all of it, beyond
    /// the limit. Otherwise it gets as many memories as the limit allows, spread evenly over the period.
    pub whole_period: bool,
    /// Hits with a lower score are left out.
    pub min_score: f64,
    /// How sure recall must be that the best hit answers the query; below, nothing is returned.
    pub min_confidence: f64,
    /// Hits whose relevance is below this share of the best one's are left out.
    pub floor: f64,
    /// What the model still sees of the conversation that goes on, and need not be told.
    pub visible: Option<VisibleContext>,
}

impl RecallRequest {
    /// Asks for the best memories of `scope` by `config`'s limit, whatever the confidence.
    pub fn new(scope: Scope, query: impl Into<String>, config: &RecallConfig) -> Self {
        Self {
            scope,
            query: query.into(),
            filter: MemoryFilter::default(),
            within: None,
            limit: config.limit,
            whole_period: false,
            min_score: 0.0,
            min_confidence: 0.0,
            floor: 0.0,
            visible: None,
        }
    }

    /// The filter with its default spelled out.
    fn effective_filter(&self) -> MemoryFilter {
        let mut filter = self.filter.clone();
        if filter.statuses.is_empty() {
            filter.statuses.push(Status::Active);
        }
        filter
    }
}

/// The answer to a [`RecallRequest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recall {
    /// How the query was understood.
    pub intent: Intent,
    /// What was found, best first; in the order of time if the query asks for a period.
    pub hits: Vec<Hit>,
    /// How probable it is that the best hit answers the query, from 0 to 1.
    pub confidence: f64,
    /// Whether something was found but judged not good enough, or nothing was found at all.
    pub abstained: bool,
    /// How many memories had anything in common with the query.
    pub candidates: usize,
    /// Why words alone decided, if the model that knows meanings was asked and did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_meaning: Option<String>,
    /// Why it is so sure.
    pub judgement: ConfidenceEstimate,
}

/// A memory chosen for a query, with every number that made its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Its worth for this query, from 0 to 1.
    pub score: f64,
    /// What the index said.
    pub signals: HitSignals,
    /// What its stored worth and age made of it.
    pub factors: ScoreFactors,
    /// The newer memory among the hits that states the same thing differently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<MemoryId>,
    /// What its check tells now, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckResult>,
    /// Where it stands in the index.
    #[serde(skip)]
    pub address: DocAddress,
}

/// What recall works with.
#[derive(Clone, Copy)]
pub struct RecallDeps<'a> {
    /// Where the memories are.
    pub store: &'a dyn Store,
    /// What tells how near two texts are in meaning, if anything does.
    pub embedder: Option<&'a dyn Embedder>,
    /// What compares the best candidates with the query word by word, if anything does.
    pub reranker: Option<&'a dyn Reranker>,
    /// The constants of ranking.
    pub config: &'a RecallConfig,
    /// Words of a trade that the user gave.
    pub domains: &'a Domains,
    /// What evidence is worth.
    pub coefficients: ConfidenceCoefficients,
    /// When it is asked, and by which calendar.
    pub now: &'a Zoned,
}

/// Finds what is worth knowing for `request`, best first.
pub async fn recall(means: RecallDeps<'_>, request: &RecallRequest) -> Result<Recall> {
    let RankedRecall {
        intent,
        hits,
        candidates,
        features: evidence,
        semantic_unavailable: without_meaning,
    } = rank(means, request).await?;
    let judgement = abstain::estimate_confidence(&intent, &hits, evidence, &means.coefficients);
    let confidence = judgement.confidence;
    let mut hits = abstain::abstain(hits, confidence, request);
    if !(intent.asks_period && request.whole_period) {
        hits.truncate(request.limit);
    }
    let abstained = hits.is_empty();
    Ok(Recall { intent, abstained, hits, confidence, candidates, judgement, without_meaning })
}

/// Says what kept a memory out of the answer, or that nothing did.
pub async fn why_not(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    id: MemoryId,
) -> Result<WhyNot> {
    why_not::why_not(means, request, id).await
}

/// Everything up to the decision what to leave out.
struct RankedRecall {
    intent: Intent,
    hits: Vec<Hit>,
    candidates: usize,
    features: ConfidenceFeatures,
    semantic_unavailable: Option<String>,
}

async fn rank(means: RecallDeps<'_>, request: &RecallRequest) -> Result<RankedRecall> {
    let mut intent = analyze(&request.query, means.config, means.now);
    intent.domain_terms = means.domains.enrich(&request.query, &mut intent.terms);
    let asks_period = intent.asks_period;
    let answer = rank_intent(means, request, intent).await?;
    if asks_period && answer.hits.is_empty() {
        // Nothing was said then, but a memory may name that very time.
        let intent = analyze::analyze_by_time_words(&request.query, means.config, means.now);
        let mut answer = rank_intent(means, request, intent).await?;
        answer.hits.retain(|hit| hit.signals.coverage > FULL_COVERAGE);
        return Ok(answer);
    }
    Ok(answer)
}

async fn rank_intent(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    intent: Intent,
) -> Result<RankedRecall> {
    let config = &rerank::adjusted_config(means, request);
    let mut gathered = gather::gather(means, request, &intent).await?;
    let without_meaning = gathered.semantic_unavailable.take();
    let mut fusion = Fusion::new(&gathered, &intent, config);
    let candidates_found = fusion.candidate_count();
    let (mut candidates, loaded) = load(means, request, &gathered, &intent, &mut fusion).await?;
    second_hop::boost_second_hop(&mut candidates, &loaded, &intent, config);
    let mut hits = score::score(candidates, loaded, &intent, config, means.now.timestamp());
    if intent.asks_period {
        period::sort_by_time(&mut hits);
    } else {
        updates::promote_newest(&mut hits, &intent);
    }
    for hit in hits.iter_mut().take(request.limit) {
        fusion.explain(hit.address, &mut hit.signals);
    }
    let evidence = fusion.confidence_features(&hits, &means.coefficients);
    let candidates = candidates_found;
    Ok(RankedRecall {
        intent: intent.clone(),
        hits,
        candidates,
        features: evidence,
        semantic_unavailable: without_meaning,
    })
}

/// The best candidates with their rows, without earlier questions of the same; where those were most of them, more are read.
async fn load(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    gathered: &GatheredPostings,
    intent: &Intent,
    fusion: &mut Fusion<'_>,
) -> Result<(Vec<RecallCandidate>, Vec<(DocAddress, Memory)>)> {
    let mut depth = load_depth(intent, request).max(rerank::depth(means, request));
    loop {
        let mut candidates = fusion.best(depth);
        let is_all = candidates.len() < depth;
        if intent.asks_period {
            period::sample_evenly(&mut candidates, request);
        } else {
            rerank::rerank(means, request, gathered, &mut candidates).await?;
        }
        let places: Vec<_> = candidates.iter().map(|candidate| candidate.address).collect();
        let rows = means.store.memories().by_address(&request.scope, &places).await?;
        repeated_questions::drop_uninformative(&mut candidates, &rows, intent);
        let (scope, seen) = (&request.scope, request.visible.as_ref());
        visible_context::drop_visible(means.store, scope, seen, &mut candidates, &rows).await?;
        if is_all || candidates.len() * 2 > places.len() {
            return Ok((candidates, rows));
        }
        depth = depth.saturating_mul(DEPTH_GROWTH);
    }
}

/// How many candidates are looked at: of a period all, because it is told from its first to its last memory.
fn load_depth(intent: &Intent, request: &RecallRequest) -> usize {
    if intent.asks_period {
        return usize::MAX;
    }
    request.limit.saturating_mul(2).saturating_add(EXTRA_LOADED)
}
