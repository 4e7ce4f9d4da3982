//! What was changed, and taking it back.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{Error, ingest::UndoTarget, store::JournalQuery, types::JournalEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::schema;
use crate::{
    app::App,
    auth::{Access, Reader, Writer},
    body::{JsonBody, PathParam, whole_number},
    params::QueryParams,
    response::{ApiResult, JsonResponse},
};

/// The most lines of a page.
const MAX_PAGE: usize = 1_000;

/// Lines of a page, unless more are asked for.
const DEFAULT_PAGE: usize = 50;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/memories/{id}/history", get(of_memory))
        .route("/v1/history", get(list))
        .route("/v1/undo", post(undo))
}

/// Lines of the journal, the newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct History {
    #[schema(value_type = Vec<schema::Entry>)]
    changes: Vec<JournalEntry>,
    /// What to give as `before` for the next page; nothing if this is the last one.
    next: Option<u64>,
}

/// What was changed in one memory, the newest first
#[utoipa::path(get, path = "/v1/memories/{id}/history", tag = "history", params(
    ("id" = String, Path, description = "The memory, by its whole id"),
    ("limit" = Option<usize>, Query, description = "The most lines, 50 if left out, 1000 at most"),
    ("before" = Option<u64>, Query, description = "Go on before this line, the `next` of the page before"),
), responses((status = 200, description = "A page", body = History)))]
pub(super) async fn of_memory(
    Reader(access): Reader,
    PathParam(name): PathParam,
    params: QueryParams,
) -> ApiResult<History> {
    let query = JournalQuery { id: Some(name.parse()?), ..JournalQuery::default() };
    history_page(&access, query, params).await
}

/// What was changed, the newest first
#[utoipa::path(get, path = "/v1/history", tag = "history", params(
    ("run" = Option<String>, Query, description = "Only this run, such as one import"),
    ("limit" = Option<usize>, Query, description = "The most lines, 50 if left out, 1000 at most"),
    ("before" = Option<u64>, Query, description = "Go on before this line, the `next` of the page before"),
), responses((status = 200, description = "A page", body = History)))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<History> {
    let query = JournalQuery { run: params.optional("run")?, ..JournalQuery::default() };
    history_page(&access, query, params).await
}

async fn history_page(
    access: &Access,
    query: JournalQuery,
    mut params: QueryParams,
) -> ApiResult<History> {
    let limit = params.in_range("limit", 1..=MAX_PAGE)?.unwrap_or(DEFAULT_PAGE);
    // Numbers of the journal are those that a database can hold.
    let before = params.in_range("before", 0..=i64::MAX as u64)?;
    params.finish()?;
    let query = JournalQuery { before, limit: Some(limit + 1), ..query };
    let mut changes = access.engine().history(&access.scope, &query).await?;
    let more = changes.len() > limit;
    changes.truncate(limit);
    let next = changes.last().filter(|_| more).map(|line| line.seq);
    Ok(JsonResponse::ok(History { changes, next }))
}

/// What to take back: one of both.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoBody {
    /// The number of a change.
    #[serde(default, deserialize_with = "whole_number")]
    seq: Option<u64>,
    /// A run, all of it.
    run: Option<String>,
}

/// Take a change back, or all changes of a run; this can be undone too
#[utoipa::path(post, path = "/v1/undo", tag = "history", request_body = UndoBody, responses((status = 200, description = "The numbers of the changes that were taken back", body = Object)))]
pub(super) async fn undo(
    Writer(access): Writer,
    JsonBody(what, _): JsonBody<UndoBody>,
) -> ApiResult<Value> {
    let what = match what {
        UndoBody { seq: Some(seq), run: None } => UndoTarget::Change(seq),
        UndoBody { seq: None, run: Some(run) } => UndoTarget::Run(run),
        _ => {
            let detail = "give either seq or run";
            return Err(Error::invalid("it is not clear what to undo", detail).into());
        }
    };
    let undone = access.engine().undo(&access.scope, &what).await?;
    Ok(JsonResponse::ok(json!({ "undone": undone })))
}
