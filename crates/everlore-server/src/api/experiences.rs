//! Experience routes: record, list, find, show, edit, delete, report.

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use everlore::{
    Engine, Error, MemoryId,
    engine::{ExperienceEdit, ExperienceHit, ExperienceQuery, ExperienceView, NewExperience},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, ApiResult, App, JsonBody, JsonResponse, PathParam, Problem, QueryParams, Reader,
    Writer,
    etag::{IfMatch, memory_etag, precondition_failed},
};

/// Most experiences of a list.
const MAX_LISTED: usize = 1_000;

/// Experiences of a list by default.
const DEFAULT_LISTED: usize = 50;

/// Most hits of a search, and hits by default: a caller tries the first.
const MAX_HITS: usize = 50;
const DEFAULT_HITS: usize = 5;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/experiences", get(list).post(add))
        .route("/v1/experiences/find", post(find))
        .route("/v1/experiences/{id}", get(show).patch(edit).delete(delete))
        .route("/v1/experiences/{id}/outcome", post(report))
}

/// List experiences, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/experiences", tag = "experiences",
    params(
        ("limit" = Option<usize>, Query, description = "Largest number of experiences; 50 by default, at most 1000"),
        ("retired" = Option<bool>, Query, description = "Also list those that stopped working"),
    ),
    responses((status = 200, description = "The experiences", body = Object)),
))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<Value> {
    let limit = params.in_range("limit", 1..=MAX_LISTED)?.unwrap_or(DEFAULT_LISTED);
    let retired = params.optional("retired")?.unwrap_or(false);
    params.finish()?;
    let experiences = access.engine().experiences(&access.scope, limit, retired).await?;
    Ok(JsonResponse::ok(json!({ "experiences": experiences })))
}

/// Record a problem with its solution and the outcome
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/experiences", tag = "experiences", request_body = NewExperience,
    responses((status = 201, description = "The experience", body = ExperienceView)),
))]
pub(super) async fn add(
    Writer(access): Writer,
    JsonBody(new, _): JsonBody<NewExperience>,
) -> ApiResult<ExperienceView> {
    let added = access.engine().add_experience(&access.scope, new).await?;
    Ok(JsonResponse(StatusCode::CREATED, added))
}

/// Search for experiences: by an error, or by words.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct FindExperiencesBody {
    /// Problem in words.
    text: Option<String>,
    /// Or the error as a program printed it: other failures are left out.
    error: Option<String>,
    /// Largest number of hits; 5 by default, at most 50.
    #[cfg_attr(test, schema(minimum = 1, maximum = 50))]
    limit: Option<usize>,
}

/// Experiences found, best first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct FoundExperiences {
    hits: Vec<ExperienceHit>,
}

/// Find what solved a problem before, by the error or in words
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/experiences/find", tag = "experiences", request_body = FindExperiencesBody,
    responses((status = 200, description = "Those about the same failure first", body = FoundExperiences)),
))]
pub(super) async fn find(
    Reader(access): Reader,
    JsonBody(FindExperiencesBody { text, error, limit }, _): JsonBody<FindExperiencesBody>,
) -> ApiResult<FoundExperiences> {
    let (is_error, text) = match (error, text) {
        (Some(error), None) => (true, error),
        (None, Some(text)) => (false, text),
        _ => {
            return Err(
                Error::invalid("there is no query, or two", "give either text or error").into()
            );
        }
    };
    let limit = limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let query = ExperienceQuery { text, is_error, limit };
    let hits = access.engine().find_experiences(&access.scope, &query).await?;
    Ok(JsonResponse::ok(FoundExperiences { hits }))
}

async fn resolve(access: &Access, name: &str) -> Result<(Engine, MemoryId), Problem> {
    let engine = access.engine();
    let id = engine.resolve(&access.scope, name).await?;
    Ok((engine, id))
}

/// Show an experience
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/experiences/{id}", tag = "experiences",
    params(("id" = String, Path, description = "Id, or a prefix of it that is unique")),
    responses((status = 200, description = "The experience", body = ExperienceView)),
))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<ExperienceView> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.experience(&access.scope, id).await?))
}

/// Edit an experience; omitted fields stay as they are
#[cfg_attr(test, utoipa::path(
    patch, path = "/v1/experiences/{id}", tag = "experiences", request_body = ExperienceEdit,
    params(
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of its memory that was read; the request fails with 412 if it has changed since",
        ),
        ("id" = String, Path, description = "The experience"),
    ),
    responses((status = 200, description = "The experience after the change", body = ExperienceView)),
))]
pub(super) async fn edit(
    Writer(access): Writer,
    PathParam(name): PathParam,
    matching: IfMatch,
    JsonBody(edit, _): JsonBody<ExperienceEdit>,
) -> ApiResult<ExperienceView> {
    let (engine, id) = resolve(&access, &name).await?;
    if !matching.allows(&memory_etag(&engine.get(&access.scope, id).await?)) {
        return Err(precondition_failed(&format!("experience `{id}`")));
    }
    Ok(JsonResponse::ok(engine.edit_experience(&access.scope, id, &edit).await?))
}

/// Delete an experience; it can be undone
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/experiences/{id}", tag = "experiences",
    params(("id" = String, Path, description = "The experience")),
    responses((status = 200, description = "Its id and the journal number", body = Object)),
))]
pub(super) async fn delete(Writer(access): Writer, PathParam(name): PathParam) -> ApiResult<Value> {
    let (engine, id) = resolve(&access, &name).await?;
    let seq = engine.delete_experience(&access.scope, id).await?;
    Ok(JsonResponse::ok(json!({ "id": id, "seq": seq })))
}

/// Report of how a solution went.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct OutcomeBody {
    /// `true` if it worked this time.
    worked: bool,
}

/// Report that a solution worked or failed; three failures in a row retire it
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/experiences/{id}/outcome", tag = "experiences", request_body = OutcomeBody,
    params(("id" = String, Path, description = "The experience")),
    responses((status = 200, description = "The experience after the report", body = ExperienceView)),
))]
pub(super) async fn report(
    Writer(access): Writer,
    PathParam(name): PathParam,
    JsonBody(OutcomeBody { worked }, _): JsonBody<OutcomeBody>,
) -> ApiResult<ExperienceView> {
    let (engine, id) = resolve(&access, &name).await?;
    Ok(JsonResponse::ok(engine.report_experience(&access.scope, id, worked).await?))
}
