//! Recall, and the memory block of a prompt.

use std::sync::Arc;

use axum::{Router, routing::post};
use everlore::{
    Engine, Error, Hit, Memory, MemoryBlock, MemoryId, Recall, RecallRequest,
    engine::{
        AnsweredBlock, ConfidenceEstimate, HitSignals, Intent, Prompt, PromptRequest, ScoreFactors,
        VisibleContext, WhyNot,
    },
    internal::{
        prompt::PrefixDigest,
        text::{language::detect_language, suspect::is_unverified},
    },
    store::MemoryFilter,
    types::{CheckResult, Timestamp},
};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, ApiResult, App, JsonBody, JsonResponse, KeyRole, Problem, Reader, body::whole_number,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/recall", post(recall)).route("/v1/context", post(context))
}

/// Recall request. Only the query is required.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RecallBody {
    /// Message that the agent is about to answer.
    query: String,
    /// Memories that may be returned.
    filter: Option<MemoryFilter>,
    /// Largest number of hits; from the settings by default.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(maximum = 18_446_744_073_709_551_615_usize))]
    limit: Option<usize>,
    /// Lowest score of a hit, from 0 to 1.
    #[serde(default)]
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    min_score: f64,
    /// Lowest confidence, from 0 to 1; below it nothing is returned.
    #[serde(default)]
    #[cfg_attr(test, schema(minimum = 0, maximum = 1))]
    min_confidence: f64,
    /// Recall from the memories as they were at this time (RFC 3339).
    as_of: Option<Timestamp>,
    /// Include every number that made the scores.
    #[serde(default)]
    explain: bool,
    /// Explain why this memory (id or uri) is not in the answer.
    why_not: Option<String>,
}

/// Hits of a query, best first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct RecallResponse {
    hits: Vec<RecallHit>,
    /// `true` if there are no hits: nothing was found, the confidence is too low, or every hit is below a minimum.
    abstained: bool,
    /// Probability that the best hit answers the query.
    confidence: f64,
    /// Memories that have anything in common with the query.
    candidates: usize,
    /// Reason why recall went by words alone: the embedding model did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_meaning: Option<String>,
    /// Analysis of the query, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    intent: Option<Intent>,
    /// Features behind the confidence, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    judgement: Option<ConfidenceEstimate>,
    /// Reason why the memory named in `why_not` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    why_not: Option<WhyNotReport>,
}

/// Reason why a memory is missing from an answer, as a sentence and as figures.
#[derive(Serialize)]
pub(super) struct WhyNotReport {
    id: MemoryId,
    message: String,
    #[serde(flatten)]
    reason: WhyNot,
}

impl WhyNotReport {
    fn new(id: MemoryId, reason: WhyNot) -> Self {
        let message = reason.sentence(|option| format!("`{}`", option.replace('-', "_")));
        Self { id, message, reason }
    }
}

/// Memory with its score for the query.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct RecallHit {
    #[serde(flatten)]
    memory: Memory,
    /// Worth for this query, from 0 to 1: relevance, with factors for age, weight, importance and kind.
    score: f64,
    /// Newer memory that contradicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<MemoryId>,
    /// `true` if it reads like an instruction to the model: data that nobody approved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unverified: bool,
    /// Result of its check, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckResult>,
    /// Signals that found it, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<HitSignals>,
    /// Factors of its score, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<ScoreFactors>,
}

/// Recall memories for a query, best first
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/recall", tag = "recall", request_body = RecallBody,
    responses((status = 200, description = "Hits and confidence", body = RecallResponse)),
))]
pub(super) async fn recall(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<RecallBody>,
) -> ApiResult<RecallResponse> {
    let (engine, explained) = (access.engine(), body.explain);
    Engine::check_query(&body.query)?;
    for (name, fraction) in [("min_score", body.min_score), ("min_confidence", body.min_confidence)]
    {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(Problem::invalid(
                format!("`{name}` is {fraction}"),
                "give a number from 0 to 1",
            ));
        }
    }
    let request = engine.recall_request(&access.scope, body.query);
    let request = RecallRequest {
        filter: body.filter.unwrap_or_default(),
        limit: body.limit.unwrap_or(request.limit),
        min_score: body.min_score,
        min_confidence: body.min_confidence,
        ..request
    };
    let recalled = match body.as_of {
        Some(_) if body.why_not.is_some() => return Err(why_not_with_as_of()),
        Some(at) => engine.recall_as_of(&request, at).await?,
        None => engine.recall(&request).await?,
    };
    let mut response = recall_response(recalled, explained);
    if let Some(name) = &body.why_not {
        let id = engine.resolve(&access.scope, name).await?;
        response.why_not = Some(WhyNotReport::new(id, engine.why_not(&request, id).await?));
    }
    Ok(JsonResponse::ok(response))
}

fn why_not_with_as_of() -> Problem {
    Error::invalid("`why_not` cannot be combined with `as_of`", "leave out one of them").into()
}

fn recall_response(recalled: Recall, explained: bool) -> RecallResponse {
    let hit = |Hit { memory, score, newer, check, signals, factors, .. }| RecallHit {
        unverified: is_unverified(&memory),
        memory,
        score,
        newer,
        check,
        signals: explained.then_some(signals),
        factors: explained.then_some(factors),
    };
    RecallResponse {
        hits: recalled.hits.into_iter().map(hit).collect(),
        abstained: recalled.abstained,
        confidence: recalled.confidence,
        candidates: recalled.candidates,
        without_meaning: recalled.without_meaning,
        intent: explained.then_some(recalled.intent),
        judgement: explained.then_some(recalled.judgement),
        why_not: None,
    }
}

