//! Conversations: what was answered in them, and their end.

use axum::{Router, routing::post};
use everlore::engine::AnswerUsage as Used;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Writer,
    body::{JsonBody, PathParam},
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/sessions/{session}/end", post(end))
        .route("/v1/sessions/{session}/answered", post(answered))
}

/// Write what a conversation was about into the daily log; doing so again changes nothing
#[utoipa::path(post, path = "/v1/sessions/{session}/end", tag = "sessions", params(("session" = String, Path, description = "The conversation, as its turns name it")), responses((status = 200, description = "The day, the turns, and what upkeep did if it was due", body = Object)))]
pub(super) async fn end(Writer(access): Writer, PathParam(session): PathParam) -> ApiResult<Value> {
    let (engine, scope) = (access.engine(), &access.scope);
    let ended = engine.end_session(scope, &session).await?;
    let archived = engine.archive_days(scope).await?;
    // What needs a yes waits for `POST /v1/upkeep`; a failure keeps nobody from ending a conversation.
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

/// What was answered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// The answer; it is compared and not stored.
    answer: String,
}

/// Tell what was answered, so that memories that were of use weigh more
#[utoipa::path(post, path = "/v1/sessions/{session}/answered", tag = "sessions", request_body = AnswerBody, params(("session" = String, Path, description = "The conversation, as given to /v1/context")), responses((status = 200, description = "How many memories were told, and which were used", body = Object)))]
pub(super) async fn answered(
    Writer(access): Writer,
    PathParam(session): PathParam,
    JsonBody(body, _): JsonBody<AnswerBody>,
) -> ApiResult<Used> {
    Ok(JsonResponse::ok(
        access.engine().record_answer(&access.scope, &session, &body.answer).await?,
    ))
}
