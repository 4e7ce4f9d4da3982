//! Vault: a markdown file for each memory of some kinds, in the home, synchronized with the store.

use std::path::Path;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use everlore::{
    Error, Kind,
    engine::{SyncReport, SyncRequest},
    internal::{
        files::{
            atomic_file::create_private_folder,
            home::vault_folder,
            regular_file,
            vault::{
                INDEX_FILE, VaultListing, VaultNote, list as list_files, sanitize_file_name, save,
            },
        },
        text::secrets,
    },
};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    Access, ApiResult, App, JsonBody, JsonResponse, PathParam, Problem, QueryParams, Reader,
    Writer,
    etag::{text_etag, with_etag},
    offload::offload,
};

/// Largest file that is shown: a memory has 4 MiB, its front matter little.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Largest list.
const MAX_FILES: usize = 1_000;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/vault", get(list))
        .route("/v1/vault/{file}", get(show).put(write))
        .route("/v1/vault/sync", post(sync))
}

/// List the files of the vault, newest first, and those that are not memories
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/vault", tag = "vault",
    params(("limit" = Option<usize>, Query, description = "Largest number of files; 1000 by default")),
    responses((status = 200, description = "File, kind, name, description and time of each", body = Object)),
))]
pub(super) async fn list(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<VaultListing> {
    let limit = params.in_range("limit", 1..=MAX_FILES)?.unwrap_or(MAX_FILES);
    params.finish()?;
    let folder = vault_folder(&access.app.options.home, &access.scope);
    let files = run_blocking(move || {
        if folder.is_dir() {
            return list_files(&folder, Some(limit));
        }
        Ok(VaultListing { entries: Vec::new(), skipped: Vec::new(), left_out: 0 })
    });
    Ok(JsonResponse::ok(files.await?))
}

/// File of the vault.
#[derive(Serialize)]
#[cfg_attr(test, derive(ToSchema))]
pub(super) struct VaultFile {
    /// File name.
    file: String,
    /// Text of the file, front matter included.
    text: String,
}

/// Read a file of the vault
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/vault/{file}", tag = "vault",
    params(("file" = String, Path, description = "File name, or MEMORY.md")),
    responses((status = 200, description = "The file", body = VaultFile)),
))]
pub(super) async fn show(
    Reader(access): Reader,
    PathParam(name): PathParam,
    params: QueryParams,
) -> Result<Response, Problem> {
    params.finish()?;
    let folder = vault_folder(&access.app.options.home, &access.scope);
    let file = run_blocking(move || read_vault_file(&folder, &name)).await?;
    Ok(with_etag(&text_etag(&file.text), JsonResponse::ok(file)))
}

/// Reads a regular file of the folder itself; symbolic links are not followed.
fn read_vault_file(folder: &Path, name: &str) -> everlore::Result<VaultFile> {
    let none = || Error::not_found("file", name);
    let is_own = name == INDEX_FILE || sanitize_file_name(name).is_ok_and(|file| file == name);
    let file = is_own.then(|| name.to_owned()).ok_or_else(none)?;
    let path = folder.join(&file);
    match path.symlink_metadata() {
        Ok(data) if data.is_file() => {}
        _ => return Err(none()),
    }
    let text = regular_file::read_to_string(&path, MAX_FILE_BYTES)
        .map_err(|error| Error::io("a file of the vault", error))?;
    Ok(VaultFile { file, text })
}

/// Memory to write as a file.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct VaultFileBody {
    /// Kind of the memory.
    kind: Kind,
    /// Title.
    #[cfg_attr(test, schema(min_length = 1))]
    name: String,
    /// One line that says when the memory matters.
    #[serde(default)]
    description: String,
    /// Text of the memory.
    content: String,
}

/// Write a file of the vault, sync it into a memory, and link it in MEMORY.md
///
/// Other keys and comments of an existing file stay.
#[cfg_attr(test, utoipa::path(
    put, path = "/v1/vault/{file}", tag = "vault", request_body = VaultFileBody,
    params(("file" = String, Path, description = "File name, ending in .md")),
    responses((status = 200, description = "Report of the sync", body = Object)),
))]
pub(super) async fn write(
    Writer(access): Writer,
    PathParam(file): PathParam,
    JsonBody(body, _): JsonBody<VaultFileBody>,
) -> ApiResult<SyncReport> {
    check_new_file(&file, body.kind)?;
    let VaultFileBody { kind, mut name, mut description, mut content } = body;
    let engine = access.engine();
    if engine.settings(access.scope.agent()).memory.mask_secrets {
        secrets::mask_all([&mut name, &mut description, &mut content]);
        if !secrets::mask(&file).1.is_empty() {
            let hint = "use a name without it";
            return Err(
                Error::invalid("the file name has a secret, which is never stored", hint).into()
            );
        }
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

/// Refuses a file that cannot be a memory, and a name that would be stored as another one: the path of a request names
/// a file of the vault and nothing else.
fn check_new_file(file: &str, kind: Kind) -> Result<(), Problem> {
    let hint = "choose a kind such as user or project, and a plain name that ends in .md";
    let is_own = sanitize_file_name(file)? == file;
    if is_own && kind.is_statement() {
        return Ok(());
    }
    Err(Error::invalid("this cannot be a vault file", hint).into())
}

/// Options of a sync.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct VaultSyncBody {
    /// Kinds that get files; those of the previous sync by default.
    kinds: Vec<Kind>,
    /// Report what would happen, and change nothing.
    dry_run: bool,
}

/// Sync files and memories; where both were edited, both versions are kept
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/vault/sync", tag = "vault", request_body = VaultSyncBody,
    responses((status = 200, description = "Report for each file", body = Object)),
))]
pub(super) async fn sync(
    Writer(access): Writer,
    JsonBody(VaultSyncBody { kinds, dry_run }, _): JsonBody<VaultSyncBody>,
) -> ApiResult<SyncReport> {
    if let Some(kind) = kinds.iter().find(|kind| !kind.is_statement()) {
        let hint = "export them with GET /v1/export";
        return Err(
            Error::invalid(format!("memories of kind {kind} have no vault files"), hint).into()
        );
    }
    let request = SyncRequest {
        kinds,
        dry_run,
        ..SyncRequest::new(create_vault_folder(&access)?, &access.scope)
    };
    let engine = access.engine();
    Ok(JsonResponse::ok(offload(&access.app, Box::pin(engine.sync_vault(&request))).await?))
}

/// Creates the vault folder, which only the owner of the home may read.
fn create_vault_folder(access: &Access) -> Result<std::path::PathBuf, Problem> {
    let folder = vault_folder(&access.app.options.home, &access.scope);
    create_private_folder(&folder).map_err(|error| Problem::internal(&error))?;
    Ok(folder)
}

/// Runs file access on the blocking thread pool.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> everlore::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let result = tokio::task::spawn_blocking(work).await;
    Ok(result.map_err(|error| Problem::internal(&error))??)
}
