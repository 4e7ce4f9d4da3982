//! Explanation of a missing memory: the filter, term, score, confidence or limit that kept it out of the answer.

mod sentence;

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    abstain::is_likely,
    confidence::{ConfidenceBasis, ConfidenceEstimate},
};
use crate::{
    config::RecallConfig,
    error::{Error, Result},
    recall::{
        Hit, Recall, RecallDeps, RecallRequest,
        rank::{
            repeated_questions::{is_echo, why_uninformative},
            rerank,
            source_turns::teller_of,
            turn_content::UninformativeTurn,
            visible_context::already_visible,
        },
        recall,
    },
    store::MemoryFilter,
    text::terms::{TermHash, terms},
    types::{Memory, MemoryId, Tier},
};

/// Reason why a memory is not in an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum WhyNot {
    /// Nothing: it is in the answer.
    Returned {
        /// Rank in the answer, from 1.
        rank: usize,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The memory does not pass the filter.
    Filter {
        /// Part of the filter: kind, status, tags, since, until or session.
        by: &'static str,
        /// Value of the memory there.
        has: String,
    },
    /// The memory is an earlier question that asks no more than the query does.
    SameQuestion,
    /// The memory is an answer that says that nothing is known.
    NoAnswer,
    /// The memory is a question that carries no fact.
    OpenQuestion,
    /// The memory is a greeting, thanks or an acknowledgement.
    Filler,
    /// It is a record of a tool call, which prompts leave to experiences.
    ToolCall,
    /// The memory is a reply that only repeats another hit.
    Echo {
        /// Memory that it repeats.
        of: MemoryId,
    },
    /// The memory is a turn, and a memory that was drawn from it is a hit.
    ToldByMemory {
        /// Memory that was drawn from it.
        memory: MemoryId,
    },
    /// The model still sees the memory, or the turns it was extracted from, in the current conversation.
    Seen,
    /// Neither the memory nor a neighbouring turn contains a term of the query, and no other signal supports it.
    NoTerm {
        /// Terms of the query.
        query_terms: Vec<String>,
        /// First terms of the memory.
        memory_terms: Vec<String>,
    },
    /// The limit is used up by memories with higher scores.
    Rank {
        /// Rank among all candidates, from 1.
        rank: usize,
        /// Number of memories returned.
        limit: usize,
        /// Lowest score returned.
        lowest: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The memory probably does not bear on the message, or is far less relevant than the best hit.
    Floor {
        /// Minimum probability of a hit.
        floor: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The score of the memory is below the request's minimum.
    Score {
        /// Minimum score.
        min_score: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// Recall abstained: the confidence in the best hit is below the request's minimum.
    Gate {
        /// Confidence in the best hit.
        confidence: f64,
        /// Minimum confidence.
        min_confidence: f64,
        /// Derivation of the confidence.
        judgement: Box<ConfidenceEstimate>,
    },
    /// Nothing: it is in the block.
    Told {
        /// Amount of text shown.
        #[serde(serialize_with = "Tier::serialize_upper")]
        tier: Tier,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The memory does not fit into the block, not even as one line.
    Budget {
        /// Maximum tokens of the block.
        budget: usize,
        /// Tokens that the block has.
        tokens: usize,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The settings allow no memories for this message.
    Settings {
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The settings keep the first message of a conversation free of memories, and this was it.
    FirstRound {
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The memory was held out of the session at random, to measure whether memories are of use.
    HeldOut {
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The message tells a failure, and the memory does not say how to solve it.
    NotACure,
    /// The memory may say how to solve the failure that the message tells, but better cures took its place.
    BetterCures,
}

impl WhyNot {
    /// Returns the hit, if the memory was scored.
    pub fn hit(&self) -> Option<&Hit> {
        match self {
            Self::Returned { hit, .. }
            | Self::Score { hit, .. }
            | Self::Floor { hit, .. }
            | Self::Rank { hit, .. }
            | Self::Told { hit, .. }
            | Self::Budget { hit, .. }
            | Self::Settings { hit }
            | Self::FirstRound { hit }
            | Self::HeldOut { hit } => Some(hit),
            _ => None,
        }
    }
}

/// Explains what kept a memory out of the answer, or that nothing did: looks for it in the answer itself, and then at every
/// step of a recall without limits.
pub(crate) async fn why_not(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    id: MemoryId,
) -> Result<WhyNot> {
    let memory = deps.store.memories().get(&request.scope, &[id]).await?.pop().flatten();
    let memory = memory.ok_or_else(|| Error::not_found("memory", id))?;
    if let Some(reason) = explain_filter(&request.effective_filter(), &memory) {
        return Ok(reason);
    }
    if is_visible(deps, request, &memory).await? {
        return Ok(WhyNot::Seen);
    }
    let answer = recall(deps, request).await?;
    if let Some(index) = answer.hits.iter().position(|hit| hit.memory.id == id) {
        return Ok(WhyNot::Returned { rank: index + 1, hit: Box::new(answer.hits[index].clone()) });
    }
    let found = recall_everything(deps, request).await?;
    let Some(index) = found.hits.iter().position(|hit| hit.memory.id == id) else {
        return Ok(explain_no_match(&memory, &found, request.for_prompt));
    };
    if answer.confidence < request.min_confidence {
        return Ok(WhyNot::Gate {
            confidence: answer.confidence,
            min_confidence: request.min_confidence,
            judgement: Box::new(answer.judgement),
        });
    }
    Ok(explain_rank(request, &found, index, &answer))
}

async fn is_visible(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    memory: &Memory,
) -> Result<bool> {
    let Some(context) = &request.visible else { return Ok(false) };
    let visible = already_visible(deps.store, &request.scope, context, std::iter::once(memory));
    Ok(!visible.await?.is_empty())
}

/// Runs the recall without limit and minimums. It reranks as many candidates as the request itself would.
async fn recall_everything(deps: RecallDeps<'_>, request: &RecallRequest) -> Result<Recall> {
    let rerank_depth = rerank::depth(deps, request).max(1);
    let config = RecallConfig { rerank_depth, ..deps.config.clone() };
    let everything = RecallRequest {
        limit: rerank::UNLIMITED,
        min_score: 0.0,
        min_confidence: 0.0,
        min_probability: 0.0,
        keeps_told_turns: true,
        ..request.clone()
    };
    recall(RecallDeps { config: &config, ..deps }, &everything).await
}

fn explain_no_match(memory: &Memory, found: &Recall, for_prompt: bool) -> WhyNot {
    match why_uninformative(memory, &found.intent, for_prompt) {
        Some(UninformativeTurn::Question) => return WhyNot::SameQuestion,
        Some(UninformativeTurn::NoAnswer) => return WhyNot::NoAnswer,
        Some(UninformativeTurn::OpenQuestion) => return WhyNot::OpenQuestion,
        Some(UninformativeTurn::Filler) => return WhyNot::Filler,
        Some(UninformativeTurn::ToolCall) => return WhyNot::ToolCall,
        None => {}
    }
    let echoed = found.hits.iter().find(|hit| for_prompt && is_echo(memory, &hit.memory));
    if let Some(hit) = echoed {
        return WhyNot::Echo { of: hit.memory.id };
    }
    let query_terms = found.intent.terms.iter().map(|term| term.text.clone()).collect();
    WhyNot::NoTerm { query_terms, memory_terms: first_terms(memory) }
}

fn explain_rank(request: &RecallRequest, found: &Recall, index: usize, answer: &Recall) -> WhyNot {
    let hits = &found.hits;
    let hit = Box::new(hits[index].clone());
    if hit.score < request.min_score {
        return WhyNot::Score { min_score: request.min_score, hit };
    }
    let is_whole =
        matches!(found.judgement.basis, ConfidenceBasis::Period | ConfidenceBasis::Profile);
    if !is_whole && !is_likely(hits, index, request) {
        return WhyNot::Floor { floor: request.min_probability, hit };
    }
    // Only a memory that is in the answer tells anything.
    let teller = teller_of(&hit.memory, &answer.hits, &found.intent);
    if let Some(teller) = teller.filter(|_| request.for_prompt && !found.intent.asks_period) {
        return WhyNot::ToldByMemory { memory: teller.memory.id };
    }
    let lowest = answer.hits.last().map_or(1.0, |hit| hit.score);
    WhyNot::Rank { rank: index + 1, limit: request.limit, lowest, hit }
}

/// Returns the first part of the filter that the memory does not pass.
fn explain_filter(filter: &MemoryFilter, memory: &Memory) -> Option<WhyNot> {
    let any = MemoryFilter::default;
    let at = || memory.at.to_string();
    let parts = [
        ("kind", MemoryFilter { kinds: filter.kinds.clone(), ..any() }, memory.kind.to_string()),
        (
            "status",
            MemoryFilter { statuses: filter.statuses.clone(), ..any() },
            memory.status.to_string(),
        ),
        ("tags", MemoryFilter { tags: filter.tags.clone(), ..any() }, memory.tags.join(", ")),
        ("since", MemoryFilter { since: filter.since, ..any() }, at()),
        (
            "until",
            MemoryFilter { until: filter.until, turns_until: filter.turns_until, ..any() },
            at(),
        ),
        (
            "session",
            MemoryFilter { session: filter.session.clone(), ..any() },
            memory.source.session.clone().unwrap_or_default(),
        ),
    ];
    let failed = parts.into_iter().find(|(_, part, _)| !part.matches(memory));
    failed.map(|(by, _, has)| WhyNot::Filter { by, has })
}

/// Returns the first distinct terms of a memory: enough to see which words would find it.
fn first_terms(memory: &Memory) -> Vec<String> {
    let mut distinct = BTreeSet::new();
    let mut all = terms(&format!("{}\n{}", memory.name, memory.content));
    all.retain(|term| distinct.insert(TermHash::of(term)));
    // A screenful; the rest is in the text itself.
    all.truncate(40);
    all
}
