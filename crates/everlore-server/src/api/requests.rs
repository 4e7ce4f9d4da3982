//! Request log: the newest lines of the audit log; for the owner only.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use axum::{Router, routing::get};
use everlore::Error;
use serde_json::{Value, json};

use crate::{ApiResult, App, JsonResponse, QueryParams, Reader};

/// Largest number of lines.
const MAX_LINES: usize = 1_000;

/// Number of lines by default.
const DEFAULT_LINES: usize = 100;

/// Bytes read from the end of the log for one line: a long one has some 300.
const BYTES_PER_LINE: u64 = 512;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/requests", get(list))
}

/// List the newest requests of the audit log, newest first; for the owner only
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/requests", tag = "health",
    params(("limit" = Option<usize>, Query, description = "Largest number of requests; 100 by default, at most 1000")),
    responses((status = 200, description = "Time, caller, scope, route and status of each request", body = Object)),
))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<Value> {
    let limit = params.in_range("limit", 1..=MAX_LINES)?.unwrap_or(DEFAULT_LINES);
    params.finish()?;
    access.require_owner()?;
    let path = access.app.audit.path().to_owned();
    let failed = |error| Error::io(path.display().to_string(), error);
    let text = File::open(&path)
        .and_then(|file| read_end(file, limit as u64 * BYTES_PER_LINE))
        .map_err(failed)?;
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(JsonResponse::ok(json!({ "requests": lines.take(limit).collect::<Vec<_>>() })))
}

/// Reads the end of a file; the first line may be cut.
fn read_end(mut file: File, bytes: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
