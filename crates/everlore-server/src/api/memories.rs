//! Memories: save, list, look at, change, remove.

use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post, put},
};
use everlore::{
    Memory, MemoryEdit, MemoryId, RememberRequest,
    engine::ForgetReport,
    ingest::SavedMemory,
    store::{ListOrder, ListQuery, MemoryFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    checks::{Checked, require_check_permission, verify_memories},
    schema,
};
use crate::{
    app::App,
    auth::{Access, Admin, Reader, Writer},
    body::{JsonBody, PathParam},
    etag::{IfMatch, memory_etag, precondition_failed, with_etag},
    idempotency::{IdempotencyKey, IdempotentWrite},
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most memories of a page: each may be large.
const MAX_PAGE: usize = 1_000;

/// Memories of a page, unless more are asked for.
const DEFAULT_PAGE: usize = 50;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/memories", get(list).post(save))
        .route("/v1/memories/{id}", get(show).patch(edit).delete(delete))
        .route("/v1/memories/{id}/archive", post(archive))
        .route("/v1/memories/{id}/restore", post(restore))
        .route("/v1/memories/{id}/weight", put(weigh))
        .route("/v1/memories/{id}/forget", post(forget))
}

/// A page of memories.
#[derive(Serialize, ToSchema)]
pub(super) struct Listed {
    memories: Vec<Checked>,
    /// What to give as `after` for the next page; nothing if this is the last one.
    #[schema(value_type = Option<String>)]
    next: Option<MemoryId>,
}

/// List memories, the newest first
#[utoipa::path(get, path = "/v1/memories", tag = "memories", params(
    ("kind" = Option<Vec<String>>, Query, description = "Of one of these kinds; may be repeated"),
    ("status" = Option<Vec<String>>, Query, description = "With one of these statuses; may be repeated"),
    ("tag" = Option<Vec<String>>, Query, description = "With all of these tags; may be repeated"),
    ("session" = Option<String>, Query, description = "Of this conversation"),
    ("since" = Option<String>, Query, description = "Said at or after this moment (RFC 3339)"),
    ("until" = Option<String>, Query, description = "Said before this moment (RFC 3339)"),
    ("limit" = Option<usize>, Query, description = "The most memories, 50 if left out, 1000 at most"),
    ("after" = Option<String>, Query, description = "Go on after this memory, the `next` of the page before"),
    ("order" = Option<String>, Query, description = "newest (first) or oldest (first)"),
    ("verify" = Option<bool>, Query, description = "Also say what the checks of memories tell now"),
), responses((status = 200, description = "A page", body = Listed)))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<Listed> {
    let after: Option<String> = params.optional("after")?;
    let limit = params.in_range("limit", 1..=MAX_PAGE)?.unwrap_or(DEFAULT_PAGE);
    let order = order(params.optional::<String>("order")?.as_deref())?;
    let verify = params.optional("verify")?.unwrap_or(false);
    let filter = filter(&mut params)?;
    params.finish()?;
    let engine = access.engine();
    let after = match after {
        Some(name) => Some(engine.resolve(&access.scope, &name).await?),
        None => None,
    };
    // One more than asked for tells whether there is more.
    let page = ListQuery { filter, after, order, limit: limit + 1 };
    let mut memories = engine.list(&access.scope, &page).await?;
    let more = memories.len() > limit;
    memories.truncate(limit);
    let next = memories.last().filter(|_| more).map(|memory| memory.id);
    let memories = match verify {
        true => verify_memories(&engine, memories).await,
        false => memories.into_iter().map(Checked::unverified).collect(),
    };
    Ok(JsonResponse::ok(Listed { memories, next }))
}

fn filter(params: &mut QueryParams) -> Result<MemoryFilter, Problem> {
    Ok(MemoryFilter {
        kinds: params.repeated("kind")?,
        statuses: params.repeated("status")?,
        tags: params.repeated("tag")?,
        since: params.optional("since")?,
        until: params.optional("until")?,
        session: params.optional("session")?,
        turns_until: None,
    })
}

fn order(name: Option<&str>) -> Result<ListOrder, Problem> {
    match name {
        None | Some("newest") => Ok(ListOrder::NewestFirst),
        Some("oldest") => Ok(ListOrder::OldestFirst),
        Some(_) => Err(Problem::invalid("there is no such order", "use newest or oldest")),
    }
}

/// Save a statement, or renew it if the same is known
///
/// Answers 201 for a new memory and 200 for one that was known. With an Idempotency-Key it is saved once, however often it
/// is sent.
#[utoipa::path(post, path = "/v1/memories", tag = "memories", request_body = schema::Remember, params(
    ("Idempotency-Key" = Option<String>, Header, description = "A name for this request: sent again, it is not done again"),
), responses((status = 201, description = "It is durable and can be found", body = schema::Saved), (status = 200, description = "It was known", body = schema::Saved)))]
pub(super) async fn save(
    Writer(access): Writer,
    key: IdempotencyKey,
    JsonBody(request, bytes): JsonBody<RememberRequest>,
) -> ApiResult<SavedMemory> {
    require_check_permission(&access, request.check.as_ref())?;
    let Some(once) = IdempotentWrite::begin(&access, key, "remember", &bytes)? else {
        return Ok(saved_response(access.engine().remember(&access.scope, request).await?));
    };
    match once.earlier_result().await?.and_then(|mut saved| saved.pop()) {
        Some(saved) => Ok(saved_response(saved)),
        None => Ok(saved_response(once.engine().remember(&access.scope, request).await?)),
    }
}

