//! The database of an agent, and its move to another one; for the owner only.

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use everlore::{Error, config::StoreUrl};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use utoipa::ToSchema;

use super::settings::access_for_agent;
use crate::{
    Access, Admin, ApiResult, App, JsonBody, JsonResponse, PathParam, Problem, QueryParams,
    agent_moves::AgentMoves,
};

/// Word for the database of the home.
const HOME: &str = "home";

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/agents/{agent}", get(show))
        .route("/v1/agents/{agent}/move", post(change))
}

/// Step of a move to another database.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct AgentMoveBody {
    /// Step.
    action: AgentMoveAction,
    /// For `move`: `sqlite:PATH` or `directory:PATH` with an absolute path, `postgres://…`, `mysql://…`, or `home`.
    to: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(rename_all = "snake_case")]
enum AgentMoveAction {
    /// Move in the background, or go on with a move that was interrupted.
    Move,
    /// Return to the database that the last move left, with what came since.
    Back,
    /// Erase the memories in the database that the last move left.
    Confirm,
    /// End a move that was not finished.
    Cancel,
}

/// Database of an agent. Addresses are without passwords.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct AgentDatabaseView {
    /// Name of the agent.
    agent: String,
    /// Address of its database.
    store: String,
    /// Move under way: its target and its phase.
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    moving: Option<Value>,
    /// Database that the last move left, until it is confirmed.
    kept: Option<String>,
    /// Progress of the move that this server runs or ran last, and why it failed.
    #[cfg_attr(test, schema(value_type = Option<Object>))]
    progress: Option<Value>,
}

/// Show the database of an agent and its move; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/agents/{agent}", tag = "agents", operation_id = "show_database",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = 200, description = "The database", body = AgentDatabaseView)),
))]
pub(super) async fn show(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
) -> ApiResult<AgentDatabaseView> {
    access.require_owner()?;
    let access = access_for_agent(&access, &agent, params)?;
    Ok(JsonResponse::ok(view(&access, &agent).await?))
}

/// Move an agent to another database in the background, or finish or undo a move; for the owner only
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/agents/{agent}/move", tag = "agents", operation_id = "move_database",
    request_body = AgentMoveBody,
    params(("agent" = String, Path, description = "The agent")),
    responses(
        (status = 200, description = "Confirmed or ended", body = AgentDatabaseView),
        (status = 202, description = "The move runs; GET tells how far it is", body = AgentDatabaseView),
    ),
))]
pub(super) async fn change(
    Admin(access): Admin,
    PathParam(agent): PathParam,
    params: QueryParams,
    JsonBody(body, _): JsonBody<AgentMoveBody>,
) -> ApiResult<AgentDatabaseView> {
    access.require_owner()?;
    let access = access_for_agent(&access, &agent, params)?;
    let engine = access.engine();
    let to = match body.action {
        AgentMoveAction::Move => Some(target(body.to.as_deref().unwrap_or_default())?),
        AgentMoveAction::Back => None,
        AgentMoveAction::Confirm => {
            engine.confirm_agent_move(&agent).await?;
            return Ok(JsonResponse::ok(view(&access, &agent).await?));
        }
        AgentMoveAction::Cancel => {
            engine.cancel_agent_move(&agent).await?;
            return Ok(JsonResponse::ok(view(&access, &agent).await?));
        }
    };
    start(&access, &agent, to).await?;
    Ok(JsonResponse(StatusCode::ACCEPTED, view(&access, &agent).await?))
}

/// Starts a move in the background (`None`: back to the database that the last one left).
async fn start(access: &Access, agent: &str, to: Option<StoreUrl>) -> Result<(), Problem> {
    let engine = access.engine();
    if to.is_none() && engine.agent_database(agent).await?.kept.is_none() {
        let advice = "GET tells which database it uses";
        return Err(Error::invalid("no move of this agent waits to be taken back", advice).into());
    }
    if AgentMoves::start(&access.app, engine, agent, to) {
        return Ok(());
    }
    let (code, advice) = (StatusCode::CONFLICT, "GET tells how far it is");
    Err(Problem::new(code, "conflict", "the agent moves already", advice))
}

/// Returns the database that a request names; an empty address for that of the home.
fn target(to: &str) -> Result<StoreUrl, Problem> {
    if to == HOME {
        return Ok(StoreUrl::default());
    }
    let url = StoreUrl::new(to);
    let path = url.sqlite_path().or_else(|| url.directory_path());
    if path.is_some_and(|path| !std::path::Path::new(path).is_absolute()) {
        return Err(Error::invalid("the path in `to` is relative", "give an absolute path").into());
    }
    match url.validate_for_agent() {
        Ok(()) if !url.is_empty() => Ok(url),
        Ok(()) => Err(Error::invalid("`to` names no database", "use sqlite:PATH or home").into()),
        Err(problem) => {
            Err(Error::invalid(format!("`to` {problem}"), "see docs/databases.md").into())
        }
    }
}

async fn view(access: &Access, agent: &str) -> Result<AgentDatabaseView, Problem> {
    let engine = access.engine();
    let database = engine.agent_database(agent).await?;
    let moving = database
        .moving
        .as_ref()
        .map(|moving| json!({ "to": engine.shown_database(&moving.to), "phase": moving.phase }));
    Ok(AgentDatabaseView {
        agent: agent.to_owned(),
        store: engine.shown_database(&database.url),
        moving,
        kept: database.kept.as_ref().map(|kept| engine.shown_database(kept)),
        progress: access.app.agent_moves.describe(agent),
    })
}
