//! Looking: listing, one memory, its history.

use std::{collections::HashSet, sync::Arc};

use axum::extract::RawQuery;
use everlore::{
    Engine, Kind, Memory, MemoryId, Scope,
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter as Stored},
    text::tiers::without_generated_overview,
    types::{ChangeOp, JournalEntry, Timestamp},
};
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, not_found},
    fields::RequestFields,
    filter::FilterDialect,
    memory_json::{Mem0Metadata, MemoryVisibility, format_time, to_json},
};
use crate::{
    auth::KeyRole,
    body::{JsonBody, PathParam},
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most results of a search or a page.
pub(super) const MAX_RESULTS: usize = 1_000;

/// Memories that are read at once while a list is counted.
const READ_BATCH: usize = 1_000;

/// List memories, the newest first, for mem0's clients
#[utoipa::path(post, path = "/v3/memories/", tag = "mem0", operation_id = "list", request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})), params(
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
), responses((status = 200, description = "A page, the count of all, and the addresses of its neighbours", body = Object)))]
pub(super) async fn list(
    asked: Mem0Access,
    RawQuery(query): RawQuery,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (mut query, mut fields) =
        (RequestFields::from_query(query.as_deref())?, RequestFields::from_body(body));
    let place = PageParams::parse(&mut query)?;
    query.finish()?;
    let only = fields.strings("fields")?;
    let view = parse_visibility(&asked, &mut fields, FilterDialect::Hosted)?;
    fields.take("output_format");
    let ignored = fields.finish()?;
    let page = list_page(&asked, &view, &place, "/v3/memories/", only.as_deref()).await?;
    Ok(JsonResponse::ok(with_ignored(page, &ignored)))
}

/// The same, as older clients read it: a list, unless a page is asked for
#[utoipa::path(post, path = "/v2/memories/", tag = "mem0", operation_id = "list_v2", request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})), params(
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
), responses((status = 200, description = "A list or a page", body = Value)))]
pub(super) async fn list_v2(
    asked: Mem0Access,
    RawQuery(query): RawQuery,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    let (mut query, fields) =
        (RequestFields::from_query(query.as_deref())?, RequestFields::from_body(body));
    let is_paged = query.has("page") || query.has("page_size");
    let place = PageParams::parse(&mut query)?;
    query.finish()?;
    plain_list(&asked, fields, &place, is_paged, "/v2/memories/").await
}

/// The same, with everything in the query
#[utoipa::path(get, path = "/v1/memories/", tag = "mem0", operation_id = "list_v1", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("app_id" = Option<String>, Query, description = "Of this application"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories per page; 100 by default, at most 1000"),
), responses((status = 200, description = "A list or a page", body = Value)))]
pub(super) async fn list_v1(asked: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let is_paged = fields.has("page") || fields.has("page_size");
    let place = PageParams::parse(&mut fields)?;
    plain_list(&asked, fields, &place, is_paged, "/v1/memories/").await
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories", tag = "mem0", operation_id = "list_open", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
    ("top_k" = Option<usize>, Query, description = "Largest number of memories; 100 by default, at most 1000"),
), responses((status = 200, description = "The newest memories", body = Object)))]
pub(super) async fn list_open(asked: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let size = fields.count("top_k", 100, MAX_RESULTS)?;
    let view = parse_visibility(&asked, &mut fields, FilterDialect::OpenSource)?;
    fields.finish()?;
    let page = list_page(&asked, &view, &PageParams { page: 1, size }, "/memories", None).await?;
    Ok(JsonResponse::ok(json!({ "results": page["results"] })))
}

async fn plain_list(
    asked: &Mem0Access,
    mut fields: RequestFields,
    place: &PageParams,
    is_paged: bool,
    path: &str,
) -> ApiResult<Value> {
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let view = parse_visibility(asked, &mut fields, FilterDialect::Hosted)?;
    fields.finish()?;
    let mut page = list_page(asked, &view, place, path, None).await?;
    Ok(JsonResponse::ok(if is_paged || is_wrapped { page } else { page["results"].take() }))
}

/// Where in a list.
struct PageParams {
    page: usize,
    size: usize,
}

impl PageParams {
    fn parse(fields: &mut RequestFields) -> Result<Self, Problem> {
        // The last page of the largest list that has a size of one.
        let page = fields.count("page", 1, u32::MAX as usize)?;
        Ok(Self { page, size: fields.count("page_size", 100, MAX_RESULTS)? })
    }
}

async fn list_page(
    asked: &Mem0Access,
    view: &MemoryVisibility,
    place: &PageParams,
    path: &str,
    only: Option<&[String]>,
) -> Result<Value, Problem> {
    asked.require_role(KeyRole::Read)?;
    let mut all = Vec::new();
    for scope in asked.scopes_for(&view.filter).await? {
        let shown = cached_list(asked, &scope, view).await?;
        all.extend(shown.iter().map(|(at, id)| (*at, *id, scope.clone())));
    }
    all.sort_unstable_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
    let (count, first) = (all.len(), (place.page - 1).saturating_mul(place.size));
    let mut results = Vec::new();
    for (_, id, scope) in all.iter().skip(first).take(place.size) {
        let memory = asked.engine().get_many(scope, &[*id]).await?.pop();
        results.extend(
            memory.map(|memory| select_fields(to_json(&memory, asked.default_scope()), only)),
        );
    }
    let to = |page: usize| format!("{path}?page={page}&page_size={}", place.size);
    let next = (first.saturating_add(place.size) < count).then(|| to(place.page + 1));
    let previous = (place.page > 1).then(|| to(place.page - 1));
    Ok(json!({ "count": count, "next": next, "previous": previous, "results": results }))
}

