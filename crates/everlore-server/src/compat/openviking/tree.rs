//! `/api/v1/fs`: listing, and what is known of an entry.

use std::time::Instant;

use everlore::{
    Engine, Scope,
    engine::fs::{FsEntry, FsListRequest, FsRemoveRequest, MAX_PAGE_SIZE, to_viking},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::envelope::{VikingResponse, VikingResult};
use crate::{
    auth::{Access, Reader, Writer},
    body::JsonBody,
    params::QueryParams,
    problem::Problem,
};

/// The most entries that are passed over before a page: that system counts pages, this one follows them.
const MAX_OFFSET: usize = 100_000;

/// Levels of folders that a walk opens at most.
const MAX_DEPTH: usize = 20;

/// An entry of the tree.
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

/// The uri that was asked for.
pub(super) fn required_uri(params: &mut QueryParams) -> Result<String, Problem> {
    let uri: Option<String> = params.optional("uri")?;
    uri.filter(|uri| !uri.is_empty())
        .ok_or_else(|| Problem::invalid("there is no uri", "give one, such as viking://resources"))
}

/// The folders that only that system has; above everything that is held.
pub(super) fn virtual_folder(uri: &str, scope: &Scope) -> Option<Vec<VikingEntry>> {
    let user = scope.user();
    let path = uri.strip_prefix("viking://")?.trim_end_matches('/');
    let own = path == "~" || path.strip_prefix("user/").is_some_and(|name| name == user);
    let at = |path: &str, what: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        VikingEntry::folder(format!("viking://{path}"), name, what)
    };
    Some(match path {
        "" => vec![
            at("agent", "What the agent is and keeps for itself"),
            at("resources", "Documents that were ingested, by their paths"),
            at("user", "What is known of the user"),
        ],
        "user" => vec![at(&format!("user/{user}"), "What is known of the user")],
        "agent" => vec![
            at("agent/files", "Files that the agent keeps for itself"),
            at("agent/layers", "The files that are in every prompt"),
        ],
        _ if own => vec![
            at(&format!("user/{user}/memories"), "Memories by kind and category"),
            at(&format!("user/{user}/sessions"), "Conversations, turn by turn"),
        ],
        _ => return None,
    })
}

/// Some entries of a folder: `limit` of them after `offset`, and whether there are more.
async fn list_entries(
    engine: &Engine,
    scope: &Scope,
    uri: &str,
    (offset, limit): (usize, usize),
) -> Result<(Vec<VikingEntry>, bool), Problem> {
    if let Some(outer) = virtual_folder(uri, scope) {
        let more = outer.len() > offset + limit;
        return Ok((outer.into_iter().skip(offset).take(limit).collect(), more));
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let left = (offset + limit).saturating_sub(found.len()).clamp(1, MAX_PAGE_SIZE);
        let page = FsListRequest { after, limit: left, ..FsListRequest::new(uri) };
        let listing = engine.fs_list(scope, &page).await?;
        found.extend(listing.items.into_iter().map(|item| VikingEntry::from_item(item, scope)));
        after = listing.next;
        if after.is_none() || found.len() >= offset + limit {
            let more = after.is_some() || found.len() > offset + limit;
            return Ok((found.into_iter().skip(offset).take(limit).collect(), more));
        }
    }
}

/// A folder and the folders in it, each entry before those in it, with its path from there.
pub(super) async fn walk(
    access: &Access,
    uri: &str,
    depth: usize,
    limit: usize,
) -> Result<(Vec<(String, VikingEntry)>, bool), Problem> {
    let (engine, mut walked) = (access.engine(), Vec::new());
    let (first, mut more) = list_entries(&engine, &access.scope, uri, (0, limit)).await?;
    let mut open: Vec<(usize, String, VikingEntry)> =
        first.into_iter().rev().map(|entry| (1, entry.name.clone(), entry)).collect();
    while let Some((level, path, entry)) = open.pop() {
        if walked.len() == limit {
            more = true;
            break;
        }
        if entry.is_folder && level < depth.min(MAX_DEPTH) {
            // A name that another system brought may be none here: it is shown, and not opened.
            let inside = list_entries(&engine, &access.scope, &entry.uri, (0, limit)).await;
            let (inside, cut) = inside.unwrap_or_default();
            more |= cut;
            let below = inside.into_iter().rev();
            open.extend(below.map(|it| (level + 1, format!("{path}/{}", it.name), it)));
        }
        walked.push((path, entry));
    }
    Ok((walked, more))
}

