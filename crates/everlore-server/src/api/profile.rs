//! Profile of the user: fields with evidence, and those that a person sets.

use axum::{
    Router,
    routing::{get, put},
};
use everlore::engine::{ProfileReport, SavedMemory};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/profile", get(show))
        .route("/v1/profile/{field}", put(set).delete(unset))
}

/// Return the profile of the user: fields with value, confidence, dates and evidence
#[utoipa::path(
    get, path = "/v1/profile", tag = "profile",
    responses((status = 200, description = "The fields", body = ProfileReport)),
)]
pub(super) async fn show(Reader(access): Reader, params: QueryParams) -> ApiResult<ProfileReport> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().profile(&access.scope).await?))
}

/// Value of a field.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileValueBody {
    /// The value, in plain words.
    value: String,
}

/// Set a field of the profile; an earlier value is kept with its dates
#[utoipa::path(
    put, path = "/v1/profile/{field}", tag = "profile", request_body = ProfileValueBody,
    params(("field" = String, Path, description = "Name of the field: role, industry, tools or any other")),
    responses((status = 200, description = "The memory that keeps the value", body = Object)),
)]
pub(super) async fn set(
    Writer(access): Writer,
    PathParam(field): PathParam,
    JsonBody(body, _): JsonBody<ProfileValueBody>,
) -> ApiResult<SavedMemory> {
    let saved = access.engine().set_profile_field(&access.scope, &field, &body.value).await?;
    Ok(JsonResponse::ok(saved))
}

/// Take back the values of a field that a person set; what the user said stays
#[utoipa::path(
    delete, path = "/v1/profile/{field}", tag = "profile",
    params(("field" = String, Path, description = "Name of the field")),
    responses((status = 200, description = "The number of values taken back", body = Object)),
)]
pub(super) async fn unset(Writer(access): Writer, PathParam(field): PathParam) -> ApiResult<Value> {
    let removed = access.engine().unset_profile_field(&access.scope, &field).await?;
    Ok(JsonResponse::ok(json!({ "removed": removed })))
}
