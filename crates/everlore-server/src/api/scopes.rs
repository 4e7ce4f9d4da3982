//! Scopes that have memories.

use axum::{Router, routing::get};
use serde_json::{Value, json};

use crate::{ApiResult, App, JsonResponse, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/scopes", get(list))
}

/// List agents and users: all of them for the owner, its own for a key
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/scopes", tag = "scopes",
    responses((status = 200, description = "Agent, user and number of memories of each scope", body = Object)),
))]
pub(super) async fn list(Reader(access): Reader) -> ApiResult<Value> {
    let engine = access.engine();
    let scopes = match &access.caller.bound_scope {
        Some(bound) => vec![bound.clone()],
        None => engine.admin().scopes().await?,
    };
    let mut listed = Vec::new();
    for scope in scopes {
        let counts = engine.count(&scope).await?;
        let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
        listed.push(json!({ "agent": scope.agent(), "user": scope.user(), "memories": memories }));
    }
    Ok(JsonResponse::ok(json!({ "scopes": listed })))
}
