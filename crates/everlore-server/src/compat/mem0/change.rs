//! Updating and deleting: one memory, several, or all of an entity.

use std::collections::HashMap;

use axum::extract::RawQuery;
use everlore::{Memory, MemoryEdit, MemoryId, Scope};
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, Mem0Event, event_run},
    fields::RequestFields,
    filter::{FilterDialect, FilterField, Mem0Filter},
    memories,
    memory_json::{Mem0Metadata, merge_metadata, to_json},
};
use crate::{ApiResult, JsonBody, JsonResponse, KeyRole, PathParam, Problem};

/// Largest batch.
const MAX_BATCH: usize = 1_000;

/// Update a memory, for mem0's clients
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "update",
    request_body(content = Object, example = json!({"text": "Lives in Porto now 住在波尔图", "metadata": {"team": "blue"}})),
    params(("id" = String, Path, description = "The memory")),
    responses((status = 200, description = "The memory after the change", body = Object)),
))]
pub(super) async fn update(
    access: Mem0Access,
    PathParam(name): PathParam,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    access.require_role(KeyRole::Write)?;
    let memory = access.find_memory(&name).await?;
    let edit = parse_edit(&memory, RequestFields::from_body(body))?;
    let changed = access.begin_event("update").engine.edit(&memory.scope, memory.id, &edit).await?;
    let mut item = to_json(&changed, access.default_scope());
    item["message"] = "Memory updated successfully!".into();
    Ok(JsonResponse::ok(item))
}

/// Parses the changes of a memory.
fn parse_edit(memory: &Memory, mut fields: RequestFields) -> Result<MemoryEdit, Problem> {
    if fields.take("timestamp").is_some() {
        return Err(Problem::invalid(
            "the timestamp of a memory cannot be changed",
            "delete the memory and add it again with the timestamp",
        ));
    }
    let text = fields.text("text")?;
    let text = text.or(fields.text("data")?).or(fields.text("memory")?);
    let given = fields.object("metadata")?;
    let (expires, day) = (fields.has("expiration_date"), fields.date("expiration_date")?);
    fields.finish()?;
    if text.is_none() && given.is_none() && !expires {
        let detail = "give text, metadata or expiration_date";
        return Err(Problem::invalid("nothing to change", detail));
    }
    let metadata = (given.is_some() || expires).then(|| {
        let mut metadata =
            given.map_or_else(|| memory.metadata.clone(), |given| merge_metadata(memory, &given));
        let mem0_metadata = Mem0Metadata::from_memory(memory);
        let until = if expires { day } else { mem0_metadata.expiration_date };
        Mem0Metadata { expiration_date: until, ..mem0_metadata }.write_to(&mut metadata);
        metadata
    });
    Ok(MemoryEdit { content: text, metadata, ..MemoryEdit::default() })
}

/// Delete a memory, and the turns that only it was extracted from; both can be undone by the event's run
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "delete",
    params(
        ("id" = String, Path, description = "The memory"),
        ("delete_linked" = Option<bool>, Query, description = "Also delete the memories that it replaced"),
        ("forget" = Option<bool>, Query, description = "Erase for good and answer with a receipt; needs the role admin"),
    ),
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn delete(
    access: Mem0Access,
    PathParam(name): PathParam,
    RawQuery(query): RawQuery,
) -> ApiResult<Value> {
    access.require_role(KeyRole::Write)?;
    let mut fields = RequestFields::from_query(query.as_deref())?;
    let with_superseded = fields.flag("delete_linked")?.unwrap_or(false);
    let forget = fields.flag("forget")?.unwrap_or(false);
    fields.finish()?;
    if forget {
        access.require_role(KeyRole::Admin)?;
    }
    let memory = access.find_memory(&name).await?;
    let mut ids = vec![memory.id];
    if with_superseded {
        ids.extend(superseded_memories(&access, &memory).await?);
    }
    let event = access.begin_event("delete");
    event.engine.delete_many(&memory.scope, &ids).await?;
    let mut response = json!({ "message": "Memory deleted successfully!", "event_id": event.id });
    if forget {
        let receipt = event.engine.forget_runs(&memory.scope, &[event_run(&event.id)]).await?;
        response["receipt"] = json!(receipt);
    }
    Ok(JsonResponse::ok(response))
}

