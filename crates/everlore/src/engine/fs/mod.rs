//! View of a scope as a file tree: list it, read it at three tiers, search it, add and remove.
//!
//! `uri` parses URIs, `resolve` finds nodes and lists folders, `entry` makes the entries of listings, `path_tree`
//! shows documents and agent files as folders, `tiers` makes the short forms, `find` searches by meaning, `grep` by text,
//! `inject` builds prompt blocks, `write` adds and removes, `status` counts. Nothing stores the tree itself: each
//! memory is at its URI, and documents, sessions, layers and the agent's own files are beside them.

mod uri;
mod resolve;
mod entry;
mod path_tree;
mod tiers;
mod find;
mod grep;
mod inject;
mod write;
mod status;
#[cfg(test)]
mod page_cost_tests;

use serde::Serialize;

pub use find::{FsFindReport, FsFindRequest, FsHit};
pub use grep::{FsGrepMatch, FsGrepReport, FsGrepRequest};
pub use inject::FsInjectRequest;
pub use status::FsStatus;
#[doc(hidden)]
pub use uri::to_viking;
pub use write::{FsAddReport, FsAddRequest, FsRemoveReport, FsRemoveRequest};

use self::{resolve::FsNode, uri::FsUri};
use super::Engine;
use crate::{
    error::{Error, Result},
    types::{Kind, MemoryId, Scope, Status, Tier, Timestamp},
};

/// Default number of entries per page.
pub const DEFAULT_PAGE_SIZE: usize = 100;
/// Largest number of entries per page.
pub const MAX_PAGE_SIZE: usize = 1_000;

/// Entry of the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsEntry {
    /// URI; that of a folder ends with a slash.
    pub uri: String,
    /// Last part of the URI.
    pub name: String,
    /// Set for a folder.
    pub folder: bool,
    /// Summary in one line (L0).
    #[serde(rename = "abstract")]
    pub summary: String,
    /// Memory id, if it is a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Kind of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Status of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Length of its text, where known without reading it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Time of creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    /// Set when [`Engine::fs_remove`] refuses it.
    pub read_only: bool,
}

/// Request for a page of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsListRequest {
    /// URI of the folder.
    pub uri: String,
    /// Cursor: `next` of the previous page.
    pub after: Option<String>,
    /// Most entries.
    pub limit: usize,
    /// Set to include archived and superseded memories.
    pub all: bool,
}

impl FsListRequest {
    /// Creates a request for the first page of a folder.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), after: None, limit: DEFAULT_PAGE_SIZE, all: false }
    }
}

/// Page of a folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsListing {
    /// URI of the folder.
    pub uri: String,
    /// Entries, sorted by name.
    pub items: Vec<FsEntry>,
    /// Cursor for the next page; `None` on the last page.
    pub next: Option<String>,
}

/// Request for a folder and its subfolders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsTreeRequest {
    /// URI of the folder.
    pub uri: String,
    /// Levels of folders to list.
    pub depth: usize,
    /// Most entries.
    pub limit: usize,
    /// Set to include archived and superseded memories.
    pub all: bool,
}

/// Folder with its entries, in depth-first order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsTree {
    /// URI of the folder.
    pub uri: String,
    /// Entries, each before its children.
    pub items: Vec<FsTreeEntry>,
    /// Set when the limit cut the tree.
    pub more: bool,
}

/// Entry of a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsTreeEntry {
    /// Depth below the folder; 1 for its direct children.
    pub depth: usize,
    /// The entry.
    #[serde(flatten)]
    pub item: FsEntry,
}

/// Text of a node at a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsText {
    /// URI of the node.
    pub uri: String,
    /// Tier of the text.
    pub level: Tier,
    /// Text.
    pub text: String,
    /// Set when the text was cut because it is too long for one answer.
    pub cut: bool,
}

/// Properties of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsStat {
    /// The entry.
    #[serde(flatten)]
    pub item: FsEntry,
    /// Number of entries in a folder; counts at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
}

impl Engine {
    /// Returns one page of a folder. Fails if the limit is out of range, or if the URI is invalid or names no folder.
    pub async fn fs_list(&self, scope: &Scope, request: &FsListRequest) -> Result<FsListing> {
        check_limit(request.limit)?;
        let fs_uri = FsUri::parse(&request.uri, scope)?;
        self.list_folder(scope, &fs_uri, request).await
    }

