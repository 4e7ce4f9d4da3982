//! Whether the server lives, whether it can work, and its figures.

use std::time::Duration;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{
    app::App,
    auth::Reader,
    problem::{Problem, ProblemBody},
    response::{ApiResult, JsonResponse},
};

/// The longest that the store may take to answer before the server counts as not ready.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The routes that need no key. The figures are for the owner, and are routed with the closed ones.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/health", get(health)).route("/ready", get(ready))
}

/// The figures, behind the token.
pub(super) fn metrics_routes() -> Router<App> {
    Router::new().route("/metrics", get(metrics))
}

/// Whether the server lives
#[utoipa::path(get, path = "/health", tag = "server", security(()), responses((status = 200, description = "It does", body = Object)))]
pub(super) async fn health() -> JsonResponse<Value> {
    JsonResponse::ok(json!({ "status": "ok" }))
}

/// Whether the server can answer: its store reads, and it is not about to end
#[utoipa::path(get, path = "/ready", tag = "server", security(()), responses(
    (status = 200, description = "It can", body = Object),
    (status = 503, description = "It cannot", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn ready(State(app): State<App>) -> ApiResult<Value> {
    let read = tokio::time::timeout(MAX_WAIT, app.engine.ping_store()).await;
    match (read, *app.shutting_down.borrow()) {
        (Ok(Ok(_)), false) => Ok(JsonResponse::ok(json!({ "status": "ready" }))),
        (_, closing) => {
            let title =
                if closing { "the server is about to end" } else { "the store does not answer" };
            Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "not_ready",
                title,
                "ask again in a moment",
            ))
        }
    }
}

/// Figures in the text format of Prometheus; for the owner only
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "The figures", body = String, content_type = "text/plain")))]
pub(super) async fn metrics(
    State(app): State<App>,
    Reader(access): Reader,
) -> Result<Response, Problem> {
    access.require_owner()?;
    let paused = u8::from(app.engine.embedder_outage().is_some());
    let text = app.metrics.render(app.started.elapsed())
        + "# HELP everlore_embedding_paused Whether recall goes by words because the embedding server failed.\n"
        + &format!("# TYPE everlore_embedding_paused gauge\neverlore_embedding_paused {paused}\n");
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
