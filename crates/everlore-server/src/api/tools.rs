//! The tools of agents: the registry of the engine, called over HTTP.

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use everlore::{
    ToolContext, ToolRegistry, ToolResult,
    files::{
        home::vault_folder,
        memory_folder::{MemoryFolder, MemoryFolderLimits},
    },
    tools::ToolSet,
};
use serde_json::{Value, json};

use super::schema;
use crate::{
    app::App,
    auth::{KeyRole, Reader},
    body::{JsonBody, PathParam},
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/tools", get(list)).route("/v1/tools/{name}", post(call))
}

/// List the tools, with their schemas
#[utoipa::path(get, path = "/v1/tools", tag = "tools", params(("set" = Option<Vec<String>>, Query, description = "Only those of this set: core, layers, anthropic, fs, graph or search; may be repeated")), responses((status = 200, description = "The tools, always in the same order", body = Object)))]
pub(super) async fn list(Reader(_): Reader, mut params: QueryParams) -> ApiResult<Value> {
    let sets: Vec<ToolSet> = params.repeated("set")?;
    params.finish()?;
    let tools = if sets.is_empty() { ToolRegistry::all() } else { ToolRegistry::for_sets(&sets) };
    let specs: Vec<_> = tools.specs().collect();
    Ok(JsonResponse::ok(json!({ "tools": specs })))
}

/// Call a tool as an agent would
///
/// The body is its input. What goes wrong inside the tool is told in the answer, with `is_error`. Tools that change
/// something need the role write.
#[utoipa::path(post, path = "/v1/tools/{name}", tag = "tools", request_body = Object, params(
    ("name" = String, Path, description = "The tool"),
    ("session" = Option<String>, Query, description = "The conversation in which it is called"),
), responses((status = 200, description = "What the tool answers", body = schema::ToolAnswer)))]
pub(super) async fn call(
    Reader(access): Reader,
    PathParam(name): PathParam,
    mut params: QueryParams,
    JsonBody(input, _): JsonBody<Value>,
) -> ApiResult<ToolResult> {
    let session: Option<String> = params.optional("session")?;
    params.finish()?;
    let spec = access.app.tools.spec(&name).map_err(|error| {
        Problem::new(StatusCode::NOT_FOUND, "not_found", error.to_string(), error.hint())
    })?;
    if !spec.annotations.read_only_hint || session.is_some() {
        access.require_role(KeyRole::Write)?;
    }
    let vault = vault_folder(&access.app.options.home, &access.scope);
    let folder = MemoryFolder::new(vault, MemoryFolderLimits::default());
    let context = ToolContext {
        session: session.as_deref(),
        folder: Some(&folder),
        check_permission: &access.allowed_checks(),
        ..ToolContext::new(&access.app.engine, &access.scope)
    };
    Ok(JsonResponse::ok(access.app.tools.call(&name, input, &context).await))
}
