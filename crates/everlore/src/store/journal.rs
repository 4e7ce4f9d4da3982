//! The journal facet: every change of a scope, and the past that follows from it.

use async_trait::async_trait;

use crate::{
    error::Result,
    types::{JournalEntry, Memory, MemoryId, Scope, Timestamp},
};

/// Reads the journal of a scope. Lines are written by [`Store::apply`](super::Store::apply) only.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Returns the lines that a query selects, newest first, each with the memory before and after.
    async fn entries(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>>;

    /// Returns the number of the newest line, 0 without any. It reads no line, however large.
    async fn newest_seq(&self, scope: &Scope) -> Result<u64>;

    /// Returns every memory as it was at the end of that moment, oldest first.
    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>>;
}

/// Selection of journal lines. An absent field selects all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalQuery {
    /// Lines of this memory.
    pub id: Option<MemoryId>,
    /// Lines of this run.
    pub run: Option<String>,
    /// The line with this number.
    pub seq: Option<u64>,
    /// Lines before this number.
    pub before: Option<u64>,
    /// The most lines to return.
    pub limit: Option<usize>,
}

impl JournalQuery {
    /// Returns `true` if a line is selected, the limit left aside.
    pub(super) fn selects(&self, entry: &JournalEntry) -> bool {
        self.id.is_none_or(|id| entry.id == id)
            && self.run.as_ref().is_none_or(|run| entry.run.as_ref() == Some(run))
            && self.seq.is_none_or(|seq| entry.seq == seq)
            && self.before.is_none_or(|before| entry.seq < before)
    }
}
