//! Upkeep on request: the work between turns.

use axum::{Router, routing::post};
use everlore::engine::{UpkeepReport, UpkeepRequest};
use serde::Deserialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{Admin, ApiResult, App, JsonBody, JsonResponse};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/upkeep", post(upkeep))
}

/// Options of upkeep.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct UpkeepBody {
    /// Report what would be done, and change nothing.
    dry_run: bool,
    /// Confirm jobs that change more than a quarter of the memories.
    yes: bool,
}

/// Run upkeep: update weights from use, archive, consolidate, clean up
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/upkeep", tag = "upkeep", request_body = UpkeepBody,
    responses(
        (status = 200, description = "Report of each job; one that needs a confirmation says why", body = Object),
    ),
))]
pub(super) async fn upkeep(
    Admin(access): Admin,
    JsonBody(body, _): JsonBody<UpkeepBody>,
) -> ApiResult<UpkeepReport> {
    let request = UpkeepRequest { dry_run: body.dry_run, yes: body.yes };
    Ok(JsonResponse::ok(access.engine().upkeep(&access.scope, &request, &mut |_| {}).await?))
}
