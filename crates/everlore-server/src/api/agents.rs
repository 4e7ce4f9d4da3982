//! Agents, and the settings of the home.

use std::collections::BTreeMap;

use axum::{Router, routing::get};
use everlore::{Kind, Status};
use serde_json::{Value, json};

use crate::{ApiResult, App, JsonResponse, QueryParams, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/agents", get(list)).route("/v1/settings", get(settings))
}

/// List agents with their users: all of them for the owner, its own for a key
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/agents", tag = "agents",
    responses(
        (
            status = 200,
            description = "Users of each agent with the number of their memories and turns in use, whether memory is enabled, and whether it has overrides",
            body = Object,
        ),
    ),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    let engine = access.engine();
    let scopes = match &access.caller.bound_scope {
        Some(bound) => vec![bound.clone()],
        None => engine.admin().scopes().await?,
    };
    let mut agents = BTreeMap::<String, Vec<Value>>::new();
    for scope in scopes {
        let counts = engine.count(&scope).await?;
        let active = |of: fn(Kind) -> bool| -> usize {
            let kept = counts.memories.iter().filter(|it| it.1 == Status::Active && of(it.0));
            kept.map(|(_, _, count)| count).sum()
        };
        let (memories, turns) = (active(Kind::is_statement), active(|kind| kind == Kind::Turn));
        let user = json!({ "user": scope.user(), "memories": memories, "turns": turns });
        agents.entry(scope.agent().to_owned()).or_default().push(user);
    }
    let agents: Vec<Value> = agents
        .into_iter()
        .map(|(agent, users)| {
            let enabled = engine.settings(&agent).memory.enabled;
            let has_overrides = engine.has_own_settings(&agent);
            json!({ "agent": agent, "users": users, "enabled": enabled, "own_settings": has_overrides })
        })
        .collect();
    Ok(JsonResponse::ok(json!({ "agents": agents })))
}

/// Show the settings of config.toml, without secrets; agents may override them
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/settings", tag = "agents",
    responses((status = 200, description = "The sections memory, recall and memory_agent", body = Object)),
))]
pub(super) async fn settings(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    access.require_owner()?;
    let config = access.app.engine.config();
    Ok(JsonResponse::ok(json!({
        "memory": config.memory,
        "recall": config.recall,
        "memory_agent": config.memory_agent,
    })))
}
