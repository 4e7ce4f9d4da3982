//! Liveness, readiness, metrics, and the state of everything in one call.

use std::time::Duration;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::engine::HealthReport;
use serde_json::{Value, json};

#[cfg(test)]
use crate::problem::ProblemBody;
use crate::{ApiResult, App, JsonResponse, Problem, QueryParams, Reader};

/// Longest wait for the store before the server counts as not ready.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Returns the routes without authentication.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/health", get(health)).route("/ready", get(ready))
}

/// Returns the routes that need a token or a key.
pub(super) fn authenticated_routes() -> Router<App> {
    Router::new().route("/metrics", get(metrics)).route("/v1/health", get(snapshot))
}

/// Check that the server is alive
#[cfg_attr(test, utoipa::path(
    get, path = "/health", tag = "server", security(()),
    responses((status = 200, description = "The server is alive", body = Object)),
))]
pub(crate) async fn health() -> JsonResponse<Value> {
    JsonResponse::ok(json!({ "status": "ok" }))
}

/// Check that the server can answer: its store reads, and it is not shutting down
#[cfg_attr(test, utoipa::path(
    get, path = "/ready", tag = "server", security(()),
    responses(
        (status = 200, description = "The server is ready", body = Object),
        (
            status = 503, description = "The server is not ready", body = ProblemBody,
            content_type = "application/problem+json",
        ),
    ),
))]
pub(super) async fn ready(State(app): State<App>) -> ApiResult<Value> {
    let read = tokio::time::timeout(MAX_WAIT, app.engine.admin().ping()).await;
    match (read, *app.shutting_down.borrow()) {
        (Ok(Ok(_)), false) => Ok(JsonResponse::ok(json!({ "status": "ready" }))),
        (_, shutting_down) => {
            let title = if shutting_down {
                "the server is shutting down"
            } else {
                "the database cannot be reached"
            };
            let advice = "try again in a moment";
            let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", title, advice);
            Err(Problem { retry_after: Some(1), ..problem })
        }
    }
}

/// Show the state of everything, and what to do about it; the whole database only to its owner
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/health", tag = "server", operation_id = "health_snapshot",
    responses((status = 200, description = "State of each part, and warnings with the next step", body = HealthReport)),
))]
pub(super) async fn snapshot(
    Reader(access): Reader,
    params: QueryParams,
) -> ApiResult<HealthReport> {
    params.finish()?;
    let (engine, scope) = (access.engine(), &access.scope);
    let is_owner = access.require_owner().is_ok();
    let report =
        if is_owner { engine.admin().health(scope).await } else { engine.health(scope).await };
    Ok(JsonResponse::ok(report?))
}

/// Metrics in the Prometheus text format; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")),
))]
pub(super) async fn metrics(
    State(app): State<App>,
    Reader(access): Reader,
) -> Result<Response, Problem> {
    access.require_owner()?;
    let is_open = u8::from(app.engine.embedder_outage().is_some());
    let text = app.metrics.render(app.started.elapsed())
        + "# HELP everlore_embedding_paused 1 while recall goes by words alone because the embedding server failed.\n"
        + &format!("# TYPE everlore_embedding_paused gauge\neverlore_embedding_paused {is_open}\n");
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
