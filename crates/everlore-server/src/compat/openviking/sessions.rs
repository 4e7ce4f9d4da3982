//! `/api/v1/sessions`: messages are observed, and a commit extracts memories from them.

use everlore::{
    engine::{
        ExtractRequest,
        fs::{FsListRequest, FsRemoveRequest, MAX_PAGE_SIZE, to_viking},
    },
    internal::text::{sanitize::sanitize_verbatim, tokens::estimate_tokens},
    types::{Memory, Role, Tier},
};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    envelope::{VikingResponse, VikingResult},
    message::VikingMessage,
};
use crate::{Access, JsonBody, PathParam, Problem, QueryParams, Reader, Writer};

/// Turns of a session returned at most.
const MAX_TURNS: usize = 1_000;

/// Prefix of task ids; the rest is the session.
const TASK_PREFIX: &str = "commit-";

/// Returns the uri of a session in our tree.
fn session_uri(session: &str) -> String {
    let special = [("%", "%25"), ("/", "%2F"), ("\\", "%5C")];
    let part = special.iter().fold(session.to_owned(), |part, (from, to)| part.replace(from, to));
    format!("sessions/{part}")
}

fn session_json(access: &Access, session: &str) -> Value {
    let uri = to_viking(&session_uri(session), &access.scope);
    json!({ "session_id": session, "uri": uri, "user": { "user_id": access.scope.user() } })
}

/// Session to create.
#[derive(Deserialize)]
pub(super) struct CreateSessionBody {
    session_id: Option<String>,
}

/// Creates a session: it is stored with its first turn; until then the server remembers its name.
pub(super) async fn create(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<CreateSessionBody>,
) -> VikingResult {
    let session = body.session_id.filter(|name| !name.trim().is_empty());
    let session = session.unwrap_or_else(|| Uuid::now_v7().to_string());
    everlore::engine::fs::check_uri(&session_uri(&session), &access.scope)?;
    access.app.compat.viking.open_session(&access.scope, &session);
    VikingResponse::ok(session_json(&access, &session))
}

pub(super) async fn list(Reader(access): Reader) -> VikingResult {
    let page = FsListRequest { limit: MAX_PAGE_SIZE, ..FsListRequest::new("sessions") };
    let listing = access.engine().fs_list(&access.scope, &page).await?;
    let item_json = |item: &everlore::engine::fs::FsEntry| {
        let uri = to_viking(&item.uri, &access.scope);
        let uri = uri.trim_end_matches('/');
        json!({ "session_id": item.name, "uri": uri, "is_dir": true, "updated_at": item.modified_at })
    };
    VikingResponse::page(
        listing.items.iter().map(item_json).collect::<Vec<_>>().into(),
        listing.next.is_some(),
    )
}

pub(super) async fn show(
    Reader(access): Reader,
    PathParam(session): PathParam,
    mut params: QueryParams,
) -> VikingResult {
    let may_create = params.flag("auto_create")?;
    let engine = access.engine();
    let stat = engine.fs_stat(&access.scope, &session_uri(&session)).await;
    let mut session_item = session_json(&access, &session);
    match stat {
        Ok(stat) => {
            session_item["message_count"] = stat.entries.into();
            session_item["created_at"] = json!(stat.item.created_at);
            session_item["updated_at"] = json!(stat.item.modified_at);
            session_item["abstract"] = stat.item.summary.into();
            session_item["pending_messages"] = pending_turns(&access, &session).await?.into();
        }
        Err(_)
            if may_create || access.app.compat.viking.is_session_open(&access.scope, &session) =>
        {
            session_item["message_count"] = 0.into();
        }
        Err(error) => return Err(error.into()),
    }
    VikingResponse::ok(session_item)
}

pub(super) async fn remove(Writer(access): Writer, PathParam(session): PathParam) -> VikingResult {
    let request = FsRemoveRequest { uri: session_uri(&session), recursive: true, dry_run: false };
    let was_open = access.app.compat.viking.close_session(&access.scope, &session);
    match access.engine().fs_remove(&access.scope, &request).await {
        Err(_) if was_open => {}
        removed => drop(removed?),
    }
    VikingResponse::ok(json!({ "session_id": session }))
}

pub(super) async fn add(
    Writer(access): Writer,
    PathParam(session): PathParam,
    JsonBody(message, _): JsonBody<VikingMessage>,
) -> VikingResult {
    observe(access, session, vec![message]).await
}

/// Several messages.
#[derive(Deserialize)]
pub(super) struct MessageBatch {
    messages: Vec<VikingMessage>,
}

pub(super) async fn add_batch(
    Writer(access): Writer,
    PathParam(session): PathParam,
    JsonBody(body, _): JsonBody<MessageBatch>,
) -> VikingResult {
    observe(access, session, body.messages).await
}

