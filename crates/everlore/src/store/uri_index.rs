//! The uri index facet: the uris of a scope as a tree. A folder is listed by prefix, a page at a time, without reading
//! the rest.

use async_trait::async_trait;

use super::DocAddress;
use crate::{
    error::Result,
    types::{Memory, MemoryId, Scope, Timestamp},
};

/// Walks the uris of memories and the conversations of a scope in order. The cost depends on the page, not on the
/// scope.
#[async_trait]
pub trait UriIndex: Send + Sync {
    /// Returns the children of `folder`, which ends with a slash: the next path segment of the uris of memories that
    /// are no turns. Each name occurs once, in the order of uris, after `after` (a [`UriChild::sort_key`]), at most
    /// `limit`.
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>>;

    /// Returns the memories whose uri has this prefix, turns left out, in the order of uris, after the uri `after`, at
    /// most `limit`.
    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>>;

    /// Returns the index addresses of memories, in order. The cost depends on the selected memories, and no texts are
    /// read.
    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>>;

    /// Returns the conversations with stored turns, by name, after `after`, at most `limit`.
    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>>;

    /// Returns the turns of a conversation in their order, after one of its turns, at most `limit`; empty if there is
    /// no such conversation.
    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
}

/// Selection of memories of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressQuery {
    /// The memory at this uri and those in the folder of that name, turns left out.
    Folder(String),
    /// Memories with these ids; deleted ones are left out.
    Ids(Vec<MemoryId>),
}

/// Child of a folder.
#[derive(Debug, Clone, PartialEq)]
pub enum UriChild {
    /// Folder, by its name.
    Folder(String),
    /// Memory, with its name.
    File(String, Box<Memory>),
}

impl UriChild {
    /// Returns the sort key: the name, for a folder with the slash that follows it in uris.
    pub fn sort_key(&self) -> String {
        match self {
            Self::Folder(name) => format!("{name}/"),
            Self::File(name, _) => name.clone(),
        }
    }
}

/// Summary of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Name of the session in its turns.
    pub session: String,
    /// Time of its first turn.
    pub first_at: Timestamp,
    /// Time of its last turn.
    pub last_at: Timestamp,
}

/// Returns the child of `folder` that leads to the uri of a memory.
pub(super) fn child_of(folder: &str, memory: Memory) -> Option<UriChild> {
    let rest = memory.uri.strip_prefix(folder)?;
    Some(match rest.split_once('/') {
        Some((name, _)) => UriChild::Folder(name.to_owned()),
        None => UriChild::File(rest.to_owned(), Box::new(memory)),
    })
}

/// Returns the first uri that may come after a key, and `true` if that uri itself is included.
pub(super) fn seek_after(folder: &str, after: Option<&str>) -> (String, bool) {
    match after {
        None => (folder.to_owned(), true),
        // The character after the slash: the walk passes over everything in the folder.
        Some(key) => match key.strip_suffix('/') {
            Some(name) => (format!("{folder}{name}0"), true),
            None => (format!("{folder}{key}"), false),
        },
    }
}

/// A character above all that uris have.
pub(super) const MAX_CHAR: char = char::MAX;

/// Returns the first address of a session and the first after it.
pub(super) fn session_range(session: u32) -> (DocAddress, DocAddress) {
    (DocAddress::new(session, 0), DocAddress::new(session.saturating_add(1), 0))
}
