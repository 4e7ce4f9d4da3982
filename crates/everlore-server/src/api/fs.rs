//! Memory as a virtual file tree of `agent://` uris.

use std::borrow::Cow;

use axum::{
    Router,
    routing::{get, post},
};
use everlore::{
    MemoryBlock,
    engine::{
        ForgetReceipt,
        fs::{
            DEFAULT_PAGE_SIZE, FsAddReport, FsAddRequest, FsFindReport, FsFindRequest,
            FsGrepReport, FsGrepRequest, FsInjectRequest, FsListRequest, FsListing, FsRemoveReport,
            FsRemoveRequest, FsStat, FsStatus, FsText, FsTree, FsTreeRequest, MAX_PAGE_SIZE,
        },
    },
    internal::text::suspect::mark_suspect_lines,
    types::Tier,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
#[cfg(test)]
use utoipa::ToSchema;

use crate::{
    ApiResult, App, JsonBody, JsonResponse, KeyRole, Problem, QueryParams, Reader, Writer,
};

/// Folder levels of a tree by default.
const DEFAULT_DEPTH: usize = 3;

/// Hits of a search by default.
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

/// Reads the `uri` parameter; the root by default.
fn uri(params: &mut QueryParams) -> Result<String, Problem> {
    Ok(params.optional("uri")?.unwrap_or_default())
}

fn limit(params: &mut QueryParams, default: usize) -> Result<usize, Problem> {
    Ok(params.in_range("limit", 1..=MAX_PAGE_SIZE)?.unwrap_or(default))
}

/// Reads the `level` parameter by its exact name; the command line accepts more spellings.
fn level(params: &mut QueryParams) -> Result<Tier, Problem> {
    let Some(name) = params.optional::<String>("level")? else { return Ok(Tier::default()) };
    let tier = [Tier::L0, Tier::L1, Tier::L2].into_iter().find(|tier| tier.as_str() == name);
    tier.ok_or_else(|| Problem::invalid("unknown `level`", "use l0, l1 or l2"))
}

/// List a folder
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/ls", tag = "fs",
    params(
        (
            "uri" = Option<String>, Query,
            description = "Folder: agent://…, viking://…, or a path from the root; the root by default",
        ),
        ("after" = Option<String>, Query, description = "Continue after this entry: `next` of the previous page"),
        ("limit" = Option<usize>, Query, description = "Largest number of entries; 100 by default, at most 1000"),
        ("all" = Option<bool>, Query, description = "Include archived and superseded memories"),
    ),
    responses((status = 200, description = "A page", body = FsListing)),
))]
pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsListing> {
    let request = FsListRequest {
        uri: uri(&mut params)?,
        after: params.optional("after")?,
        limit: limit(&mut params, DEFAULT_PAGE_SIZE)?,
        all: params.flag("all")?,
    };
    params.finish()?;
    let mut listing = access.engine().fs_list(&access.scope, &request).await?;
    listing.items.iter_mut().for_each(|item| mark(&mut item.summary));
    Ok(JsonResponse::ok(listing))
}

/// List a folder and its subfolders
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/tree", tag = "fs",
    params(
        ("uri" = Option<String>, Query, description = "Folder; the root by default"),
        ("depth" = Option<usize>, Query, description = "Folder levels; 3 by default, at most 1000"),
        ("limit" = Option<usize>, Query, description = "Largest number of entries; 100 by default, at most 1000"),
        ("all" = Option<bool>, Query, description = "Include archived and superseded memories"),
    ),
    responses((status = 200, description = "Entries, each folder before its contents", body = FsTree)),
))]
pub(super) async fn tree(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsTree> {
    let request = FsTreeRequest {
        uri: uri(&mut params)?,
        // No page has more levels than entries.
        depth: params.in_range("depth", 1..=MAX_PAGE_SIZE)?.unwrap_or(DEFAULT_DEPTH),
        limit: limit(&mut params, DEFAULT_PAGE_SIZE)?,
        all: params.flag("all")?,
    };
    params.finish()?;
    let mut tree = access.engine().fs_tree(&access.scope, &request).await?;
    tree.items.iter_mut().for_each(|entry| mark(&mut entry.item.summary));
    Ok(JsonResponse::ok(tree))
}

/// Read a file or a folder at a level of detail
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/read", tag = "fs",
    params(
        ("uri" = String, Query, description = "File or folder to read"),
        ("level" = Option<String>, Query, description = "l0 (one line), l1 (overview) or l2 (full text, the default)"),
    ),
    responses((status = 200, description = "The text", body = FsText)),
))]
pub(super) async fn read(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsText> {
    let (uri, level) = (params.required::<String>("uri")?, level(&mut params)?);
    params.finish()?;
    let mut read = access.engine().fs_read(&access.scope, &uri, level).await?;
    mark(&mut read.text);
    Ok(JsonResponse::ok(read))
}

/// Describe an entry without reading it
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/stat", tag = "fs",
    params(("uri" = Option<String>, Query, description = "Entry to describe; the root by default")),
    responses((status = 200, description = "The entry, with the number of its children", body = FsStat)),
))]
pub(super) async fn stat(Reader(access): Reader, mut params: QueryParams) -> ApiResult<FsStat> {
    let uri = uri(&mut params)?;
    params.finish()?;
    let mut stat = access.engine().fs_stat(&access.scope, &uri).await?;
    mark(&mut stat.item.summary);
    Ok(JsonResponse::ok(stat))
}

