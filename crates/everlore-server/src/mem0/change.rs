//! Changing and removing: one memory, several, or all that someone has.

use axum::extract::RawQuery;
use everlore::{
    Edit, Memory, MemoryId, Scope,
    types::{Change, Write},
};
use serde_json::{Map, Value, json};

use super::{
    asked::{Asked, Event},
    fields::Fields,
    filter::{Dialect, Field, Filter},
    item::{Marks, item, renewed},
    look,
};
use crate::{
    answer::{Answer, Answered},
    auth::Role,
    body::{Json, Named},
    problem::Problem,
};

/// The most memories of a batch.
const MAX_BATCH: usize = 1_000;

/// Changes of one write: more would hold others up.
const AT_ONCE: usize = 1_000;

/// Change a memory, for mem0's clients
#[utoipa::path(put, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "update", request_body(content = Object, example = json!({"text": "Lives in Porto now 住在波尔图", "metadata": {"team": "blue"}})), params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = Object)))]
pub(super) async fn update(
    asked: Asked,
    Named(name): Named,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    asked.check(Role::Write)?;
    let memory = asked.memory(&name).await?;
    let edit = edit(&memory, Fields::of(body))?;
    let changed = asked.event("update").engine.edit(&memory.scope, memory.id, &edit).await?;
    let mut item = item(&changed, asked.home());
    item["message"] = "Memory updated successfully!".into();
    Ok(Answer::ok(item))
}

/// The same, by the path of the open-source server
#[utoipa::path(put, path = "/memories/{id}", tag = "mem0", operation_id = "update_open", request_body(content = Object, example = json!({"text": "Lives in Porto now 住在波尔图", "metadata": {"team": "blue"}})), params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "The memory as it is now", body = Object)))]
pub(super) async fn update_open(
    asked: Asked,
    name: Named,
    body: Json<Map<String, Value>>,
) -> Answered<Value> {
    update(asked, name, body).await
}

/// What a body changes of a memory.
fn edit(memory: &Memory, mut fields: Fields) -> Result<Edit, Problem> {
    if fields.take("timestamp").is_some() {
        return Err(Problem::invalid(
            "the time of a memory cannot be changed",
            "delete it and add it anew with the timestamp",
        ));
    }
    let text = fields.text("text")?;
    let text = text.or(fields.text("data")?).or(fields.text("memory")?);
    let given = fields.object("metadata")?;
    let (expires, day) = (fields.has("expiration_date"), fields.day("expiration_date")?);
    fields.end()?;
    if text.is_none() && given.is_none() && !expires {
        let detail = "give text, metadata or expiration_date";
        return Err(Problem::invalid("nothing is to be changed", detail));
    }
    let metadata = (given.is_some() || expires).then(|| {
        let mut metadata =
            given.map_or_else(|| memory.metadata.clone(), |given| renewed(memory, &given));
        let marks = Marks::of(memory);
        let until = if expires { day } else { marks.expiration_date };
        Marks { expiration_date: until, ..marks }.put(&mut metadata);
        metadata
    });
    Ok(Edit { content: text, metadata, ..Edit::default() })
}

/// Remove a memory, and the turns that only it was drawn from; both can be undone by the run of the journal
#[utoipa::path(delete, path = "/v1/memories/{id}/", tag = "mem0", operation_id = "delete", params(
    ("id" = String, Path, description = "The memory"),
    ("delete_linked" = Option<bool>, Query, description = "Also those that it replaced"),
), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete(
    asked: Asked,
    Named(name): Named,
    RawQuery(query): RawQuery,
) -> Answered<Value> {
    asked.check(Role::Write)?;
    let mut fields = Fields::of_query(query.as_deref())?;
    let linked = fields.flag("delete_linked")?.unwrap_or(false);
    fields.end()?;
    let memory = asked.memory(&name).await?;
    let mut gone = vec![memory.id];
    if linked {
        gone.extend(replaced_by(&asked, &memory).await?);
    }
    let event = asked.event("delete");
    remove(&event, &memory.scope, gone).await?;
    let told = json!({ "message": "Memory deleted successfully!", "event_id": event.id });
    Ok(Answer::ok(told))
}

/// The same, by the path of the open-source server
#[utoipa::path(delete, path = "/memories/{id}", tag = "mem0", operation_id = "delete_open", params(("id" = String, Path, description = "The memory")), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete_open(asked: Asked, name: Named, query: RawQuery) -> Answered<Value> {
    delete(asked, name, query).await
}

