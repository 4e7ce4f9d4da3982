//! Audit: what is wrong with the memories of a scope.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::engine::{AuditReport, AuditRequest};
use serde::Deserialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{Admin, ApiResult, App, JsonBody, JsonResponse, QueryParams, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/audit", get(audit)).route("/v1/audit/fix", post(fix))
}

/// Audit the memories: duplicates, echoes, secrets, outdated, unused, vague, contradictory and unattributed ones
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/audit", tag = "audit",
    responses((status = 200, description = "Score and findings, each with its evidence and a fix", body = AuditReport)),
))]
pub(super) async fn audit(Reader(access): Reader, params: QueryParams) -> ApiResult<AuditReport> {
    params.finish()?;
    let request = AuditRequest::default();
    Ok(JsonResponse::ok(access.engine().audit(&access.scope, &request, &mut |_| {}).await?))
}

/// Options of the fixes.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct AuditFixBody {
    /// Confirm fixes that change more than a quarter of the memories.
    yes: bool,
}

/// Audit the memories and apply the safe fixes, as one run that can be undone
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/audit/fix", tag = "audit", request_body = AuditFixBody,
    responses((status = 200, description = "The report, with the run of the fixes", body = AuditReport)),
))]
pub(super) async fn fix(
    Admin(access): Admin,
    JsonBody(body, _): JsonBody<AuditFixBody>,
) -> ApiResult<AuditReport> {
    let request = AuditRequest { fix: true, yes: body.yes };
    Ok(JsonResponse::ok(access.engine().audit(&access.scope, &request, &mut |_| {}).await?))
}
