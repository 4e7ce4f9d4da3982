//! Why a memory is not in the answer: which filter, term, score, gate or limit kept it out (A12).

mod sentence;

use serde::Serialize;

use super::{
    ConfidenceEstimate, Hit, Intent, MemoryBlock, RankedRecall, RecallDeps, RecallRequest, abstain,
    period, rank, repeated_questions, repeated_questions::UninformativeTurn, rerank,
    visible_context,
};
use crate::{
    config::RecallConfig,
    error::{Error, Result},
    store::MemoryFilter,
    text::terms::{TermHash, terms},
    types::{Memory, MemoryId, Tier},
};

/// What kept a memory out of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum WhyNot {
    /// Nothing: it is in the answer.
    Returned {
        /// Its place in the answer, from 1.
        rank: usize,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The filter keeps it out.
    Filter {
        /// Which part of the filter: kind, status, tags, since, until or session.
        by: &'static str,
        /// What the memory has there.
        has: String,
    },
    /// It is an earlier question that asks no more than the query does.
    SameQuestion,
    /// It is an answer that says that nothing is known.
    NoAnswer,
    /// The model still sees it in the conversation that goes on, or the turns that it was drawn from.
    Seen,
    /// It has none of the query's terms, nor has a neighbouring turn, nor does its time or kind speak for it.
    NoTerm {
        /// What the query was looked up by.
        query_terms: Vec<String>,
        /// Some of what the memory is found by.
        memory_terms: Vec<String>,
    },
    /// Others scored higher than the limit lets through.
    Rank {
        /// Its place among all candidates, from 1.
        rank: usize,
        /// How many are returned.
        limit: usize,
        /// The lowest score that is returned.
        lowest: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// It is far less relevant than the best hit.
    Floor {
        /// The least relevance that is returned.
        floor: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// Its score is below the request's bar.
    Score {
        /// The bar.
        min_score: f64,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// Recall judged that nothing stored answers the query.
    Gate {
        /// How sure it was.
        confidence: f64,
        /// How sure it had to be.
        min_confidence: f64,
        /// Why it was not surer.
        judgement: Box<ConfidenceEstimate>,
    },
    /// Nothing: it is told in the block.
    Told {
        /// How much of it.
        #[serde(serialize_with = "Tier::serialize_upper")]
        tier: Tier,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// It does not fit into the block, not even as one line.
    Budget {
        /// The most tokens of the block.
        budget: usize,
        /// Those that it has.
        tokens: usize,
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
    /// The settings let this message have no memories.
    Settings {
        /// The hit with its numbers.
        hit: Box<Hit>,
    },
}

impl WhyNot {
    /// The numbers, where it was weighed.
    pub fn hit(&self) -> Option<&Hit> {
        match self {
            Self::Returned { hit, .. }
            | Self::Score { hit, .. }
            | Self::Floor { hit, .. }
            | Self::Rank { hit, .. }
            | Self::Told { hit, .. }
            | Self::Budget { hit, .. }
            | Self::Settings { hit } => Some(hit),
            _ => None,
        }
    }

    /// What became of a hit in a block; what was no hit is no more in it.
    #[must_use]
    pub fn in_block(self, block: &MemoryBlock, budget: usize) -> Self {
        let Self::Returned { hit, .. } = self else { return self };
        let id = hit.memory.id;
        match block.entries.iter().find(|entry| entry.id == id) {
            Some(entry) => Self::Told { tier: entry.tier, hit },
            None if block.left_out.contains(&id) => {
                Self::Budget { budget, tokens: block.tokens, hit }
            }
            None => Self::Settings { hit },
        }
    }
}

/// Runs the recall again and looks for the memory at every step.
pub(super) async fn why_not(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    id: MemoryId,
) -> Result<WhyNot> {
    let memory = means.store.memories().get(&request.scope, &[id]).await?.pop().flatten();
    let memory = memory.ok_or_else(|| Error::not_found("memory", id))?;
    if let Some(reason) = explain_filter(&request.effective_filter(), &memory) {
        return Ok(reason);
    }
    if let Some(seen) = &request.visible
        && !visible_context::already_visible(
            means.store,
            &request.scope,
            seen,
            std::iter::once(&memory),
        )
        .await?
        .is_empty()
    {
        return Ok(WhyNot::Seen);
    }
    // As many are compared word by word as the request itself would have.
    let rerank_depth = rerank::depth(means, request).max(1);
    let config = RecallConfig { rerank_depth, ..means.config.clone() };
    let means = RecallDeps { config: &config, ..means };
    let everything = RecallRequest { limit: rerank::UNLIMITED, ..request.clone() };
    let RankedRecall { intent, hits: ranked, features: evidence, .. } =
        rank(means, &everything).await?;
    let Some(index) = ranked.iter().position(|hit| hit.memory.id == id) else {
        match repeated_questions::why_uninformative(&memory, &intent) {
            Some(UninformativeTurn::Question) => return Ok(WhyNot::SameQuestion),
            Some(UninformativeTurn::NoAnswer) => return Ok(WhyNot::NoAnswer),
            None => {}
        }
        let query_terms = intent.terms.iter().map(|term| term.text.clone()).collect();
        return Ok(WhyNot::NoTerm { query_terms, memory_terms: some_terms(&memory) });
    };
    let judgement = abstain::estimate_confidence(&intent, &ranked, evidence, &means.coefficients);
    let confidence = judgement.confidence;
    if confidence < request.min_confidence {
        let min_confidence = request.min_confidence;
        return Ok(WhyNot::Gate { confidence, min_confidence, judgement: Box::new(judgement) });
    }
    Ok(explain_rank(request, &intent, &ranked, index))
}

fn explain_rank(request: &RecallRequest, intent: &Intent, ranked: &[Hit], index: usize) -> WhyNot {
    let hit = Box::new(ranked[index].clone());
    if hit.score < request.min_score {
        return WhyNot::Score { min_score: request.min_score, hit };
    }
    let floor = abstain::relevance_floor(ranked, request);
    if hit.factors.relevance < floor {
        return WhyNot::Floor { floor, hit };
    }
    if !period::is_within_limit(intent, request, ranked.len(), index) {
        let last = request.limit.checked_sub(1);
        let lowest = last.and_then(|last| ranked.get(last)).map_or(1.0, |hit| hit.score);
        return WhyNot::Rank { rank: index + 1, limit: request.limit, lowest, hit };
    }
    WhyNot::Returned { rank: index + 1, hit }
}

fn explain_filter(filter: &MemoryFilter, memory: &Memory) -> Option<WhyNot> {
    let only = |part: MemoryFilter| !part.matches(memory);
    let any = MemoryFilter::default;
    let parts = [
        (
            "kind",
            only(MemoryFilter { kinds: filter.kinds.clone(), ..any() }),
            memory.kind.to_string(),
        ),
        (
            "status",
            only(MemoryFilter { statuses: filter.statuses.clone(), ..any() }),
            memory.status.to_string(),
        ),
        ("tags", only(MemoryFilter { tags: filter.tags.clone(), ..any() }), memory.tags.join(", ")),
        ("since", only(MemoryFilter { since: filter.since, ..any() }), memory.at.to_string()),
        (
            "until",
            only(MemoryFilter { until: filter.until, turns_until: filter.turns_until, ..any() }),
            memory.at.to_string(),
        ),
        (
            "session",
            only(MemoryFilter { session: filter.session.clone(), ..any() }),
            memory.source.session.clone().unwrap_or_default(),
        ),
    ];
    parts
        .into_iter()
        .find(|(_, kept_out, _)| *kept_out)
        .map(|(by, _, has)| WhyNot::Filter { by, has })
}

/// The first different terms of a memory: enough to see by what words it could be found.
fn some_terms(memory: &Memory) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut all = terms(&format!("{}\n{}", memory.name, memory.content));
    all.retain(|term| seen.insert(TermHash::of(term)));
    // A screenful; the rest is in the text itself.
    all.truncate(40);
    all
}
