//! Changing and removing: one memory, several, or all that someone has.

use axum::extract::RawQuery;
use everlore::{Memory, MemoryEdit, MemoryId, Scope};
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, Mem0Event},
    fields::RequestFields,
    filter::{FilterDialect, FilterField, Mem0Filter},
    memories,
    memory_json::{Mem0Metadata, merge_metadata, to_json},
};
use crate::{
    auth::KeyRole,
    body::{JsonBody, PathParam},
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most memories of a batch.
const MAX_BATCH: usize = 1_000;

/// Change a memory, for mem0's clients
#[utoipa::path(put, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "update", request_body(content = Object, example = json!({"text": "Lives in Porto now 住在波尔图", "metadata": {"team": "blue"}})), params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory after the change", body = Object)))]
pub(super) async fn update(
    asked: Mem0Access,
    PathParam(name): PathParam,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    asked.require_role(KeyRole::Write)?;
    let memory = asked.find_memory(&name).await?;
    let edit = parse_edit(&memory, RequestFields::from_body(body))?;
    let changed = asked.begin_event("update").engine.edit(&memory.scope, memory.id, &edit).await?;
    let mut item = to_json(&changed, asked.default_scope());
    item["message"] = "Memory updated successfully!".into();
    Ok(JsonResponse::ok(item))
}

/// The same, by the path of the open-source server
#[utoipa::path(put, path = "/memories/{id}", tag = "mem0", operation_id = "update_open", request_body(content = Object, example = json!({"text": "Lives in Porto now 住在波尔图", "metadata": {"team": "blue"}})), params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory after the change", body = Object)))]
pub(super) async fn update_open(
    asked: Mem0Access,
    name: PathParam,
    body: JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    update(asked, name, body).await
}

/// What a body changes of a memory.
fn parse_edit(memory: &Memory, mut fields: RequestFields) -> Result<MemoryEdit, Problem> {
    if fields.take("timestamp").is_some() {
        return Err(Problem::invalid(
            "the time of a memory cannot be changed",
            "delete it and add it anew with the timestamp",
        ));
    }
    let text = fields.text("text")?;
    let text = text.or(fields.text("data")?).or(fields.text("memory")?);
    let given = fields.object("metadata")?;
    let (expires, day) = (fields.has("expiration_date"), fields.date("expiration_date")?);
    fields.finish()?;
    if text.is_none() && given.is_none() && !expires {
        let detail = "give text, metadata or expiration_date";
        return Err(Problem::invalid("nothing is to be changed", detail));
    }
    let metadata = (given.is_some() || expires).then(|| {
        let mut metadata =
            given.map_or_else(|| memory.metadata.clone(), |given| merge_metadata(memory, &given));
        let marks = Mem0Metadata::from_memory(memory);
        let until = if expires { day } else { marks.expiration_date };
        Mem0Metadata { expiration_date: until, ..marks }.write_to(&mut metadata);
        metadata
    });
    Ok(MemoryEdit { content: text, metadata, ..MemoryEdit::default() })
}

/// Remove a memory, and the turns that only it was drawn from; both can be undone by the run of the journal
#[utoipa::path(delete, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "delete", params(
    ("id" = String, Path, description = "The memory"),
    ("delete_linked" = Option<bool>, Query, description = "Also those that it replaced"),
), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete(
    asked: Mem0Access,
    PathParam(name): PathParam,
    RawQuery(query): RawQuery,
) -> ApiResult<Value> {
    asked.require_role(KeyRole::Write)?;
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let linked = fields.flag("delete_linked")?.unwrap_or(false);
    fields.finish()?;
    let memory = asked.find_memory(&name).await?;
    let mut gone = vec![memory.id];
    if linked {
        gone.extend(superseded_memories(&asked, &memory).await?);
    }
    let event = asked.begin_event("delete");
    remove_memories(&event, &memory.scope, gone).await?;
    let told = json!({ "message": "Memory deleted successfully!", "event_id": event.id });
    Ok(JsonResponse::ok(told))
}

/// The same, by the path of the open-source server
#[utoipa::path(delete, path = "/memories/{id}", tag = "mem0", operation_id = "delete_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete_open(
    asked: Mem0Access,
    name: PathParam,
    query: RawQuery,
) -> ApiResult<Value> {
    delete(asked, name, query).await
}

