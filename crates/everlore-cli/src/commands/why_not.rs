//! `--why-not`: explains in a sentence why a memory is not in an answer or a block.

use everlore::{
    Engine, MemoryId, RecallRequest,
    engine::{AnsweredBlock, WhyNot},
};
use serde::Serialize;

use super::explain;
use crate::{CliContext, Exit, Output, Result};

/// Answer for programs.
#[derive(Serialize)]
struct WhyNotView<'a> {
    query: &'a str,
    id: MemoryId,
    message: String,
    #[serde(flatten)]
    reason: WhyNot,
}

/// Explains why recall does not return the memory.
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

/// Explains why the block does not contain the memory.
pub(super) async fn explain_block(
    request: &RecallRequest,
    budget: usize,
    name: &str,
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    let engine = cx.engine().await?;
    let id = engine.resolve(&cx.scope, name).await?;
    let block = engine.context(request, budget).await?;
    let answered = AnsweredBlock { block: &block, budget, session: None };
    let why_not = engine.why_not_in_block(request, answered, id).await?;
    print_reason(&request.query, id, why_not, out)
}

fn print_reason(query: &str, id: MemoryId, reason: WhyNot, out: &mut Output) -> Result<Exit> {
    let message = reason.sentence(|option| format!("--{option}"));
    if out.is_json() {
        out.json(&WhyNotView { query, id, message, reason })?;
        return Ok(Exit::Done);
    }
    out.say(&message)?;
    if let WhyNot::Gate { judgement, .. } = &reason {
        out.say_text(&explain::render_confidence(judgement))?;
    }
    if let Some(hit) = reason.hit() {
        out.say_text(&explain::render_hit(hit))?;
    }
    Ok(Exit::Done)
}
