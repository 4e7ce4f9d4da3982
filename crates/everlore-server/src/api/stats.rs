//! Counts of a scope.

use axum::{Router, routing::get};
use serde_json::{Value, json};

use crate::{ApiResult, App, JsonResponse, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/stats", get(stats))
}

/// Count memories by kind and status, journal entries, and usage
#[utoipa::path(
    get, path = "/v1/stats", tag = "stats",
    responses((status = 200, description = "Counts of this agent and user", body = Object)),
)]
pub(super) async fn stats(Reader(access): Reader) -> ApiResult<Value> {
    let (engine, scope) = (access.engine(), &access.scope);
    let counts = engine.count(scope).await?;
    let usage = engine.usage_stats(scope).await?;
    let counted = counts.memories.iter();
    let total: usize = counted.clone().map(|(_, _, count)| count).sum();
    let counted = counted
        .map(|(kind, status, count)| json!({ "kind": kind, "status": status, "count": count }));
    Ok(JsonResponse::ok(json!({
        "agent": scope.agent(),
        "user": scope.user(),
        "memories": counted.collect::<Vec<_>>(),
        "total": total,
        "changes": counts.changes,
        "tombstones": counts.tombstones,
        "usage": usage,
        "last_upkeep": engine.last_upkeep(scope).await?,
    })))
}
