//! Heartbeat: which jobs run by themselves, and their last runs.

use axum::{
    Router,
    routing::{get, put},
};
use everlore::engine::{HeartbeatJob, HeartbeatStatus};
use serde::Deserialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/heartbeat", get(status))
        .route("/v1/heartbeat/history", get(history))
        .route("/v1/heartbeat/{job}", put(switch))
}

/// Show which jobs are on, and their last runs
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/heartbeat", tag = "heartbeat",
    responses((status = 200, description = "State of the heartbeat and of each job", body = HeartbeatStatus)),
))]
pub(super) async fn status(
    Admin(access): Admin,
    params: QueryParams,
) -> ApiResult<HeartbeatStatus> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().heartbeat_status().await?))
}

/// List the last runs of all servers, the newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/heartbeat/history", tag = "heartbeat",
    responses((status = 200, description = "Runs with what they did", body = Object)),
))]
pub(super) async fn history(Admin(access): Admin, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    let history = access.engine().heartbeat_history().await?;
    Ok(JsonResponse::ok(json!({ "history": history })))
}

/// State of a job.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct JobSwitchBody {
    /// `true` lets it run.
    on: bool,
}

/// Switch a job on or off, for all servers of the database
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/heartbeat/{job}", tag = "heartbeat", request_body = JobSwitchBody,
    params(("job" = String, Path, description = "reminders, digest, upkeep or overviews")),
    responses((status = 200, description = "State of the heartbeat and of each job", body = HeartbeatStatus)),
))]
pub(super) async fn switch(
    Admin(access): Admin,
    PathParam(name): PathParam,
    JsonBody(body, _): JsonBody<JobSwitchBody>,
) -> ApiResult<HeartbeatStatus> {
    let (engine, job) = (access.engine(), name.parse::<HeartbeatJob>()?);
    engine.switch_job(job, body.on).await?;
    Ok(JsonResponse::ok(engine.heartbeat_status().await?))
}
