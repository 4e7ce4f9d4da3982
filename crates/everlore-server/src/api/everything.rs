//! Removal of everything of a user or an agent.

use axum::{Router, http::StatusCode, routing::post};
use everlore::engine::{Removal, RemovalMode, RemovalReport, RemovalTarget};
use serde::Deserialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::{Access, Admin},
    body::JsonBody,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/everything", post(remove))
}

/// Owner whose memories are removed, and how.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RemovalBody {
    /// `delete` can be undone, `forget` erases for good.
    action: RemovalMode,
    /// Agent; all agents of the user if left out.
    agent: Option<String>,
    /// User; all users of the agent if left out.
    user: Option<String>,
    /// Confirmation; without it nothing is removed, and the answer is a preview.
    #[serde(default)]
    yes: bool,
}

/// Delete or forget everything of a user, of an agent, or of one user with one agent
///
/// Without `yes` it changes nothing and answers with a preview: the memories by kind, the files, and what stays. A key
/// may only name its own agent and user.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/everything", tag = "memories", request_body = RemovalBody,
    responses((status = 200, description = "Receipt, or preview if `dry_run` is true", body = Object)),
))]
pub(super) async fn remove(
    Admin(access): Admin,
    JsonBody(body, _): JsonBody<RemovalBody>,
) -> ApiResult<RemovalReport> {
    let target = RemovalTarget { agent: body.agent, user: body.user };
    check_owner(&access, &target)?;
    let removal = Removal { target, mode: body.action, dry_run: !body.yes };
    Ok(JsonResponse::ok(access.engine().admin().remove_everything(&removal).await?))
}

/// Refuses a key that names more than its own scope.
fn check_owner(access: &Access, target: &RemovalTarget) -> Result<(), Problem> {
    let Some(own) = &access.caller.bound_scope else { return Ok(()) };
    let named = (target.agent.as_deref(), target.user.as_deref());
    if named == (Some(own.agent()), Some(own.user())) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "scope",
        "a key may only remove what belongs to its own agent and user",
        "name both, or use the owner's token from server.token in the home",
    ))
}
