//! Reading: lists, one memory, its history.

use std::{collections::HashSet, sync::Arc};

use axum::extract::RawQuery;
use everlore::{
    Engine, Kind, Memory, MemoryId, Scope,
    internal::text::tiers::without_generated_overview,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter as Stored},
    types::{JournalEntry, Timestamp},
};
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, not_found},
    fields::RequestFields,
    filter::FilterDialect,
    memory_json::{Mem0Metadata, MemoryVisibility, format_time, to_json},
    status::event_name,
};
use crate::{ApiResult, BoxFuture, JsonBody, JsonResponse, KeyRole, PathParam, Problem};

/// Largest number of results of a search or a page.
pub(super) const MAX_RESULTS: usize = 1_000;

/// Memories read per batch while a list is counted.
const READ_BATCH: usize = 1_000;

/// List memories, newest first, for mem0's clients
#[cfg_attr(test, utoipa::path(
    post, path = "/v3/memories/", tag = "mem0", operation_id = "list",
    request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})),
    params(
        ("page" = Option<usize>, Query, description = "Page number, from 1"),
        ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
    ),
    responses(
        (
            status = 200, description = "A page, the total count, and the addresses of the next and previous page",
            body = Object,
        ),
    ),
))]
pub(super) async fn list(
    access: Mem0Access,
    RawQuery(query): RawQuery,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (mut query, mut fields) =
        (RequestFields::from_query(query.as_deref())?, RequestFields::from_body(body));
    let page_params = PageParams::parse(&mut query)?;
    query.finish()?;
    let selected = fields.strings("fields")?;
    let view = parse_visibility(&access, &mut fields, FilterDialect::Hosted)?;
    fields.take("output_format");
    let ignored = fields.finish()?;
    let page =
        list_page(&access, &view, &page_params, "/v3/memories/", selected.as_deref()).await?;
    Ok(JsonResponse::ok(with_ignored(page, &ignored)))
}

/// List memories as older clients do: a list, unless a page is requested
#[cfg_attr(test, utoipa::path(
    post, path = "/v2/memories/", tag = "mem0", operation_id = "list_v2",
    request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})),
    params(
        ("page" = Option<usize>, Query, description = "Page number, from 1"),
        ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
    ),
    responses((status = 200, description = "A list or a page", body = Value)),
))]
pub(super) async fn list_v2(
    access: Mem0Access,
    RawQuery(query): RawQuery,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (mut query, fields) =
        (RequestFields::from_query(query.as_deref())?, RequestFields::from_body(body));
    let is_paged = query.has("page") || query.has("page_size");
    let page_params = PageParams::parse(&mut query)?;
    query.finish()?;
    plain_list(&access, fields, &page_params, is_paged, "/v2/memories/").await
}

/// List memories with all parameters in the query
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories/", tag = "mem0", operation_id = "list_v1",
    params(
        ("user_id" = Option<String>, Query, description = "Of this user"),
        ("agent_id" = Option<String>, Query, description = "Of this agent"),
        ("app_id" = Option<String>, Query, description = "Of this application"),
        ("run_id" = Option<String>, Query, description = "Of this session"),
        ("page" = Option<usize>, Query, description = "Page number, from 1"),
        ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
    ),
    responses((status = 200, description = "A list or a page", body = Value)),
))]
pub(super) async fn list_v1(access: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let is_paged = fields.has("page") || fields.has("page_size");
    let page_params = PageParams::parse(&mut fields)?;
    plain_list(&access, fields, &page_params, is_paged, "/v1/memories/").await
}

/// List memories at the path of the open-source server
#[cfg_attr(test, utoipa::path(
    get, path = "/memories", tag = "mem0", operation_id = "list_open",
    params(
        ("user_id" = Option<String>, Query, description = "Of this user"),
        ("agent_id" = Option<String>, Query, description = "Of this agent"),
        ("run_id" = Option<String>, Query, description = "Of this session"),
        ("top_k" = Option<usize>, Query, description = "Largest number of memories; 100 by default, at most 1000"),
    ),
    responses((status = 200, description = "The newest memories", body = Object)),
))]
pub(super) async fn list_open(access: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let size = fields.count("top_k", 100, MAX_RESULTS)?;
    let view = parse_visibility(&access, &mut fields, FilterDialect::OpenSource)?;
    fields.finish()?;
    let page = list_page(&access, &view, &PageParams { page: 1, size }, "/memories", None).await?;
    Ok(JsonResponse::ok(json!({ "results": page["results"] })))
}

