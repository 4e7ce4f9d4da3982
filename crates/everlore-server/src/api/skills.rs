//! Skills and workflows: list, show, history, new version, rollback, retire, restore, outcome, removal.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::engine::{SkillForm, SkillView};
use serde::Deserialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader, Writer,
};

const SKILL: SkillForm = SkillForm::Skill;
const WORKFLOW: SkillForm = SkillForm::Workflow;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/skills", get(list_skills))
        .route("/v1/skills/{name}", get(show_skill).put(update_skill).delete(remove_skill))
        .route("/v1/skills/{name}/history", get(skill_history))
        .route("/v1/skills/{name}/rollback", post(roll_back_skill))
        .route("/v1/skills/{name}/retire", post(retire_skill))
        .route("/v1/skills/{name}/restore", post(restore_skill))
        .route("/v1/skills/{name}/outcome", post(report_skill))
        .route("/v1/workflows", get(list_workflows))
        .route("/v1/workflows/{name}", get(show_workflow).delete(remove_workflow))
        .route("/v1/workflows/{name}/history", get(workflow_history))
        .route("/v1/workflows/{name}/rollback", post(roll_back_workflow))
        .route("/v1/workflows/{name}/retire", post(retire_workflow))
        .route("/v1/workflows/{name}/restore", post(restore_workflow))
        .route("/v1/workflows/{name}/outcome", post(report_workflow))
}

/// New text of a skill.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SkillTextBody {
    /// The whole SKILL.md.
    text: String,
}

/// Version to go back to.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct SkillVersionBody {
    /// Number of the version; the one before the current if left out.
    #[cfg_attr(test, schema(minimum = 1, maximum = 4_294_967_295_u32))]
    version: Option<u32>,
}

/// Report of how a skill or workflow went.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SkillOutcomeBody {
    /// `true` if it worked this time.
    worked: bool,
}

/// List skills that the user approved
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/skills", tag = "skills",
    params(("retired" = Option<bool>, Query, description = "Also list those that are out of use")),
    responses((status = 200, description = "The skills, by name", body = Object)),
))]
pub(super) async fn list_skills(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    list(&access, params, SKILL).await
}

/// Show a skill with its text
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/skills/{name}", tag = "skills",
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn show_skill(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().skill(&access.scope, SKILL, &name).await?))
}

/// Make a new version of a skill; for the owner only
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/skills/{name}", tag = "skills", request_body = SkillTextBody,
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn update_skill(
    Admin(access): Admin,
    PathParam(name): PathParam,
    JsonBody(SkillTextBody { text }, _): JsonBody<SkillTextBody>,
) -> ApiResult<SkillView> {
    let engine = access.engine();
    Ok(JsonResponse::ok(engine.update_skill(&access.scope, SKILL, &name, Some(&text)).await?))
}

/// Remove a skill, which undo brings back; for the owner only
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/skills/{name}", tag = "skills",
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill as it was", body = SkillView)),
))]
pub(super) async fn remove_skill(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().remove_skill(&access.scope, SKILL, &name).await?))
}

/// List the versions of a skill, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/skills/{name}/history", tag = "skills",
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The changes with their texts", body = Object)),
))]
pub(super) async fn skill_history(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<Value> {
    history(&access, &name, SKILL).await
}

/// Bring back an earlier version of a skill, byte for byte; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/skills/{name}/rollback", tag = "skills", request_body = SkillVersionBody,
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn roll_back_skill(
    Admin(access): Admin,
    PathParam(name): PathParam,
    JsonBody(SkillVersionBody { version }, _): JsonBody<SkillVersionBody>,
) -> ApiResult<SkillView> {
    let engine = access.engine();
    Ok(JsonResponse::ok(engine.roll_back_skill(&access.scope, SKILL, &name, version).await?))
}

/// Take a skill out of use; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/skills/{name}/retire", tag = "skills",
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn retire_skill(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().retire_skill(&access.scope, SKILL, &name).await?))
}

/// Put a retired skill back into use; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/skills/{name}/restore", tag = "skills",
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn restore_skill(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().restore_skill(&access.scope, SKILL, &name).await?))
}

