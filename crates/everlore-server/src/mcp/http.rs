//! MCP over HTTP at `/mcp`. Every request stands alone, so there is no session to hijack or to exhaust.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    response::Response,
    routing::any,
};
use everlore::tools::ToolSet;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use super::{McpContext, McpServer};
use crate::{Access, App, KeyRole, Problem, QueryParams, Reader, body::read_body};

/// Returns the MCP route.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/mcp", any(handle_message))
}

/// Answers one message, with the scope and the role of its caller.
async fn handle_message(
    Reader(access): Reader,
    mut params: QueryParams,
    request: Request,
) -> Result<Response, Problem> {
    let sets = requested_sets(&mut params, &access)?;
    params.finish()?;
    let max_bytes = access.app.options.max_body_bytes;
    let (parts, body) = request.into_parts();
    let body: Full<Bytes> = Full::new(read_body(body, &access.app.options).await?);
    let mcp = McpServer::new(mcp_context(&access, sets));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(max_bytes)
        // `host_guard` has checked host and origin already.
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(mcp.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Ok(service.handle(Request::from_parts(parts, body)).await.map(Body::new))
}

/// Returns the tool sets that the address names; those of the server by default.
fn requested_sets(params: &mut QueryParams, access: &Access) -> Result<Vec<ToolSet>, Problem> {
    let requested: Vec<String> = params.repeated("tools")?;
    let names = requested.iter().flat_map(|names| names.split(',')).map(str::trim);
    let sets: Result<Vec<ToolSet>, _> = names.map(str::parse).collect();
    let sets = sets.map_err(|error: everlore::Error| {
        Problem::invalid(format!("`tools` cannot be read: {error}"), error.hint())
    })?;
    Ok(if sets.is_empty() { access.app.options.mcp_tools.clone() } else { sets })
}

fn mcp_context(access: &Access, sets: Vec<ToolSet>) -> McpContext {
    McpContext {
        engine: access.engine(),
        scope: access.scope.clone(),
        home: access.app.options.home.clone(),
        tools: Arc::clone(&access.app.tools),
        tool_sets: sets,
        may_write: access.require_role(KeyRole::Write).is_ok(),
        may_erase: access.require_role(KeyRole::Admin).is_ok(),
        reach: access.allowed_checks(),
    }
}