    /// Returns a folder with its subfolders, down to the requested depth. Fails if the limit is out of range, or if
    /// the URI is invalid or names no folder.
    pub async fn fs_tree(&self, scope: &Scope, request: &FsTreeRequest) -> Result<FsTree> {
        check_limit(request.limit)?;
        let fs_uri = FsUri::parse(&request.uri, scope)?;
        let uri = entry::folder_uri(&fs_uri, scope);
        let mut tree = FsTree { uri, items: Vec::new(), more: false };
        self.walk(scope, &fs_uri, 1, request, &mut tree).await?;
        Ok(tree)
    }

    /// Adds each entry of a folder and, recursively, its children.
    async fn walk(
        &self,
        scope: &Scope,
        fs_uri: &FsUri,
        depth: usize,
        request: &FsTreeRequest,
        tree: &mut FsTree,
    ) -> Result<()> {
        let left = request.limit - tree.items.len();
        let page = FsListRequest { limit: left, all: request.all, ..FsListRequest::new("") };
        let listing = self.list_folder(scope, fs_uri, &page).await?;
        tree.more |= listing.next.is_some();
        for item in listing.items {
            if tree.items.len() == request.limit {
                tree.more = true;
                return Ok(());
            }
            let inside = (item.folder && depth < request.depth).then(|| item.uri.clone());
            tree.items.push(FsTreeEntry { depth, item });
            let is_full = tree.items.len() == request.limit;
            tree.more |= is_full && inside.is_some();
            // A URI from another system may not parse here: the tree shows it without opening it.
            let fs_uri = inside.filter(|_| !is_full).and_then(|uri| FsUri::parse(&uri, scope).ok());
            if let Some(fs_uri) = fs_uri {
                Box::pin(self.walk(scope, &fs_uri, depth + 1, request, tree)).await?;
            }
        }
        Ok(())
    }

    /// Returns the text of a node at a tier. Fails if the URI is invalid or names nothing, or if a folder is read at
    /// L2.
    pub async fn fs_read(&self, scope: &Scope, uri: &str, level: Tier) -> Result<FsText> {
        let fs_uri = FsUri::parse(uri, scope)?;
        let node = self.resolve_node(scope, &fs_uri).await?;
        let (text, cut) = match node {
            FsNode::Folder if level == Tier::L2 => {
                return Err(Error::invalid(
                    format!("`{}` is a folder", fs_uri.uri(scope)),
                    "list it with `ls`, or read its overview with the level l1",
                ));
            }
            FsNode::Folder => {
                let page =
                    FsListRequest { limit: tiers::MAX_OVERVIEW_CHILDREN, ..FsListRequest::new("") };
                let listing = self.list_folder(scope, &fs_uri, &page).await?;
                (tiers::render_folder(&listing, level), listing.next.is_some())
            }
            node => tiers::render_node(&node, level),
        };
        Ok(FsText { uri: fs_uri.uri(scope), level, text, cut })
    }

    /// Returns the properties of a node. Fails if the URI is invalid or names nothing.
    pub async fn fs_stat(&self, scope: &Scope, uri: &str) -> Result<FsStat> {
        let fs_uri = FsUri::parse(uri, scope)?;
        let node = self.resolve_node(scope, &fs_uri).await?;
        let item = entry::node_entry(&fs_uri, &node, scope);
        if !item.folder {
            return Ok(FsStat { item, entries: None });
        }
        let page = FsListRequest { limit: MAX_PAGE_SIZE, ..FsListRequest::new("") };
        let entries = self.list_folder(scope, &fs_uri, &page).await?.items.len();
        Ok(FsStat { item, entries: Some(entries) })
    }
}

/// Fails if a URI cannot name anything in the tree of a scope; does not check that the node exists.
pub fn check_uri(uri: &str, scope: &Scope) -> Result<()> {
    FsUri::parse(uri, scope).map(drop)
}

fn check_limit(limit: usize) -> Result<()> {
    if (1..=MAX_PAGE_SIZE).contains(&limit) {
        return Ok(());
    }
    Err(Error::invalid(
        format!("a page has 1 to {MAX_PAGE_SIZE} entries"),
        "get the rest page by page, with `after`",
    ))
}
