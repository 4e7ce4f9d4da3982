//! Trajectories: the steps of conversations, with tool calls and outcomes, and their exports.

use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::engine::{
    MIN_TRAJECTORY_BUDGET, Trajectory, TrajectoryFormat, TrajectoryPage, TrajectoryQuery,
};

use crate::{Access, ApiResult, App, JsonResponse, PathParam, Problem, QueryParams, Reader};

/// Largest token budget: more than any model reads.
const MAX_BUDGET: usize = 100_000_000;

/// Most trajectories of a page.
const MAX_LIMIT: usize = 200;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/trajectories", get(list))
        .route("/v1/trajectories/{session}", get(show))
        .route("/v1/trajectories/{session}/export", get(export))
}

/// List trajectories, the one with the latest step first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/trajectories", tag = "trajectories",
    params(
        ("since" = Option<String>, Query, description = "Only those with a step at this time (RFC 3339) or later"),
        ("after" = Option<String>, Query, description = "`next` of the page before"),
        ("limit" = Option<usize>, Query, description = "Most trajectories, from 1 to 200; 20 by default"),
    ),
    responses((status = 200, description = "Page of trajectories without their steps", body = TrajectoryPage)),
))]
pub(super) async fn list(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<TrajectoryPage> {
    let query = TrajectoryQuery {
        since: params.optional("since")?,
        after: params.optional("after")?,
        limit: params.in_range("limit", 1..=MAX_LIMIT)?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().trajectories(&access.scope, &query).await?))
}

/// Show the steps of a session, compressed into a budget if one is given
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/trajectories/{session}", tag = "trajectories",
    params(
        ("session" = String, Path, description = "Session, percent-encoded"),
        ("budget" = Option<usize>, Query, description = "Most tokens, at least 50; all steps by default"),
    ),
    responses((status = 200, description = "Steps in their order, and the outcome", body = Trajectory)),
))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(session): PathParam,
    mut params: QueryParams,
) -> ApiResult<Trajectory> {
    let budget = params.in_range("budget", MIN_TRAJECTORY_BUDGET..=MAX_BUDGET)?;
    params.finish()?;
    Ok(JsonResponse::ok(read(&access, &session, budget).await?))
}

/// Export a session for other systems, with secrets masked
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/trajectories/{session}/export", tag = "trajectories",
    params(
        ("session" = String, Path, description = "Session, percent-encoded"),
        ("format" = String, Query, description = "atif (ATIF 1.8), sharegpt or openai (one JSON line each)"),
        ("budget" = Option<usize>, Query, description = "Most tokens, at least 50; all steps by default"),
    ),
    responses((status = 200, description = "The trajectory in that format", body = Object)),
))]
pub(super) async fn export(
    Reader(access): Reader,
    PathParam(session): PathParam,
    mut params: QueryParams,
) -> Result<Response, Problem> {
    let format: TrajectoryFormat = params.required("format")?;
    let budget = params.in_range("budget", MIN_TRAJECTORY_BUDGET..=MAX_BUDGET)?;
    params.finish()?;
    let exported = read(&access, &session, budget).await?.export(format);
    let (kind, end) = match format {
        TrajectoryFormat::Atif => ("application/json", ""),
        TrajectoryFormat::Sharegpt | TrajectoryFormat::Openai => ("application/x-ndjson", "\n"),
    };
    Ok(([(header::CONTENT_TYPE, kind)], format!("{exported}{end}")).into_response())
}

async fn read(
    access: &Access,
    session: &str,
    budget: Option<usize>,
) -> Result<Trajectory, Problem> {
    let trajectory = access.engine().trajectory(&access.scope, session).await?;
    Ok(match budget {
        Some(budget) => trajectory.compress(budget)?,
        None => trajectory,
    })
}