/// Returns the memories that this one replaced, directly or through others.
async fn superseded_memories(
    access: &Mem0Access,
    memory: &Memory,
) -> Result<Vec<MemoryId>, Problem> {
    let mut replaced = Vec::new();
    memories::for_each_memory(&access.engine(), &memory.scope, |older| {
        replaced.extend(older.superseded_by.map(|by| (by, older.id)));
    })
    .await?;
    let mut chain = vec![memory.id];
    let mut next = 0;
    while next < chain.len() {
        let newer = chain[next];
        chain.extend(replaced.iter().filter(|(by, _)| *by == newer).map(|(_, older)| *older));
        next += 1;
    }
    Ok(chain.split_off(1))
}

/// Delete all memories of some ids, turns included; this can be undone by the event's run
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/memories/", tag = "mem0", operation_id = "delete_all",
    params(
        ("user_id" = Option<String>, Query, description = "Of this user; * for every named user"),
        ("agent_id" = Option<String>, Query, description = "Of this agent"),
        ("app_id" = Option<String>, Query, description = "Of this application"),
        ("run_id" = Option<String>, Query, description = "Of this session"),
    ),
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn delete_all(access: Mem0Access, RawQuery(query): RawQuery) -> ApiResult<Value> {
    access.require_role(KeyRole::Admin)?;
    let mut fields = RequestFields::from_query(query.as_deref())?;
    if fields.has("filters") || fields.has("metadata") {
        let detail = "give user_id, agent_id, app_id and run_id as parameters";
        return Err(Problem::invalid("this route takes no filters", detail));
    }
    let filter = fields.filter(FilterDialect::Hosted)?;
    fields.finish()?;
    let (event, count) = remove_all(&access, &filter).await?;
    let message = format!("Memories deleted successfully! ({count})");
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

/// Deletes every memory that matches, whatever its status.
async fn remove_all(
    access: &Mem0Access,
    filter: &Mem0Filter,
) -> Result<(Mem0Event, usize), Problem> {
    let (event, mut count) = (access.begin_event("delete_all"), 0);
    for scope in access.scopes_for(filter).await? {
        let mut ids = Vec::new();
        memories::for_each_memory(&event.engine, &scope, |memory| {
            if filter.matches(memory, access.default_scope()) {
                ids.push(memory.id);
            }
        })
        .await?;
        count += ids.len();
        event.engine.delete_many(&scope, &ids).await?;
    }
    Ok((event, count))
}

/// Delete every memory of the caller's scopes; this can be undone by the event's run
#[cfg_attr(test, utoipa::path(
    post, path = "/reset", tag = "mem0", operation_id = "reset",
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn reset(access: Mem0Access) -> ApiResult<Value> {
    access.require_role(KeyRole::Admin)?;
    let (event, _) = remove_all(&access, &Mem0Filter::All(Vec::new())).await?;
    Ok(JsonResponse::ok(json!({ "message": "All memories reset", "event_id": event.id })))
}

/// Delete all memories of a user, an agent, an application or a session
#[cfg_attr(test, utoipa::path(
    delete, path = "/v2/entities/{kind}/{id}/", tag = "mem0", operation_id = "delete_entity",
    params(
        ("kind" = String, Path, description = "user, agent, app or run"),
        ("id" = String, Path, description = "Its name"),
    ),
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn delete_entity(access: Mem0Access, entity: super::PathPair) -> ApiResult<Value> {
    access.require_role(KeyRole::Admin)?;
    let field = match entity.0.as_str() {
        "user" => FilterField::User,
        "agent" => FilterField::Agent,
        "app" => FilterField::App,
        "run" => FilterField::Run,
        _ => {
            let detail = "use user, agent, app or run";
            return Err(Problem::invalid("unknown kind of entity", detail));
        }
    };
    let (event, _) = remove_all(&access, &Mem0Filter::equals(field, &entity.1)).await?;
    Ok(JsonResponse::ok(json!({ "message": "Entity deleted successfully!", "event_id": event.id })))
}

/// Update several memories, once all of them are found
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/batch/", tag = "mem0", operation_id = "update_batch",
    request_body(
        content = Object,
        example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "text": "Lives in Porto"}]}),
    ),
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn update_batch(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    access.require_role(KeyRole::Write)?;
    let mut edits = Vec::new();
    for (memory, fields) in parse_batch(&access, body).await? {
        let edit = parse_edit(&memory, fields)?;
        edits.push((memory, edit));
    }
    let event = access.begin_event("batch update");
    for (memory, edit) in &edits {
        event.engine.edit(&memory.scope, memory.id, edit).await?;
    }
    let message = format!("Successfully updated {} memories", edits.len());
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

/// Delete several memories, once all of them are found
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/batch/", tag = "mem0", operation_id = "delete_batch",
    request_body(
        content = Object, example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04"}]}),
    ),
    responses((status = 200, description = "A message and the event id", body = Object)),
))]
pub(super) async fn delete_batch(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    access.require_role(KeyRole::Write)?;
    let mut memories = Vec::new();
    for (memory, fields) in parse_batch(&access, body).await? {
        fields.finish()?;
        memories.push(memory);
    }
    let event = access.begin_event("batch delete");
    for (scope, ids) in ids_by_scope(&memories) {
        event.engine.delete_many(&scope, &ids).await?;
    }
    let message = format!("Successfully deleted {} memories", memories.len());
    Ok(JsonResponse::ok(json!({ "message": message, "event_id": event.id })))
}

