//! Counts of a scope.

use axum::{Router, routing::get};
use everlore::{engine::ActiveDay, types::Timestamp};
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonResponse, QueryParams, Reader};

/// Most days of the activity: ten years.
const MAX_DAYS: i64 = 3_660;

/// Days of the activity by default: a calendar of 53 weeks.
const DEFAULT_DAYS: i64 = 371;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/stats", get(stats)).route("/v1/stats/activity", get(activity))
}

/// Count memories by kind and status, journal entries, and usage
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/stats", tag = "stats",
    responses((status = 200, description = "Counts of this agent and user", body = Object)),
))]
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

/// Activity by day, oldest first; days without any are left out.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct ActivityReport {
    days: Vec<ActiveDay>,
}

/// Count memories and turns by the day at which they were said
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/stats/activity", tag = "stats",
    params(("days" = Option<i64>, Query, description = "Days back from now; 371 by default, at most 3660")),
    responses((status = 200, description = "Days with activity, oldest first", body = ActivityReport)),
))]
pub(super) async fn activity(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<ActivityReport> {
    let days = params.in_range("days", 1..=MAX_DAYS)?.unwrap_or(DEFAULT_DAYS);
    params.finish()?;
    let since = Timestamp::now() - SignedDuration::from_hours(24 * days);
    let days = access.engine().activity(&access.scope, since).await?;
    Ok(JsonResponse::ok(ActivityReport { days }))
}