/// Memories that this one replaced, and those that they replaced.
async fn superseded_memories(
    asked: &Mem0Access,
    memory: &Memory,
) -> Result<Vec<MemoryId>, Problem> {
    let mut replaced = Vec::new();
    memories::for_each_memory(&asked.engine(), &memory.scope, |older| {
        replaced.extend(older.superseded_by.map(|by| (by, older.id)));
    })
    .await?;
    let mut found = vec![memory.id];
    let mut next = 0;
    while next < found.len() {
        let newer = found[next];
        found.extend(replaced.iter().filter(|(by, _)| *by == newer).map(|(_, older)| *older));
        next += 1;
    }
    Ok(found.split_off(1))
}

/// Removes memories of a scope, and the turns that no other memory was extracted from: a search would find those instead.
async fn remove_memories(
    event: &Mem0Event,
    scope: &Scope,
    removed: Vec<MemoryId>,
) -> Result<(), Problem> {
    let engine = &event.engine;
    let memories = engine.get_many(scope, &removed).await?;
    let mut all: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    for turn in memories.iter().flat_map(|memory| memory.source.turns.iter().copied()) {
        let derived = engine.derived_memories(scope, turn).await?;
        if derived.iter().all(|id| removed.contains(id)) {
            all.push(turn);
        }
    }
    all.sort_unstable();
    all.dedup();
    let existing = engine.get_many(scope, &all).await?;
    let existing: Vec<MemoryId> = existing.iter().map(|memory| memory.id).collect();
    Ok(engine.delete_many(scope, &existing).await?)
}

/// Remove all memories that ids name, turns included; this can be undone by the run of the journal
#[utoipa::path(delete, path = "/v1/memories/", tag = "mem0", operation_id = "delete_all", params(
    ("user_id" = Option<String>, Query, description = "Of this user; * for every user that has a name"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("app_id" = Option<String>, Query, description = "Of this application"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete_all(asked: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    asked.require_role(KeyRole::Admin)?;
    let mut fields = RequestFields::from_query(query.as_deref())?;
    if fields.has("filters") || fields.has("metadata") {
        let detail = "give user_id, agent_id, app_id and run_id beside each other";
        return Err(Problem::invalid("this cannot be filtered so", detail));
    }
    let filter = fields.filter(FilterDialect::Hosted)?;
    fields.finish()?;
    let (event, count) = remove_all(&asked, &filter).await?;
    let message = format!("Memories deleted successfully! ({count})");
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

/// The same, by the path of the open-source server
#[utoipa::path(delete, path = "/memories", tag = "mem0", operation_id = "delete_all_open", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete_all_open(asked: Mem0Access, query: RawQuery) -> ApiResult<Value> {
    delete_all(asked, query).await
}

/// Removes whatever fits, in whichever status.
async fn remove_all(
    asked: &Mem0Access,
    filter: &Mem0Filter,
) -> Result<(Mem0Event, usize), Problem> {
    let (event, mut count) = (asked.begin_event("delete_all"), 0);
    for scope in asked.scopes_for(filter).await? {
        let mut ids = Vec::new();
        memories::for_each_memory(&event.engine, &scope, |memory| {
            if filter.matches(memory, asked.default_scope()) {
                ids.push(memory.id);
            }
        })
        .await?;
        count += ids.len();
        event.engine.delete_many(&scope, &ids).await?;
    }
    Ok((event, count))
}

/// Remove every memory that the caller may open; this can be undone by the run of the journal
#[utoipa::path(post, path = "/reset", tag = "mem0", operation_id = "reset", responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn reset(asked: Mem0Access) -> ApiResult<Value> {
    asked.require_role(KeyRole::Admin)?;
    let (event, _) = remove_all(&asked, &Mem0Filter::All(Vec::new())).await?;
    Ok(JsonResponse::ok(json!({ "message": "All memories reset", "event_id": event.id })))
}

/// Remove all that belongs to a user, an agent, an application or a conversation
#[utoipa::path(delete, path = "/v2/entities/{kind}/{id}/", tag = "mem0", operation_id = "delete_entity", params(
    ("kind" = String, Path, description = "user, agent, app or run"),
    ("id" = String, Path, description = "Its name"),
), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete_entity(asked: Mem0Access, path: super::PathPair) -> ApiResult<Value> {
    asked.require_role(KeyRole::Admin)?;
    let field = match path.0.as_str() {
        "user" => FilterField::User,
        "agent" => FilterField::Agent,
        "app" => FilterField::App,
        "run" => FilterField::Run,
        _ => {
            let detail = "use user, agent, app or run";
            return Err(Problem::invalid("there is no such kind of entity", detail));
        }
    };
    let (event, _) = remove_all(&asked, &Mem0Filter::equals(field, &path.1)).await?;
    Ok(JsonResponse::ok(json!({ "message": "Entity deleted successfully!", "event_id": event.id })))
}

