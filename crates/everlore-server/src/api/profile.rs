//! Profile of the user: fields with evidence, and those that a person sets.

use axum::{
    Router,
    routing::{get, post, put},
};
use everlore::engine::{ProfileDecision, ProfileReport, SavedMemory};
use serde::Deserialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/profile", get(show))
        .route("/v1/profile/{field}", put(set).delete(unset))
        .route("/v1/profile/{field}/reject", post(reject))
        .route("/v1/profile/{field}/restore", post(restore))
}

/// Return the profile of the user: fields with value, confidence, dates and evidence
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/profile", tag = "profile",
    responses((status = 200, description = "The fields", body = ProfileReport)),
))]
pub(super) async fn show(Reader(access): Reader, params: QueryParams) -> ApiResult<ProfileReport> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().profile(&access.scope).await?))
}

/// Value of a field.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileValueBody {
    /// The value, in plain words.
    value: String,
    /// Value that it corrects: that one ends, wherever it comes from.
    instead_of: Option<String>,
}

/// Value to decide on.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileDecisionBody {
    /// The value, as the profile shows it.
    value: String,
}

/// Set a field of the profile; an earlier value is kept with its dates
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/profile/{field}", tag = "profile", request_body = ProfileValueBody,
    params(("field" = String, Path, description = "Name of the field: role, industry, tools or any other")),
    responses((status = 200, description = "The memory that keeps the value", body = Object)),
))]
pub(super) async fn set(
    Writer(access): Writer,
    PathParam(field): PathParam,
    JsonBody(body, _): JsonBody<ProfileValueBody>,
) -> ApiResult<SavedMemory> {
    let (engine, scope) = (access.engine(), &access.scope);
    let saved = match &body.instead_of {
        Some(old) => engine.correct_profile_value(scope, &field, old, &body.value).await?,
        None => engine.set_profile_field(scope, &field, &body.value).await?,
    };
    Ok(JsonResponse::ok(saved))
}

/// Reject a value of the profile for good: it is not shown again, however often it is said
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/profile/{field}/reject", tag = "profile", request_body = ProfileDecisionBody,
    params(("field" = String, Path, description = "Name of the field")),
    responses((status = 200, description = "The decision, with the run that undoes it", body = ProfileDecision)),
))]
pub(super) async fn reject(
    Writer(access): Writer,
    PathParam(field): PathParam,
    JsonBody(body, _): JsonBody<ProfileDecisionBody>,
) -> ApiResult<ProfileDecision> {
    let decided = access.engine().reject_profile_value(&access.scope, &field, &body.value).await?;
    Ok(JsonResponse::ok(decided))
}

/// Take the rejection of a value back
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/profile/{field}/restore", tag = "profile", request_body = ProfileDecisionBody,
    params(("field" = String, Path, description = "Name of the field")),
    responses((status = 200, description = "The decision, with the run that undoes it", body = ProfileDecision)),
))]
pub(super) async fn restore(
    Writer(access): Writer,
    PathParam(field): PathParam,
    JsonBody(body, _): JsonBody<ProfileDecisionBody>,
) -> ApiResult<ProfileDecision> {
    let decided = access.engine().restore_profile_value(&access.scope, &field, &body.value).await?;
    Ok(JsonResponse::ok(decided))
}

/// Take back the values of a field that a person set; what the user said stays
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/profile/{field}", tag = "profile",
    params(("field" = String, Path, description = "Name of the field")),
    responses((status = 200, description = "The number of values taken back", body = Object)),
))]
pub(super) async fn unset(Writer(access): Writer, PathParam(field): PathParam) -> ApiResult<Value> {
    let removed = access.engine().unset_profile_field(&access.scope, &field).await?;
    Ok(JsonResponse::ok(json!({ "removed": removed })))
}
