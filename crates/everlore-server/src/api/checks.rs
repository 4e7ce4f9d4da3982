//! Checks of memories over HTTP: permission to set them, and their results.

use axum::{Router, http::StatusCode, routing::post};
use everlore::{
    Engine, Memory,
    engine::NAMED_CHECK_TIMEOUT,
    types::{CheckResult, CheckStatus, NewCheck},
};
use serde::Serialize;
#[cfg(test)]
use utoipa::ToSchema;

use crate::{Access, ApiResult, App, JsonResponse, Problem, QueryParams, Reader};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/memories/verify", post(verify))
}

/// Memory with the result of its check.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct CheckedMemory {
    #[serde(flatten)]
    memory: Memory,
    /// Result of its check, if it has one and the request asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckResult>,
}

impl CheckedMemory {
    /// Verifies the check of a memory.
    pub(super) async fn verified(engine: &Engine, memory: Memory) -> Self {
        let check = engine.verify_memory(&memory).await;
        Self { memory, check }
    }

    /// Wraps a memory without verifying it.
    pub(super) fn unverified(memory: Memory) -> Self {
        Self { memory, check: None }
    }
}

/// Verifies the checks of several memories.
pub(super) async fn verify_memories(engine: &Engine, memories: Vec<Memory>) -> Vec<CheckedMemory> {
    let verified =
        engine.verify_memories(&memories.iter().collect::<Vec<_>>(), NAMED_CHECK_TIMEOUT).await;
    let each = memories.into_iter().zip(verified);
    each.map(|(memory, check)| CheckedMemory { memory, check }).collect()
}

/// Allows checks that probe this machine to its owner only: their results reveal which files exist.
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
        "only the owner may set checks of files and commands",
        "use until or days with a key, or the owner's token from server.token in the home",
    ))
}

/// Result of verifying a whole scope.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct VerifyReport {
    /// Memories that have a check.
    checked: usize,
    /// Memories whose check passed.
    fresh: usize,
    /// Memories whose check failed.
    stale: usize,
    /// Memories whose check gave no result.
    unverifiable: usize,
    /// Memories that are not fresh, oldest first; with `all` every checked memory.
    memories: Vec<CheckedMemory>,
}

/// Verify all memories that have a check
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/memories/verify", tag = "memories",
    params(("all" = Option<bool>, Query, description = "Also list fresh memories")),
    responses((status = 200, description = "Counts, and the memories that are not fresh", body = VerifyReport)),
))]
pub(super) async fn verify(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<VerifyReport> {
    let all = params.optional("all")?.unwrap_or(false);
    params.finish()?;
    let verified = access.engine().verify_all(&access.scope).await?;
    let number = |verdict| verified.iter().filter(|(_, check)| check.verdict == verdict).count();
    let [fresh, stale, unverifiable] = CheckStatus::ALL.map(number);
    let checked = verified.len();
    let listed =
        verified.into_iter().filter(|(_, check)| all || check.verdict != CheckStatus::Fresh);
    let memories =
        listed.map(|(memory, check)| CheckedMemory { memory, check: Some(check) }).collect();
    Ok(JsonResponse::ok(VerifyReport { checked, fresh, stale, unverifiable, memories }))
}
