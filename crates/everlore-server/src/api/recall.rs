//! Recall, and the block for a prompt.

use axum::{Router, routing::post};
use everlore::{
    Block, Hit, Memory, MemoryId, Recall, RecallRequest,
    recall::{Factors, Intent, Judgement, Seen, Signals},
    store::Filter,
    types::Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema;
use crate::{
    answer::{Answer, Answered},
    app::App,
    auth::{Reader, Role},
    body::{Json, whole_number},
    problem::Problem,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/recall", post(recall)).route("/v1/context", post(context))
}

/// What to look for. Only the query is needed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallBody {
    /// What the agent is about to answer.
    query: String,
    /// Which memories may be returned.
    #[schema(value_type = Option<schema::Filter>)]
    filter: Option<Filter>,
    /// The most hits; from the settings if left out.
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
    /// Hits with a lower score, from 0 to 1, are left out.
    #[serde(default)]
    min_score: f64,
    /// How sure recall must be, from 0 to 1; below, nothing is returned.
    #[serde(default)]
    min_confidence: f64,
    /// What was known at this moment (RFC 3339).
    #[schema(value_type = Option<String>)]
    as_of: Option<Timestamp>,
    /// Also say every number that made the scores.
    #[serde(default)]
    explain: bool,
}

/// What was found, best first.
#[derive(Serialize, ToSchema)]
pub(super) struct Found {
    hits: Vec<HitView>,
    /// Whether nothing was good enough.
    abstained: bool,
    /// How probable it is that the best hit answers the query.
    confidence: f64,
    /// How many memories had anything in common with the query.
    candidates: usize,
    /// Why words alone decided, if a model was asked and did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_meaning: Option<String>,
    /// How the query was understood, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    intent: Option<Intent>,
    /// Why it is so sure, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    judgement: Option<Judgement>,
}

/// A memory with its score for the query.
#[derive(Serialize, ToSchema)]
pub(super) struct HitView {
    #[serde(flatten)]
    #[schema(value_type = schema::Memory)]
    memory: Memory,
    /// Its worth for this query, from 0 to 1.
    score: f64,
    /// A newer memory that says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    newer: Option<MemoryId>,
    /// What spoke for it, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    signals: Option<Signals>,
    /// What its score was multiplied with, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    factors: Option<Factors>,
}

/// Find what is worth knowing, best first
#[utoipa::path(post, path = "/v1/recall", tag = "recall", request_body = RecallBody, responses((status = 200, description = "What was found", body = Found)))]
pub(super) async fn recall(
    Reader(access): Reader,
    Json(body, _): Json<RecallBody>,
) -> Answered<Found> {
    let (engine, explained) = (access.engine(), body.explain);
    for (name, share) in [("min_score", body.min_score), ("min_confidence", body.min_confidence)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Problem::invalid(format!("`{name}` is {share}"), "it goes from 0 to 1"));
        }
    }
    let request = engine.request(&access.scope, body.query);
    let request = RecallRequest {
        filter: body.filter.unwrap_or_default(),
        limit: body.limit.unwrap_or(request.limit),
        min_score: body.min_score,
        min_confidence: body.min_confidence,
        ..request
    };
    let found = match body.as_of {
        Some(at) => engine.recall_as_of(&request, at).await?,
        None => engine.recall(&request).await?,
    };
    Ok(Answer::ok(told(found, explained)))
}

fn told(found: Recall, explained: bool) -> Found {
    let hit = |Hit { memory, score, newer, signals, factors, .. }| HitView {
        memory,
        score,
        newer,
        signals: explained.then_some(signals),
        factors: explained.then_some(factors),
    };
    Found {
        hits: found.hits.into_iter().map(hit).collect(),
        abstained: found.abstained,
        confidence: found.confidence,
        candidates: found.candidates,
        without_meaning: found.without_meaning,
        intent: explained.then_some(found.intent),
        judgement: explained.then_some(found.judgement),
    }
}

/// What the model is about to answer. Only the query is needed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextBody {
    /// The message that the agent is about to answer.
    query: String,
    /// The most tokens; from the settings if left out.
    #[serde(default, deserialize_with = "whole_number")]
    budget: Option<usize>,
    /// The most memories; from the settings if left out.
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
    /// The conversation: what is told in it is written down, so that what was of use can be learned. Needs the role write.
    session: Option<String>,
    /// Since when the model still sees what is said in that conversation (RFC 3339): it is not told again.
    #[schema(value_type = Option<String>)]
    seen_since: Option<Timestamp>,
}

/// Make the block to append to a system prompt; its text is empty if nothing is worth telling
#[utoipa::path(post, path = "/v1/context", tag = "recall", request_body = ContextBody, responses((status = 200, description = "The block", body = schema::Block)))]
pub(super) async fn context(
    Reader(access): Reader,
    Json(body, _): Json<ContextBody>,
) -> Answered<Block> {
    let engine = access.engine();
    let request = engine.context_request(&access.scope, body.query);
    let seen = body.session.clone().zip(body.seen_since);
    let seen = seen.map(|(session, since)| Seen { session, since, texts: None });
    let request = RecallRequest { limit: body.limit.unwrap_or(request.limit), seen, ..request };
    let budget = body.budget.unwrap_or(engine.config().memory.inject.token_budget);
    let block = match body.session {
        None => engine.context(&request, budget).await?,
        Some(session) => {
            access.check(Role::Write)?;
            engine.inject(&request, budget, &session).await?
        }
    };
    Ok(Answer::ok(block))
}
