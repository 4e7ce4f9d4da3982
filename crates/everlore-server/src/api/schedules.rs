//! Schedules in words: explain, add, list, remove.

use axum::{
    Router,
    http::StatusCode,
    routing::{delete, get, post},
};
use everlore::{
    engine::{NewSchedule, ScheduleAnswer, ScheduledTask},
    types::Timestamp,
};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/schedules", get(list).post(add))
        .route("/v1/schedules/explain", post(explain))
        .route("/v1/schedules/{id}", delete(remove))
}

/// Schedules of a scope.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct ScheduleList {
    /// Schedules, that with the earliest next run first.
    schedules: Vec<ScheduledTask>,
}

/// List schedules, that with the earliest next run first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/schedules", tag = "schedules",
    responses((status = 200, description = "All schedules that still run", body = ScheduleList)),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<ScheduleList> {
    params.finish()?;
    let schedules = access.engine().schedules(&access.scope).await?;
    Ok(JsonResponse::ok(ScheduleList { schedules }))
}

/// Add a schedule; an unclear phrase is refused with what is unclear
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/schedules", tag = "schedules", request_body = NewSchedule,
    responses((status = 201, description = "The schedule with its next run", body = ScheduledTask)),
))]
pub(super) async fn add(
    Writer(access): Writer,
    JsonBody(new, _): JsonBody<NewSchedule>,
) -> ApiResult<ScheduledTask> {
    let added = access.engine().add_schedule(&access.scope, &new).await?;
    Ok(JsonResponse(StatusCode::CREATED, added))
}

/// Phrase to explain.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainBody {
    /// Times in words.
    text: String,
    /// Time at which it is said; now by default.
    #[serde(default)]
    #[cfg_attr(test, schema(value_type = Option<String>, format = DateTime))]
    now: Option<Timestamp>,
    /// Time zone; that of the server by default.
    #[serde(default)]
    zone: Option<String>,
}

/// Explain a phrase: its cron line, if there is one, the next runs, or what is unclear
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/schedules/explain", tag = "schedules", request_body = ExplainBody,
    responses((status = 200, description = "How the phrase is read", body = ScheduleAnswer)),
))]
pub(super) async fn explain(
    Reader(access): Reader,
    JsonBody(body, _): JsonBody<ExplainBody>,
) -> ApiResult<ScheduleAnswer> {
    let ExplainBody { text, now, zone } = body;
    Ok(JsonResponse::ok(access.engine().explain_schedule(&text, zone.as_deref(), now)?))
}

/// Remove a schedule; the journal keeps it, so that this can be undone
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/schedules/{id}", tag = "schedules",
    params(("id" = String, Path, description = "Id, or a prefix of it that is unique")),
    responses((status = 200, description = "The schedule that was removed", body = ScheduledTask)),
))]
pub(super) async fn remove(
    Writer(access): Writer,
    PathParam(name): PathParam,
) -> ApiResult<ScheduledTask> {
    let engine = access.engine();
    let id = engine.resolve(&access.scope, &name).await?;
    Ok(JsonResponse::ok(engine.remove_schedule(&access.scope, id).await?))
}
