//! Turns of conversations, stored word for word.

use axum::{Router, http::StatusCode, routing::post};
use everlore::{
    Turn,
    ingest::SavedMemory,
    types::{Role, Timestamp},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema;
use crate::{
    app::App,
    auth::{Access, Writer},
    body::JsonBody,
    idempotency::{IdempotencyKey, IdempotentWrite},
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most turns of a batch: a long conversation, and no more than one write should hold.
const MAX_TURNS: usize = 1_000;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/turns", post(observe)).route("/v1/turns/batch", post(observe_batch))
}

/// One message of a conversation. Only the text is needed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Turn)]
pub(super) struct TurnBody {
    /// What was said.
    text: String,
    /// The conversation.
    session: Option<String>,
    /// Who said it, by name.
    speaker: Option<String>,
    /// Who said it, by role.
    #[schema(value_type = Option<schema::Role>)]
    role: Option<Role>,
    /// When (RFC 3339); now if left out.
    #[schema(value_type = Option<String>)]
    time: Option<Timestamp>,
}

impl From<TurnBody> for Turn {
    fn from(TurnBody { text, session, speaker, role, time }: TurnBody) -> Self {
        Self { text, session, speaker, role, time }
    }
}

/// Several turns, in the order they were said.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Turns {
    turns: Vec<TurnBody>,
}

/// What was stored, in the same order.
#[derive(Serialize, ToSchema)]
pub(super) struct SavedTurns {
    #[schema(value_type = Vec<schema::Saved>)]
    saved: Vec<SavedMemory>,
}

/// Store what was said, word for word
#[utoipa::path(post, path = "/v1/turns", tag = "turns", request_body = TurnBody, params(
    ("Idempotency-Key" = Option<String>, Header, description = "A name for this request: sent again, it is not done again"),
), responses((status = 201, description = "It is durable and can be found", body = schema::Saved)))]
pub(super) async fn observe(
    Writer(access): Writer,
    key: IdempotencyKey,
    JsonBody(turn, bytes): JsonBody<TurnBody>,
) -> ApiResult<SavedMemory> {
    let mut saved = observe_once(&access, key, vec![turn.into()], &bytes).await?;
    let saved =
        saved.pop().ok_or_else(|| Problem::internal(&"a turn was stored without a receipt"))?;
    Ok(JsonResponse(StatusCode::CREATED, saved))
}

/// Store several turns, all or none
#[utoipa::path(post, path = "/v1/turns/batch", tag = "turns", request_body = Turns, params(
    ("Idempotency-Key" = Option<String>, Header, description = "A name for this request: sent again, it is not done again"),
), responses((status = 201, description = "They are durable and can be found", body = SavedTurns)))]
pub(super) async fn observe_batch(
    Writer(access): Writer,
    key: IdempotencyKey,
    JsonBody(Turns { turns }, bytes): JsonBody<Turns>,
) -> ApiResult<SavedTurns> {
    if turns.len() > MAX_TURNS {
        let title = format!("a batch holds {MAX_TURNS} turns at most");
        return Err(Problem::invalid(title, "send them in parts"));
    }
    let turns = turns.into_iter().map(Turn::from).collect();
    let saved = observe_once(&access, key, turns, &bytes).await?;
    Ok(JsonResponse(StatusCode::CREATED, SavedTurns { saved }))
}

async fn observe_once(
    access: &Access,
    key: IdempotencyKey,
    turns: Vec<Turn>,
    bytes: &[u8],
) -> Result<Vec<SavedMemory>, Problem> {
    let Some(once) = IdempotentWrite::begin(access, key, "observe", bytes)? else {
        return Ok(access.engine().observe(&access.scope, turns).await?);
    };
    match once.earlier_result().await? {
        Some(saved) => Ok(saved),
        None => Ok(once.engine().observe(&access.scope, turns).await?),
    }
}
