//! Looking: listing, one memory, its history.

use std::{collections::HashSet, sync::Arc};

use axum::extract::RawQuery;
use everlore::{
    Engine, Kind, Memory, MemoryId, Scope,
    store::{Filter as Stored, JournalQuery, Order, Page},
    text::tiers::without_made,
    types::{Entry, Op, Timestamp},
};
use serde_json::{Map, Value, json};

use super::{
    asked::{Asked, not_found},
    fields::Fields,
    filter::Dialect,
    item::{Marks, View, item, told},
};
use crate::{
    answer::{Answer, Answered},
    auth::Role,
    body::{Json, Named},
    problem::Problem,
};

/// The most results of a search or a page.
pub(super) const MAX_RESULTS: usize = 1_000;

/// Memories that are read at once while a list is counted.
const READ: usize = 1_000;

/// List memories, the newest first, for mem0's clients
#[utoipa::path(post, path = "/v3/memories/", tag = "mem0", operation_id = "list", request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})), params(
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories of a page, 100 if left out, 1000 at most"),
), responses((status = 200, description = "A page, the count of all, and the addresses of its neighbours", body = Object)))]
pub(super) async fn list(
    asked: Asked,
    RawQuery(query): RawQuery,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    let (mut query, mut fields) = (Fields::of_query(query.as_deref())?, Fields::of(body));
    let place = Place::read(&mut query)?;
    query.end()?;
    let only = fields.texts("fields")?;
    let view = view(&asked, &mut fields, Dialect::Hosted)?;
    fields.take("output_format");
    let ignored = fields.end()?;
    let page = page(&asked, &view, &place, "/v3/memories/", only.as_deref()).await?;
    Ok(Answer::ok(with_ignored(page, &ignored)))
}

/// The same, as older clients read it: a list, unless a page is asked for
#[utoipa::path(post, path = "/v2/memories/", tag = "mem0", operation_id = "list_v2", request_body(content = Object, example = json!({"filters": {"OR": [{"user_id": "ana"}, {"agent_id": "helper"}]}})), params(
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories of a page, 100 if left out, 1000 at most"),
), responses((status = 200, description = "A list or a page", body = Value)))]
pub(super) async fn list_v2(
    asked: Asked,
    RawQuery(query): RawQuery,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    let (mut query, fields) = (Fields::of_query(query.as_deref())?, Fields::of(body));
    let is_paged = query.has("page") || query.has("page_size");
    let place = Place::read(&mut query)?;
    query.end()?;
    plain_list(&asked, fields, &place, is_paged, "/v2/memories/").await
}

/// The same, with everything in the query
#[utoipa::path(get, path = "/v1/memories/", tag = "mem0", operation_id = "list_v1", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("app_id" = Option<String>, Query, description = "Of this application"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
    ("page" = Option<usize>, Query, description = "The page, from 1"),
    ("page_size" = Option<usize>, Query, description = "Memories of a page, 100 if left out, 1000 at most"),
), responses((status = 200, description = "A list or a page", body = Value)))]
pub(super) async fn list_v1(asked: Asked, RawQuery(query): RawQuery) -> Answered<Value> {
    let mut fields = Fields::of_query(query.as_deref())?;
    let is_paged = fields.has("page") || fields.has("page_size");
    let place = Place::read(&mut fields)?;
    plain_list(&asked, fields, &place, is_paged, "/v1/memories/").await
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories", tag = "mem0", operation_id = "list_open", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
    ("top_k" = Option<usize>, Query, description = "The most memories, 100 if left out, 1000 at most"),
), responses((status = 200, description = "The newest memories", body = Object)))]
pub(super) async fn list_open(asked: Asked, RawQuery(query): RawQuery) -> Answered<Value> {
    let mut fields = Fields::of_query(query.as_deref())?;
    let size = fields.count("top_k", 100, MAX_RESULTS)?;
    let view = view(&asked, &mut fields, Dialect::Open)?;
    fields.end()?;
    let page = page(&asked, &view, &Place { page: 1, size }, "/memories", None).await?;
    Ok(Answer::ok(json!({ "results": page["results"] })))
}

