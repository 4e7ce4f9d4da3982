//! The uris of a scope as a tree: what stands in a folder is found by its beginning, a page at a time, without looking at
//! the rest.

use async_trait::async_trait;

use super::DocAddress;
use crate::{
    error::Result,
    types::{Memory, MemoryId, Scope, Timestamp},
};

/// Walks the uris of memories and the conversations of a scope in order. What a page costs depends on the page.
#[async_trait]
pub trait UriIndex: Send + Sync {
    /// What follows `folder`, which ends with a slash, in the uris of memories that are no turns, up to the next slash:
    /// each name once, in the order of uris, those after `after` (a [`UriChild::key`]), at most `limit`.
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>>;

    /// The memories whose uri has this beginning, turns left out, in the order of uris, those after the uri `after`, at most
    /// `limit`.
    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>>;

    /// Where memories stand in the index, in the order of places. It costs with those that are meant, and reads no texts.
    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>>;

    /// The conversations of which turns are stored, by name, those after `after`, at most `limit`.
    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>>;

    /// The turns of a conversation in their order, those after a turn of it, at most `limit`; none if there is no such
    /// conversation.
    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
}

/// Some memories of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressQuery {
    /// The memory at this uri and those in the folder of that name, turns left out.
    Folder(String),
    /// These; those that are gone are left out.
    Ids(Vec<MemoryId>),
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq)]
pub enum UriChild {
    /// A folder, by its name.
    Folder(String),
    /// A memory, with its name.
    File(String, Box<Memory>),
}

impl UriChild {
    /// Its place in the order: the name, for a folder with the slash that follows it in uris.
    pub fn sort_key(&self) -> String {
        match self {
            Self::Folder(name) => format!("{name}/"),
            Self::File(name, _) => name.clone(),
        }
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// What its turns call it.
    pub session: String,
    /// When its first and its last turn were said.
    pub first_at: Timestamp,
    /// See `first_at`.
    pub last_at: Timestamp,
}

/// The first part of what follows `folder` in the uri of a memory.
pub(super) fn child_of(folder: &str, memory: Memory) -> Option<UriChild> {
    let rest = memory.uri.strip_prefix(folder)?;
    Some(match rest.split_once('/') {
        Some((name, _)) => UriChild::Folder(name.to_owned()),
        None => UriChild::File(rest.to_owned(), Box::new(memory)),
    })
}

/// Where a walk goes on after a key: the first uri that may come next, and whether that one counts.
pub(super) fn seek_after(folder: &str, after: Option<&str>) -> (String, bool) {
    match after {
        None => (folder.to_owned(), true),
        // The character after the slash: everything in the folder is passed over.
        Some(key) => match key.strip_suffix('/') {
            Some(name) => (format!("{folder}{name}0"), true),
            None => (format!("{folder}{key}"), false),
        },
    }
}