fn ids_by_scope(memories: &[Memory]) -> HashMap<Scope, Vec<MemoryId>> {
    let mut ids: HashMap<Scope, Vec<MemoryId>> = HashMap::new();
    for memory in memories {
        ids.entry(memory.scope.clone()).or_default().push(memory.id);
    }
    ids
}

/// Parses a batch: each memory with the other fields of its entry.
async fn parse_batch(
    access: &Mem0Access,
    body: Map<String, Value>,
) -> Result<Vec<(Memory, RequestFields)>, Problem> {
    let invalid = || {
        Problem::invalid(
            "`memories` cannot be read",
            "send [{\"memory_id\": \"…\"}, …], up to 1000 of them",
        )
    };
    let mut fields = RequestFields::from_body(body);
    let Some(Value::Array(entries)) = fields.take("memories") else { return Err(invalid()) };
    fields.finish()?;
    if entries.is_empty() || entries.len() > MAX_BATCH {
        return Err(invalid());
    }
    let mut batch = Vec::new();
    for entry in entries {
        let Value::Object(entry) = entry else { return Err(invalid()) };
        let mut fields = RequestFields::from_body(entry);
        let name = fields.text("memory_id")?.ok_or_else(invalid)?;
        batch.push((access.find_memory(&name).await?, fields));
    }
    Ok(batch)
}

/// Store a user's feedback with a memory
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/feedback/", tag = "mem0", operation_id = "feedback",
    request_body(
        content = Object,
        example = json!({"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "feedback": "POSITIVE", "feedback_reason": "still true"}),
    ),
    responses((status = 200, description = "The feedback that is stored now", body = Object)),
))]
pub(super) async fn feedback(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    access.require_role(KeyRole::Write)?;
    let mut fields = RequestFields::from_body(body);
    let name = fields
        .text("memory_id")?
        .ok_or_else(|| Problem::invalid("`memory_id` is missing", "name the memory"))?;
    let (feedback, reason) = (fields.text("feedback")?, fields.text("feedback_reason")?);
    fields.finish()?;
    let known = ["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"];
    if feedback.as_ref().is_some_and(|feedback| !known.contains(&feedback.as_str())) {
        let detail = "use POSITIVE, NEGATIVE or VERY_NEGATIVE, or null to withdraw it";
        return Err(Problem::invalid("unknown feedback", detail));
    }
    let memory = access.find_memory(&name).await?;
    let mut metadata = memory.metadata.clone();
    let mem0_metadata =
        Mem0Metadata { feedback, feedback_reason: reason, ..Mem0Metadata::from_memory(&memory) };
    mem0_metadata.write_to(&mut metadata);
    let edit = MemoryEdit { metadata: Some(metadata), ..MemoryEdit::default() };
    access.begin_event("feedback").engine.edit(&memory.scope, memory.id, &edit).await?;
    Ok(JsonResponse::ok(json!({
        "id": memory.id,
        "feedback": mem0_metadata.feedback,
        "feedback_reason": mem0_metadata.feedback_reason,
    })))
}
