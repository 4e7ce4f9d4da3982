//! What changes, as it happens: server-sent events that follow the journal.

use std::{io, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::{store::JournalQuery, types::Entry};
use serde_json::json;
use tokio::sync::mpsc;

use super::transfer::Chunks;
use crate::{
    app::App,
    auth::{Access, Reader},
    params::Params,
    problem::Problem,
};

/// How often the journal is looked at: other processes write to it too, and nobody tells.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A comment after so many looks without a change keeps the connection open: every 15 seconds.
const QUIET_LOOKS: u32 = 60;

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
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.end()?;
    let after = match headers.get("last-event-id") {
        Some(given) => {
            given.to_str().ok().and_then(|given| given.parse().ok()).ok_or_else(|| {
                Problem::invalid("the Last-Event-ID is no number", "send the id of the last event")
            })?
        }
        None => newest(&access).await?,
    };
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(follow(access, after, sender));
    let kind = (header::CONTENT_TYPE, "text/event-stream; charset=utf-8");
    Ok(([kind], Body::new(Chunks(receiver))).into_response())
}

async fn newest(access: &Access) -> Result<u64, Problem> {
    let last = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let last = access.engine().history(&access.scope, &last).await?;
    Ok(last.first().map_or(0, |line| line.seq))
}

/// Sends what is new until the listener goes away or the server ends.
async fn follow(access: Access, mut after: u64, sender: mpsc::Sender<io::Result<Bytes>>) {
    let (mut closing, mut quiet) = (access.app.closing.subscribe(), QUIET_LOOKS);
    loop {
        let text = match since(&access, after).await {
            Ok(lines) => {
                after = lines.last().map_or(after, |line| line.seq);
                lines.iter().map(event).collect::<String>()
            }
            Err(problem) => {
                tracing::warn!(problem.code, "events broke off");
                return;
            }
        };
        quiet = if text.is_empty() { quiet + 1 } else { 0 };
        let text = if quiet > QUIET_LOOKS { ":\n\n".to_owned() } else { text };
        quiet = if quiet > QUIET_LOOKS { 0 } else { quiet };
        if !text.is_empty() && sender.send(Ok(text.into())).await.is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = closing.wait_for(|closing| *closing) => return,
            () = sender.closed() => return,
        }
    }
}

/// The lines after one, oldest first.
async fn since(access: &Access, after: u64) -> Result<Vec<Entry>, Problem> {
    let newest = newest(access).await?;
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

fn event(Entry { seq, at, actor, cause, run, op, id, .. }: &Entry) -> String {
    let data = json!({ "seq": seq, "at": at, "actor": actor, "cause": cause, "run": run, "op": op, "id": id });
    format!("id: {seq}\nevent: change\ndata: {data}\n\n")
}
