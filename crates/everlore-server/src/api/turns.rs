//! Turns of conversations, stored word for word.

use axum::{Router, http::StatusCode, routing::post};
use everlore::{
    Turn,
    engine::SavedMemory,
    types::{RecordedAnswer, RecordedCall, Role, Timestamp},
};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, ApiResult, App, JsonBody, JsonResponse, Problem, Writer,
    idempotency::{IdempotencyKey, IdempotentWrite},
};

/// Largest batch: a long session, and no more than one write should hold.
const MAX_TURNS: usize = 1_000;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/turns", post(observe)).route("/v1/turns/batch", post(observe_batch))
}

/// Turn of a session. Only the text is required.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schema(as = Turn))]
pub(super) struct TurnBody {
    /// Text of the message, or result of a tool call.
    #[cfg_attr(test, schema(min_length = 1))]
    text: String,
    /// Session of the turn.
    session: Option<String>,
    /// Name of the speaker.
    speaker: Option<String>,
    /// Role of the speaker.
    role: Option<Role>,
    /// Time of the turn (RFC 3339); now by default.
    time: Option<Timestamp>,
    /// Tool call of an agent, of which the text is the result: it is recorded in the trajectory of the session.
    call: Option<RecordedCall>,
    /// Circumstances of an answer, for the trajectory of the session.
    answer: Option<RecordedAnswer>,
}

impl From<TurnBody> for Turn {
    fn from(body: TurnBody) -> Self {
        let TurnBody { text, session, speaker, role, time, call, answer } = body;
        Self { text, session, speaker, role, time, call, answer }
    }
}

/// Several turns, in their order.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct TurnBatch {
    #[cfg_attr(test, schema(max_items = 1000))]
    turns: Vec<TurnBody>,
}

/// Stored turns, in the same order.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct SavedTurns {
    saved: Vec<SavedMemory>,
}

/// Store a turn, word for word
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/turns", tag = "turns", request_body = TurnBody,
    params(
        (
            "Idempotency-Key" = Option<String>, Header,
            description = "Key of this request: repeating it does not repeat the write",
        ),
    ),
    responses((status = 201, description = "Stored, durable and indexed", body = SavedMemory)),
))]
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
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/turns/batch", tag = "turns", request_body = TurnBatch,
    params(
        (
            "Idempotency-Key" = Option<String>, Header,
            description = "Key of this request: repeating it does not repeat the write",
        ),
    ),
    responses((status = 201, description = "Stored, durable and indexed", body = SavedTurns)),
))]
pub(super) async fn observe_batch(
    Writer(access): Writer,
    key: IdempotencyKey,
    JsonBody(TurnBatch { turns }, bytes): JsonBody<TurnBatch>,
) -> ApiResult<SavedTurns> {
    if turns.len() > MAX_TURNS {
        let title = format!("a batch holds at most {MAX_TURNS} turns");
        return Err(Problem::invalid(title, "split the batch"));
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
    once.make(async |engine| engine.observe(&access.scope, turns).await).await
}
