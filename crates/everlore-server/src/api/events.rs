//! What changes, as it happens: server-sent events that follow the journal.

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
};

/// How often the journal is looked at: other processes write to it too, and nobody tells.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A comment after so many looks without a change keeps the connection open: every 15 seconds.
const KEEPALIVE_POLLS: u32 = 60;

/// Lines of the journal that are told at a look; who is further behind hears the rest at the next ones.
const MAX_LINES: usize = 500;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/events", get(events))
}

/// Hear of changes as they happen, as server-sent events
///
/// Each event tells number, time, who, why, what was done and the id; never the text. After a break, `Last-Event-ID` goes on
/// where it was, so that nothing is missed.
#[utoipa::path(get, path = "/v1/events", tag = "events", params(("Last-Event-ID" = Option<u64>, Header, description = "Go on after this change")), responses((status = 200, description = "Events without an end", body = String, content_type = "text/event-stream")))]
pub(super) async fn events(
    Reader(access): Reader,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.finish()?;
    let after = match headers.get("last-event-id") {
        Some(given) => {
            given.to_str().ok().and_then(|given| given.parse().ok()).ok_or_else(|| {
                Problem::invalid("the Last-Event-ID is no number", "send the id of the last event")
            })?
        }
        None => newest_seq(&access).await?,
    };
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(stream_events(access, after, sender));
    let kind = (header::CONTENT_TYPE, "text/event-stream; charset=utf-8");
    Ok(([kind], Body::new(ChannelBody(receiver))).into_response())
}

async fn newest_seq(access: &Access) -> Result<u64, Problem> {
    let last = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let last = access.engine().history(&access.scope, &last).await?;
    Ok(last.first().map_or(0, |line| line.seq))
}

/// Sends what is new until the listener goes away or the server ends.
async fn stream_events(access: Access, mut after: u64, sender: mpsc::Sender<io::Result<Bytes>>) {
    let (mut closing, mut quiet) = (access.app.shutting_down.subscribe(), KEEPALIVE_POLLS);
    loop {
        let text = match entries_after(&access, after).await {
            Ok(lines) => {
                after = lines.last().map_or(after, |line| line.seq);
                lines.iter().map(sse_event).collect::<String>()
            }
            Err(problem) => {
                tracing::warn!(problem.code, "events broke off");
                return;
            }
        };
        quiet = if text.is_empty() { quiet + 1 } else { 0 };
        let text = if quiet > KEEPALIVE_POLLS { ":\n\n".to_owned() } else { text };
        quiet = if quiet > KEEPALIVE_POLLS { 0 } else { quiet };
        if !text.is_empty() && sender.send(Ok(text.into())).await.is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = closing.wait_for(|closing| *closing) => return,
            () = sender.closed() => return,
        }
    }
}

/// The lines after one, oldest first.
async fn entries_after(access: &Access, after: u64) -> Result<Vec<JournalEntry>, Problem> {
    let newest = newest_seq(access).await?;
    let end = newest.min(after + MAX_LINES as u64);
    if end <= after {
        return Ok(Vec::new());
    }
    let limit = Some((end - after) as usize);
    let query = JournalQuery { before: Some(end + 1), limit, ..JournalQuery::default() };
    let mut lines = access.engine().history(&access.scope, &query).await?;
    lines.reverse();
    Ok(lines)
}

fn sse_event(JournalEntry { seq, at, actor, cause, run, op, id, .. }: &JournalEntry) -> String {
    let data = json!({ "seq": seq, "at": at, "actor": actor, "cause": cause, "run": run, "op": op, "id": id });
    format!("id: {seq}\nevent: change\ndata: {data}\n\n")
}
