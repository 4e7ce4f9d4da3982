//! Everything that is held of a scope as a tree of files (X6): list it, read it at three levels, search it, add and remove.
//!
//! `place` says what a uri means, `look` finds it and lists what is in it, `levels` makes the short forms, `search` finds by
//! meaning and by text, `inject` tells a prompt, `change` adds and removes, `status` counts. The tree is nothing that is stored: memories stand where their uris say,
//! documents, conversations, layers and the agent's own files beside them.

mod uri;
mod resolve;
mod entry;
mod path_tree;
mod tiers;
mod search;
mod inject;
mod write;
mod status;
#[cfg(test)]
mod page_cost_tests;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

pub use inject::FsInjectRequest;
pub use search::{FsFindReport, FsFindRequest, FsGrepMatch, FsGrepReport, FsGrepRequest, FsHit};
pub use status::FsStatus;
pub use uri::to_viking;
pub use write::{FsAddReport, FsAddRequest, FsRemoveReport, FsRemoveRequest};

use self::{resolve::FsNode, uri::FsUri};
use super::Engine;
use crate::{
    error::{Error, Result},
    types::{Kind, MemoryId, Scope, Status, Timestamp},
};

/// Entries of a page, unless another number is asked for, and at most.
pub const DEFAULT_PAGE_SIZE: usize = 100;
/// See [`PAGE`].
pub const MAX_PAGE_SIZE: usize = 1_000;

/// How much of a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsTier {
    /// One line.
    L0,
    /// An overview.
    L1,
    /// All of it.
    #[default]
    L2,
}

impl FsTier {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::L0 => "l0",
            Self::L1 => "l1",
            Self::L2 => "l2",
        }
    }
}

impl fmt::Display for FsTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FsTier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_lowercase().as_str() {
            "l0" | "0" | "abstract" => Ok(Self::L0),
            "l1" | "1" | "overview" => Ok(Self::L1),
            "l2" | "2" | "full" => Ok(Self::L2),
            _ => Err(Error::invalid(
                format!("there is no level `{text}`, only l0, l1 and l2"),
                "use l0 (one line), l1 (overview) or l2 (all of it)",
            )),
        }
    }
}

/// Something in the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FsEntry {
    /// What it is called by; a folder's ends with a slash.
    pub uri: String,
    /// The last part of that.
    pub name: String,
    /// Whether there is something in it.
    pub folder: bool,
    /// What it is, in one line (L0).
    #[serde(rename = "abstract")]
    pub summary: String,
    /// The memory, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Its keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How long its text is, where that is known without reading it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    /// Whether `rm` refuses it.
    pub read_only: bool,
}

/// Which entries of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsListRequest {
    /// The folder.
    pub uri: String,
    /// Where the last page ended: its `next`.
    pub after: Option<String>,
    /// The most entries.
    pub limit: usize,
    /// Also what is archived or superseded.
    pub all: bool,
}

impl FsListRequest {
    /// The first page of a folder.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), after: None, limit: DEFAULT_PAGE_SIZE, all: false }
    }
}

/// A page of a folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FsListing {
    /// The folder.
    pub uri: String,
    /// What is in it, by name.
    pub items: Vec<FsEntry>,
    /// What to give as `after` for the next page; nothing if this is the last one.
    pub next: Option<String>,
}

/// How much of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsTreeRequest {
    /// The folder.
    pub uri: String,
    /// How many levels of folders.
    pub depth: usize,
    /// The most entries.
    pub limit: usize,
    /// Also what is archived or superseded.
    pub all: bool,
}

/// A folder with what is in it, from the outside in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FsTree {
    /// The folder.
    pub uri: String,
    /// Each entry before those in it.
    pub items: Vec<FsTreeEntry>,
    /// Whether there is more than was asked for.
    pub more: bool,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FsTreeEntry {
    /// How far below the folder it stands; 1 for what is in it.
    pub depth: usize,
    /// The entry.
    #[serde(flatten)]
    pub item: FsEntry,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FsText {
    /// Its uri.
    pub uri: String,
    /// How much of it.
    pub level: FsTier,
    /// The text.
    pub text: String,
    /// Whether a text was cut because it is too long for one answer.
    pub cut: bool,
}

/// What is known of an entry without reading it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FsStat {
    /// The entry.
    #[serde(flatten)]
    pub item: FsEntry,
    /// How many entries a folder has; at most 1,000 are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
}

