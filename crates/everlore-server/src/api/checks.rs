//! Checks of memories over HTTP: who may set which, and what they tell.

use axum::{Router, http::StatusCode, routing::post};
use everlore::{
    Engine, Memory,
    engine::NAMED_CHECK_TIMEOUT,
    types::{CheckResult, CheckStatus, NewCheck},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{check_schema, schema};
use crate::{
    app::App,
    auth::{Access, Reader},
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/memories/verify", post(verify))
}

/// A memory, with what its check tells now.
#[derive(Serialize, ToSchema)]
pub(super) struct Checked {
    #[serde(flatten)]
    #[schema(value_type = schema::Memory)]
    memory: Memory,
    /// What its check tells now, if it has one and was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<check_schema::Verified>)]
    check: Option<CheckResult>,
}

impl Checked {
    /// The memory, verified.
    pub(super) async fn verified(engine: &Engine, memory: Memory) -> Self {
        let check = engine.verify_memory(&memory).await;
        Self { memory, check }
    }

    /// The memory alone.
    pub(super) fn unverified(memory: Memory) -> Self {
        Self { memory, check: None }
    }
}

/// The memories, verified.
pub(super) async fn verify_memories(engine: &Engine, memories: Vec<Memory>) -> Vec<Checked> {
    let verified =
        engine.verify_memories(&memories.iter().collect::<Vec<_>>(), NAMED_CHECK_TIMEOUT).await;
    let each = memories.into_iter().zip(verified);
    each.map(|(memory, check)| Checked { memory, check }).collect()
}

/// Refuses checks that look at this machine to everyone but its owner: their answers tell what files there are.
pub(super) fn require_check_permission(
    access: &Access,
    check: Option<&NewCheck>,
) -> Result<(), Problem> {
    if access.caller.bound_scope.is_none() || !check.is_some_and(NewCheck::probes_machine) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "role",
        "checks of files and commands are set by the owner only",
        "use until or days with a key, or the token of the owner, which is in server.token in the home",
    ))
}

/// What verifying a whole scope found.
#[derive(Serialize, ToSchema)]
pub(super) struct Report {
    /// How many memories have a check.
    checked: usize,
    /// Of these, those that hold.
    fresh: usize,
    /// Those that do not.
    stale: usize,
    /// Those of which nothing was found out.
    unverifiable: usize,
    /// Those that are not fresh, the oldest first; all if all were asked for.
    memories: Vec<Checked>,
}

/// Verify all memories that have a check
#[utoipa::path(post, path = "/v1/memories/verify", tag = "memories", params(
    ("all" = Option<bool>, Query, description = "Also list those that hold"),
), responses((status = 200, description = "What was found", body = Report)))]
pub(super) async fn verify(Reader(access): Reader, mut params: QueryParams) -> ApiResult<Report> {
    let all = params.optional("all")?.unwrap_or(false);
    params.finish()?;
    let verified = access.engine().verify_all(&access.scope).await?;
    let number = |verdict| verified.iter().filter(|(_, check)| check.verdict == verdict).count();
    let [fresh, stale, unverifiable] = CheckStatus::ALL.map(number);
    let checked = verified.len();
    let listed =
        verified.into_iter().filter(|(_, check)| all || check.verdict != CheckStatus::Fresh);
    let memories = listed.map(|(memory, check)| Checked { memory, check: Some(check) }).collect();
    Ok(JsonResponse::ok(Report { checked, fresh, stale, unverifiable, memories }))
}
