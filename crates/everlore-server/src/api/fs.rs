//! Memory as a tree of files, by `agent://` uris.

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{
    MemoryBlock,
    engine::fs::{
        DEFAULT_PAGE_SIZE, FsAddReport, FsAddRequest, FsFindReport, FsFindRequest, FsGrepReport,
        FsGrepRequest, FsInjectRequest, FsListRequest, FsListing, FsRemoveReport, FsRemoveRequest,
        FsStat, FsStatus, FsText, FsTree, FsTreeRequest, MAX_PAGE_SIZE,
    },
    types::Tier,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::schema;
use crate::{
    app::App,
    auth::{Reader, Writer},
    body::JsonBody,
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// Levels of folders that a tree shows, unless more are asked for.
const DEFAULT_DEPTH: usize = 3;

/// Hits of a search, unless more are asked for.
const DEFAULT_HITS: usize = 10;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/fs", post(add).delete(remove))
        .route("/v1/fs/ls", get(list))
        .route("/v1/fs/tree", get(tree))
        .route("/v1/fs/read", get(read))
        .route("/v1/fs/stat", get(stat))
        .route("/v1/fs/find", get(find))
        .route("/v1/fs/grep", get(grep))
        .route("/v1/fs/inject", get(inject))
        .route("/v1/fs/status", get(status))
}

/// Where; the root if left out.
fn uri(params: &mut QueryParams) -> Result<String, Problem> {
    Ok(params.optional("uri")?.unwrap_or_default())
}

fn limit(params: &mut QueryParams, otherwise: usize) -> Result<usize, Problem> {
    Ok(params.in_range("limit", 1..=MAX_PAGE_SIZE)?.unwrap_or(otherwise))
}

/// A level by its name; the words that people type for it are for the command line.
fn level(params: &mut QueryParams) -> Result<Tier, Problem> {
    let Some(name) = params.optional::<String>("level")? else { return Ok(Tier::default()) };
    let found = [Tier::L0, Tier::L1, Tier::L2].into_iter().find(|level| level.as_str() == name);
    found.ok_or_else(|| Problem::invalid("there is no such `level`", "use l0, l1 or l2"))
}

/// List a folder
#[utoipa::path(get, path = "/v1/fs/ls", tag = "fs", params(
    ("uri" = Option<String>, Query, description = "The folder: agent://…, viking://…, or a path from the root; the root if left out"),
    ("after" = Option<String>, Query, description = "Go on after this, the `next` of the page before"),
    ("limit" = Option<usize>, Query, description = "The most entries, 100 if left out, 1000 at most"),
    ("all" = Option<bool>, Query, description = "Also what is archived or superseded"),
), responses((status = 200, description = "A page", body = schema::FsListing)))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsListing> {
    let request = FsListRequest {
        uri: uri(&mut params)?,
        after: params.optional("after")?,
        limit: limit(&mut params, DEFAULT_PAGE_SIZE)?,
        all: params.flag("all")?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_list(&access.scope, &request).await?))
}

/// List a folder and the folders in it
#[utoipa::path(get, path = "/v1/fs/tree", tag = "fs", params(
    ("uri" = Option<String>, Query, description = "The folder; the root if left out"),
    ("depth" = Option<usize>, Query, description = "How many levels, 3 if left out, 1000 at most"),
    ("limit" = Option<usize>, Query, description = "The most entries, 100 if left out, 1000 at most"),
    ("all" = Option<bool>, Query, description = "Also what is archived or superseded"),
), responses((status = 200, description = "Each entry before those in it", body = schema::FsTree)))]
pub(super) async fn tree(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsTree> {
    let request = FsTreeRequest {
        uri: uri(&mut params)?,
        // No page has more levels than entries.
        depth: params.in_range("depth", 1..=MAX_PAGE_SIZE)?.unwrap_or(DEFAULT_DEPTH),
        limit: limit(&mut params, DEFAULT_PAGE_SIZE)?,
        all: params.flag("all")?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_tree(&access.scope, &request).await?))
}

/// Read something at a level
#[utoipa::path(get, path = "/v1/fs/read", tag = "fs", params(
    ("uri" = String, Query, description = "What to read"),
    ("level" = Option<String>, Query, description = "l0 (one line), l1 (overview) or l2 (all of it), which it is if left out"),
), responses((status = 200, description = "The text", body = schema::FsText)))]
pub(super) async fn read(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsText> {
    let (uri, level) = (params.required::<String>("uri")?, level(&mut params)?);
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_read(&access.scope, &uri, level).await?))
}

/// Say what something is, without reading it
#[utoipa::path(get, path = "/v1/fs/stat", tag = "fs", params(
    ("uri" = Option<String>, Query, description = "What to look at; the root if left out"),
), responses((status = 200, description = "What is known of it", body = schema::FsItem)))]
pub(super) async fn stat(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsStat> {
    let uri = uri(&mut params)?;
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_stat(&access.scope, &uri).await?))
}