async fn observe(access: Access, session: String, messages: Vec<VikingMessage>) -> VikingResult {
    let user = access.scope.user();
    let turns = messages.into_iter().map(|message| message.into_turn(&session, user));
    let turns = turns.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
    let saved = access.engine().observe(&access.scope, turns).await?;
    // The turns are stored, even if the name of the session is invalid in the tree.
    let stat = access.engine().fs_stat(&access.scope, &session_uri(&session)).await;
    let count = stat.ok().and_then(|stat| stat.entries);
    let ids: Vec<_> = saved.iter().map(|saved| saved.id).collect();
    VikingResponse::ok(
        json!({ "session_id": session, "message_count": count, "added": ids.len(), "message_ids": ids }),
    )
}

/// Options of a commit; none matters, because this server keeps every turn.
#[derive(Deserialize)]
pub(super) struct CommitBody {}

/// Ends the session and extracts memories: at once by rules, in the background by a model.
pub(super) async fn commit(
    Writer(access): Writer,
    PathParam(session): PathParam,
    JsonBody(CommitBody {}, _): JsonBody<CommitBody>,
) -> VikingResult {
    let engine = access.engine();
    if engine.captures_without_model(&access.scope) {
        // Before the session is marked as ended: after that the worker would extract as well.
        let request = ExtractRequest { session: Some(session.clone()), dry_run: false };
        engine.extract(&access.scope, &request).await?;
    }
    engine.end_session(&access.scope, &session).await?;
    let archive = to_viking(&session_uri(&session), &access.scope);
    VikingResponse::ok(json!({
        "session_id": session, "status": "accepted", "archived": true,
        "archive_uri": archive, "task_id": format!("{TASK_PREFIX}{session}"),
    }))
}

/// Returns the number of turns of a session that were not captured yet.
async fn pending_turns(access: &Access, session: &str) -> Result<usize, Problem> {
    let status = access.engine().capture_status(&access.scope).await?;
    let pending =
        status.waiting.iter().filter(|pending| pending.session.as_deref() == Some(session));
    Ok(pending.map(|pending| pending.turns).sum())
}

pub(super) async fn task(Reader(access): Reader, PathParam(task): PathParam) -> VikingResult {
    let Some(session) = task.strip_prefix(TASK_PREFIX) else {
        return Err(Problem::from(everlore::Error::not_found("task", &task)));
    };
    let pending = pending_turns(&access, session).await?;
    let status = if pending == 0 { "completed" } else { "running" };
    let result = json!({ "session_id": session, "pending_messages": pending });
    VikingResponse::ok(
        json!({ "task_id": task, "task_type": "session_commit", "status": status, "resource_id": session, "result": result }),
    )
}

/// Returns at once: accepted messages are stored, and only extraction may be pending.
pub(super) async fn wait(Reader(access): Reader) -> VikingResult {
    let status = access.engine().capture_status(&access.scope).await?;
    VikingResponse::ok(json!({ "pending_messages": status.turns }))
}

/// Returns the overview of a session, and its last turns within the budget.
pub(super) async fn context(
    Reader(access): Reader,
    PathParam(session): PathParam,
    mut params: QueryParams,
) -> VikingResult {
    let budget: usize = params.optional("token_budget")?.unwrap_or(128_000);
    let (engine, scope) = (access.engine(), &access.scope);
    let overview = engine.fs_read(scope, &session_uri(&session), Tier::L1).await?.text;
    let overview = sanitize_verbatim(&overview);
    let turns = last_turns(&access, &session).await?;
    let mut tokens = estimate_tokens(&overview);
    let mut messages: Vec<Value> = Vec::new();
    for turn in turns.iter().rev() {
        tokens += estimate_tokens(&turn.content);
        if tokens > budget {
            break;
        }
        messages.push(turn_json(turn));
    }
    messages.reverse();
    VikingResponse::ok(json!({
        "latest_archive_overview": overview, "pre_archive_abstracts": [],
        "messages": messages, "estimatedTokens": tokens.min(budget),
    }))
}

/// Returns the last turns of a session, in their order.
async fn last_turns(access: &Access, session: &str) -> Result<Vec<Memory>, Problem> {
    let (engine, mut last, mut after) = (access.engine(), Vec::new(), None);
    loop {
        let page = engine.session_turns_after(&access.scope, session, after, MAX_TURNS).await?;
        let Some(end) = page.last() else { return Ok(last) };
        after = Some(end.id);
        last.extend(page);
        last.drain(..last.len().saturating_sub(MAX_TURNS));
    }
}

fn turn_json(turn: &Memory) -> Value {
    json!({
        "id": turn.id,
        "role": turn.source.role.unwrap_or(Role::User),
        "parts": [{ "type": "text", "text": sanitize_verbatim(&turn.content) }],
        "created_at": turn.at,
        "peer_id": turn.source.speaker,
    })
}