async fn plain_list(
    asked: &Asked,
    mut fields: Fields,
    place: &Place,
    is_paged: bool,
    path: &str,
) -> Answered<Value> {
    let is_wrapped = fields.text("output_format")?.as_deref() == Some("v1.1");
    let view = view(asked, &mut fields, Dialect::Hosted)?;
    fields.end()?;
    let mut page = page(asked, &view, place, path, None).await?;
    Ok(Answer::ok(if is_paged || is_wrapped { page } else { page["results"].take() }))
}

/// Where in a list.
struct Place {
    page: usize,
    size: usize,
}

impl Place {
    fn read(fields: &mut Fields) -> Result<Self, Problem> {
        // The last page of the largest list that has a size of one.
        let page = fields.count("page", 1, u32::MAX as usize)?;
        Ok(Self { page, size: fields.count("page_size", 100, MAX_RESULTS)? })
    }
}

async fn page(
    asked: &Asked,
    view: &View,
    place: &Place,
    path: &str,
    only: Option<&[String]>,
) -> Result<Value, Problem> {
    asked.check(Role::Read)?;
    let mut all = Vec::new();
    for scope in asked.meant(&view.filter).await? {
        let shown = listed(asked, &scope, view).await?;
        all.extend(shown.iter().map(|(at, id)| (*at, *id, scope.clone())));
    }
    all.sort_unstable_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
    let (count, first) = (all.len(), (place.page - 1).saturating_mul(place.size));
    let mut results = Vec::new();
    for (_, id, scope) in all.iter().skip(first).take(place.size) {
        let memory = asked.engine().store().get(scope, &[*id]).await?.pop().flatten();
        results.extend(memory.map(|memory| picked(item(&memory, asked.home()), only)));
    }
    let to = |page: usize| format!("{path}?page={page}&page_size={}", place.size);
    let next = (first.saturating_add(place.size) < count).then(|| to(place.page + 1));
    let previous = (place.page > 1).then(|| to(place.page - 1));
    Ok(json!({ "count": count, "next": next, "previous": previous, "results": results }))
}

/// What a list showed: times and ids, and the last line of the journal before it was made.
pub(crate) type Listed = (Option<u64>, Arc<Vec<(Timestamp, MemoryId)>>);

/// Lists that are kept: a client walks one or two at a time, and each holds a few bytes for every memory.
pub(crate) const LISTS: usize = 8;

/// What [`shown`] says, read once for all pages of a list: as long as the journal has no new line, nothing changed.
async fn listed(
    asked: &Asked,
    scope: &Scope,
    view: &View,
) -> Result<Arc<Vec<(Timestamp, MemoryId)>>, Problem> {
    let (key, line) = (format!("{scope}\n{view:?}"), last_line(asked, scope).await?);
    if let Some((_, list)) = asked.lists().get(&key).filter(|(then, _)| *then == line) {
        return Ok(list);
    }
    let list = Arc::new(shown(asked, scope, view).await?);
    asked.lists().put(key, (line, Arc::clone(&list)));
    Ok(list)
}

/// The number of the last change of a scope.
async fn last_line(asked: &Asked, scope: &Scope) -> Result<Option<u64>, Problem> {
    let engine = asked.engine();
    // A list takes in what was edited by hand, if that is kept in files.
    let first =
        Page { filter: Stored::default(), after: None, order: Order::NewestFirst, limit: 1 };
    engine.list(scope, &first).await?;
    let query = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    Ok(engine.store().journal(scope, &query).await?.first().map(|entry| entry.seq))
}

