//! The work between turns, on demand.

use axum::{Router, routing::post};
use everlore::engine::{UpkeepReport, UpkeepRequest};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Admin,
    body::JsonBody,
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/upkeep", post(upkeep))
}

/// How upkeep is done.
#[derive(Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct UpkeepBody {
    /// Only say what would be done.
    dry_run: bool,
    /// Also do what touches more than a quarter of the memories.
    yes: bool,
}

/// Look after memories: weigh by use, put away, put together, tidy up
#[utoipa::path(post, path = "/v1/upkeep", tag = "upkeep", request_body = UpkeepBody, responses((status = 200, description = "What each job did; those that wait for a yes say why", body = Object)))]
pub(super) async fn upkeep(
    Admin(access): Admin,
    JsonBody(body, _): JsonBody<UpkeepBody>,
) -> ApiResult<UpkeepReport> {
    let request = UpkeepRequest { dry_run: body.dry_run, yes: body.yes };
    Ok(JsonResponse::ok(access.engine().upkeep(&access.scope, &request, &mut |_| {}).await?))
}
