//! `everlore recall --why-not` and `everlore context --why-not`: what kept a memory out of an answer, in a sentence.

use everlore::{RecallRequest, recall::WhyNot};
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
    id: everlore::MemoryId,
    message: &'a str,
    #[serde(flatten)]
    why_not: &'a WhyNot,
}

/// Says what kept the memory out of the answer to the request or, with a budget, out of its context block.
pub(super) async fn run(
    request: &RecallRequest,
    budget: Option<usize>,
    name: &str,
    cx: &Context,
    out: &mut Output,
) -> Result<Exit> {
    let engine = cx.engine().await?;
    let id = engine.resolve(&cx.scope, name).await?;
    let why_not = match budget {
        Some(budget) => engine.why_not_in_context(request, id, budget).await?,
        None => engine.why_not(request, id).await?,
    };
    let message = sentence(&why_not);
    if out.is_json() {
        out.json(&Answer { query: &request.query, id, message: &message, why_not: &why_not })?;
        return Ok(Exit::Done);
    }
    out.line(&message)?;
    if let WhyNot::Returned { hit, .. }
    | WhyNot::Score { hit, .. }
    | WhyNot::Floor { hit, .. }
    | WhyNot::Rank { hit, .. } = &why_not
    {
        out.text(&explain::hit(hit))?;
    }
    Ok(Exit::Done)
}

fn sentence(why_not: &WhyNot) -> String {
    match why_not {
        WhyNot::Returned { rank, hit } => {
            format!("it is in the answer: number {rank}, with score {:.2}", hit.score)
        }
        WhyNot::Filter { by, has } => filtered(by, has),
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
        WhyNot::Budget { budget, rank } => format!(
            "it is number {rank} of the answer, but {budget} tokens have no room for it; raise --budget"
        ),
        WhyNot::Score { min_score, hit } => {
            format!("its score {:.2} is below --min-score {min_score:.2}", hit.score)
        }
        WhyNot::Gate { confidence, min_confidence } => format!(
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
