//! Liveness, readiness and metrics.

use std::time::Duration;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{ApiResult, App, JsonResponse, Problem, Reader, problem::ProblemBody};

/// Longest wait for the store before the server counts as not ready.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Returns the routes without authentication.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/health", get(health)).route("/ready", get(ready))
}

/// Returns the metrics route, which needs the owner's token.
pub(super) fn metrics_routes() -> Router<App> {
    Router::new().route("/metrics", get(metrics))
}

/// Check that the server is alive
#[utoipa::path(
    get, path = "/health", tag = "server", security(()),
    responses((status = 200, description = "The server is alive", body = Object)),
)]
pub(crate) async fn health() -> JsonResponse<Value> {
    JsonResponse::ok(json!({ "status": "ok" }))
}

/// Check that the server can answer: its store reads, and it is not shutting down
#[utoipa::path(
    get, path = "/ready", tag = "server", security(()),
    responses(
        (status = 200, description = "The server is ready", body = Object),
        (
            status = 503, description = "The server is not ready", body = ProblemBody,
            content_type = "application/problem+json",
        ),
    ),
)]
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

/// Metrics in the Prometheus text format; for the owner only
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")),
)]
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