/// Change several memories, after all of them were found
#[utoipa::path(put, path = "/v1/batch/", tag = "mem0", operation_id = "update_batch", request_body(content = Object, example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "text": "Lives in Porto"}]})), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn update_batch(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    asked.require_role(KeyRole::Write)?;
    let mut edits = Vec::new();
    for (memory, fields) in parse_batch(&asked, body).await? {
        let edit = parse_edit(&memory, fields)?;
        edits.push((memory, edit));
    }
    let event = asked.begin_event("batch update");
    for (memory, edit) in &edits {
        event.engine.edit(&memory.scope, memory.id, edit).await?;
    }
    let message = format!("Successfully updated {} memories", edits.len());
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

/// Remove several memories, after all of them were found
#[utoipa::path(delete, path = "/v1/batch/", tag = "mem0", operation_id = "delete_batch", request_body(content = Object, example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04"}]})), responses((status = 200, description = "A message and the event id", body = Object)))]
pub(super) async fn delete_batch(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    asked.require_role(KeyRole::Write)?;
    let mut found = Vec::new();
    for (memory, fields) in parse_batch(&asked, body).await? {
        fields.finish()?;
        found.push(memory);
    }
    let event = asked.begin_event("batch delete");
    for memory in &found {
        remove_memories(&event, &memory.scope, vec![memory.id]).await?;
    }
    let message = format!("Successfully deleted {} memories", found.len());
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

/// The memories of a batch, each with the other fields of its line.
async fn parse_batch(
    asked: &Mem0Access,
    body: Map<String, Value>,
) -> Result<Vec<(Memory, RequestFields)>, Problem> {
    let bad = || {
        Problem::invalid(
            "`memories` cannot be read",
            "send [{\"memory_id\": \"…\"}, …], up to 1000 of them",
        )
    };
    let mut fields = RequestFields::from_body(body);
    let Some(Value::Array(lines)) = fields.take("memories") else { return Err(bad()) };
    fields.finish()?;
    if lines.is_empty() || lines.len() > MAX_BATCH {
        return Err(bad());
    }
    let mut found = Vec::new();
    for line in lines {
        let Value::Object(line) = line else { return Err(bad()) };
        let mut fields = RequestFields::from_body(line);
        let name = fields.text("memory_id")?.ok_or_else(bad)?;
        found.push((asked.find_memory(&name).await?, fields));
    }
    Ok(found)
}

/// Keep what a user thinks of a memory, with the memory
#[utoipa::path(post, path = "/v1/feedback/", tag = "mem0", operation_id = "feedback", request_body(content = Object, example = json!({"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "feedback": "POSITIVE", "feedback_reason": "still true"})), responses((status = 200, description = "What is kept now", body = Object)))]
pub(super) async fn feedback(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    asked.require_role(KeyRole::Write)?;
    let mut fields = RequestFields::from_body(body);
    let name = fields
        .text("memory_id")?
        .ok_or_else(|| Problem::invalid("`memory_id` is missing", "say which memory is meant"))?;
    let (feedback, reason) = (fields.text("feedback")?, fields.text("feedback_reason")?);
    fields.finish()?;
    let known = ["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"];
    if feedback.as_ref().is_some_and(|feedback| !known.contains(&feedback.as_str())) {
        let detail = "use POSITIVE, NEGATIVE or VERY_NEGATIVE, or nothing to take it back";
        return Err(Problem::invalid("there is no such feedback", detail));
    }
    let memory = asked.find_memory(&name).await?;
    let mut metadata = memory.metadata.clone();
    let marks =
        Mem0Metadata { feedback, feedback_reason: reason, ..Mem0Metadata::from_memory(&memory) };
    marks.write_to(&mut metadata);
    let edit = MemoryEdit { metadata: Some(metadata), ..MemoryEdit::default() };
    asked.begin_event("feedback").engine.edit(&memory.scope, memory.id, &edit).await?;
    Ok(JsonResponse::ok(json!({
        "id": memory.id,
        "feedback": marks.feedback,
        "feedback_reason": marks.feedback_reason,
    })))
}
