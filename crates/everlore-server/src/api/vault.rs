//! The vault: a markdown file for each memory of some kinds, in the home, kept equal to what is stored.

use std::path::Path;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use everlore::{
    Error, Kind,
    files::{
        atomic_file::create_private_folder,
        home::vault_folder,
        vault::{INDEX_FILE, VaultListing, VaultNote, list as listed, sanitize_file_name, save},
    },
    store::directory::{SyncReport, SyncRequest},
    text::secrets,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema;
use crate::{
    app::App,
    auth::{Access, Reader, Writer},
    body::{JsonBody, PathParam},
    etag::{text_etag, with_etag},
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most files of a list.
const MAX_FILES: usize = 1_000;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/vault", get(list))
        .route("/v1/vault/{file}", get(show).put(write))
        .route("/v1/vault/sync", post(sync))
}

/// List the files of the vault, the newest first, and those that are no memories
#[utoipa::path(get, path = "/v1/vault", tag = "vault", params(("limit" = Option<usize>, Query, description = "The most files, 1000 if left out")), responses((status = 200, description = "File, kind, name, description and time of each", body = Object)))]
pub(super) async fn list(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<VaultListing> {
    let limit = params.in_range("limit", 1..=MAX_FILES)?.unwrap_or(MAX_FILES);
    params.finish()?;
    let folder = vault_folder(&access.app.options.home, &access.scope);
    let files = run_blocking(move || match folder.is_dir() {
        true => listed(&folder, Some(limit)),
        false => Ok(VaultListing { entries: Vec::new(), skipped: Vec::new(), left_out: 0 }),
    });
    Ok(JsonResponse::ok(files.await?))
}

/// One file of the vault.
#[derive(Serialize, ToSchema)]
pub(super) struct File {
    /// Its name.
    file: String,
    /// What it says, front matter included.
    text: String,
}

/// Read a file of the vault
#[utoipa::path(get, path = "/v1/vault/{file}", tag = "vault", params(("file" = String, Path, description = "The name of a file, or MEMORY.md")), responses((status = 200, description = "The file", body = File)))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
    params: QueryParams,
) -> Result<Response, Problem> {
    params.finish()?;
    let folder = vault_folder(&access.app.options.home, &access.scope);
    let file = run_blocking(move || read_vault_file(&folder, &name)).await?;
    Ok(with_etag(&text_etag(&file.text), Ok(JsonResponse::ok(file))))
}

/// A plain file of the folder itself; links lead nowhere.
fn read_vault_file(folder: &Path, name: &str) -> everlore::Result<File> {
    let none = || Error::not_found("file", name);
    let is_own = name == INDEX_FILE || sanitize_file_name(name).is_ok_and(|file| file == name);
    let file = is_own.then(|| name.to_owned()).ok_or_else(none)?;
    let path = folder.join(&file);
    match path.symlink_metadata() {
        Ok(data) if data.is_file() => {}
        _ => return Err(none()),
    }
    let text =
        std::fs::read_to_string(&path).map_err(|error| Error::io("a file of the vault", error))?;
    Ok(File { file, text })
}

/// A memory as a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileBody {
    /// What sort of statement it is.
    #[schema(value_type = schema::Kind)]
    kind: Kind,
    /// Its title.
    name: String,
    /// The line that tells whether it matters.
    #[serde(default)]
    description: String,
    /// The text.
    content: String,
}

/// Write a file of the vault, make it a memory, and link it in MEMORY.md
///
/// Keys and comments of a file that is there stay.
#[utoipa::path(put, path = "/v1/vault/{file}", tag = "vault", request_body = FileBody, params(("file" = String, Path, description = "The name of the file, ending in .md")), responses((status = 200, description = "What the sync did", body = Object)))]
pub(super) async fn write(
    Writer(access): Writer,
    PathParam(file): PathParam,
    JsonBody(body, _): JsonBody<FileBody>,
) -> ApiResult<SyncReport> {
    if !file.ends_with(".md") || body.kind == Kind::Turn {
        let detail = "choose another kind than turn, and a name that ends in .md";
        return Err(Error::invalid("this cannot be a file of the vault", detail).into());
    }
    let FileBody { kind, mut name, mut description, mut content } = body;
    let engine = access.engine();
    if engine.settings(access.scope.agent()).memory.mask_secrets {
        secrets::mask_all([&mut name, &mut description, &mut content]);
    }
    let note = VaultNote { file: Some(file), kind, name, description, content };
    let folder = create_vault_folder(&access)?;
    let now = engine.now().timestamp();
    let saved = folder.clone();
    run_blocking(move || save(&saved, &note, now)).await?;
    let request =
        SyncRequest { author: Some(access.author()), ..SyncRequest::new(folder, &access.scope) };
    Ok(JsonResponse::ok(engine.sync_vault(&request).await?))
}

/// How a sync is done.
#[derive(Deserialize, ToSchema, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SyncBody {
    /// Which kinds get files; those of the last time if left out.
    #[schema(value_type = Vec<schema::Kind>)]
    kinds: Vec<Kind>,
    /// Only say what would happen.
    dry_run: bool,
}

/// Make files and memories say the same; where both were edited, both are kept
#[utoipa::path(post, path = "/v1/vault/sync", tag = "vault", request_body = SyncBody, responses((status = 200, description = "What was done to each file", body = Object)))]
pub(super) async fn sync(
    Writer(access): Writer,
    JsonBody(SyncBody { kinds, dry_run }, _): JsonBody<SyncBody>,
) -> ApiResult<SyncReport> {
    if kinds.contains(&Kind::Turn) {
        let detail = "take them out with GET /v1/export";
        return Err(Error::invalid("turns of a conversation are not kept in files", detail).into());
    }
    let request = SyncRequest {
        kinds,
        dry_run,
        ..SyncRequest::new(create_vault_folder(&access)?, &access.scope)
    };
    Ok(JsonResponse::ok(access.engine().sync_vault(&request).await?))
}

/// The folder, which only the owner of the home may read.
fn create_vault_folder(access: &Access) -> Result<std::path::PathBuf, Problem> {
    let folder = vault_folder(&access.app.options.home, &access.scope);
    create_private_folder(&folder).map_err(|error| Problem::internal(&error))?;
    Ok(folder)
}

/// Does what waits for the disk where it holds up nobody.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> everlore::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| Problem::internal(&error))??)
}