/// Memories that this one replaced, and those that they replaced.
async fn replaced_by(asked: &Asked, memory: &Memory) -> Result<Vec<MemoryId>, Problem> {
    let mut replaced = Vec::new();
    look::every(&asked.engine(), &memory.scope, |older| {
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

/// Removes memories of a scope, and turns from which nothing else was drawn: else they would be found in their place.
async fn remove(event: &Event, scope: &Scope, gone: Vec<MemoryId>) -> Result<(), Problem> {
    let store = event.engine.store();
    let memories: Vec<Memory> = store.get(scope, &gone).await?.into_iter().flatten().collect();
    let mut all: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    for turn in memories.iter().flat_map(|memory| memory.source.turns.iter().copied()) {
        let drawn = event.engine.drawn_from(scope, turn).await?;
        if drawn.iter().all(|id| gone.contains(id)) {
            all.push(turn);
        }
    }
    all.sort_unstable();
    all.dedup();
    let is_there: Vec<MemoryId> =
        store.get(scope, &all).await?.into_iter().flatten().map(|memory| memory.id).collect();
    apply(event, scope, &is_there).await?;
    Ok(())
}

async fn apply(event: &Event, scope: &Scope, ids: &[MemoryId]) -> Result<(), Problem> {
    for part in ids.chunks(AT_ONCE) {
        let changes = part.iter().copied().map(Change::Delete).collect();
        let (author, at) = (&event.author, event.engine.now().timestamp());
        let write = Write::new(scope, author.actor, author.cause_of("delete"), at, changes);
        event.engine.store().apply(Write { run: author.run.clone(), ..write }).await?;
    }
    Ok(())
}

/// Remove all memories that ids name, turns included; this can be undone by the run of the journal
#[utoipa::path(delete, path = "/v1/memories/", tag = "mem0", operation_id = "delete_all", params(
    ("user_id" = Option<String>, Query, description = "Of this user; * for every user that has a name"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("app_id" = Option<String>, Query, description = "Of this application"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete_all(asked: Asked, RawQuery(query): RawQuery) -> Answered<Value> {
    asked.check(Role::Admin)?;
    let mut fields = Fields::of_query(query.as_deref())?;
    if fields.has("filters") || fields.has("metadata") {
        let detail = "give user_id, agent_id, app_id and run_id beside each other";
        return Err(Problem::invalid("this cannot be filtered so", detail));
    }
    let filter = fields.filter(Dialect::Hosted)?;
    fields.end()?;
    let (event, count) = remove_all(&asked, &filter).await?;
    let message = format!("Memories deleted successfully! ({count})");
    Ok(Answer::ok(json!({ "message": message, "event_id": event.id })))
}

/// The same, by the path of the open-source server
#[utoipa::path(delete, path = "/memories", tag = "mem0", operation_id = "delete_all_open", params(
    ("user_id" = Option<String>, Query, description = "Of this user"),
    ("agent_id" = Option<String>, Query, description = "Of this agent"),
    ("run_id" = Option<String>, Query, description = "Of this conversation"),
), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete_all_open(asked: Asked, query: RawQuery) -> Answered<Value> {
    delete_all(asked, query).await
}

/// Removes whatever fits, in whichever status.
async fn remove_all(asked: &Asked, filter: &Filter) -> Result<(Event, usize), Problem> {
    let (event, mut count) = (asked.event("delete_all"), 0);
    for scope in asked.meant(filter).await? {
        let mut ids = Vec::new();
        look::every(&event.engine, &scope, |memory| {
            if filter.matches(memory, asked.home()) {
                ids.push(memory.id);
            }
        })
        .await?;
        count += ids.len();
        apply(&event, &scope, &ids).await?;
    }
    Ok((event, count))
}

/// Remove every memory that the caller may open; this can be undone by the run of the journal
#[utoipa::path(post, path = "/reset", tag = "mem0", operation_id = "reset", responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn reset(asked: Asked) -> Answered<Value> {
    asked.check(Role::Admin)?;
    let (event, _) = remove_all(&asked, &Filter::All(Vec::new())).await?;
    Ok(Answer::ok(json!({ "message": "All memories reset", "event_id": event.id })))
}

/// Remove all that belongs to a user, an agent, an application or a conversation
#[utoipa::path(delete, path = "/v2/entities/{kind}/{id}/", tag = "mem0", operation_id = "delete_entity", params(
    ("kind" = String, Path, description = "user, agent, app or run"),
    ("id" = String, Path, description = "Its name"),
), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete_entity(asked: Asked, path: super::Pair) -> Answered<Value> {
    asked.check(Role::Admin)?;
    let field = match path.0.as_str() {
        "user" => Field::User,
        "agent" => Field::Agent,
        "app" => Field::App,
        "run" => Field::Run,
        _ => {
            let detail = "use user, agent, app or run";
            return Err(Problem::invalid("there is no such kind of entity", detail));
        }
    };
    let (event, _) = remove_all(&asked, &Filter::equals(field, &path.1)).await?;
    Ok(Answer::ok(json!({ "message": "Entity deleted successfully!", "event_id": event.id })))
}

/// Change several memories, after all of them were found
#[utoipa::path(put, path = "/v1/batch/", tag = "mem0", operation_id = "update_batch", request_body(content = Object, example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "text": "Lives in Porto"}]})), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn update_batch(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    asked.check(Role::Write)?;
    let mut edits = Vec::new();
    for (memory, fields) in batch(&asked, body).await? {
        let edit = edit(&memory, fields)?;
        edits.push((memory, edit));
    }
    let event = asked.event("batch update");
    for (memory, edit) in &edits {
        event.engine.edit(&memory.scope, memory.id, edit).await?;
    }
    let message = format!("Successfully updated {} memories", edits.len());
    Ok(Answer::ok(json!({ "message": message, "event_id": event.id })))
}

/// Remove several memories, after all of them were found
#[utoipa::path(delete, path = "/v1/batch/", tag = "mem0", operation_id = "delete_batch", request_body(content = Object, example = json!({"memories": [{"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04"}]})), responses((status = 200, description = "A message, and the event", body = Object)))]
pub(super) async fn delete_batch(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    asked.check(Role::Write)?;
    let mut found = Vec::new();
    for (memory, fields) in batch(&asked, body).await? {
        fields.end()?;
        found.push(memory);
    }
    let event = asked.event("batch delete");
    for memory in &found {
        remove(&event, &memory.scope, vec![memory.id]).await?;
    }
    let message = format!("Successfully deleted {} memories", found.len());
    Ok(Answer::ok(json!({ "message": message, "event_id": event.id })))
}

/// The memories of a batch, each with the other fields of its line.
async fn batch(asked: &Asked, body: Map<String, Value>) -> Result<Vec<(Memory, Fields)>, Problem> {
    let bad = || {
        Problem::invalid(
            "`memories` cannot be read",
            "send [{\"memory_id\": \"…\"}, …], up to 1000 of them",
        )
    };
    let mut fields = Fields::of(body);
    let Some(Value::Array(lines)) = fields.take("memories") else { return Err(bad()) };
    fields.end()?;
    if lines.is_empty() || lines.len() > MAX_BATCH {
        return Err(bad());
    }
    let mut found = Vec::new();
    for line in lines {
        let Value::Object(line) = line else { return Err(bad()) };
        let mut fields = Fields::of(line);
        let name = fields.text("memory_id")?.ok_or_else(bad)?;
        found.push((asked.memory(&name).await?, fields));
    }
    Ok(found)
}

/// Keep what a user thinks of a memory, with the memory
#[utoipa::path(post, path = "/v1/feedback/", tag = "mem0", operation_id = "feedback", request_body(content = Object, example = json!({"memory_id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "feedback": "POSITIVE", "feedback_reason": "still true"})), responses((status = 200, description = "What is kept now", body = Object)))]
pub(super) async fn feedback(
    asked: Asked,
    Json(body, _): Json<Map<String, Value>>,
) -> Answered<Value> {
    asked.check(Role::Write)?;
    let mut fields = Fields::of(body);
    let name = fields
        .text("memory_id")?
        .ok_or_else(|| Problem::invalid("`memory_id` is missing", "say which memory is meant"))?;
    let (feedback, reason) = (fields.text("feedback")?, fields.text("feedback_reason")?);
    fields.end()?;
    let known = ["POSITIVE", "NEGATIVE", "VERY_NEGATIVE"];
    if feedback.as_ref().is_some_and(|feedback| !known.contains(&feedback.as_str())) {
        let detail = "use POSITIVE, NEGATIVE or VERY_NEGATIVE, or nothing to take it back";
        return Err(Problem::invalid("there is no such feedback", detail));
    }
    let memory = asked.memory(&name).await?;
    let mut metadata = memory.metadata.clone();
    let marks = Marks { feedback, feedback_reason: reason, ..Marks::of(&memory) };
    marks.put(&mut metadata);
    let edit = Edit { metadata: Some(metadata), ..Edit::default() };
    asked.event("feedback").engine.edit(&memory.scope, memory.id, &edit).await?;
    Ok(Answer::ok(json!({
        "id": memory.id,
        "feedback": marks.feedback,
        "feedback_reason": marks.feedback_reason,
    })))
}
