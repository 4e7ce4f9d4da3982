//! `--why-not`: what kept a memory out of an answer or a block, in a sentence (A12).

use everlore::{Engine, MemoryId, RecallRequest, recall::WhyNot};
use serde::Serialize;

use super::explain;
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// The answer for programs.
#[derive(Serialize)]
struct WhyNotView<'a> {
    query: &'a str,
    id: MemoryId,
    message: String,
    #[serde(flatten)]
    reason: WhyNot,
}

/// Says what kept the memory out of the answer to the request.
pub(super) async fn explain_recall(
    request: &RecallRequest,
    name: &str,
    engine: &Engine,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    let id = engine.resolve(&cx.scope, name).await?;
    let why_not = engine.why_not(request, id).await?;
    print_reason(&request.query, id, why_not, out)
}

/// Says what kept the memory out of the block for the request.
pub(super) async fn explain_block(
    request: &RecallRequest,
    budget: usize,
    name: &str,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    let engine = cx.engine().await?;
    let id = engine.resolve(&cx.scope, name).await?;
    let why_not = engine.why_not_in_block(request, budget, id).await?;
    print_reason(&request.query, id, why_not, out)
}

fn print_reason(query: &str, id: MemoryId, reason: WhyNot, out: &mut Output) -> Result<Exit> {
    let message = reason.sentence(|option| format!("--{option}"));
    if out.is_json() {
        out.json(&WhyNotView { query, id, message, reason })?;
        return Ok(Exit::Done);
    }
    out.line(&message)?;
    if let WhyNot::Gate { judgement, .. } = &reason {
        out.text(&explain::render_confidence(judgement))?;
    }
    if let Some(hit) = reason.hit() {
        out.text(&explain::render_hit(hit))?;
    }
    Ok(Exit::Done)
}