/// Search a folder by meaning
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/find", tag = "fs",
    params(
        ("query" = String, Query, description = "Query in natural language"),
        ("uri" = Option<String>, Query, description = "Folder to search; the root by default"),
        ("limit" = Option<usize>, Query, description = "Largest number of hits; 10 by default, at most 1000"),
        ("min_score" = Option<f64>, Query, description = "Lowest score of a hit, from 0 to 1"),
        ("explain" = Option<bool>, Query, description = "Include every number that made the scores"),
    ),
    responses((status = 200, description = "Hits, best first", body = FsFindReport)),
))]
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
    let mut report = access.engine().fs_find(&access.scope, &request).await?;
    report.found.iter_mut().for_each(|hit| mark(&mut hit.summary));
    Ok(JsonResponse::ok(report))
}

/// Search a folder for lines of text
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/grep", tag = "fs",
    params(
        ("pattern" = String, Query, description = "Text or regular expression"),
        ("uri" = Option<String>, Query, description = "Folder to search; the root by default"),
        ("regex" = Option<bool>, Query, description = "Treat the pattern as a regular expression"),
        ("ignore_case" = Option<bool>, Query, description = "Ignore upper and lower case"),
        ("limit" = Option<usize>, Query, description = "Largest number of lines; 100 by default, at most 1000"),
    ),
    responses((status = 200, description = "Matching lines with their uris and line numbers", body = FsGrepReport)),
))]
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
    let mut report = access.engine().fs_grep(&access.scope, &request).await?;
    report.matches.iter_mut().for_each(|line| mark(&mut line.text));
    Ok(JsonResponse::ok(report))
}

/// Build the memory block for a system prompt from a folder; its text is empty if nothing is relevant
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/inject", tag = "fs",
    params(
        ("query" = String, Query, description = "Message that the agent is about to answer"),
        ("uri" = Option<String>, Query, description = "Folder to search; the root by default"),
        (
            "limit" = Option<usize>, Query,
            description = "Largest number of memories, at most 1000; from the settings by default",
        ),
        ("budget" = Option<usize>, Query, description = "Token budget; from the settings by default"),
    ),
    responses((status = 200, description = "The block and its entries", body = MemoryBlock)),
))]
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

/// Count the contents of the tree
#[cfg_attr(test, utoipa::path(
    get, path = "/v1/fs/status", tag = "fs", responses((status = 200, description = "Counts", body = FsStatus)),
))]
pub(super) async fn status(Reader(access): Reader, params: QueryParams) -> ApiResult<FsStatus> {
    params.finish()?;
    Ok(JsonResponse::ok(access.engine().fs_status(&access.scope).await?))
}

/// Text to add to the tree.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct FsAddBody {
    /// Target: a kind such as `user`, with a category such as `user/food`, or the path of a document in `resources`.
    uri: String,
    /// Text of the memory or document.
    content: String,
    /// Title of a memory; the beginning of its text by default.
    name: Option<String>,
    /// Keywords.
    #[serde(default)]
    tags: Vec<String>,
    /// Custom metadata of a memory.
    #[serde(default)]
    #[cfg_attr(test, schema(value_type = Object))]
    metadata: Map<String, Value>,
}

/// Save a text as a memory or as a document
#[cfg_attr(test, utoipa::path(
    post, path = "/v1/fs", tag = "fs", request_body = FsAddBody,
    responses((status = 200, description = "Uri and report of the saved text", body = FsAddReport)),
))]
pub(super) async fn add(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<FsAddBody>,
) -> ApiResult<FsAddReport> {
    let FsAddBody { uri, content, name, tags, metadata } = body;
    let request = FsAddRequest { uri, bytes: content.into_bytes(), name, tags, metadata };
    Ok(JsonResponse::ok(access.engine().fs_add(&access.scope, request).await?))
}

/// Remove a memory, a document, a session or a folder; the journal keeps it, so that this can be undone
#[cfg_attr(test, utoipa::path(
    delete, path = "/v1/fs", tag = "fs",
    params(
        ("uri" = String, Query, description = "Entry to remove"),
        ("recursive" = Option<bool>, Query, description = "Remove a folder with all its contents"),
        ("dry_run" = Option<bool>, Query, description = "Report what would be removed, and remove nothing"),
        ("forget" = Option<bool>, Query, description = "Erase the texts for good; needs the role admin"),
    ),
    responses((
        status = 200, body = FsRemoveReport,
        description = "Number of removed memories, and the runs to undo or the receipt of what was erased",
    )),
))]
pub(super) async fn remove(
    Writer(access): Writer,
    mut params: QueryParams,
) -> ApiResult<RemovedEntry> {
    let forget = params.flag("forget")?;
    if forget {
        access.require_role(KeyRole::Admin)?;
    }
    let request = FsRemoveRequest {
        uri: params.required("uri")?,
        recursive: params.flag("recursive")?,
        dry_run: params.flag("dry_run")?,
    };
    params.finish()?;
    let engine = access.engine();
    let mut removed = engine.fs_remove(&access.scope, &request).await?;
    let mut receipt = None;
    if forget && !request.dry_run {
        receipt = Some(engine.forget_runs(&access.scope, &removed.runs).await?);
        // What was erased cannot be undone.
        removed.runs.clear();
    }
    Ok(JsonResponse::ok(RemovedEntry { removed, receipt }))
}

/// Report of a removal, with the receipt of an erasure.
#[derive(Serialize)]
pub(super) struct RemovedEntry {
    #[serde(flatten)]
    removed: FsRemoveReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ForgetReceipt>,
}

/// Marks a text where it reads like an instruction: clients put it into prompts.
fn mark(text: &mut String) {
    if let Cow::Owned(marked) = mark_suspect_lines(text) {
        *text = marked;
    }
}