/// Context request. Only the query is required.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ContextBody {
    /// Message that the agent is about to answer.
    query: String,
    /// Token budget of the block; from the settings by default.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(maximum = 18_446_744_073_709_551_615_usize))]
    budget: Option<usize>,
    /// Largest number of memories; from the settings by default. Up to two cures of a failure come whatever it is.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(maximum = 18_446_744_073_709_551_615_usize))]
    limit: Option<usize>,
    /// Session: injected memories are recorded for it, so that upkeep learns which were of use. Needs the role write.
    session: Option<String>,
    /// Time (RFC 3339) from which on the model still sees the turns of that session; they are not injected again.
    seen_since: Option<Timestamp>,
    /// Set if the query is the error of a failed tool: the block then has cures of the same failure or of a near one only.
    #[serde(default)]
    failure: bool,
    /// Include the stable part of the system prompt, with its sizes; needs `session`.
    #[serde(default)]
    stable: bool,
    /// Explain why this memory (id or uri) is not in the block.
    why_not: Option<String>,
}

/// Memory block, and the parts that the request asks for.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct ContextResponse {
    #[serde(flatten)]
    block: MemoryBlock,
    /// Beginning of the system prompt, byte for byte the same during a session, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable: Option<String>,
    /// Sizes that tell how much of the prompt a provider can cache, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<PromptBytes>,
    /// Reason why the memory named in `why_not` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    why_not: Option<WhyNotReport>,
}

/// Sizes that tell how much of a prompt a provider can cache.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct PromptBytes {
    /// Bytes of the stable part.
    stable_bytes: usize,
    /// Digest of the stable part.
    stable_fingerprint: String,
    /// Bytes of the previous turn's stable part that changed; absent on the first turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_bytes: Option<usize>,
    /// Bytes that this turn adds after the stable part.
    turn_bytes: usize,
}

/// Build the memory block for a system prompt; its text is empty if nothing is relevant
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/context", tag = "recall", request_body = ContextBody,
    responses((status = 200, description = "The block", body = ContextResponse)),
))]
pub(super) async fn context(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<ContextBody>,
) -> ApiResult<ContextResponse> {
    let engine = access.engine();
    let request = engine.context_request(&access.scope, body.query);
    let visible = body.session.clone().zip(body.seen_since);
    let visible = visible.map(|(session, since)| VisibleContext::Session { session, since });
    let limit = body.limit.unwrap_or(request.limit);
    let request = RecallRequest { limit, visible, only_cures: body.failure, ..request };
    let default_budget = engine.settings(access.scope.agent()).memory.inject.token_budget;
    let budget = body.budget.unwrap_or(default_budget);
    let session = body.session.as_deref();
    if body.stable && session.is_none() {
        let title = "`stable` needs a session";
        return Err(Error::invalid(title, "name it in `session`").into());
    }
    if session.is_some() {
        // A session records the injection, which is a write.
        access.require_role(KeyRole::Write)?;
    }
    let explained = match &body.why_not {
        Some(name) => Some(engine.resolve(&access.scope, name).await?),
        None => None,
    };
    let block = match session {
        Some(session) => engine.inject(&request, budget, session).await?,
        None => engine.context(&request, budget).await?,
    };
    let why_not = match explained {
        Some(id) => {
            let answered = AnsweredBlock { block: &block, budget, session };
            let reason = engine.why_not_in_block(&request, answered, id).await?;
            Some(WhyNotReport::new(id, reason))
        }
        None => None,
    };
    let context = ContextResponse { block, stable: None, bytes: None, why_not };
    Ok(JsonResponse::ok(match session.filter(|_| body.stable) {
        Some(session) => context.with_stable(&access, session, &request.query).await?,
        None => context,
    }))
}

impl ContextResponse {
    /// Adds the stable part of the session's prompt.
    async fn with_stable(
        self,
        access: &Access,
        session: &str,
        message: &str,
    ) -> Result<Self, Problem> {
        let (session_prompt, is_first) = session_prompt(access, session, message).await?;
        let (prompt, digest) = &*session_prompt;
        let turn = prompt.for_turn(&self.block);
        let stable = Some(turn.stable().to_owned());
        let bytes = Some(PromptBytes {
            stable_bytes: turn.stable_bytes,
            changed_bytes: (!is_first).then(|| digest.changed_bytes(turn.text.as_bytes())),
            stable_fingerprint: turn.stable_fingerprint,
            turn_bytes: turn.turn_bytes,
        });
        Ok(Self { stable, bytes, ..self })
    }
}

/// Returns the prompt that a session began with, built and cached on first use, and `true` if that is now.
async fn session_prompt(
    access: &Access,
    session: &str,
    message: &str,
) -> Result<(Arc<(Prompt, PrefixDigest)>, bool), Problem> {
    let key = format!("{}\n{session}", access.scope);
    if let Some(session_prompt) = access.app.session_prompts.get(&key) {
        return Ok((session_prompt, false));
    }
    let request = PromptRequest { language: Some(detect_language(message)), ..Default::default() };
    let prompt = access.engine().preview_prompt(&access.scope, &request).await?;
    let digest = PrefixDigest::of(prompt.text().as_bytes());
    let session_prompt = Arc::new((prompt, digest));
    access.app.session_prompts.put(key, Arc::clone(&session_prompt));
    Ok((session_prompt, true))
}
