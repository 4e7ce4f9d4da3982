//! `--why-not`: what kept a memory out of an answer or a block, in a sentence (A12).

use everlore::{Engine, MemoryId, RecallRequest, recall::WhyNot};
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
    reason: WhyNot,
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
    tell(&request.query, id, why_not, out)
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
    let why_not = engine.why_not_told(request, budget, id).await?;
    tell(&request.query, id, why_not, out)
}

fn tell(query: &str, id: MemoryId, reason: WhyNot, out: &mut Output) -> Result<Exit> {
    let message = reason.sentence(|option| format!("--{option}"));
    if out.is_json() {
        out.json(&Answer { query, id, message, reason })?;
        return Ok(Exit::Done);
    }
    out.line(&message)?;
    if let WhyNot::Gate { judgement, .. } = &reason {
        out.text(&explain::judgement(judgement))?;
    }
    if let Some(hit) = reason.hit() {
        out.text(&explain::hit(hit))?;
    }
    Ok(Exit::Done)
}
