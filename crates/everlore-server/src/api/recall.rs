//! Recall, and the block for a prompt.

use std::sync::Arc;

use axum::{Router, routing::post};
use everlore::{
    Error, Hit, Memory, MemoryBlock, MemoryId, Recall, RecallRequest,
    engine::PromptRequest,
    prompt::{PrefixDigest, Prompt},
    recall::{ConfidenceEstimate, HitSignals, Intent, ScoreFactors, VisibleContext, WhyNot},
    store::MemoryFilter,
    text::language::detect_language,
    types::{CheckResult, Timestamp},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{check_schema, schema};
use crate::{
    app::App,
    auth::{Access, KeyRole, Reader},
    body::{JsonBody, whole_number},
    problem::Problem,
    response::{ApiResult, JsonResponse},
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
    filter: Option<MemoryFilter>,
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
    /// Also say why this memory, by id or uri, is not in the answer.
    why_not: Option<String>,
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
    judgement: Option<ConfidenceEstimate>,
    /// What kept a memory out, if asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    why_not: Option<WhyNotReport>,
}

/// What kept a memory out of an answer, in words and figures.
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
    /// What its check tells now, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<check_schema::Verified>)]
    check: Option<CheckResult>,
    /// What spoke for it, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    signals: Option<HitSignals>,
    /// What its score was multiplied with, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    factors: Option<ScoreFactors>,
}

/// Find what is worth knowing, best first
#[utoipa::path(post, path = "/v1/recall", tag = "recall", request_body = RecallBody, responses((status = 200, description = "What was found", body = Found)))]
pub(super) async fn recall(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<RecallBody>,
) -> ApiResult<Found> {
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
        Some(_) if body.why_not.is_some() => return Err(why_not_with_as_of()),
        Some(at) => engine.recall_as_of(&request, at).await?,
        None => engine.recall(&request).await?,
    };
    let mut found = recall_response(found, explained);
    if let Some(name) = &body.why_not {
        let id = engine.resolve(&access.scope, name).await?;
        found.why_not = Some(WhyNotReport::new(id, engine.why_not(&request, id).await?));
    }
    Ok(JsonResponse::ok(found))
}

fn why_not_with_as_of() -> Problem {
    Error::invalid("`why_not` is told of now", "leave out `as_of`, or `why_not`").into()
}

fn recall_response(found: Recall, explained: bool) -> Found {
    let hit = |Hit { memory, score, newer, check, signals, factors, .. }| HitView {
        memory,
        score,
        newer,
        check,
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
        why_not: None,
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
    /// Also give the part of the prompt that stays the same for the conversation, with figures; needs `session`.
    #[serde(default)]
    stable: bool,
    /// Also say why this memory, by id or uri, is not in the block.
    why_not: Option<String>,
}

/// A block, and what was asked about it.
#[derive(Serialize, ToSchema)]
pub(super) struct Context {
    #[serde(flatten)]
    #[schema(value_type = schema::Block)]
    block: MemoryBlock,
    /// What to begin the system prompt with: the same to the byte for as long as the conversation goes on, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable: Option<String>,
    /// What a provider's cache of the prompt can use, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<PromptBytes>,
    /// What kept a memory out, if asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    why_not: Option<WhyNotReport>,
}

/// What a provider's cache of a prompt can use (A8).
#[derive(Serialize, ToSchema)]
pub(super) struct PromptBytes {
    /// The bytes of the part that stays the same.
    stable_bytes: usize,
    /// A digest of them.
    stable_fingerprint: String,
    /// How many of those of the turn before are no longer there; none at the first turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_bytes: Option<usize>,
    /// The bytes that this turn adds after them.
    turn_bytes: usize,
}

/// Make the block to append to a system prompt; its text is empty if nothing is worth telling
#[utoipa::path(post, path = "/v1/context", tag = "recall", request_body = ContextBody, responses((status = 200, description = "The block", body = Context)))]
pub(super) async fn context(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<ContextBody>,
) -> ApiResult<Context> {
    let engine = access.engine();
    let request = engine.context_request(&access.scope, body.query);
    let visible = body.session.clone().zip(body.seen_since);
    let visible = visible.map(|(session, since)| VisibleContext { session, since, texts: None });
    let request = RecallRequest { limit: body.limit.unwrap_or(request.limit), visible, ..request };
    let usual = engine.settings(access.scope.agent()).memory.inject.token_budget;
    let budget = body.budget.unwrap_or(usual);
    let why_not = match &body.why_not {
        None => None,
        Some(name) => {
            let id = engine.resolve(&access.scope, name).await?;
            Some(WhyNotReport::new(id, engine.why_not_in_block(&request, budget, id).await?))
        }
    };
    if body.stable && body.session.is_none() {
        let title = "`stable` is what stays the same for a conversation";
        return Err(Error::invalid(title, "name the conversation in `session`").into());
    }
    let block = match &body.session {
        None => engine.context(&request, budget).await?,
        Some(session) => {
            access.require_role(KeyRole::Write)?;
            engine.inject(&request, budget, session).await?
        }
    };
    let context = Context { block, stable: None, bytes: None, why_not };
    Ok(JsonResponse::ok(match body.session.filter(|_| body.stable) {
        Some(session) => context.with_stable(&access, &session, &request.query).await?,
        None => context,
    }))
}

impl Context {
    /// The same, with what the conversation began with.
    async fn with_stable(
        self,
        access: &Access,
        session: &str,
        message: &str,
    ) -> Result<Self, Problem> {
        let (began, is_first) = session_prompt(access, session, message).await?;
        let (prompt, mark) = &*began;
        let turn = prompt.for_turn(&self.block);
        let stable = Some(turn.stable().to_owned());
        let bytes = Some(PromptBytes {
            stable_bytes: turn.stable_bytes,
            changed_bytes: (!is_first).then(|| mark.changed_bytes(turn.text.as_bytes())),
            stable_fingerprint: turn.stable_fingerprint,
            turn_bytes: turn.turn_bytes,
        });
        Ok(Self { stable, bytes, ..self })
    }
}

/// What a conversation began with, made when it is first asked for and kept from then on, and whether that is now.
async fn session_prompt(
    access: &Access,
    session: &str,
    message: &str,
) -> Result<(Arc<(Prompt, PrefixDigest)>, bool), Problem> {
    let key = format!("{}\n{session}", access.scope);
    if let Some(began) = access.app.session_prompts.get(&key) {
        return Ok((began, false));
    }
    let request = PromptRequest { language: Some(detect_language(message)), ..Default::default() };
    let prompt = access.engine().preview_prompt(&access.scope, &request).await?;
    let mark = PrefixDigest::of(prompt.text().as_bytes());
    let began = Arc::new((prompt, mark));
    access.app.session_prompts.put(key, Arc::clone(&began));
    Ok((began, true))
}
