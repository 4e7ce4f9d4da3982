//! Sessions: their answers and their end.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{
    MemoryId,
    engine::{AnswerUsage, LoggedPrompt, PastPrompt},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer};

/// Prompts in a list by default, and at most.
const DEFAULT_PROMPTS: usize = 20;
const MAX_PROMPTS: usize = 100;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/sessions/{session}/end", post(end))
        .route("/v1/sessions/{session}/answered", post(answered))
        .route("/v1/sessions/{session}/injections", get(injections))
        .route("/v1/injections", get(newest))
}

/// End a session: write its summary into the daily log; repeating this changes nothing
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/sessions/{session}/end", tag = "sessions",
    params(("session" = String, Path, description = "Session of the turns")),
    responses(
        (
            status = 200, description = "The day, the number of turns, and the upkeep report if upkeep was due",
            body = Object,
        ),
    ),
))]
pub(super) async fn end(Writer(access): Writer, PathParam(session): PathParam) -> ApiResult<Value> {
    let (engine, scope) = (access.engine(), &access.scope);
    let ended = engine.end_session(scope, &session).await?;
    let archived = engine.archive_days(scope).await?;
    // Jobs that need a confirmation wait for `POST /v1/upkeep`; a failed upkeep must not fail the end of a session.
    let upkeep = engine.upkeep_if_due(scope).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "upkeep failed");
        None
    });
    let logged = ended.log.as_ref().is_some_and(|log| log.change.is_some());
    Ok(JsonResponse::ok(json!({
        "day": ended.day,
        "turns": ended.turns,
        "logged": logged,
        "archived": archived,
        "upkeep": upkeep,
    })))
}

/// Answer of the agent.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// Text of the answer; compared with the injected memories and not stored.
    answer: String,
}

/// Report the agent's answer, so that memories that were of use gain weight
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/sessions/{session}/answered", tag = "sessions", request_body = AnswerBody,
    params(("session" = String, Path, description = "Session given to /v1/context")),
    responses((status = 200, description = "Number of injected memories, and those that were used", body = Object)),
))]
pub(super) async fn answered(
    Writer(access): Writer,
    PathParam(session): PathParam,
    JsonBody(body, _): JsonBody<AnswerBody>,
) -> ApiResult<AnswerUsage> {
    Ok(JsonResponse::ok(
        access.engine().record_answer(&access.scope, &session, &body.answer).await?,
    ))
}

/// Memories that prompts of a session contained.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct InjectedMemories {
    /// Ids, each once; some may have been deleted since.
    memories: Vec<MemoryId>,
    /// Prompts with the memories of each and the turn that it answered, oldest first.
    prompts: Vec<PastPrompt>,
}

/// List the memories that prompts of a session contained
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/sessions/{session}/injections", tag = "sessions",
    params(("session" = String, Path, description = "Session given to /v1/context")),
    responses((status = 200, description = "Ids of the memories, and the prompts of the session", body = InjectedMemories)),
))]
pub(super) async fn injections(
    Reader(access): Reader,
    PathParam(session): PathParam,
) -> ApiResult<InjectedMemories> {
    let engine = access.engine();
    let memories = engine.injected_memories(&access.scope, &session).await?;
    let prompts = engine.past_prompts(&access.scope, &session).await?;
    Ok(JsonResponse::ok(InjectedMemories { memories, prompts }))
}

/// Newest prompts of all sessions.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct NewestPrompts {
    /// Prompts that contained memories, newest first.
    prompts: Vec<LoggedPrompt>,
}

/// List the newest prompts of all sessions, with the number of memories that each contained and the answer used
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/injections", tag = "sessions",
    params(("limit" = Option<usize>, Query, description = "Largest number of prompts; 20 by default, at most 100")),
    responses((status = 200, description = "The prompts", body = NewestPrompts)),
))]
pub(super) async fn newest(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<NewestPrompts> {
    let limit = params.in_range("limit", 1..=MAX_PROMPTS)?.unwrap_or(DEFAULT_PROMPTS);
    params.finish()?;
    let prompts = access.engine().newest_prompts(&access.scope, limit).await?;
    Ok(JsonResponse::ok(NewestPrompts { prompts }))
}
