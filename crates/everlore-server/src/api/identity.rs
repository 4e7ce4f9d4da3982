//! Identity of the caller.

use axum::{Router, routing::get};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{ApiResult, App, JsonResponse, QueryParams, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/me", get(me))
}

/// Caller, its rights, and the scope of requests that name none.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct CallerIdentity {
    /// Name in logs: `token`, or `key:` and the name of the key.
    name: String,
    /// Role: read, write or admin.
    role: &'static str,
    /// Set for the owner's token, which opens every scope.
    owner: bool,
    agent: String,
    user: String,
    /// Version of the server.
    version: &'static str,
}

/// Show who the caller is and what it may do
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/me", tag = "identity",
    responses((status = 200, description = "Caller, role, scope, and version of the server", body = CallerIdentity)),
))]
pub(super) async fn me(Reader(access): Reader, params: QueryParams) -> ApiResult<CallerIdentity> {
    params.finish()?;
    Ok(JsonResponse::ok(CallerIdentity {
        name: access.caller.name.clone(),
        role: access.caller.role.as_str(),
        owner: access.caller.bound_scope.is_none(),
        agent: access.scope.agent().to_owned(),
        user: access.scope.user().to_owned(),
        version: env!("CARGO_PKG_VERSION"),
    }))
}
