//! `/api/v1/fs`: listing, describing and removing entries.

use everlore::{
    Engine, Scope,
    engine::fs::{FsEntry, FsListRequest, FsRemoveRequest, MAX_PAGE_SIZE, to_viking},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::envelope::{VikingResponse, VikingResult};
use crate::{Access, JsonBody, KeyRole, Problem, QueryParams, Reader, Writer};

/// Largest offset of a page: OpenViking counts entries, this server follows pages.
const MAX_OFFSET: usize = 100_000;

/// Folder levels that a walk opens at most.
const MAX_DEPTH: usize = 20;

/// Entry of the tree.
#[derive(Clone)]
pub(super) struct VikingEntry {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) is_folder: bool,
    pub(super) summary: String,
    item: Option<FsEntry>,
}

impl VikingEntry {
    fn from_item(item: FsEntry, scope: &Scope) -> Self {
        let uri = to_viking(&item.uri, scope).trim_end_matches('/').to_owned();
        Self {
            uri,
            name: item.name.clone(),
            is_folder: item.folder,
            summary: item.summary.clone(),
            item: Some(item),
        }
    }

    fn folder(uri: String, name: &str, summary: &str) -> Self {
        let (name, summary) = (name.to_owned(), summary.to_owned());
        Self { uri, name, is_folder: true, summary, item: None }
    }

    fn to_json(&self) -> Value {
        let item = self.item.as_ref();
        json!({
            "name": self.name,
            "uri": self.uri,
            "isDir": self.is_folder,
            "size": item.and_then(|item| item.bytes).unwrap_or(0),
            "mode": if self.is_folder { 0o755 } else { 0o644 },
            "modTime": item.and_then(|item| item.modified_at),
            "createdAt": item.and_then(|item| item.created_at),
            "abstract": self.summary,
            "tags": item.map(|item| item.tags.clone()).unwrap_or_default(),
            "meta": { "id": item.and_then(|item| item.id), "kind": item.and_then(|item| item.kind) },
        })
    }
}

/// Reads the required `uri` parameter.
pub(super) fn required_uri(params: &mut QueryParams) -> Result<String, Problem> {
    let uri: Option<String> = params.optional("uri")?;
    uri.filter(|uri| !uri.is_empty())
        .ok_or_else(|| Problem::invalid("there is no uri", "give one, such as viking://resources"))
}

/// Returns the entries of a virtual folder: one above the tree that only OpenViking has.
pub(super) fn virtual_folder(uri: &str, scope: &Scope) -> Option<Vec<VikingEntry>> {
    let user = scope.user();
    let path = uri.strip_prefix("viking://")?.trim_end_matches('/');
    let is_own = path == "~" || path.strip_prefix("user/").is_some_and(|name| name == user);
    let at = |path: &str, summary: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        VikingEntry::folder(format!("viking://{path}"), name, summary)
    };
    Some(match path {
        "" => vec![
            at("agent", "Files and layers of the agent"),
            at("resources", "Ingested documents, by their paths"),
            at("user", "Memories and sessions of the user"),
        ],
        "user" => vec![at(&format!("user/{user}"), "Memories and sessions of the user")],
        "agent" => vec![
            at("agent/files", "Files that the agent keeps for itself"),
            at("agent/layers", "Layered files of every prompt"),
        ],
        _ if is_own => vec![
            at(&format!("user/{user}/memories"), "Memories by kind and category"),
            at(&format!("user/{user}/sessions"), "Sessions, turn by turn"),
        ],
        _ => return None,
    })
}

/// Lists `limit` entries of a folder after `offset`; `true` if there are more.
async fn list_entries(
    engine: &Engine,
    scope: &Scope,
    uri: &str,
    offset: usize,
    limit: usize,
) -> Result<(Vec<VikingEntry>, bool), Problem> {
    if let Some(entries) = virtual_folder(uri, scope) {
        let more = entries.len() > offset + limit;
        return Ok((entries.into_iter().skip(offset).take(limit).collect(), more));
    }
    let (mut entries, mut after) = (Vec::new(), None);
    loop {
        let left = (offset + limit).saturating_sub(entries.len()).clamp(1, MAX_PAGE_SIZE);
        let page = FsListRequest { after, limit: left, ..FsListRequest::new(uri) };
        let listing = engine.fs_list(scope, &page).await?;
        entries.extend(listing.items.into_iter().map(|item| VikingEntry::from_item(item, scope)));
        after = listing.next;
        if after.is_none() || entries.len() >= offset + limit {
            let more = after.is_some() || entries.len() > offset + limit;
            return Ok((entries.into_iter().skip(offset).take(limit).collect(), more));
        }
    }
}

