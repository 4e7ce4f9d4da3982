//! Memory routes: save, list, show, edit, delete, archive, weigh, forget.

use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post, put},
};
use everlore::{
    Memory, MemoryEdit, MemoryId, RememberRequest,
    engine::{FeedbackReceipt, FeedbackRequest, ForgetReceipt, ForgetReport, SavedMemory},
    store::{ListOrder, ListQuery, MemoryFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use super::checks::{CheckedMemory, require_check_permission, verify_memories};
use crate::{
    Access, Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, Problem, QueryParams, Reader,
    Writer,
    etag::{IfMatch, memory_etag, precondition_failed, with_etag},
    idempotency::{IdempotencyKey, IdempotentWrite},
};

/// Largest page: each memory may be large.
const MAX_PAGE: usize = 1_000;

/// Page size by default.
const DEFAULT_PAGE: usize = 50;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/memories", get(list).post(save))
        .route("/v1/memories/{id}", get(show).patch(edit).delete(delete))
        .route("/v1/memories/{id}/archive", post(archive))
        .route("/v1/memories/{id}/restore", post(restore))
        .route("/v1/memories/{id}/weight", put(weigh))
        .route("/v1/memories/{id}/feedback", post(give_feedback))
        .route("/v1/memories/{id}/forget", post(forget))
}

/// Page of memories.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct MemoryPage {
    memories: Vec<CheckedMemory>,
    /// Value of `after` for the next page; null on the last page.
    next: Option<MemoryId>,
}

/// List memories, newest first; schedules, proposals and tool calls only if `kind` names them
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories", tag = "memories",
    params(
        ("kind" = Option<Vec<String>>, Query, description = "Of one of these kinds; may be repeated"),
        ("status" = Option<Vec<String>>, Query, description = "With one of these statuses; may be repeated"),
        ("tag" = Option<Vec<String>>, Query, description = "With all of these tags; may be repeated"),
        ("session" = Option<String>, Query, description = "Of this session"),
        ("since" = Option<String>, Query, description = "At or after this time (RFC 3339)"),
        ("until" = Option<String>, Query, description = "Before this time (RFC 3339)"),
        ("limit" = Option<usize>, Query, description = "Largest number of memories; 50 by default, at most 1000"),
        ("after" = Option<String>, Query, description = "Continue after this memory: `next` of the previous page"),
        ("order" = Option<String>, Query, description = "newest or oldest first"),
        ("verify" = Option<bool>, Query, description = "Verify the checks of the memories"),
    ),
    responses((status = 200, description = "A page", body = MemoryPage)),
))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<MemoryPage> {
    let after: Option<String> = params.optional("after")?;
    let limit = params.in_range("limit", 1..=MAX_PAGE)?.unwrap_or(DEFAULT_PAGE);
    let order = order(params.optional::<String>("order")?.as_deref())?;
    let verify = params.optional("verify")?.unwrap_or(false);
    let filter = filter(&mut params)?.without_records();
    params.finish()?;
    let engine = access.engine();
    let after = match after {
        Some(name) => Some(engine.resolve(&access.scope, &name).await?),
        None => None,
    };
    // One more than requested tells whether there is another page.
    let page = ListQuery { filter, after, order, limit: limit + 1 };
    let mut memories = engine.list(&access.scope, &page).await?;
    let more = memories.len() > limit;
    memories.truncate(limit);
    let next = memories.last().filter(|_| more).map(|memory| memory.id);
    let memories = if verify {
        verify_memories(&engine, memories).await
    } else {
        memories.into_iter().map(CheckedMemory::unverified).collect()
    };
    Ok(JsonResponse::ok(MemoryPage { memories, next }))
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
        Some(_) => Err(Problem::invalid("unknown order", "use newest or oldest")),
    }
}

/// Save a statement, or renew the memory that already says the same
///
/// Answers 201 for a new memory and 200 for one that existed. With an Idempotency-Key it is saved once, however often
/// it is sent.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories", tag = "memories", request_body = RememberRequest,
    params(
        (
            "Idempotency-Key" = Option<String>, Header,
            description = "Key of this request: repeating it does not repeat the write",
        ),
    ),
    responses(
        (status = 201, description = "Stored, durable and indexed", body = SavedMemory),
        (status = 200, description = "The same memory existed and was renewed", body = SavedMemory),
    ),
))]
pub(super) async fn save(
    Writer(access): Writer,
    key: IdempotencyKey,
    JsonBody(request, bytes): JsonBody<RememberRequest>,
) -> ApiResult<SavedMemory> {
    require_check_permission(&access, request.check.as_ref())?;
    let Some(once) = IdempotentWrite::begin(&access, key, "remember", &bytes)? else {
        return Ok(saved_response(access.engine().remember(&access.scope, request).await?));
    };
    let scope = &access.scope;
    let save = async |engine: everlore::Engine| Ok(vec![engine.remember(scope, request).await?]);
    let saved = once.make(save).await?.pop();
    saved
        .map(saved_response)
        .ok_or_else(|| Problem::internal(&"a memory was saved without a receipt"))
}

fn saved_response(saved: SavedMemory) -> JsonResponse<SavedMemory> {
    let status = if saved.receipt.known { StatusCode::OK } else { StatusCode::CREATED };
    JsonResponse(status, saved)
}