fn page_range(params: &mut QueryParams) -> Result<(usize, usize), Problem> {
    let limit: Option<usize> = params.optional("limit")?;
    let most: Option<usize> = params.optional("node_limit")?;
    let offset: usize = params.optional("offset")?.unwrap_or(0);
    let limit = limit.or(most).unwrap_or(MAX_PAGE_SIZE);
    if !(1..=MAX_PAGE_SIZE).contains(&limit) || offset > MAX_OFFSET {
        let title =
            format!("a page has 1 to {MAX_PAGE_SIZE} entries, and begins before {MAX_OFFSET}");
        return Err(Problem::invalid(title, "ask for less at a time"));
    }
    Ok((offset, limit))
}

pub(super) async fn list(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let began = Instant::now();
    let uri = required_uri(&mut params)?;
    let (offset, limit) = page_range(&mut params)?;
    let (found, more) = match params.flag("recursive")? {
        true => {
            let (walked, more) = walk(&access, &uri, MAX_DEPTH, limit).await?;
            (walked.into_iter().map(|(_, entry)| entry).collect(), more)
        }
        false => list_entries(&access.engine(), &access.scope, &uri, (offset, limit)).await?,
    };
    let found: Vec<Value> = match params.flag("simple")? {
        true => found.into_iter().map(|entry| entry.uri.into()).collect(),
        false => found.iter().map(VikingEntry::to_json).collect(),
    };
    VikingResponse::page(began, found.into(), more)
}

pub(super) async fn tree(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let began = Instant::now();
    let uri = required_uri(&mut params)?;
    let (_, limit) = page_range(&mut params)?;
    let depth = params.optional("level_limit")?.unwrap_or(3);
    let folders_only = params.flag("directories_only")?;
    let (walked, more) = walk(&access, &uri, depth, limit).await?;
    let shown = walked.iter().filter(|(_, entry)| entry.is_folder || !folders_only);
    let shown: Vec<Value> = shown
        .map(|(path, entry)| {
            let mut entry = entry.to_json();
            entry["rel_path"] = path.as_str().into();
            entry
        })
        .collect();
    VikingResponse::page(began, shown.into(), more)
}

pub(super) async fn stat(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let began = Instant::now();
    let uri = required_uri(&mut params)?;
    if let Some(outer) = virtual_folder(&uri, &access.scope) {
        let name = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let entry = VikingEntry::folder(uri, &name, "");
        let mut told = entry.to_json();
        told["count"] = outer.len().into();
        return VikingResponse::ok(began, told);
    }
    let stat = access.engine().fs_stat(&access.scope, &uri).await?;
    let mut told = VikingEntry::from_item(stat.item, &access.scope).to_json();
    told["count"] = stat.entries.into();
    VikingResponse::ok(began, told)
}

/// A folder to make.
#[derive(Deserialize)]
pub(super) struct MakeFolderBody {
    uri: String,
}

/// A folder is there as soon as something is in it; until then its name is only checked.
pub(super) async fn make_folder(
    Writer(access): Writer,
    JsonBody(folder, _): JsonBody<MakeFolderBody>,
) -> VikingResult {
    let began = Instant::now();
    let made = access.engine().fs_stat(&access.scope, &folder.uri).await;
    match made {
        Ok(_) | Err(everlore::Error::NoSuchUri { .. }) => {
            VikingResponse::ok(began, json!({ "uri": folder.uri }))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn remove(Writer(access): Writer, mut params: QueryParams) -> VikingResult {
    let began = Instant::now();
    let uri = required_uri(&mut params)?;
    if virtual_folder(&uri, &access.scope).is_some() {
        return Err(Problem::invalid("this folder is always there", "remove what is in it"));
    }
    let request = FsRemoveRequest { uri, recursive: params.flag("recursive")?, dry_run: false };
    let removed = access.engine().fs_remove(&access.scope, &request).await?;
    let uri = to_viking(&removed.uri, &access.scope);
    VikingResponse::ok(
        began,
        json!({ "uri": uri, "estimated_deleted_count": removed.memories, "undo": removed.runs }),
    )
}
