//! Ping, entities and events, and routes of the hosted service that are not supported.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use everlore::{
    Kind, Scope,
    store::JournalQuery,
    types::{ChangeOp, JournalEntry, Timestamp},
};
use serde_json::{Value, json};

use super::{
    access::{Mem0Access, event_run},
    add::result_json,
    memory_json::format_time,
};
use crate::{ApiResult, JsonResponse, KeyRole, PathParam, Problem};

/// Journal entries per scope from which events are listed.
const MAX_JOURNAL_LINES: usize = 1_000;

/// Check a key
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/ping/", tag = "mem0", operation_id = "ping",
    responses((status = 200, description = "The key is valid; a home is one organisation and project", body = Object)),
))]
pub(super) async fn ping(access: Mem0Access) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    Ok(JsonResponse::ok(
        json!({ "status": "ok", "org_id": "everlore", "project_id": "everlore", "user_email": null }),
    ))
}

/// List the users and agents that have memories
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/entities/", tag = "mem0", operation_id = "entities",
    responses((status = 200, description = "Name, type and number of memories of each entity", body = Object)),
))]
pub(super) async fn entities(access: Mem0Access) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let (default_scope, mut entities) =
        (access.default_scope(), BTreeMap::<(&str, String), usize>::new());
    for scope in access.open_scopes().await? {
        let counts = access.engine().count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        for entity in entities_of(&scope, default_scope).filter(|_| memories > 0) {
            *entities.entry(entity).or_default() += memories;
        }
    }
    let results: Vec<Value> = entities
        .iter()
        .map(|((kind, name), memories)| {
            json!({ "id": name, "name": name, "type": kind, "total_memories": memories })
        })
        .collect();
    Ok(JsonResponse::ok(
        json!({ "count": results.len(), "next": null, "previous": null, "results": results }),
    ))
}

/// Returns the entities of a scope; one with default names only is listed by its user.
fn entities_of(
    scope: &Scope,
    default_scope: &Scope,
) -> impl Iterator<Item = (&'static str, String)> {
    let user = (scope.user() != default_scope.user() || scope.agent() == default_scope.agent())
        .then(|| ("user", scope.user().to_owned()));
    let agent =
        (scope.agent() != default_scope.agent()).then(|| ("agent", scope.agent().to_owned()));
    user.into_iter().chain(agent)
}

/// Show an event
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/event/{id}/", tag = "mem0", operation_id = "event",
    params(("id" = String, Path, description = "Id of the event, from the response to a change")),
    responses((status = 200, description = "The event, with what was stored", body = Object)),
))]
pub(super) async fn event(access: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let query = JournalQuery { run: Some(event_run(&name)), ..JournalQuery::default() };
    let Some((scope, entries)) = access.journal(&query).await? else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "unknown event",
            "take the id from the response to a change",
        ));
    };
    let mut event = event_json(&name, &entries);
    event["results"] = json!(event_results(&access, &scope, &entries).await?);
    Ok(JsonResponse::ok(event))
}

/// Returns the memories extracted from the turns of an event, or the memories that it stored itself.
async fn event_results(
    access: &Mem0Access,
    scope: &Scope,
    entries: &[JournalEntry],
) -> Result<Vec<Value>, Problem> {
    let (engine, mut results) = (access.engine(), Vec::new());
    for entry in entries.iter().rev() {
        let Some(memory) = entry.after.as_ref().or(entry.before.as_ref()) else { continue };
        let derived = match (memory.kind, entry.op) {
            (Kind::Turn, ChangeOp::Add) => engine.derived_memories(scope, entry.id).await?,
            _ => Vec::new(),
        };
        for derived in engine.get_many(scope, &derived).await? {
            results.push(result_json(derived.id, &derived.content, "ADD"));
        }
        if derived.is_empty() {
            results.push(result_json(entry.id, &memory.content, event_name(entry.op)));
        }
    }
    Ok(results)
}

pub(super) fn event_name(op: ChangeOp) -> &'static str {
    match op {
        ChangeOp::Add => "ADD",
        ChangeOp::Update => "UPDATE",
        _ => "DELETE",
    }
}

fn event_json(event: &str, entries: &[JournalEntry]) -> Value {
    let at: Option<Timestamp> = entries.iter().map(|entry| entry.at).min();
    json!({
        "id": event,
        "event_type": entries.last().map(|entry| event_name(entry.op)),
        "status": "SUCCEEDED",
        "created_at": at.map(format_time),
        "updated_at": entries.iter().map(|entry| entry.at).max().map(format_time),
    })
}

/// List the latest events, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/events/", tag = "mem0", operation_id = "events",
    responses((status = 200, description = "Events of the latest changes", body = Object)),
))]
pub(super) async fn events(access: Mem0Access) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let mut runs = BTreeMap::<String, Vec<JournalEntry>>::new();
    for scope in access.open_scopes().await? {
        let query = JournalQuery { limit: Some(MAX_JOURNAL_LINES), ..JournalQuery::default() };
        for entry in access.engine().history(&scope, &query).await? {
            let event = entry.run.as_deref().and_then(|run| run.strip_prefix("mem0-"));
            if let Some(event) = event.map(str::to_owned) {
                runs.entry(event).or_default().push(entry);
            }
        }
    }
    // Event ids sort by time.
    let results: Vec<Value> =
        runs.iter().rev().map(|(event, entries)| event_json(event, entries)).collect();
    Ok(JsonResponse::ok(
        json!({ "count": results.len(), "next": null, "previous": null, "results": results }),
    ))
}

/// Export with a custom schema: hosted service only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/exports/", tag = "mem0", operation_id = "make_export",
    responses((status = 422, description = "Not supported; the detail names an alternative", body = super::api_doc::Mem0Detail)),
))]
pub(super) async fn make_export(access: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &access,
        "exports with a custom schema",
        "GET /v1/export streams every memory as JSON Lines",
    )
}

/// Summarize memories: hosted service only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/summary/", tag = "mem0", operation_id = "summary",
    responses((status = 422, description = "Not supported; the detail names an alternative", body = super::api_doc::Mem0Detail)),
))]
pub(super) async fn summarize(access: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &access,
        "summaries of filtered memories",
        "POST /v1/context builds the memory block of a prompt",
    )
}

/// Show a user profile: hosted service only
#[cfg_attr(test, utoipa::path(
    get, path = "/v2/entities/user/{id}/profile/", tag = "mem0", operation_id = "profile",
    params(("id" = String, Path, description = "The user")),
    responses((status = 422, description = "Not supported; the detail names an alternative", body = super::api_doc::Mem0Detail)),
))]
pub(super) async fn profile(access: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &access,
        "profiles with a custom schema",
        "GET /v1/layers/user is the profile of a user",
    )
}

fn unsupported(access: &Mem0Access, feature: &str, alternative: &str) -> ApiResult<Value> {
    access.require_role(KeyRole::Read)?;
    let title = format!("{feature} are not supported");
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_done", title, alternative))
}
