//! Reflection, and decisions on what it proposed.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::engine::{ProposalView, ReflectRequest, ReflectionReport};
use serde::Deserialize;
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, QueryParams, Reader,
    body::OptionalJsonBody,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/reflect", post(reflect))
        .route("/v1/proposals", get(list))
        .route("/v1/proposals/{id}", get(show))
        .route("/v1/proposals/{id}/approve", post(approve))
        .route("/v1/proposals/{id}/reject", post(reject))
        .route("/v1/proposals/{id}/rollback", post(rollback))
        .route("/v1/proposals/{id}/reopen", post(reopen))
}

/// Options of a reflection.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReflectBody {
    /// Report what would be proposed, and write nothing.
    dry_run: bool,
}

/// Review the memories and propose changes to identity files and memories
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/reflect", tag = "proposals", request_body = ReflectBody,
    responses((status = 200, description = "The new proposals", body = ReflectionReport)),
))]
pub(super) async fn reflect(
    Admin(access): Admin,
    JsonBody(body, _): JsonBody<ReflectBody>,
) -> ApiResult<ReflectionReport> {
    let request = ReflectRequest { dry_run: body.dry_run };
    Ok(JsonResponse::ok(access.engine().reflect(&access.scope, &request, &mut |_| {}).await?))
}

/// List all proposals, oldest first
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/proposals", tag = "proposals",
    responses((status = 200, description = "Proposals with their state, evidence and change", body = Object)),
))]
pub(super) async fn list(Reader(access): Reader, params: QueryParams) -> ApiResult<Value> {
    params.finish()?;
    let proposals = access.engine().proposals(&access.scope, None).await?;
    Ok(JsonResponse::ok(json!({ "proposals": proposals })))
}

/// Show a proposal
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/proposals/{id}", tag = "proposals",
    params(("id" = String, Path, description = "Full id of the proposal")),
    responses((status = 200, description = "The proposal", body = ProposalView)),
))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
) -> ApiResult<ProposalView> {
    Ok(JsonResponse::ok(access.engine().proposal(&access.scope, name.parse()?).await?))
}

/// Approval of a proposal.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProposalApprovalBody {
    /// Text in the place of the proposed one: a line of an identity file, or a whole skill or workflow.
    text: Option<String>,
}

/// Approve a proposal and apply its change, with another text if the body has one; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/proposals/{id}/approve", tag = "proposals", request_body = ProposalApprovalBody,
    params(("id" = String, Path, description = "Full id of the proposal")),
    responses((status = 200, description = "The approved proposal", body = ProposalView)),
))]
pub(super) async fn approve(
    Admin(access): Admin,
    PathParam(name): PathParam,
    OptionalJsonBody(body): OptionalJsonBody<ProposalApprovalBody>,
) -> ApiResult<ProposalView> {
    let (engine, id) = (access.engine(), name.parse()?);
    Ok(JsonResponse::ok(engine.approve_proposal_as(&access.scope, id, body.text).await?))
}

/// Reject a proposal for good; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/proposals/{id}/reject", tag = "proposals",
    params(("id" = String, Path, description = "Full id of the proposal")),
    responses((status = 200, description = "The rejected proposal", body = ProposalView)),
))]
pub(super) async fn reject(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<ProposalView> {
    Ok(JsonResponse::ok(access.engine().reject_proposal(&access.scope, name.parse()?).await?))
}

/// Take back an approved proposal; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/proposals/{id}/rollback", tag = "proposals",
    params(("id" = String, Path, description = "Full id of the proposal")),
    responses((status = 200, description = "The proposal, rolled back", body = ProposalView)),
))]
pub(super) async fn rollback(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<ProposalView> {
    Ok(JsonResponse::ok(access.engine().roll_back_proposal(&access.scope, name.parse()?).await?))
}

/// Take back the decision on a proposal, so that it waits again as it was proposed; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/proposals/{id}/reopen", tag = "proposals",
    params(("id" = String, Path, description = "Full id of the proposal")),
    responses((status = 200, description = "The open proposal", body = ProposalView)),
))]
pub(super) async fn reopen(
    Admin(access): Admin,
    PathParam(name): PathParam,
) -> ApiResult<ProposalView> {
    Ok(JsonResponse::ok(access.engine().reopen_proposal(&access.scope, name.parse()?).await?))
}