fn saved_response(saved: SavedMemory) -> JsonResponse<SavedMemory> {
    let status = if saved.receipt.known { StatusCode::OK } else { StatusCode::CREATED };
    JsonResponse(status, saved)
}

/// Look at one memory
#[utoipa::path(get, path = "/v1/memories/{id}", tag = "memories", params(("id" = String, Path, description = "An id, or a beginning that only one memory has")), responses((status = 200, description = "The memory, and what its check tells now", body = Checked)))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
    params: QueryParams,
) -> Result<Response, Problem> {
    params.finish()?;
    let (engine, id) = resolve(&access, &name).await?;
    Ok(memory_response(&engine, engine.get(&access.scope, id).await?).await)
}

async fn memory_response(engine: &everlore::Engine, memory: Memory) -> Response {
    let tag = memory_etag(&memory);
    with_etag(&tag, Ok(JsonResponse::ok(Checked::verified(engine, memory).await)))
}

async fn resolve(access: &Access, name: &str) -> Result<(everlore::Engine, MemoryId), Problem> {
    let engine = access.engine();
    let id = engine.resolve(&access.scope, name).await?;
    Ok((engine, id))
}

/// Change a memory; what is left out stays as it is
#[utoipa::path(patch, path = "/v1/memories/{id}", tag = "memories", request_body = schema::Edit, params(("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)"), ("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = Checked)))]
pub(super) async fn edit(
    Writer(access): Writer,
    PathParam(name): PathParam,
    matching: IfMatch,
    JsonBody(edit, _): JsonBody<MemoryEdit>,
) -> Result<Response, Problem> {
    require_check_permission(&access, edit.check.as_ref())?;
    let (engine, id) = resolve(&access, &name).await?;
    let edit = MemoryEdit { expected_versions: matching.versions(), ..edit };
    let edited = engine.edit(&access.scope, id, &edit).await;
    Ok(memory_response(&engine, edited.map_err(|error| matching.to_problem(error))?).await)
}

/// Remove a memory; the journal keeps it, so that this can be undone
#[utoipa::path(delete, path = "/v1/memories/{id}", tag = "memories", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "Its id, and the number to undo", body = Object)))]
pub(super) async fn delete(Writer(access): Writer, PathParam(name): PathParam) -> ApiResult<Value> {
    let (engine, id) = resolve(&access, &name).await?;
    let seq = engine.delete(&access.scope, id).await?;
    Ok(JsonResponse::ok(json!({ "id": id, "seq": seq })))
}

/// Put a memory away: it is kept, but left out of recall
#[utoipa::path(post, path = "/v1/memories/{id}/archive", tag = "memories", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = schema::Memory)))]
pub(super) async fn archive(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<Memory> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.archive(&access.scope, id).await?))
}

/// Bring back a memory that was archived or superseded
#[utoipa::path(post, path = "/v1/memories/{id}/restore", tag = "memories", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = schema::Memory)))]
pub(super) async fn restore(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<Memory> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.restore(&access.scope, id).await?))
}

/// What a memory is to be worth.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Weight {
    /// From 0 to 10; neither use nor time moves it then. Nothing lets it begin anew at 1.
    weight: Option<f64>,
}

/// Set what a memory is worth
#[utoipa::path(put, path = "/v1/memories/{id}/weight", tag = "memories", request_body = Weight, params(("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)"), ("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = Checked)))]
pub(super) async fn weigh(
    Writer(access): Writer,
    PathParam(name): PathParam,
    matching: IfMatch,
    JsonBody(to, _): JsonBody<Weight>,
) -> Result<Response, Problem> {
    let (engine, id) = resolve(&access, &name).await?;
    // A weight is set without touching anything else, so that a change in between loses nothing.
    if !matching.allows(&memory_etag(&engine.get(&access.scope, id).await?)) {
        return Err(precondition_failed(&format!("memory `{id}`")));
    }
    let weighed = engine.set_weight(&access.scope, id, to.weight).await?;
    Ok(memory_response(&engine, weighed).await)
}

/// Remove a memory and every trace of what it said, for good
///
/// Takes the whole id, also of a memory that was deleted before.
#[utoipa::path(post, path = "/v1/memories/{id}/forget", tag = "memories", params(("id" = String, Path, description = "The memory, by its whole id")), responses((status = 200, description = "What was removed from where", body = Object)))]
pub(super) async fn forget(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<ForgetReport> {
    let id: MemoryId = name.parse()?;
    Ok(JsonResponse::ok(access.engine().forget(&access.scope, id).await?))
}
