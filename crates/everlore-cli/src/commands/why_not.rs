//! `--why-not`: what kept a memory out of an answer or a block, in a sentence (A12).

use everlore::{
    Block, Engine, Hit, MemoryId, RecallRequest,
    recall::{Tier, WhyNot},
};
use serde::Serialize;

use super::explain;
use crate::{
    context::Context,
    failure::{Exit, Result},
    output::Output,
};

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    id: MemoryId,
    message: String,
    #[serde(flatten)]
    reason: Reason,
}

/// What recall says, or what became of a hit on its way into a block.
#[derive(Serialize)]
#[serde(untagged)]
enum Reason {
    Recall(WhyNot),
    Block(InBlock),
}

#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
enum InBlock {
    /// Nothing: it is told.
    Told { tier: Tier, hit: Box<Hit> },
    /// It does not fit, not even as one line.
    Budget { budget: usize, tokens: usize, hit: Box<Hit> },
    /// The settings let this message have no memories.
    Settings { hit: Box<Hit> },
}

/// Says what kept the memory out of the answer to the request.
pub(super) async fn run(
    request: &RecallRequest,
    name: &str,
    engine: &Engine,
    cx: &Context,
    out: &mut Output,
) -> Result<Exit> {
    let id = engine.resolve(&cx.scope, name).await?;
    let why_not = engine.why_not(request, id).await?;
    tell(&request.query, id, Reason::Recall(why_not), out)
}

/// Says what kept the memory out of the block for the request.
pub(super) async fn in_block(
    request: &RecallRequest,
    budget: usize,
    name: &str,
    cx: &Context,
    out: &mut Output,
) -> Result<Exit> {
    let engine = cx.engine().await?;
    let id = engine.resolve(&cx.scope, name).await?;
    let reason = match engine.why_not(request, id).await? {
        WhyNot::Returned { hit, .. } => {
            let block = engine.context(request, budget).await?;
            Reason::Block(packed(&block, budget, hit))
        }
        why_not => Reason::Recall(why_not),
    };
    tell(&request.query, id, reason, out)
}

/// What became of a hit in a block.
fn packed(block: &Block, budget: usize, hit: Box<Hit>) -> InBlock {
    let id = hit.memory.id;
    match block.entries.iter().find(|entry| entry.id == id) {
        Some(entry) => InBlock::Told { tier: entry.tier, hit },
        None if block.left_out.contains(&id) => {
            InBlock::Budget { budget, tokens: block.tokens, hit }
        }
        None => InBlock::Settings { hit },
    }
}

fn tell(query: &str, id: MemoryId, reason: Reason, out: &mut Output) -> Result<Exit> {
    let message = match &reason {
        Reason::Recall(why_not) => sentence(why_not),
        Reason::Block(in_block) => block_sentence(in_block),
    };
    if out.is_json() {
        out.json(&Answer { query, id, message, reason })?;
        return Ok(Exit::Done);
    }
    out.line(&message)?;
    if let Reason::Recall(WhyNot::Gate { judgement, .. }) = &reason {
        out.text(&explain::judgement(judgement))?;
    }
    if let Some(hit) = reason.hit() {
        out.text(&explain::hit(hit))?;
    }
    Ok(Exit::Done)
}

impl Reason {
    /// The numbers, where it was weighed.
    fn hit(&self) -> Option<&Hit> {
        match self {
            Self::Recall(
                WhyNot::Returned { hit, .. }
                | WhyNot::Score { hit, .. }
                | WhyNot::Floor { hit, .. }
                | WhyNot::Rank { hit, .. },
            ) => Some(hit),
            Self::Recall(_) => None,
            Self::Block(
                InBlock::Told { hit, .. } | InBlock::Budget { hit, .. } | InBlock::Settings { hit },
            ) => Some(hit),
        }
    }
}

fn block_sentence(in_block: &InBlock) -> String {
    match in_block {
        InBlock::Told { tier: Tier::L2, .. } => "it is in the block, in full".to_owned(),
        InBlock::Told { tier: Tier::L1, .. } => "it is in the block, as an overview".to_owned(),
        InBlock::Told { tier: Tier::L0, .. } => "it is in the block, as one line".to_owned(),
        InBlock::Budget { budget, tokens, .. } => format!(
            "it is good enough, but does not fit: the block has {tokens} of {budget} tokens, and even one line of it \
             is too much; raise --budget"
        ),
        InBlock::Settings { .. } => {
            "it is good enough, but the settings let this message have no memories; see [memory] and [memory.inject] \
             in `everlore config show`"
                .to_owned()
        }
    }
}

fn sentence(why_not: &WhyNot) -> String {
    match why_not {
        WhyNot::Returned { rank, hit } => {
            format!("it is in the answer: number {rank}, with score {:.2}", hit.score)
        }
        WhyNot::Filter { by, has } => filtered(by, has),
        WhyNot::SameQuestion => {
            "it is an earlier question that asks no more than the query does, and tells nothing"
                .to_owned()
        }
        WhyNot::NoAnswer => {
            "it is an answer that says that nothing is known, and tells nothing".to_owned()
        }
        WhyNot::Seen => {
            "the model still sees it in this conversation, or the turns that it was drawn from"
                .to_owned()
        }
        WhyNot::NoTerm { query_terms, memory_terms } => format!(
            "it has nothing in common with the query: the query was looked up by {}; the memory is found by {}",
            listed(query_terms),
            listed(memory_terms)
        ),
        WhyNot::Rank { rank, limit, lowest, hit } => format!(
            "others are better: it is number {rank} with score {:.2}, and only {limit} are returned, the last \
             with score {lowest:.2}; ask for more with --limit {rank}",
            hit.score
        ),
        WhyNot::Floor { floor, hit } => format!(
            "the best hit is far more relevant: its relevance {:.2} is below {floor:.2}",
            hit.factors.relevance
        ),
        WhyNot::Score { min_score, hit } => {
            format!("its score {:.2} is below --min-score {min_score:.2}", hit.score)
        }
        WhyNot::Gate { confidence, min_confidence, .. } => format!(
            "nothing stored seems to answer the query: confidence {confidence:.2}, at least {min_confidence:.2} is needed"
        ),
    }
}

fn filtered(by: &str, has: &str) -> String {
    let has = if has.is_empty() { "none" } else { has };
    match by {
        "status" => format!("its status is {has}; ask with --status any to find it"),
        "since" => format!("it is of {has}, which is before --since"),
        "until" => format!("it is of {has}, which is not before --until"),
        "tags" => format!("it lacks a tag that --tag asks for; its tags: {has}"),
        by => format!("its {by} is {has}, which --{by} leaves out"),
    }
}

fn listed(terms: &[String]) -> String {
    if terms.is_empty() { "no word at all".to_owned() } else { terms.join(", ") }
}
