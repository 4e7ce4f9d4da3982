//! Export and import as JSON Lines.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Seek, Write},
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use everlore::engine::{ImportOptions, ImportReport};
use http_body_util::{BodyExt, Limited};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    Access, Admin, ApiResult, App, JsonResponse, Problem, QueryParams, Reader,
    body::{body_error, body_too_slow, check_content_type},
    tasks,
};

/// Media type of JSON Lines.
const NDJSON: &str = "application/x-ndjson";

/// Largest import; it is spooled to disk until it is checked.
const MAX_IMPORT_BYTES: usize = 4 * 1024 * 1024 * 1024;

/// Chunk size of an export.
const CHUNK_BYTES: usize = 64 * 1024;

/// Chunks that wait for a slow client.
const MAX_QUEUED_CHUNKS: usize = 8;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/v1/export", get(export)).route("/v1/import", post(import))
}

/// Stream all memories as JSON Lines, or with `journal` every change
///
/// A response that breaks off without the end of the stream is incomplete.
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/export", tag = "transfer",
    params(
        ("journal" = Option<bool>, Query, description = "Export the journal instead, from which the memories follow"),
    ),
    responses(
        (
            status = 200, description = "A header line, then one line per record", body = String,
            content_type = "application/x-ndjson",
        ),
        (status = 503, description = "Too many exports are running; Retry-After says when to try again"),
    ),
))]
pub(super) async fn export(
    Reader(access): Reader,
    mut params: QueryParams,
) -> Result<Response, Problem> {
    let journal = params.flag("journal")?;
    params.finish()?;
    let permit = access.app.export_permits.take(&access.caller.name)?;
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_CHUNKS);
    tasks::spawn(Box::pin(async move {
        write_export(access, journal, sender).await;
        drop(permit);
    }));
    let body = Body::new(ChannelBody(receiver));
    Ok(([(header::CONTENT_TYPE, NDJSON)], body).into_response())
}

async fn write_export(access: Access, journal: bool, sender: mpsc::Sender<io::Result<Bytes>>) {
    let mut writer = BufWriter::with_capacity(CHUNK_BYTES, ChannelWriter(sender.clone()));
    let exported = access.engine().export(&access.scope, journal, &mut writer, &mut |_| {}).await;
    if let Err(error) = exported {
        tracing::warn!(%error, "an export failed");
        // A missing end of the stream tells the client that it broke off; a client that left needs no answer.
        let _ = sender.send(Err(io::Error::other("the export failed"))).await;
    }
}

/// Writer that sends what is written, and waits for a slow client.
struct ChannelWriter(mpsc::Sender<io::Result<Bytes>>);

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line of megabytes goes in chunks too: the queue is bounded by their number.
        let part = &bytes[..bytes.len().min(CHUNK_BYTES)];
        let chunk = Bytes::copy_from_slice(part);
        let sent = tokio::task::block_in_place(|| self.0.blocking_send(Ok(chunk)));
        sent.map(|()| part.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Response body fed by a channel.
pub(super) struct ChannelBody(pub(super) mpsc::Receiver<io::Result<Bytes>>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}

/// Import memories from JSON Lines, after checking all of them
///
/// Takes the output of /v1/export, and lines in the format of /v1/memories and /v1/turns. Importing the same lines
/// again changes nothing, so an interrupted import is resumed by repeating it.
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/import", tag = "transfer", request_body(content = String, content_type = "application/x-ndjson"),
    params(
        ("dry_run" = Option<bool>, Query, description = "Report what would happen, and import nothing"),
        ("keep_going" = Option<bool>, Query, description = "Skip damaged lines and import the rest"),
    ),
    responses((status = 200, description = "Number of added, updated, unchanged and rejected lines", body = Object)),
))]
pub(super) async fn import(
    Admin(access): Admin,
    mut params: QueryParams,
    request: Request,
) -> ApiResult<ImportReport> {
    let (dry_run, keep_going) = (params.flag("dry_run")?, params.flag("keep_going")?);
    params.finish()?;
    check_content_type(request.headers(), NDJSON)?;
    let mut file = spool_body(request.into_body(), &access).await?;
    let check_options = ImportOptions { keep_going: true, dry_run: true, keep_secrets: false };
    let checked = import_file(&mut file, check_options, &access).await?;
    if checked.rejected > 0 && !keep_going {
        return Err(rejected_lines(&checked));
    }
    if dry_run {
        return Ok(JsonResponse::ok(checked));
    }
    let options = ImportOptions { keep_going, dry_run: false, keep_secrets: false };
    Ok(JsonResponse::ok(import_file(&mut file, options, &access).await?))
}

/// Spools the body into an unnamed temporary file, which the system removes when it is closed.
async fn spool_body(body: Body, access: &Access) -> Result<File, Problem> {
    let failed = |error: io::Error| Problem::internal(&error);
    let mut file = tempfile::tempfile_in(&access.app.options.home).map_err(failed)?;
    let mut body = Limited::new(body, MAX_IMPORT_BYTES);
    loop {
        match tokio::time::timeout(access.app.options.timeouts.body, body.frame()).await {
            Err(_) => return Err(body_too_slow()),
            Ok(None) => return Ok(file),
            Ok(Some(Err(error))) => return Err(body_error(&*error, MAX_IMPORT_BYTES)),
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                tokio::task::block_in_place(|| file.write_all(&data)).map_err(failed)?;
            }
        }
    }
}

async fn import_file(
    file: &mut File,
    options: ImportOptions,
    access: &Access,
) -> Result<ImportReport, Problem> {
    file.rewind().map_err(|error| Problem::internal(&error))?;
    let lines = BufReader::new(file);
    Ok(access.engine().import(&access.scope, lines, options, &mut |_| {}).await?)
}

fn rejected_lines(report: &ImportReport) -> Problem {
    let title = format!("{} lines cannot be imported, so nothing was imported", report.rejected);
    Problem {
        details: Some(Box::new(json!({ "rejections": report.rejections }))),
        ..Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            title,
            "correct them, or import the rest with ?keep_going=true",
        )
    }
}