/// What a list showed: times and ids, and the last line of the journal before it was made.
pub(crate) type CachedList = (Option<u64>, Arc<Vec<(Timestamp, MemoryId)>>);

/// Lists that are kept: a client walks one or two at a time, and each holds a few bytes for every memory.
pub(crate) const MAX_CACHED_LISTS: usize = 8;

/// What [`shown`] says, read once for all pages of a list: as long as the journal has no new line, nothing changed.
async fn cached_list(
    asked: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
) -> Result<Arc<Vec<(Timestamp, MemoryId)>>, Problem> {
    let (key, line) = (format!("{scope}\n{view:?}"), last_change_seq(asked, scope).await?);
    if let Some((_, list)) = asked.list_cache().get(&key).filter(|(then, _)| *then == line) {
        return Ok(list);
    }
    let list = Arc::new(visible_ids(asked, scope, view).await?);
    asked.list_cache().put(key, (line, Arc::clone(&list)));
    Ok(list)
}

/// The number of the last change of a scope.
async fn last_change_seq(asked: &Mem0Access, scope: &Scope) -> Result<Option<u64>, Problem> {
    let engine = asked.engine();
    // A list takes in what was edited by hand, if that is kept in files.
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

/// All that a view shows of a scope: memories, and turns that none was drawn from. One pass, some of it at a time.
async fn visible_ids(
    asked: &Mem0Access,
    scope: &Scope,
    view: &MemoryVisibility,
) -> Result<Vec<(Timestamp, MemoryId)>, Problem> {
    let (mut drawn, mut shown) = (HashSet::new(), Vec::new());
    for_each_memory(&asked.engine(), scope, |memory| {
        drawn.extend(memory.source.turns.iter().copied());
        if view.shows(memory) && !Mem0Metadata::from_memory(memory).was_known {
            shown.push((memory.at, memory.id, memory.kind == Kind::Turn));
        }
    })
    .await?;
    shown.retain(|(_, id, is_turn)| !is_turn || !drawn.contains(id));
    Ok(shown.into_iter().map(|(at, id, _)| (at, id)).collect())
}

/// The answer, with the names of what was asked for and not done.
pub(super) fn with_ignored(mut answer: Value, ignored: &[String]) -> Value {
    if !ignored.is_empty() {
        answer["ignored"] = json!(ignored);
    }
    answer
}

/// Only the fields that were asked for, and the id.
pub(super) fn select_fields(item: Value, only: Option<&[String]>) -> Value {
    match (item, only) {
        (Value::Object(mut item), Some(only)) => {
            item.retain(|name, _| name == "id" || only.contains(name));
            Value::Object(item)
        }
        (item, _) => item,
    }
}

/// What a request wants to see.
pub(super) fn parse_visibility(
    asked: &Mem0Access,
    fields: &mut RequestFields,
    dialect: FilterDialect,
) -> Result<MemoryVisibility, Problem> {
    let show_expired = fields.flag("show_expired")?.unwrap_or(false);
    let show_replaced = !fields.flag("latest_only")?.unwrap_or(true);
    Ok(MemoryVisibility {
        show_expired,
        show_superseded: show_replaced,
        ..asked.view(fields.filter(dialect)?)
    })
}

/// Sees every memory of a scope, some at a time.
pub(super) async fn for_each_memory(
    engine: &Engine,
    scope: &Scope,
    mut see: impl FnMut(&Memory),
) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page = ListQuery {
            filter: Stored::default(),
            after,
            order: ListOrder::NewestFirst,
            limit: READ_BATCH,
        };
        let read = engine.list(scope, &page).await?;
        read.iter().for_each(&mut see);
        after = read.last().map(|memory| memory.id);
        if read.len() < READ_BATCH {
            return Ok(());
        }
    }
}

/// Look at one memory, for mem0's clients
#[utoipa::path(get, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "show", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory", body = Object)))]
pub(super) async fn show(asked: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let memory = asked.find_memory(&name).await?;
    Ok(JsonResponse::ok(to_json(&memory, asked.default_scope())))
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories/{id}", tag = "mem0", operation_id = "show_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory", body = Object)))]
pub(super) async fn show_open(asked: Mem0Access, name: PathParam) -> ApiResult<Value> {
    show(asked, name).await
}

/// What happened to a memory, the oldest first, for mem0's clients
#[utoipa::path(get, path = "/v1/memories/{id}/history/", tag = "mem0", operation_id = "history", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A line for each change", body = Vec<Object>)))]
pub(super) async fn history(asked: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let id: MemoryId = name.parse().map_err(|_| not_found(&name))?;
    let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
    let (_, mut lines) = asked.journal(&query).await?.ok_or_else(|| not_found(&name))?;
    lines.reverse();
    let lines: Vec<Value> = lines.iter().map(history_entry_json).collect();
    Ok(JsonResponse::ok(json!(lines)))
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories/{id}/history", tag = "mem0", operation_id = "history_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A line for each change", body = Vec<Object>)))]
pub(super) async fn history_open(asked: Mem0Access, name: PathParam) -> ApiResult<Value> {
    history(asked, name).await
}

fn history_entry_json(
    JournalEntry { seq, at, op, id, before, after, actor, .. }: &JournalEntry,
) -> Value {
    let text = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.content.clone());
    let event = match op {
        ChangeOp::Add => "ADD",
        ChangeOp::Update => "UPDATE",
        _ => "DELETE",
    };
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