/// Report that a skill worked or failed; three failures in a row retire it
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/skills/{name}/outcome", tag = "skills", request_body = SkillOutcomeBody,
    params(("name" = String, Path, description = "Name of the skill")),
    responses((status = 200, description = "The skill", body = SkillView)),
))]
pub(super) async fn report_skill(
    Writer(access): Writer,
    PathParam(name): PathParam,
    JsonBody(SkillOutcomeBody { worked }, _): JsonBody<SkillOutcomeBody>,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().report_skill(&access.scope, SKILL, &name, worked).await?))
}

/// List workflows that the user approved
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/workflows", tag = "skills",
    params(("retired" = Option<bool>, Query, description = "Also list those that are out of use")),
    responses((status = 200, description = "The workflows, by name", body = Object)),
))]
pub(super) async fn list_workflows(
    Reader(access): Reader,
    params: QueryParams,
) -> ApiResult<Value> {
    list(&access, params, WORKFLOW).await
}

/// Show a workflow with its steps and text
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/workflows/{name}", tag = "skills",
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow", body = SkillView)),
))]
pub(super) async fn show_workflow(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().skill(&access.scope, WORKFLOW, &name).await?))
}

/// Remove a workflow, which undo brings back; for the owner only
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/workflows/{name}", tag = "skills",
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow as it was", body = SkillView)),
))]
pub(super) async fn remove_workflow(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().remove_skill(&access.scope, WORKFLOW, &name).await?))
}

/// List the versions of a workflow, newest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/workflows/{name}/history", tag = "skills",
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The changes with their texts", body = Object)),
))]
pub(super) async fn workflow_history(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<Value> {
    history(&access, &name, WORKFLOW).await
}

/// Bring back an earlier version of a workflow, byte for byte; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/workflows/{name}/rollback", tag = "skills", request_body = SkillVersionBody,
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow", body = SkillView)),
))]
pub(super) async fn roll_back_workflow(
    Admin(access): Admin,
    PathParam(name): PathParam,
    JsonBody(SkillVersionBody { version }, _): JsonBody<SkillVersionBody>,
) -> ApiResult<SkillView> {
    let engine = access.engine();
    Ok(JsonResponse::ok(engine.roll_back_skill(&access.scope, WORKFLOW, &name, version).await?))
}

/// Take a workflow out of use; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/workflows/{name}/retire", tag = "skills",
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow", body = SkillView)),
))]
pub(super) async fn retire_workflow(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().retire_skill(&access.scope, WORKFLOW, &name).await?))
}

/// Put a retired workflow back into use; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/workflows/{name}/restore", tag = "skills",
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow", body = SkillView)),
))]
pub(super) async fn restore_workflow(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<SkillView> {
    Ok(JsonResponse::ok(access.engine().restore_skill(&access.scope, WORKFLOW, &name).await?))
}

/// Report that a workflow worked or failed; three failures in a row retire it
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/workflows/{name}/outcome", tag = "skills", request_body = SkillOutcomeBody,
    params(("name" = String, Path, description = "Name of the workflow")),
    responses((status = 200, description = "The workflow", body = SkillView)),
))]
pub(super) async fn report_workflow(
    Writer(access): Writer,
    PathParam(name): PathParam,
    JsonBody(SkillOutcomeBody { worked }, _): JsonBody<SkillOutcomeBody>,
) -> ApiResult<SkillView> {
    let engine = access.engine();
    Ok(JsonResponse::ok(engine.report_skill(&access.scope, WORKFLOW, &name, worked).await?))
}

async fn list(access: &Access, mut params: QueryParams, form: SkillForm) -> ApiResult<Value> {
    let retired = params.optional("retired")?.unwrap_or(false);
    params.finish()?;
    let found = access.engine().skills(&access.scope, form, retired).await?;
    Ok(JsonResponse::ok(json!({ format!("{form}s"): found })))
}

async fn history(access: &Access, name: &str, form: SkillForm) -> ApiResult<Value> {
    let versions = access.engine().skill_history(&access.scope, form, name).await?;
    Ok(JsonResponse::ok(json!({ "versions": versions })))
}
