//! What there is: whether a key is known, for whom memories exist, what became of an event; and what is not done here.

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
use crate::{
    auth::KeyRole,
    body::PathParam,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// Lines of each journal that events are told from.
const MAX_JOURNAL_LINES: usize = 1_000;

/// Whether the key is known
#[utoipa::path(get, path = "/v1/ping/", tag = "mem0", operation_id = "ping", responses((status = 200, description = "It is; one home is one organisation and project", body = Object)))]
pub(super) async fn ping(asked: Mem0Access) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    Ok(JsonResponse::ok(
        json!({ "status": "ok", "org_id": "everlore", "project_id": "everlore", "user_email": null }),
    ))
}

/// Users and agents that have memories
#[utoipa::path(get, path = "/v1/entities/", tag = "mem0", operation_id = "entities", responses((status = 200, description = "Name, type and number of memories of each", body = Object)))]
pub(super) async fn entities(asked: Mem0Access) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let (home, mut found) = (asked.default_scope(), BTreeMap::<(&str, String), usize>::new());
    for scope in asked.open_scopes().await? {
        let counts = asked.engine().count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        for entity in entities_of(&scope, home).filter(|_| memories > 0) {
            *found.entry(entity).or_default() += memories;
        }
    }
    let results: Vec<Value> = found
        .iter()
        .map(|((kind, name), memories)| {
            json!({ "id": name, "name": name, "type": kind, "total_memories": memories })
        })
        .collect();
    Ok(JsonResponse::ok(
        json!({ "count": results.len(), "next": null, "previous": null, "results": results }),
    ))
}

/// Whom a scope is about; one without any given name is told by the name of its user.
fn entities_of(scope: &Scope, home: &Scope) -> impl Iterator<Item = (&'static str, String)> {
    let user = (scope.user() != home.user() || scope.agent() == home.agent())
        .then(|| ("user", scope.user().to_owned()));
    let agent = (scope.agent() != home.agent()).then(|| ("agent", scope.agent().to_owned()));
    user.into_iter().chain(agent)
}

/// What became of an event
#[utoipa::path(get, path = "/v1/event/{id}/", tag = "mem0", operation_id = "event", params(("id" = String, Path, description = "The event, as an answer named it")), responses((status = 200, description = "The event, with what was stored", body = Object)))]
pub(super) async fn event(asked: Mem0Access, PathParam(name): PathParam) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let query = JournalQuery { run: Some(event_run(&name)), ..JournalQuery::default() };
    let Some((scope, lines)) = asked.journal(&query).await? else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "there is no such event",
            "an event is named by the answer to a change",
        ));
    };
    let mut told = event_json(&name, &lines);
    told["results"] = json!(event_results(&asked, &scope, &lines).await?);
    Ok(JsonResponse::ok(told))
}

/// Memories that were drawn from the turns of an event, or what it stored itself.
async fn event_results(
    asked: &Mem0Access,
    scope: &Scope,
    lines: &[JournalEntry],
) -> Result<Vec<Value>, Problem> {
    let (engine, mut results) = (asked.engine(), Vec::new());
    for line in lines.iter().rev() {
        let Some(memory) = line.after.as_ref().or(line.before.as_ref()) else { continue };
        let drawn = match (memory.kind, line.op) {
            (Kind::Turn, ChangeOp::Add) => engine.derived_memories(scope, line.id).await?,
            _ => Vec::new(),
        };
        for drawn in engine.get_many(scope, &drawn).await? {
            results.push(result_json(drawn.id, &drawn.content, "ADD"));
        }
        if drawn.is_empty() {
            results.push(result_json(line.id, &memory.content, event_name(line.op)));
        }
    }
    Ok(results)
}

fn event_name(op: ChangeOp) -> &'static str {
    match op {
        ChangeOp::Add => "ADD",
        ChangeOp::Update => "UPDATE",
        _ => "DELETE",
    }
}

fn event_json(event: &str, lines: &[JournalEntry]) -> Value {
    let at: Option<Timestamp> = lines.iter().map(|line| line.at).min();
    json!({
        "id": event,
        "event_type": lines.last().map(|line| event_name(line.op)),
        "status": "SUCCEEDED",
        "created_at": at.map(format_time),
        "updated_at": lines.iter().map(|line| line.at).max().map(format_time),
    })
}

/// The latest events, the newest first
#[utoipa::path(get, path = "/v1/events/", tag = "mem0", operation_id = "events", responses((status = 200, description = "The events of the last changes", body = Object)))]
pub(super) async fn events(asked: Mem0Access) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let mut runs = BTreeMap::<String, Vec<JournalEntry>>::new();
    for scope in asked.open_scopes().await? {
        let query = JournalQuery { limit: Some(MAX_JOURNAL_LINES), ..JournalQuery::default() };
        for line in asked.engine().history(&scope, &query).await? {
            let event = line.run.as_deref().and_then(|run| run.strip_prefix("mem0-"));
            if let Some(event) = event.map(str::to_owned) {
                runs.entry(event).or_default().push(line);
            }
        }
    }
    // Ids of events sort by time.
    let results: Vec<Value> =
        runs.iter().rev().map(|(event, lines)| event_json(event, lines)).collect();
    Ok(JsonResponse::ok(
        json!({ "count": results.len(), "next": null, "previous": null, "results": results }),
    ))
}

/// What only the hosted service does
#[utoipa::path(post, path = "/v1/exports/", tag = "mem0", operation_id = "make_export", responses((status = 422, description = "Not done here; the detail says what to use", body = super::Mem0Detail)))]
pub(super) async fn make_export(asked: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &asked,
        "exports in a schema of your own",
        "GET /v1/export streams every memory as JSON Lines",
    )
}

/// What only the hosted service does
#[utoipa::path(post, path = "/v1/exports/get/", tag = "mem0", operation_id = "get_export", responses((status = 422, description = "Not done here; the detail says what to use", body = super::Mem0Detail)))]
pub(super) async fn get_export(asked: Mem0Access) -> ApiResult<Value> {
    make_export(asked).await
}

/// What only the hosted service does
#[utoipa::path(post, path = "/v1/summary/", tag = "mem0", operation_id = "summary", responses((status = 422, description = "Not done here; the detail says what to use", body = super::Mem0Detail)))]
pub(super) async fn summarize(asked: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &asked,
        "summaries of filtered memories",
        "POST /v1/context makes the block for a prompt",
    )
}

/// What only the hosted service does
#[utoipa::path(get, path = "/v2/entities/user/{id}/profile/", tag = "mem0", operation_id = "profile", params(("id" = String, Path, description = "The user")), responses((status = 422, description = "Not done here; the detail says what to use", body = super::Mem0Detail)))]
pub(super) async fn profile(asked: Mem0Access) -> ApiResult<Value> {
    unsupported(
        &asked,
        "profiles in a schema of your own",
        "GET /v1/layers/user is what is known of a user",
    )
}

fn unsupported(asked: &Mem0Access, what: &str, instead: &str) -> ApiResult<Value> {
    asked.require_role(KeyRole::Read)?;
    let title = format!("{what} are not made here");
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not_done", title, instead))
}
