//! Server-sent events that follow the journal.

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
    app::App,
    auth::{Access, Reader},
    params::QueryParams,
    problem::Problem,
    tasks,
};

/// Interval between two reads of the journal. Other processes write to it as well, without a notification.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Reads without a change until a comment keeps the connection open: every 15 seconds.
const KEEPALIVE_POLLS: u32 = 60;

/// Entries sent after one read; a client that is further behind gets the rest after the next reads.
const MAX_LINES: usize = 500;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/events", get(events))
}

/// Follow changes as server-sent events
///
/// An event has the sequence number, time, actor, reason, operation and id of a change; never its text. A client that
/// reconnects with `Last-Event-ID` misses nothing.
#[utoipa::path(
    get, path = "/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "Continue after this change")),
    responses(
        (status = 200, description = "Endless stream of events", body = String, content_type = "text/event-stream"),
    ),
)]
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
        None => newest_seq(&access).await?,
    };
    let (sender, receiver) = mpsc::channel(1);
    tasks::spawn(Box::pin(stream_events(access, after, sender)));
    let kind = (header::CONTENT_TYPE, "text/event-stream; charset=utf-8");
    Ok(([kind], Body::new(ChannelBody(receiver))).into_response())
}

async fn newest_seq(access: &Access) -> Result<u64, Problem> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let newest = access.engine().history(&access.scope, &newest).await?;
    Ok(newest.first().map_or(0, |entry| entry.seq))
}

/// Sends new entries until the client disconnects or the server ends.
async fn stream_events(access: Access, mut after: u64, sender: mpsc::Sender<io::Result<Bytes>>) {
    let (mut shutting_down, mut idle_polls) =
        (access.app.shutting_down.subscribe(), KEEPALIVE_POLLS);
    loop {
        let text = match entries_after(&access, after).await {
            Ok(entries) => {
                after = entries.last().map_or(after, |entry| entry.seq);
                entries.iter().map(sse_event).collect::<String>()
            }
            Err(problem) => {
                tracing::warn!(problem.code, "an event stream failed");
                return;
            }
        };
        idle_polls = if text.is_empty() { idle_polls + 1 } else { 0 };
        let text = if idle_polls > KEEPALIVE_POLLS { ":\n\n".to_owned() } else { text };
        idle_polls = if idle_polls > KEEPALIVE_POLLS { 0 } else { idle_polls };
        if !text.is_empty() && sender.send(Ok(text.into())).await.is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = shutting_down.wait_for(|shutting_down| *shutting_down) => return,
            () = sender.closed() => return,
        }
    }
}

/// Returns the entries after one, oldest first.
async fn entries_after(access: &Access, after: u64) -> Result<Vec<JournalEntry>, Problem> {
    let newest = newest_seq(access).await?;
    let end = newest.min(after + MAX_LINES as u64);
    if end <= after {
        return Ok(Vec::new());
    }
    let limit = Some((end - after) as usize);
    let query = JournalQuery { before: Some(end + 1), limit, ..JournalQuery::default() };
    let mut entries = access.engine().history(&access.scope, &query).await?;
    entries.reverse();
    Ok(entries)
}

fn sse_event(JournalEntry { seq, at, actor, cause, run, op, id, .. }: &JournalEntry) -> String {
    let data = json!({ "seq": seq, "at": at, "actor": actor, "cause": cause, "run": run, "op": op, "id": id });
    format!("id: {seq}\nevent: change\ndata: {data}\n\n")
}
