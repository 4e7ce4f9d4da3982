//! Capture by request: extraction, quarantine and ledger.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{
    Error, Memory, MemoryId,
    engine::{CaptureStatus, ExtractRequest, LedgerReport},
};
use serde::Deserialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer,
    body::OptionalJsonBody,
};

/// Longest ledger: ten years.
const MAX_DAYS: u32 = 3_660;

/// Days of the ledger by default.
const DEFAULT_DAYS: u32 = 30;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/extract", get(waiting).post(extract))
        .route("/v1/quarantine", get(list))
        .route("/v1/quarantine/{id}", get(show).delete(drop_held))
        .route("/v1/quarantine/{id}/restore", post(restore))
        .route("/v1/quarantine/{id}/reopen", post(reopen))
        .route("/v1/ledger", get(ledger))
}

/// List the sessions with turns that were not captured yet
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/extract", tag = "capture",
    responses(
        (status = 200, description = "Pending sessions and turns, and the number of quarantined drafts", body = Object),
    ),
))]
pub(super) async fn waiting(
    Reader(access): Reader,
    params: QueryParams,
) -> ApiResult<CaptureStatus> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().capture_status(&access.scope).await?))
}

/// Options of an extraction.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ExtractBody {
    /// Only this session.
    session: Option<String>,
    /// Report what would be extracted, and store nothing.
    dry_run: bool,
}

/// Extract memories from observed turns now, without waiting for the worker
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/extract", tag = "capture", request_body = ExtractBody,
    responses((status = 200, description = "Fate of each draft, by session", body = Object)),
))]
pub(super) async fn extract(
    Writer(access): Writer,
    JsonBody(ExtractBody { session, dry_run }, _): JsonBody<ExtractBody>,
) -> ApiResult<Value> {
    let request = ExtractRequest { session, dry_run };
    let reports = access.engine().extract(&access.scope, &request).await?;
    Ok(JsonResponse::ok(json!({ "extractions": reports })))
}

/// List quarantined drafts: extracted and not stored, each with its reason
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/quarantine", tag = "capture",
    responses((status = 200, description = "Drafts, those for review first", body = Object)),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    let mut drafts = access.engine().quarantine(&access.scope).await?;
    drafts.sort_by_key(|draft| std::cmp::Reverse((draft.verdict, draft.at, draft.id())));
    Ok(JsonResponse::ok(json!({ "drafts": drafts })))
}

/// Show a quarantined draft
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/quarantine/{id}", tag = "capture",
    params(("id" = String, Path, description = "Full id of the draft")),
    responses((status = 200, description = "The draft", body = Object)),
))]
pub(super) async fn show(Reader(access): Reader, PathParam(name): PathParam) -> ApiResult<Value> {
    let draft = access.engine().quarantined_draft(&access.scope, name.parse()?).await?;
    Ok(JsonResponse::ok(json!(draft)))
}

/// Approval of a draft.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApprovalBody {
    /// Text to store in the place of the draft's own, which is then never stored.
    content: Option<String>,
}

/// Store a quarantined draft as a memory, with another text if the body has one
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/quarantine/{id}/restore", tag = "capture", request_body = ApprovalBody,
    params(("id" = String, Path, description = "Full id of the draft")),
    responses((status = 200, description = "The memory", body = Memory)),
))]
pub(super) async fn restore(
    Writer(access): Writer,
    PathParam(name): PathParam,
    OptionalJsonBody(ApprovalBody { content }): OptionalJsonBody<ApprovalBody>,
) -> ApiResult<Memory> {
    let (engine, id): (_, MemoryId) = (access.engine(), name.parse()?);
    let draft = engine.quarantined_draft(&access.scope, id).await?;
    let memory = engine.approve_draft(&access.scope, id, content).await?;
    access.app.decided_drafts.keep(&access.scope, draft);
    Ok(JsonResponse::ok(memory))
}

/// Take back the decision on a draft, for a quarter of an hour: it waits in the quarantine again
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/quarantine/{id}/reopen", tag = "capture",
    params(("id" = String, Path, description = "Full id of the draft")),
    responses((status = 200, description = "The draft", body = Object)),
))]
pub(super) async fn reopen(Writer(access): Writer, PathParam(name): PathParam) -> ApiResult<Value> {
    let id: MemoryId = name.parse()?;
    let draft = access.app.decided_drafts.get(&access.scope, id);
    let draft = draft.ok_or_else(|| Error::not_found("draft", id))?;
    access.engine().reopen_draft(&access.scope, &draft).await?;
    Ok(JsonResponse::ok(json!(draft)))
}

/// Remove a quarantined draft; `reopen` brings it back for a quarter of an hour
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/quarantine/{id}", tag = "capture",
    params(("id" = String, Path, description = "Full id of the draft")),
    responses((status = 200, description = "Its id", body = Object)),
))]
pub(super) async fn drop_held(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<Value> {
    let (engine, id): (_, MemoryId) = (access.engine(), name.parse()?);
    let draft = engine.quarantined_draft(&access.scope, id).await?;
    engine.drop_quarantined(&access.scope, &[draft.id()]).await?;
    access.app.decided_drafts.keep(&access.scope, draft);
    Ok(JsonResponse::ok(json!({ "id": id })))
}

/// Show the cost of background work by day and job, and its daily limit
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/ledger", tag = "capture",
    params(("days" = Option<u32>, Query, description = "Number of days, today included; 30 by default")),
    responses((status = 200, description = "Tokens, time and cost", body = Object)),
))]
pub(super) async fn ledger(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<LedgerReport> {
    let days = params.in_range("days", 1..=MAX_DAYS)?.unwrap_or(DEFAULT_DAYS);
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().ledger(&access.scope, days).await?))
}