async fn plain_list(
    access: &Mem0Access,
    mut fields: RequestFields,
    page_params: &PageParams,
    is_paged: bool,
    path: &str,
) -> ApiResult<Value> {
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let view = parse_visibility(access, &mut fields, FilterDialect::Hosted)?;
    fields.finish()?;
    let mut page = list_page(access, &view, page_params, path, None).await?;
    Ok(JsonResponse::ok(if is_paged || is_wrapped { page } else { page["results"].take() }))
}

/// Page of a list.
struct PageParams {
    page: usize,
    size: usize,
}

impl PageParams {
    fn parse(fields: &mut RequestFields) -> Result<Self, Problem> {
        // The last page of the largest list with a page size of 1.
        let page = fields.count("page", 1, u32::MAX as usize)?;
        Ok(Self { page, size: fields.count("page_size", 100, MAX_RESULTS)? })
    }
}

/// Lists a page for every path; boxed, so that it is compiled once.
fn list_page<'a>(
    access: &'a Mem0Access,
    view: &'a MemoryVisibility,
    page_params: &'a PageParams,
    path: &'a str,
    selected: Option<&'a [String]>,
) -> BoxFuture<'a, Result<Value, Problem>> {
    Box::pin(async move {
        access.require_role(KeyRole::Read)?;
        let mut all = Vec::new();
        for scope in access.scopes_for(&view.filter).await? {
            let visible = cached_list(access, &scope, view).await?;
            all.extend(visible.iter().map(|(at, id)| (*at, *id, scope.clone())));
        }
        all.sort_unstable_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
        let (count, first) = (all.len(), (page_params.page - 1).saturating_mul(page_params.size));
        let mut results = Vec::new();
        for (_, id, scope) in all.iter().skip(first).take(page_params.size) {
            let memory = access.engine().get_many(scope, &[*id]).await?.pop();
            results.extend(
                memory.map(|memory| {
                    select_fields(to_json(&memory, access.default_scope()), selected)
                }),
            );
        }
        let page_url = |page: usize| format!("{path}?page={page}&page_size={}", page_params.size);
        let next = (first.saturating_add(page_params.size) < count)
            .then(|| page_url(page_params.page + 1));
        let previous = (page_params.page > 1).then(|| page_url(page_params.page - 1));
        Ok(json!({ "count": count, "next": next, "previous": previous, "results": results }))
    })
}

/// Cached list: times and ids, and the last sequence number of the journal before it was read.
pub(crate) type CachedList = (Option<u64>, Arc<Vec<(Timestamp, MemoryId)>>);

/// Number of cached lists: a client pages through one or two at a time, and each takes a few bytes per memory.
pub(crate) const MAX_CACHED_LISTS: usize = 8;

/// Returns [`visible_ids`], read once for all pages of a list: it is valid as long as the journal has no new entry.
async fn cached_list(
    access: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
) -> Result<Arc<Vec<(Timestamp, MemoryId)>>, Problem> {
    let (key, seq) = (format!("{scope}\n{view:?}"), last_change_seq(access, scope).await?);
    if let Some((_, list)) = access.list_cache().get(&key).filter(|(then, _)| *then == seq) {
        return Ok(list);
    }
    let list = Arc::new(visible_ids(access, scope, view).await?);
    access.list_cache().put(key, (seq, Arc::clone(&list)));
    Ok(list)
}

/// Returns the sequence number of the last change of a scope.
async fn last_change_seq(access: &Mem0Access, scope: &Scope) -> Result<Option<u64>, Problem> {
    let engine = access.engine();
    // Listing syncs manual edits, if the store keeps its memories in files.
    let first = ListQuery {
        filter: Stored::default(),
        after: None,
        order: ListOrder::NewestFirst,
        limit: 1,
    };
    engine.list(scope, &first).await?;
    let query = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    Ok(engine.history(scope, &query).await?.first().map(|entry| entry.seq))
}

