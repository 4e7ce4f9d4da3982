//! Agent tools: the engine's registry over HTTP.

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use everlore::{
    ToolContext, ToolRegistry, ToolResult,
    internal::files::home::vault_folder,
    tools::{MemoryFolder, MemoryFolderLimits, ToolSet},
};
use serde_json::{Value, json};

use crate::{
    ApiResult, App, JsonBody, JsonResponse, KeyRole, PathParam, Problem, QueryParams, Reader,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/tools", get(list)).route("/v1/tools/{name}", post(call))
}

/// List the tools, with their schemas
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/tools", tag = "tools",
    params(
        (
            "set" = Option<Vec<String>>, Query,
            description = "Tool set: core, layers, anthropic, fs, graph or search; may be repeated",
        ),
    ),
    responses((status = 200, description = "The tools, always in the same order", body = Object)),
))]
pub(super) async fn list(Reader(_): Reader, mut params: QueryParams) -> ApiResult<Value> {
    let sets: Vec<ToolSet> = params.repeated("set")?;
    params.finish()?;
    let tools = if sets.is_empty() { ToolRegistry::all() } else { ToolRegistry::for_sets(&sets) };
    let specs: Vec<_> = tools.specs().collect();
    Ok(JsonResponse::ok(json!({ "tools": specs })))
}

/// Call a tool as an agent does
///
/// The body is the tool's input. An error inside the tool is part of the response, with `is_error`. Tools that write
/// need the role write.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/tools/{name}", tag = "tools", request_body = Object,
    params(
        ("name" = String, Path, description = "Name of the tool"),
        ("session" = Option<String>, Query, description = "Session in which it is called"),
    ),
    responses((status = 200, description = "Result of the tool", body = ToolResult)),
))]
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
    let engine = access.engine();
    let context = ToolContext {
        session: session.as_deref(),
        folder: Some(&folder),
        check_permission: &access.allowed_checks(),
        may_erase: access.require_role(KeyRole::Admin).is_ok(),
        ..ToolContext::new(&engine, &access.scope)
    };
    Ok(JsonResponse::ok(access.app.tools.call(&name, input, &context).await))
}
