//! Lookup and listing of memories: by id, id prefix or URI, by filter, and through the journal.

use std::collections::BTreeSet;

use jiff::Zoned;

use super::Engine;
use crate::{
    error::{Error, Result},
    recall::{self, Recall, RecallRequest},
    store::{JournalQuery, ListQuery, MemoryKey, ScopeCounts},
    sync::boxed,
    types::{JournalEntry, Memory, MemoryId, Scope},
};

impl Engine {
    /// Returns the id that `name` stands for: a whole id, a unique prefix of one or of its last group, or a URI. Fails if
    /// `name` is no id, matches nothing, or matches more than one memory.
    #[boxed]
    pub async fn resolve(&self, scope: &Scope, name: &str) -> Result<MemoryId> {
        if name.contains("://") {
            return self.resolve_uri(scope, name).await;
        }
        let digits = name.trim().replace('-', "").to_lowercase();
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(Error::invalid(
                format!("`{name}` is not an id"),
                "give an id, the beginning of one, or a uri; `everlore search` finds memories by their words",
            ));
        }
        let keys = [MemoryKey::IdPrefix(digits.clone()), MemoryKey::RandomPrefix(vec![digits])];
        // A third match would change nothing.
        let found = self.store.memories().find(scope, &keys, 100).await?;
        let found: BTreeSet<MemoryId> = found.iter().flatten().map(|memory| memory.id).collect();
        match (found.len(), found.first()) {
            (1, Some(id)) => Ok(*id),
            (0, _) | (_, None) => Err(Error::not_found("memory", name)),
            (count, _) => Err(Error::AmbiguousId { prefix: name.to_owned(), count }),
        }
    }

    async fn resolve_uri(&self, scope: &Scope, uri: &str) -> Result<MemoryId> {
        let key = MemoryKey::Uri(uri.to_owned());
        if let Some(memory) = self.store.memories().find_one(scope, key).await? {
            return Ok(memory.id);
        }
        // The URI of a turn ends with its id.
        let id = uri.rsplit('/').next().and_then(|last| last.parse().ok());
        let id: MemoryId = id.ok_or_else(|| Error::not_found("memory", uri))?;
        let memory = self.store.memories().get(scope, &[id]).await?.pop().flatten();
        memory
            .filter(|memory| memory.uri == uri)
            .map(|_| id)
            .ok_or_else(|| Error::not_found("memory", uri))
    }

    /// Returns a memory. Fails if the scope has none with this id.
    pub async fn get(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.store
            .memories()
            .get(scope, &[id])
            .await?
            .pop()
            .flatten()
            .ok_or_else(|| Error::not_found("memory", id))
    }

    /// Returns one page of the memories that match a filter.
    pub async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        self.store.memories().list(scope, page).await
    }

    /// Recalls up to the request's own limit, beyond the settings' limit of hits, for callers that drop some hits.
    pub async fn recall_unlimited(&self, request: &RecallRequest, now: &Zoned) -> Result<Recall> {
        let embedder = self.cached_embedder(&request.scope, now.timestamp());
        let settings = self.settings(request.scope.agent());
        let deps = self.recall_deps(&request.scope, &settings, embedder.as_ref(), now);
        recall::recall(deps, request).await
    }

    /// Returns journal entries, newest first.
    pub async fn history(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        self.store.journal().entries(scope, query).await
    }

    /// Returns the number of the newest journal entry, 0 without any.
    pub async fn newest_seq(&self, scope: &Scope) -> Result<u64> {
        self.store.journal().newest_seq(scope).await
    }

    /// Returns the number of memories by kind and status.
    pub async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        self.store.memories().count(scope).await
    }
}