/// Returns the visible memories of a scope, and the turns that no memory was extracted from, in one pass of batches.
async fn visible_ids(
    access: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
) -> Result<Vec<(Timestamp, MemoryId)>, Problem> {
    let (mut extracted, mut visible) = (HashSet::new(), Vec::new());
    for_each_memory(&access.engine(), scope, |memory| {
        extracted.extend(memory.source.turns.iter().copied());
        if view.shows(memory) && !Mem0Metadata::from_memory(memory).was_known {
            visible.push((memory.at, memory.id, memory.kind == Kind::Turn));
        }
    })
    .await?;
    visible.retain(|(_, id, is_turn)| !is_turn || !extracted.contains(id));
    Ok(visible.into_iter().map(|(at, id, _)| (at, id)).collect())
}

/// Adds the names of unsupported fields to a response.
pub(super) fn with_ignored(mut response: Value, ignored: &[String]) -> Value {
    if !ignored.is_empty() {
        response["ignored"] = json!(ignored);
    }
    response
}

/// Keeps only the selected fields and the id.
pub(super) fn select_fields(item: Value, selected: Option<&[String]>) -> Value {
    match (item, selected) {
        (Value::Object(mut item), Some(selected)) => {
            item.retain(|name, _| name == "id" || selected.contains(name));
            Value::Object(item)
        }
        (item, _) => item,
    }
}

/// Parses which memories a request shows.
pub(super) fn parse_visibility(
    access: &Mem0Access,
    fields: &mut RequestFields,
    dialect: FilterDialect,
) -> Result<MemoryVisibility, Problem> {
    let show_expired = fields.flag("show_expired")?.unwrap_or(false);
    let show_superseded = !fields.flag("latest_only")?.unwrap_or(true);
    Ok(MemoryVisibility { show_expired, show_superseded, ..access.view(fields.filter(dialect)?) })
}

/// Calls a function with every memory of a scope, read in batches.
pub(super) async fn for_each_memory(
    engine: &Engine,
    scope: &Scope,
    mut visit: impl FnMut(&Memory),
) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page = ListQuery {
            filter: Stored::default().without_records(),
            after,
            order: ListOrder::NewestFirst,
            limit: READ_BATCH,
        };
        let batch = engine.list(scope, &page).await?;
        batch.iter().for_each(&mut visit);
        after = batch.last().map(|memory| memory.id);
        if batch.len() < READ_BATCH {
            return Ok(());
        }
    }
}

/// Show one memory, for mem0's clients
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "show",
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "The memory", body = Object)),
))]
pub(super) async fn show(access: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let memory = access.find_memory(&name).await?;
    Ok(JsonResponse::ok(to_json(&memory, access.default_scope())))
}

/// Show the history of a memory, oldest first, for mem0's clients
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/memories/{id}/history/", tag = "mem0", operation_id = "history",
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "One entry per change", body = Vec<Object>)),
))]
pub(super) async fn history(access: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let id: MemoryId = name.parse().map_err(|_| not_found(&name))?;
    let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
    let (_, mut entries) = access.journal(&query).await?.ok_or_else(|| not_found(&name))?;
    entries.reverse();
    let entries: Vec<Value> = entries.iter().map(history_entry_json).collect();
    Ok(JsonResponse::ok(json!(entries)))
}

fn history_entry_json(
    JournalEntry { seq, at, op, id, before, after, actor, .. }: &JournalEntry,
) -> Value {
    let text = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.content.clone());
    let event = event_name(*op);
    json!({
        "id": seq.to_string(),
        "memory_id": id,
        "old_memory": text(before),
        "new_memory": text(after),
        "event": event,
        "created_at": format_time(*at),
        "updated_at": format_time(*at),
        "is_deleted": event == "DELETE",
        "actor_id": actor,
        "role": after.as_ref().or(before.as_ref()).and_then(|memory| memory.source.role),
        "metadata": after.as_ref().map(|memory| without_generated_overview(&memory.metadata)),
    })
}