/// Walks a folder and its subfolders, each folder before its contents, with the paths of the entries from there.
pub(super) async fn walk(
    access: &Access,
    uri: &str,
    depth: usize,
    limit: usize,
) -> Result<(Vec<(String, VikingEntry)>, bool), Problem> {
    let (engine, mut walked) = (access.engine(), Vec::new());
    let (first, mut more) = list_entries(&engine, &access.scope, uri, 0, limit).await?;
    let mut open: Vec<(usize, String, VikingEntry)> =
        first.into_iter().rev().map(|entry| (1, entry.name.clone(), entry)).collect();
    while let Some((level, path, entry)) = open.pop() {
        if walked.len() == limit {
            more = true;
            break;
        }
        if entry.is_folder && level < depth.min(MAX_DEPTH) {
            // A name from another system may be invalid here: it is listed, and not opened.
            let contents = list_entries(&engine, &access.scope, &entry.uri, 0, limit).await;
            let (contents, cut) = contents.unwrap_or_default();
            more |= cut;
            let below = contents.into_iter().rev();
            open.extend(below.map(|it| (level + 1, format!("{path}/{}", it.name), it)));
        }
        walked.push((path, entry));
    }
    Ok((walked, more))
}

fn page_range(params: &mut QueryParams) -> Result<(usize, usize), Problem> {
    let limit: Option<usize> = params.optional("limit")?;
    let node_limit: Option<usize> = params.optional("node_limit")?;
    let offset: usize = params.optional("offset")?.unwrap_or(0);
    let limit = limit.or(node_limit).unwrap_or(MAX_PAGE_SIZE);
    if !(1..=MAX_PAGE_SIZE).contains(&limit) || offset > MAX_OFFSET {
        let title =
            format!("a page has 1 to {MAX_PAGE_SIZE} entries, and starts before {MAX_OFFSET}");
        return Err(Problem::invalid(title, "request a smaller page"));
    }
    Ok((offset, limit))
}

pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    let (offset, limit) = page_range(&mut params)?;
    let (entries, more) = if params.flag("recursive")? {
        let (walked, more) = walk(&access, &uri, MAX_DEPTH, limit).await?;
        (walked.into_iter().map(|(_, entry)| entry).collect(), more)
    } else {
        list_entries(&access.engine(), &access.scope, &uri, offset, limit).await?
    };
    let entries: Vec<Value> = if params.flag("simple")? {
        entries.into_iter().map(|entry| entry.uri.into()).collect()
    } else {
        entries.iter().map(VikingEntry::to_json).collect()
    };
    VikingResponse::page(entries.into(), more)
}

pub(super) async fn tree(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    let (_, limit) = page_range(&mut params)?;
    let depth = params.optional("level_limit")?.unwrap_or(3);
    let folders_only = params.flag("directories_only")?;
    let (walked, more) = walk(&access, &uri, depth, limit).await?;
    let entries = walked.iter().filter(|(_, entry)| entry.is_folder || !folders_only);
    let entries: Vec<Value> = entries
        .map(|(path, entry)| {
            let mut entry = entry.to_json();
            entry["rel_path"] = path.as_str().into();
            entry
        })
        .collect();
    VikingResponse::page(entries.into(), more)
}

pub(super) async fn stat(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    if let Some(entries) = virtual_folder(&uri, &access.scope) {
        let name = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let entry = VikingEntry::folder(uri, &name, "");
        let mut entry_json = entry.to_json();
        entry_json["count"] = entries.len().into();
        return VikingResponse::ok(entry_json);
    }
    let stat = access.engine().fs_stat(&access.scope, &uri).await?;
    let mut entry_json = VikingEntry::from_item(stat.item, &access.scope).to_json();
    entry_json["count"] = stat.entries.into();
    VikingResponse::ok(entry_json)
}

/// Folder to create.
#[derive(Deserialize)]
pub(super) struct MakeFolderBody {
    uri: String,
}

/// Checks the name only: a folder exists as soon as it has an entry.
pub(super) async fn make_folder(
    Writer(access): Writer,
    JsonBody(folder, _): JsonBody<MakeFolderBody>,
) -> VikingResult {
    let stat = access.engine().fs_stat(&access.scope, &folder.uri).await;
    match stat {
        Ok(_) | Err(everlore::Error::NoSuchUri { .. }) => {
            VikingResponse::ok(json!({ "uri": folder.uri }))
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes an entry; with `forget=true`, which needs the role admin, for good and with the engine's receipt.
pub(super) async fn remove(Writer(access): Writer, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    if virtual_folder(&uri, &access.scope).is_some() {
        return Err(Problem::invalid("this folder cannot be removed", "remove its entries"));
    }
    let forget = params.flag("forget")?;
    if forget {
        access.require_role(KeyRole::Admin)?;
    }
    let request = FsRemoveRequest { uri, recursive: params.flag("recursive")?, dry_run: false };
    let engine = access.engine();
    let removed = engine.fs_remove(&access.scope, &request).await?;
    let uri = to_viking(&removed.uri, &access.scope);
    let mut answer = json!({ "uri": uri, "estimated_deleted_count": removed.memories });
    if forget {
        answer["receipt"] = json!(engine.forget_runs(&access.scope, &removed.runs).await?);
    } else {
        answer["undo"] = json!(removed.runs);
    }
    VikingResponse::ok(answer)
}
