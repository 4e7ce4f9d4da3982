//! Journal of changes, and undo.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{Error, engine::UndoTarget, store::JournalQuery, types::JournalEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer,
    body::whole_number,
};

/// Largest page.
const MAX_PAGE: usize = 1_000;

/// Page size by default.
const DEFAULT_PAGE: usize = 50;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/memories/{id}/history", get(of_memory))
        .route("/v1/history", get(list))
        .route("/v1/undo", post(undo))
        .route("/v1/redo", post(redo))
}

/// Journal entries, newest first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct JournalPage {
    changes: Vec<JournalEntry>,
    /// Value of `before` for the next page; null on the last page.
    next: Option<u64>,
}

/// List the changes of one memory, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories/{id}/history", tag = "history",
    params(
        ("id" = String, Path, description = "Full id of the memory"),
        ("limit" = Option<usize>, Query, description = "Largest number of entries; 50 by default, at most 1000"),
        ("before" = Option<u64>, Query, description = "Continue before this entry: `next` of the previous page"),
    ),
    responses((status = 200, description = "A page", body = JournalPage)),
))]
pub(super) async fn of_memory(
    Reader(access): Reader,
    PathParam(name): PathParam,
    params: QueryParams,
) -> ApiResult<JournalPage> {
    let query = JournalQuery { id: Some(name.parse()?), ..JournalQuery::default() };
    history_page(&access, query, params).await
}

/// List all changes, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/history", tag = "history",
    params(
        ("run" = Option<String>, Query, description = "Only this run, such as an import"),
        ("limit" = Option<usize>, Query, description = "Largest number of entries; 50 by default, at most 1000"),
        ("before" = Option<u64>, Query, description = "Continue before this entry: `next` of the previous page"),
    ),
    responses((status = 200, description = "A page", body = JournalPage)),
))]
pub(super) async fn list(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<JournalPage> {
    let query = JournalQuery { run: params.optional("run")?, ..JournalQuery::default() };
    history_page(&access, query, params).await
}

async fn history_page(
    access: &Access,
    query: JournalQuery,
    mut params: QueryParams,
) -> ApiResult<JournalPage> {
    let limit = params.in_range("limit", 1..=MAX_PAGE)?.unwrap_or(DEFAULT_PAGE);
    // Sequence numbers are database integers.
    let before = params.in_range("before", 0..=i64::MAX as u64)?;
    params.finish()?;
    let query = JournalQuery { before, limit: Some(limit + 1), ..query };
    let mut changes = access.engine().history(&access.scope, &query).await?;
    let has_more = changes.len() > limit;
    changes.truncate(limit);
    let next = changes.last().filter(|_| has_more).map(|entry| entry.seq);
    Ok(JsonResponse::ok(JournalPage { changes, next }))
}

/// Change or run to undo: one of both at most.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct UndoBody {
    /// Sequence number of a change.
    #[serde(default, deserialize_with = "whole_number")]
    #[cfg_attr(test, schema(format = "uint64", maximum = 18_446_744_073_709_551_615_u64))]
    seq: Option<u64>,
    /// Run whose changes are all undone.
    run: Option<String>,
}

/// Undo a change, or all changes of a run; this can be undone too
///
/// Without either it undoes the newest step that is not undone yet: sent again, it goes back step by step.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/undo", tag = "history", request_body = UndoBody,
    responses((status = 200, description = "The step, and the sequence numbers of the undone changes", body = Object)),
))]
pub(super) async fn undo(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<UndoBody>,
) -> ApiResult<Value> {
    let engine = access.engine();
    let target = match body {
        UndoBody { seq: Some(seq), run: None } => UndoTarget::Change(seq),
        UndoBody { seq: None, run: Some(run) } => UndoTarget::Run(run),
        UndoBody { seq: None, run: None } => {
            return Ok(JsonResponse::ok(json!(engine.undo_last(&access.scope).await?)));
        }
        _ => {
            let hint = "give seq, run, or neither for the newest step";
            return Err(Error::invalid("seq and run are two things to undo", hint).into());
        }
    };
    let undone = engine.undo(&access.scope, &target).await?;
    Ok(JsonResponse::ok(json!({ "step": target, "undone": undone })))
}

/// Redo the step that was undone last, unless something was changed since
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/redo", tag = "history",
    responses((status = 200, description = "The step that holds again", body = Object)),
))]
pub(super) async fn redo(Writer(access): Writer) -> ApiResult<Value> {
    Ok(JsonResponse::ok(json!(access.engine().redo(&access.scope).await?)))
}
