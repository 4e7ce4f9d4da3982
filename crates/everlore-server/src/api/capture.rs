//! From turns to memories, by hand: extraction, what is held, and what it cost.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{
    Memory, MemoryId,
    engine::{CaptureStatus, ExtractRequest, LedgerReport},
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::schema;
use crate::{
    app::App,
    auth::{Admin, Reader, Writer},
    body::{JsonBody, PathParam},
    params::QueryParams,
    response::{ApiResult, JsonResponse},
};

/// The most days of the ledger: ten years.
const MAX_DAYS: u32 = 3_660;

/// Days of the ledger, unless more are asked for.
const DEFAULT_DAYS: u32 = 30;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/extract", get(waiting).post(extract))
        .route("/v1/quarantine", get(list))
        .route("/v1/quarantine/{id}", get(show).delete(drop_held))
        .route("/v1/quarantine/{id}/restore", post(restore))
        .route("/v1/ledger", get(ledger))
}

/// Say which conversations wait to be read
#[utoipa::path(get, path = "/v1/extract", tag = "capture", responses((status = 200, description = "The conversations, the turns that wait, and how many drafts are held", body = Object)))]
pub(super) async fn waiting(
    Reader(access): Reader,
    params: QueryParams,
) -> ApiResult<CaptureStatus> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().capture_status(&access.scope).await?))
}

/// What to read.
#[derive(Deserialize, ToSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ExtractBody {
    /// Only this conversation.
    session: Option<String>,
    /// Only say what would be done.
    dry_run: bool,
}

/// Draw memories from what was said, without waiting for it to happen by itself
#[utoipa::path(post, path = "/v1/extract", tag = "capture", request_body = ExtractBody, responses((status = 200, description = "What became of what was found, by conversation", body = Object)))]
pub(super) async fn extract(
    Writer(access): Writer,
    JsonBody(ExtractBody { session, dry_run }, _): JsonBody<ExtractBody>,
) -> ApiResult<Value> {
    let request = ExtractRequest { session, dry_run };
    let done = access.engine().extract(&access.scope, &request).await?;
    Ok(JsonResponse::ok(json!({ "extractions": done })))
}

/// List statements that were found and not remembered, each with its reason
#[utoipa::path(get, path = "/v1/quarantine", tag = "capture", responses((status = 200, description = "Those that want a look first", body = Object)))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    let mut held = access.engine().quarantine(&access.scope).await?;
    held.sort_by_key(|held| std::cmp::Reverse((held.verdict, held.at, held.id())));
    Ok(JsonResponse::ok(json!({ "drafts": held })))
}

/// Look at one of them
#[utoipa::path(get, path = "/v1/quarantine/{id}", tag = "capture", params(("id" = String, Path, description = "The draft, by its whole id")), responses((status = 200, description = "The draft", body = Object)))]
pub(super) async fn show(Reader(access): Reader, PathParam(name): PathParam) -> ApiResult<Value> {
    let held = access.engine().quarantined_draft(&access.scope, name.parse()?).await?;
    Ok(JsonResponse::ok(json!(held)))
}

/// Remember it all the same
#[utoipa::path(post, path = "/v1/quarantine/{id}/restore", tag = "capture", params(("id" = String, Path, description = "The draft, by its whole id")), responses((status = 200, description = "The memory", body = schema::Memory)))]
pub(super) async fn restore(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<Memory> {
    Ok(JsonResponse::ok(access.engine().restore_quarantined(&access.scope, name.parse()?).await?))
}

/// Remove it for good
#[utoipa::path(delete, path = "/v1/quarantine/{id}", tag = "capture", params(("id" = String, Path, description = "The draft, by its whole id")), responses((status = 200, description = "Its id", body = Object)))]
pub(super) async fn drop_held(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<Value> {
    let (engine, id): (_, MemoryId) = (access.engine(), name.parse()?);
    let held = engine.quarantined_draft(&access.scope, id).await?;
    engine.drop_quarantined(&access.scope, &[held.id()]).await?;
    Ok(JsonResponse::ok(json!({ "id": id })))
}

/// What background work spent, by day and job, and what it may spend
#[utoipa::path(get, path = "/v1/ledger", tag = "capture", params(("days" = Option<u32>, Query, description = "How many days, today included; 30 if left out")), responses((status = 200, description = "Tokens, time and cost", body = Object)))]
pub(super) async fn ledger(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<LedgerReport> {
    let days = params.in_range("days", 1..=MAX_DAYS)?.unwrap_or(DEFAULT_DAYS);
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().ledger(&access.scope, days).await?))
}