impl Engine {
    /// Lists a folder, a page at a time.
    pub async fn fs_list(&self, scope: &Scope, request: &FsListRequest) -> Result<FsListing> {
        check_limit(request.limit)?;
        let place = FsUri::parse(&request.uri, scope)?;
        self.list_folder(scope, &place, request).await
    }

    /// Lists a folder and the folders in it.
    pub async fn fs_tree(&self, scope: &Scope, request: &FsTreeRequest) -> Result<FsTree> {
        check_limit(request.limit)?;
        let place = FsUri::parse(&request.uri, scope)?;
        let uri = entry::folder_uri(&place, scope);
        let mut walked = FsTree { uri, items: Vec::new(), more: false };
        self.walk(scope, &place, (1, request), &mut walked).await?;
        Ok(walked)
    }

    /// Takes up each entry and, if it is a folder, what is in it.
    async fn walk(
        &self,
        scope: &Scope,
        place: &FsUri,
        (depth, request): (usize, &FsTreeRequest),
        walked: &mut FsTree,
    ) -> Result<()> {
        let left = request.limit - walked.items.len();
        let page = FsListRequest { limit: left, all: request.all, ..FsListRequest::new("") };
        let listing = self.list_folder(scope, place, &page).await?;
        walked.more |= listing.next.is_some();
        for item in listing.items {
            if walked.items.len() == request.limit {
                walked.more = true;
                return Ok(());
            }
            let inside = (item.folder && depth < request.depth).then(|| item.uri.clone());
            walked.items.push(FsTreeEntry { depth, item });
            let is_full = walked.items.len() == request.limit;
            walked.more |= is_full && inside.is_some();
            // A name that another system brought may be none here: it is shown, and not opened.
            let place = inside.filter(|_| !is_full).and_then(|uri| FsUri::parse(&uri, scope).ok());
            if let Some(place) = place {
                Box::pin(self.walk(scope, &place, (depth + 1, request), walked)).await?;
            }
        }
        Ok(())
    }

    /// Reads something at a level.
    pub async fn fs_read(&self, scope: &Scope, uri: &str, level: FsTier) -> Result<FsText> {
        let place = FsUri::parse(uri, scope)?;
        let thing = self.resolve_node(scope, &place).await?;
        let (text, cut) = match thing {
            FsNode::Folder if level == FsTier::L2 => {
                return Err(Error::invalid(
                    format!("`{}` is a folder", place.uri(scope)),
                    "list it with `ls`, or read its overview with the level l1",
                ));
            }
            FsNode::Folder => {
                let page =
                    FsListRequest { limit: tiers::MAX_OVERVIEW_CHILDREN, ..FsListRequest::new("") };
                let listing = self.list_folder(scope, &place, &page).await?;
                (tiers::render_folder(&listing, level), listing.next.is_some())
            }
            thing => tiers::render_node(&thing, level),
        };
        Ok(FsText { uri: place.uri(scope), level, text, cut })
    }

    /// Says what something is.
    pub async fn fs_stat(&self, scope: &Scope, uri: &str) -> Result<FsStat> {
        let place = FsUri::parse(uri, scope)?;
        let thing = self.resolve_node(scope, &place).await?;
        let item = entry::node_entry(&place, &thing, scope);
        if !item.folder {
            return Ok(FsStat { item, entries: None });
        }
        let page = FsListRequest { limit: MAX_PAGE_SIZE, ..FsListRequest::new("") };
        let entries = self.list_folder(scope, &place, &page).await?.items.len();
        Ok(FsStat { item, entries: Some(entries) })
    }
}

/// Refuses a uri that names nothing in the tree of a scope, whether it exists or not.
pub fn check_uri(uri: &str, scope: &Scope) -> Result<()> {
    FsUri::parse(uri, scope).map(drop)
}

fn check_limit(limit: usize) -> Result<()> {
    match (1..=MAX_PAGE_SIZE).contains(&limit) {
        true => Ok(()),
        false => Err(Error::invalid(
            format!("a page has 1 to {MAX_PAGE_SIZE} entries"),
            "ask for more page by page, with `after`",
        )),
    }
}