/// Show one memory
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories/{id}", tag = "memories",
    params(("id" = String, Path, description = "Id, or a prefix of it that is unique")),
    responses((status = 200, description = "The memory with the result of its check", body = CheckedMemory)),
))]
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
    with_etag(&tag, JsonResponse::ok(CheckedMemory::verified(engine, memory).await))
}

async fn resolve(access: &Access, name: &str) -> Result<(everlore::Engine, MemoryId), Problem> {
    let engine = access.engine();
    let id = engine.resolve(&access.scope, name).await?;
    Ok((engine, id))
}

/// Edit a memory; omitted fields stay as they are
#[cfg_attr(test, utoipa::path(
    patch, path = "/v1/memories/{id}", tag = "memories", request_body = MemoryEdit,
    params(
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
        ("id" = String, Path, description = "The memory"),
    ),
    responses((status = 200, description = "The memory after the change", body = CheckedMemory)),
))]
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

/// Delete a memory; the journal keeps it, so that this can be undone
///
/// A turn that nothing else was extracted from goes with it and comes back with it (`turns`); one that other memories come
/// from stays and may still tell it (`remaining_turns`).
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/memories/{id}", tag = "memories", params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "Its id, the sequence number to undo, the memories it had superseded, and its turns", body = Object)),
))]
pub(super) async fn delete(Writer(access): Writer, PathParam(name): PathParam) -> ApiResult<Value> {
    let (engine, id) = resolve(&access, &name).await?;
    let superseded = engine.superseded_by(&access.scope, &[id]).await?.remove(&id);
    let receipt = engine.delete_many(&access.scope, &[id]).await?;
    let mut told = json!({ "id": id, "seq": receipt.deleted[0].seq });
    let turns = [("turns", receipt.turns), ("remaining_turns", receipt.remaining_turns)];
    for (name, turns) in turns.into_iter().filter(|(_, turns)| !turns.is_empty()) {
        told[name] = json!(turns);
    }
    if let Some(superseded) = superseded {
        told["superseded"] = json!(superseded);
    }
    Ok(JsonResponse::ok(told))
}

/// Archive a memory: it is kept, but left out of recall
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories/{id}/archive", tag = "memories",
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "The memory after the change", body = Memory)),
))]
pub(super) async fn archive(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<Memory> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.archive(&access.scope, id).await?))
}

/// Restore an archived or superseded memory
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories/{id}/restore", tag = "memories",
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "The memory after the change", body = Memory)),
))]
pub(super) async fn restore(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<Memory> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.restore(&access.scope, id).await?))
}

/// Say that a memory helped, or that it did not or is wrong
///
/// It moves the weight within bounds; two bad verdicts archive the memory. The run undoes it.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories/{id}/feedback", tag = "memories", request_body = FeedbackRequest,
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "Effect on the memory", body = FeedbackReceipt)),
))]
pub(super) async fn give_feedback(
    Writer(access): Writer,
    PathParam(name): PathParam,
    JsonBody(request, _): JsonBody<FeedbackRequest>,
) -> ApiResult<FeedbackReceipt> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.give_feedback(&access.scope, &[id], &request).await?))
}

/// New weight of a memory.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct WeightBody {
    /// From 0 to 10, fixed from then on; null resets it to 1 and lets use and time change it again.
    #[cfg_attr(test, schema(minimum = 0, maximum = 10))]
    weight: Option<f64>,
}

/// Set the weight of a memory
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/memories/{id}/weight", tag = "memories", request_body = WeightBody,
    params(
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
        ("id" = String, Path, description = "The memory"),
    ),
    responses((status = 200, description = "The memory after the change", body = CheckedMemory)),
))]
pub(super) async fn weigh(
    Writer(access): Writer,
    PathParam(name): PathParam,
    matching: IfMatch,
    JsonBody(body, _): JsonBody<WeightBody>,
) -> Result<Response, Problem> {
    let (engine, id) = resolve(&access, &name).await?;
    // Setting a weight changes nothing else, so a concurrent edit is not lost.
    if !matching.allows(&memory_etag(&engine.get(&access.scope, id).await?)) {
        return Err(precondition_failed(&format!("memory `{id}`")));
    }
    let updated = engine.set_weight(&access.scope, id, body.weight).await?;
    Ok(memory_response(&engine, updated).await)
}

/// Remove a memory and every trace of its content for good
///
/// Takes the full id, also of a memory that was deleted before. Erases it, and the turns that nothing else was extracted
/// from, from the database, vaults, layers, the daily log, pending saves and typed lines, and names other turns and the
/// backups that may still hold it.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories/{id}/forget", tag = "memories",
    params(("id" = String, Path, description = "Full id of the memory")),
    responses((status = 200, description = "Receipt: what was erased, by place, and what may be left", body = Object)),
))]
pub(super) async fn forget(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<ForgetAnswer> {
    let id: MemoryId = name.parse()?;
    let receipt = access.engine().forget(&access.scope, id).await?;
    let memory = receipt.forgotten.iter().find(|report| report.id == id).cloned();
    Ok(JsonResponse::ok(ForgetAnswer { memory, receipt }))
}

/// Receipt of an erasure, with the report of the named memory in its own fields as well.
#[derive(Serialize)]
pub(super) struct ForgetAnswer {
    #[serde(flatten)]
    memory: Option<ForgetReport>,
    #[serde(flatten)]
    receipt: ForgetReceipt,
}