/// All that a view shows of a scope: memories, and turns that none was drawn from. One pass, some of it at a time.
async fn shown(
    asked: &Asked,
    scope: &Scope,
    view: &View,
) -> Result<Vec<(Timestamp, MemoryId)>, Problem> {
    let (mut drawn, mut shown) = (HashSet::new(), Vec::new());
    every(&asked.engine(), scope, |memory| {
        drawn.extend(memory.source.turns.iter().copied());
        if view.shows(memory) && !Marks::of(memory).was_known {
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
pub(super) fn picked(item: Value, only: Option<&[String]>) -> Value {
    match (item, only) {
        (Value::Object(mut item), Some(only)) => {
            item.retain(|name, _| name == "id" || only.contains(name));
            Value::Object(item)
        }
        (item, _) => item,
    }
}

/// What a request wants to see.
pub(super) fn view(asked: &Asked, fields: &mut Fields, dialect: Dialect) -> Result<View, Problem> {
    let show_expired = fields.flag("show_expired")?.unwrap_or(false);
    let show_replaced = !fields.flag("latest_only")?.unwrap_or(true);
    Ok(View { show_expired, show_replaced, ..asked.view(fields.filter(dialect)?) })
}

/// Sees every memory of a scope, some at a time.
pub(super) async fn every(
    engine: &Engine,
    scope: &Scope,
    mut see: impl FnMut(&Memory),
) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page =
            Page { filter: Stored::default(), after, order: Order::NewestFirst, limit: READ };
        let read = engine.list(scope, &page).await?;
        read.iter().for_each(&mut see);
        after = read.last().map(|memory| memory.id);
        if read.len() < READ {
            return Ok(());
        }
    }
}

/// Look at one memory, for mem0's clients
#[utoipa::path(get, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "show", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory", body = Object)))]
pub(super) async fn show(asked: Asked, Named(name): Named) -> Answered<Value> {
    asked.check(Role::Read)?;
    let memory = asked.memory(&name).await?;
    Ok(Answer::ok(item(&memory, asked.home())))
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories/{id}", tag = "mem0", operation_id = "show_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory", body = Object)))]
pub(super) async fn show_open(asked: Asked, name: Named) -> Answered<Value> {
    show(asked, name).await
}

/// What happened to a memory, the oldest first, for mem0's clients
#[utoipa::path(get, path = "/v1/memories/{id}/history/", tag = "mem0", operation_id = "history", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A line for each change", body = Vec<Object>)))]
pub(super) async fn history(asked: Asked, Named(name): Named) -> Answered<Value> {
    asked.check(Role::Read)?;
    let id: MemoryId = name.parse().map_err(|_| not_found(&name))?;
    let query = JournalQuery { id: Some(id), ..JournalQuery::default() };
    let (_, mut lines) = asked.journal(&query).await?.ok_or_else(|| not_found(&name))?;
    lines.reverse();
    let lines: Vec<Value> = lines.iter().map(line).collect();
    Ok(Answer::ok(json!(lines)))
}

/// The same, by the path of the open-source server
#[utoipa::path(get, path = "/memories/{id}/history", tag = "mem0", operation_id = "history_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A line for each change", body = Vec<Object>)))]
pub(super) async fn history_open(asked: Asked, name: Named) -> Answered<Value> {
    history(asked, name).await
}

fn line(Entry { seq, at, op, id, before, after, actor, .. }: &Entry) -> Value {
    let text = |memory: &Option<Box<Memory>>| memory.as_ref().map(|memory| memory.content.clone());
    let event = match op {
        Op::Add => "ADD",
        Op::Update => "UPDATE",
        _ => "DELETE",
    };
    json!({
        "id": seq.to_string(),
        "memory_id": id,
        "old_memory": text(before),
        "new_memory": text(after),
        "event": event,
        "created_at": told(*at),
        "updated_at": told(*at),
        "is_deleted": event == "DELETE",
        "actor_id": actor,
        "role": after.as_ref().or(before.as_ref()).and_then(|memory| memory.source.role),
        "metadata": after.as_ref().map(|memory| without_made(&memory.metadata)),
    })
}
