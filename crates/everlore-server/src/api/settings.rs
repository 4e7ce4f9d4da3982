//! The settings of one agent: those of the home, with its own laid over them.

use axum::{
    Router,
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::{config::AgentConfigPatch, engine::AgentSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::{Access, Admin},
    body::{JsonBody, PathParam},
    etag::{IfMatch, text_etag, with_etag},
    params::QueryParams,
    problem::Problem,
    response::JsonResponse,
};

pub(super) fn routes() -> Router<App> {
    let all = get(show).put(replace).patch(merge).delete(reset);
    Router::new().route("/v1/agents/{agent}/settings", all)
}

/// What holds for an agent.
#[derive(Serialize, ToSchema)]
pub(super) struct SettingsView {
    /// The agent.
    agent: String,
    /// What holds for it, by sections as in config.toml: everything that an agent may have for itself.
    #[schema(value_type = Object)]
    settings: Map<String, Value>,
    /// What of it is its own; the rest is the home's.
    #[schema(value_type = Object)]
    own: Map<String, Value>,
    /// What its file says and is ignored.
    warnings: Vec<String>,
    /// Why what its file says does not hold; what it said before does.
    problem: Option<String>,
}

impl From<AgentSettings> for SettingsView {
    fn from(found: AgentSettings) -> Self {
        let AgentSettings { agent, settings, own, warnings, problem, .. } = found;
        Self { agent, settings, own, warnings, problem }
    }
}

/// Settings of an agent alone, by sections as in config.toml.
#[derive(Deserialize, ToSchema)]
#[schema(value_type = Object)]
pub(super) struct SettingsBody(Map<String, Value>);

/// A JSON merge patch of an agent's own settings: null removes a setting or a section.
#[derive(Deserialize, ToSchema)]
#[schema(value_type = Object)]
pub(super) struct SettingsPatch(Map<String, Value>);

/// Read what holds for an agent, and what of it is its own
#[utoipa::path(get, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "show_settings", params(("agent" = String, Path, description = "The agent")), responses((status = 200, description = "The settings", body = SettingsView)))]
pub(super) async fn show(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
) -> Result<Response, Problem> {
    let access = access_for_agent(&access, &agent, params)?;
    let found = access.engine().agent_settings(&agent).await;
    Ok(settings_response(access, found.map_err(Problem::from)))
}

/// Replace all of an agent's own settings
#[utoipa::path(put, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "replace_settings", request_body = SettingsBody, params(("agent" = String, Path, description = "The agent"), ("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)")), responses((status = 200, description = "The settings as they are now", body = SettingsView)))]
pub(super) async fn replace(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    matching: IfMatch,
    JsonBody(SettingsBody(body), _): JsonBody<SettingsBody>,
) -> Result<Response, Problem> {
    change_settings(
        access_for_agent(&access, &agent, params)?,
        &agent,
        &matching,
        AgentConfigPatch::Replace(body),
    )
    .await
}

/// Change some of an agent's own settings, by a JSON merge patch
#[utoipa::path(patch, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "merge_settings", request_body = SettingsPatch, params(("agent" = String, Path, description = "The agent"), ("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)")), responses((status = 200, description = "The settings as they are now", body = SettingsView)))]
pub(super) async fn merge(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    matching: IfMatch,
    JsonBody(SettingsPatch(body), _): JsonBody<SettingsPatch>,
) -> Result<Response, Problem> {
    change_settings(
        access_for_agent(&access, &agent, params)?,
        &agent,
        &matching,
        AgentConfigPatch::Merge(body),
    )
    .await
}

/// Remove all of an agent's own settings, so that those of the home hold
#[utoipa::path(delete, path = "/v1/agents/{agent}/settings", tag = "agents", operation_id = "reset_settings", params(("agent" = String, Path, description = "The agent"), ("If-Match" = Option<String>, Header, description = "The ETag of what was seen: if it was changed since, nothing is done (412)")), responses((status = 200, description = "The settings as they are now", body = SettingsView)))]
pub(super) async fn reset(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    matching: IfMatch,
) -> Result<Response, Problem> {
    let (access, meant) = (access_for_agent(&access, &agent, params)?, matching.clone());
    let is_expected = move |seen: &AgentSettings| meant.allows(&settings_etag(seen));
    let done = access.engine().reset_agent_settings(&agent, is_expected).await;
    Ok(settings_response(access, done.map_err(|error| matching.to_problem(error))))
}

async fn change_settings(
    access: Access,
    agent: &str,
    matching: &IfMatch,
    change: AgentConfigPatch,
) -> Result<Response, Problem> {
    let meant = matching.clone();
    let is_expected = move |seen: &AgentSettings| meant.allows(&settings_etag(seen));
    let done = access.engine().change_agent_settings(agent, change, is_expected).await;
    Ok(settings_response(access, done.map_err(|error| matching.to_problem(error))))
}

/// Access to the agent that the path names, if it is open to the caller.
fn access_for_agent(
    access: &Access,
    agent: &str,
    mut params: QueryParams,
) -> Result<Access, Problem> {
    let also: Option<String> = params.optional("agent")?;
    params.finish()?;
    if also.is_some_and(|also| also != agent) {
        return Err(Problem::invalid("the agent is given twice", "name it in the path only"));
    }
    access.with_scope(Some(agent), None)
}

/// The tag of what holds and of what the file says.
fn settings_etag(seen: &AgentSettings) -> String {
    let told = serde_json::to_string(seen).unwrap_or_default();
    text_etag(&format!("{told}\n{}", seen.text))
}

/// The answer, written down as one about this agent.
fn settings_response(access: Access, found: Result<AgentSettings, Problem>) -> Response {
    let mut response = match found {
        Ok(found) => {
            let tag = settings_etag(&found);
            with_etag(&tag, Ok(JsonResponse::ok(SettingsView::from(found))))
        }
        Err(problem) => problem.into_response(),
    };
    response.extensions_mut().insert(access);
    response
}
