//! Checks of memories over HTTP: who may set which, and what they tell.

use axum::{Router, http::StatusCode, routing::post};
use everlore::{
    Engine, Memory,
    engine::NAMED_LIMIT,
    types::{NewCheck, Verdict, Verified},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{check_schema, schema};
use crate::{
    answer::{Answer, Answered},
    app::App,
    auth::{Access, Reader},
    params::Params,
    problem::Problem,
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
    check: Option<Verified>,
}

impl Checked {
    /// The memory, verified.
    pub(super) async fn of(engine: &Engine, memory: Memory) -> Self {
        let check = engine.verified_one(&memory).await;
        Self { memory, check }
    }

    /// The memory alone.
    pub(super) fn unseen(memory: Memory) -> Self {
        Self { memory, check: None }
    }
}

/// The memories, verified.
pub(super) async fn checked(engine: &Engine, memories: Vec<Memory>) -> Vec<Checked> {
    let verified = engine.verified(&memories.iter().collect::<Vec<_>>(), NAMED_LIMIT).await;
    let each = memories.into_iter().zip(verified);
    each.map(|(memory, check)| Checked { memory, check }).collect()
}

/// Refuses checks that look at this machine to everyone but its owner: their answers tell what files there are.
pub(super) fn may_set(access: &Access, check: Option<&NewCheck>) -> Result<(), Problem> {
    if access.caller.only.is_none() || !check.is_some_and(NewCheck::looks) {
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
pub(super) async fn verify(Reader(access): Reader, mut params: Params) -> Answered<Report> {
    let all = params.one("all")?.unwrap_or(false);
    params.end()?;
    let verified = access.engine().verify_all(&access.scope).await?;
    let number = |verdict| verified.iter().filter(|(_, check)| check.verdict == verdict).count();
    let [fresh, stale, unverifiable] = Verdict::ALL.map(number);
    let checked = verified.len();
    let listed = verified.into_iter().filter(|(_, check)| all || check.verdict != Verdict::Fresh);
    let memories = listed.map(|(memory, check)| Checked { memory, check: Some(check) }).collect();
    Ok(Answer::ok(Report { checked, fresh, stale, unverifiable, memories }))
}
