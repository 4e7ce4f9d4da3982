//! Settings of one agent: those of the home, with its overrides. All its users share them, so only the owner changes them.

use axum::{
    Router,
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::{config::AgentConfigPatch, engine::AgentSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, Admin, App, JsonBody, JsonResponse, PathParam, Problem, QueryParams,
    etag::{IfMatch, text_etag, with_etag},
};

pub(super) fn routes() -> Router<App> {
    let all = get(show).put(replace).patch(merge).delete(reset);
    Router::new().route("/v1/agents/{agent}/settings", all)
}

/// Effective settings of an agent.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct SettingsView {
    /// Name of the agent.
    agent: String,
    /// Effective values, by sections as in config.toml: every setting that an agent may override.
    #[cfg_attr(test, schema(value_type = Object))]
    settings: Map<String, Value>,
    /// Overrides of the agent.
    #[cfg_attr(test, schema(value_type = Object))]
    own: Map<String, Value>,
    /// Entries of its file that are ignored.
    warnings: Vec<String>,
    /// Reason why its file is not in effect; the last valid version is.
    problem: Option<String>,
}

impl From<AgentSettings> for SettingsView {
    fn from(settings: AgentSettings) -> Self {
        let AgentSettings { agent, settings, own, warnings, problem, .. } = settings;
        Self { agent, settings, own, warnings, problem }
    }
}

/// Overrides of an agent, by sections as in config.toml.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[cfg_attr(test, schema(value_type = Object))]
pub(super) struct SettingsBody(Map<String, Value>);

/// JSON merge patch of an agent's overrides: null removes a setting or a section.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[cfg_attr(test, schema(value_type = Object))]
pub(super) struct SettingsPatch(Map<String, Value>);

/// Show the effective settings of an agent, and its overrides
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "show_settings",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = 200, description = "The settings", body = SettingsView)),
))]
pub(super) async fn show(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
) -> Result<Response, Problem> {
    let access = access_for_agent(&access, &agent, params)?;
    let result = access.engine().agent_settings(&agent).await;
    Ok(settings_response(access, result.map_err(Problem::from)))
}

/// Replace all overrides of an agent; for the owner only
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "replace_settings",
    request_body = SettingsBody,
    params(
        ("agent" = String, Path, description = "The agent"),
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
    ),
    responses((status = 200, description = "The settings after the change", body = SettingsView)),
))]
pub(super) async fn replace(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    if_match: IfMatch,
    JsonBody(SettingsBody(body), _): JsonBody<SettingsBody>,
) -> Result<Response, Problem> {
    change_settings(
        access_for_agent(&access, &agent, params)?,
        &agent,
        &if_match,
        AgentConfigPatch::Replace(body),
    )
    .await
}

/// Patch the overrides of an agent with a JSON merge patch; for the owner only
#[cfg_attr(test, utoipa::path(
    patch, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "merge_settings",
    request_body = SettingsPatch,
    params(
        ("agent" = String, Path, description = "The agent"),
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
    ),
    responses((status = 200, description = "The settings after the change", body = SettingsView)),
))]
pub(super) async fn merge(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    if_match: IfMatch,
    JsonBody(SettingsPatch(body), _): JsonBody<SettingsPatch>,
) -> Result<Response, Problem> {
    change_settings(
        access_for_agent(&access, &agent, params)?,
        &agent,
        &if_match,
        AgentConfigPatch::Merge(body),
    )
    .await
}

/// Remove all overrides of an agent, so that the settings of the home apply; for the owner only
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "reset_settings",
    params(
        ("agent" = String, Path, description = "The agent"),
        (
            "If-Match" = Option<String>, Header,
            description = "ETag of the version that was read; the request fails with 412 if it has changed since",
        ),
    ),
    responses((status = 200, description = "The settings after the change", body = SettingsView)),
))]
pub(super) async fn reset(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    if_match: IfMatch,
) -> Result<Response, Problem> {
    let (access, expected) = (access_for_agent(&access, &agent, params)?, if_match.clone());
    let is_expected = move |current: &AgentSettings| expected.allows(&settings_etag(current));
    let result = access.engine().reset_agent_settings(&agent, is_expected).await;
    Ok(settings_response(access, result.map_err(|error| if_match.to_problem(error))))
}

async fn change_settings(
    access: Access,
    agent: &str,
    if_match: &IfMatch,
    change: AgentConfigPatch,
) -> Result<Response, Problem> {
    let expected = if_match.clone();
    let is_expected = move |current: &AgentSettings| expected.allows(&settings_etag(current));
    let result = access.engine().change_agent_settings(agent, change, is_expected).await;
    Ok(settings_response(access, result.map_err(|error| if_match.to_problem(error))))
}

/// Returns access to the agent that the path names, if the caller may have it.
pub(super) fn access_for_agent(
    access: &Access,
    agent: &str,
    mut params: QueryParams,
) -> Result<Access, Problem> {
    let in_query: Option<String> = params.optional("agent")?;
    params.finish()?;
    if in_query.is_some_and(|in_query| in_query != agent) {
        return Err(Problem::invalid("the agent is given twice", "name it in the path only"));
    }
    access.with_scope(Some(agent), None)
}

/// Returns the ETag of the effective settings and of the text of the file.
fn settings_etag(current: &AgentSettings) -> String {
    let effective = serde_json::to_string(current).unwrap_or_default();
    text_etag(&format!("{effective}\n{}", current.text))
}

/// Builds the response, and records this agent for the audit log.
fn settings_response(access: Access, result: Result<AgentSettings, Problem>) -> Response {
    let mut response = match result {
        Ok(settings) => {
            let tag = settings_etag(&settings);
            with_etag(&tag, JsonResponse::ok(SettingsView::from(settings)))
        }
        Err(problem) => problem.into_response(),
    };
    response.extensions_mut().insert(access);
    response
}
