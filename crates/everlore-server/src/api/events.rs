//! Server-sent events that follow the journal. `journal_watch.rs` wakes the streams.

use std::{io, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::{store::JournalQuery, types::JournalEntry};
use serde_json::json;
use tokio::sync::mpsc;

use super::transfer::ChannelBody;
use crate::{
    Access, App, Problem, QueryParams, Reader,
    journal_watch::{JournalWatch, ScopeEvents, WatchedState},
    tasks,
};

/// Time without a change until a comment keeps the connection open.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Comment of a stream, which clients skip.
const KEEPALIVE: &str = ":\n\n";

/// Entries sent after one read; a client that is further behind gets the rest after the next reads.
const MAX_LINES: usize = 500;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/events", get(events))
}

/// Follow changes as server-sent events
///
/// A `change` has the sequence number, time, actor, reason, operation and id of a change; never its text. A client that
/// reconnects with `Last-Event-ID` misses none. A `reminder` has the task of a schedule that is due and when it was due;
/// it is sent once, to the clients that listen then.
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "Continue after this change")),
    responses(
        (status = 200, description = "Endless stream of events", body = String, content_type = "text/event-stream"),
    ),
))]
pub(super) async fn events(
    Reader(access): Reader,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.finish()?;
    let after = match headers.get("last-event-id") {
        Some(given) => {
            given.to_str().ok().and_then(|given| given.parse().ok()).ok_or_else(|| {
                Problem::invalid(
                    "the Last-Event-ID is not a number",
                    "send the id of the last event",
                )
            })?
        }
        None => access.engine().newest_seq(&access.scope).await?,
    };
    let (sender, receiver) = mpsc::channel(1);
    tasks::spawn(Box::pin(stream_events(access, after, sender)));
    let kind = (header::CONTENT_TYPE, "text/event-stream; charset=utf-8");
    Ok(([kind], Body::new(ChannelBody(receiver))).into_response())
}

/// Sends new entries until the client disconnects, its key is removed, or the server ends.
async fn stream_events(access: Access, mut after: u64, sender: mpsc::Sender<io::Result<Bytes>>) {
    let mut shutting_down = access.app.shutting_down.subscribe();
    let ScopeEvents { state: mut watched, mut reminders } =
        JournalWatch::subscribe(&access.app, &access.scope);
    // A client learns at once that the stream works.
    let mut text = KEEPALIVE.to_owned();
    loop {
        if !text.is_empty() && sender.send(Ok(text.into())).await.is_err() {
            return;
        }
        let keys_version = watched.borrow_and_update().keys_version;
        text = match next_events(&access, &mut after).await {
            Ok(events) => events,
            Err(problem) => {
                tracing::warn!(problem.code, "an event stream failed");
                return;
            }
        };
        if !text.is_empty() {
            continue;
        }
        let changed =
            |state: &WatchedState| state.newest_seq > after || state.keys_version != keys_version;
        tokio::select! {
            changed = watched.wait_for(changed) => {
                if changed.is_err() || !access.app.credentials.is_current(&access.caller) {
                    return;
                }
            }
            reminder = reminders.recv() => text = reminder.unwrap_or_default(),
            () = tokio::time::sleep(KEEPALIVE_INTERVAL) => text = KEEPALIVE.to_owned(),
            _ = shutting_down.wait_for(|shutting_down| *shutting_down) => return,
            () = sender.closed() => return,
        }
    }
}

/// Returns the events after one, oldest first, and moves on to the last of them.
async fn next_events(access: &Access, after: &mut u64) -> Result<String, Problem> {
    let engine = access.engine();
    let newest = engine.newest_seq(&access.scope).await?;
    let end = newest.min(after.saturating_add(MAX_LINES as u64));
    if end <= *after {
        return Ok(String::new());
    }
    let limit = Some((end - *after) as usize);
    let query = JournalQuery { before: Some(end + 1), limit, ..JournalQuery::default() };
    let mut entries = engine.history(&access.scope, &query).await?;
    entries.reverse();
    *after = end;
    Ok(entries.iter().map(sse_event).collect())
}

fn sse_event(JournalEntry { seq, at, actor, cause, run, op, id, .. }: &JournalEntry) -> String {
    let data = json!({ "seq": seq, "at": at, "actor": actor, "cause": cause, "run": run, "op": op, "id": id });
    format!("id: {seq}\nevent: change\ndata: {data}\n\n")
}