/// Find in a folder by meaning
#[utoipa::path(get, path = "/v1/fs/find", tag = "fs", params(
    ("query" = String, Query, description = "What is asked"),
    ("uri" = Option<String>, Query, description = "Where; everywhere if left out"),
    ("limit" = Option<usize>, Query, description = "The most hits, 10 if left out, 1000 at most"),
    ("min_score" = Option<f64>, Query, description = "Hits with a lower score, from 0 to 1, are left out"),
    ("explain" = Option<bool>, Query, description = "Also say every number that made the scores"),
), responses((status = 200, description = "Best first", body = schema::FsFinding)))]
pub(super) async fn find(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<FsFindReport> {
    let request = FsFindRequest {
        query: params.required("query")?,
        uri: uri(&mut params)?,
        limit: limit(&mut params, DEFAULT_HITS)?,
        min_score: params.in_range("min_score", 0.0..=1.0)?.unwrap_or(0.0),
        explain: params.flag("explain")?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_find(&access.scope, &request).await?))
}

/// Find lines in a folder by text
#[utoipa::path(get, path = "/v1/fs/grep", tag = "fs", params(
    ("pattern" = String, Query, description = "The text, or a regular expression"),
    ("uri" = Option<String>, Query, description = "Where; everywhere if left out"),
    ("regex" = Option<bool>, Query, description = "Whether the pattern is a regular expression"),
    ("ignore_case" = Option<bool>, Query, description = "Whether capitals matter not"),
    ("limit" = Option<usize>, Query, description = "The most lines, 100 if left out, 1000 at most"),
), responses((status = 200, description = "Lines with their uris and numbers", body = schema::FsGrepped)))]
pub(super) async fn grep(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<FsGrepReport> {
    let request = FsGrepRequest {
        pattern: params.required("pattern")?,
        uri: uri(&mut params)?,
        regex: params.flag("regex")?,
        ignore_case: params.flag("ignore_case")?,
        limit: limit(&mut params, DEFAULT_PAGE_SIZE)?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_grep(&access.scope, &request).await?))
}

/// Make the block to append to a system prompt, of what a folder holds; its text is empty if nothing is worth telling
#[utoipa::path(get, path = "/v1/fs/inject", tag = "fs", params(
    ("query" = String, Query, description = "What the agent is about to answer"),
    ("uri" = Option<String>, Query, description = "Where; everywhere if left out"),
    ("limit" = Option<usize>, Query, description = "The most memories, by the settings if left out, 1000 at most"),
    ("budget" = Option<usize>, Query, description = "The most tokens, by the settings if left out"),
), responses((status = 200, description = "The block, with what is in it and why", body = schema::Block)))]
pub(super) async fn inject(
    Reader(access): Reader,
    mut params: QueryParams,
) -> ApiResult<MemoryBlock> {
    let request = FsInjectRequest {
        query: params.required("query")?,
        uri: uri(&mut params)?,
        limit: params.in_range("limit", 1..=MAX_PAGE_SIZE)?,
        budget: params.optional("budget")?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_inject(&access.scope, &request).await?))
}

/// Say how much is held of the agent and the user
#[utoipa::path(get, path = "/v1/fs/status", tag = "fs", responses((status = 200, description = "Counts", body = schema::FsStatus)))]
pub(super) async fn status(Reader(access): Reader, params: QueryParams) -> ApiResult<FsStatus> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_status(&access.scope).await?))
}

/// Something to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddBody {
    /// Where: a kind such as `user`, with a category such as `user/food`, or the path of a document in `resources`.
    uri: String,
    /// The text.
    content: String,
    /// A title for a memory; the beginning of its text if left out.
    name: Option<String>,
    /// Keywords.
    #[serde(default)]
    tags: Vec<String>,
    /// Free data of the caller, for a memory.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

/// Save a text as a memory or a document
#[utoipa::path(post, path = "/v1/fs", tag = "fs", request_body = AddBody, responses((status = 200, description = "Where it stands", body = schema::FsAdded)))]
pub(super) async fn add(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<AddBody>,
) -> ApiResult<FsAddReport> {
    let AddBody { uri, content, name, tags, metadata } = body;
    let request = FsAddRequest { uri, bytes: content.into_bytes(), name, tags, metadata };
    Ok(JsonResponse::ok(access.engine().fs_add(&access.scope, request).await?))
}

/// Remove a memory, a document, a conversation, or a folder of such; the journal keeps it, so that this can be undone
#[utoipa::path(delete, path = "/v1/fs", tag = "fs", params(
    ("uri" = String, Query, description = "What to remove"),
    ("recursive" = Option<bool>, Query, description = "Also a folder with all that is in it"),
    ("dry_run" = Option<bool>, Query, description = "Only say what would be removed"),
), responses((status = 200, description = "How many memories that were, and the runs to undo", body = schema::FsRemoved)))]
pub(super) async fn remove(
    Writer(access): Writer,
    mut params: QueryParams,
) -> ApiResult<FsRemoveReport> {
    let request = FsRemoveRequest {
        uri: params.required("uri")?,
        recursive: params.flag("recursive")?,
        dry_run: params.flag("dry_run")?,
    };
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_remove(&access.scope, &request).await?))
}
