//! Memories in RAM: the independent oracle that other stores are compared with; recall as of a past day runs on it.
//!
//! It copies a scope for every write and analyses every text for every query, so it is for tests and small scopes only.

mod scope_data;
mod memories;
mod embeddings;
mod usage_ledger;
mod capture_queue;
mod uri_index;
mod vector_cache;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use async_trait::async_trait;

use self::{scope_data::ScopeData, usage_ledger::UsageLedgerData, vector_cache::CachedVectorMap};
use super::{
    Journal, JournalQuery, SealChange, SearchIndex, Segment, SharedDocument, SharedDocuments,
    Store, StoreAdmin, StoreInfo,
};
use crate::{
    error::{Error, Result},
    sync::lock,
    text::terms::TermHash,
    types::{
        AppliedChange, ChangeVectors, EmbeddingModelId, JournalEntry, Memory, Scope, Timestamp,
        Vector, WriteBatch,
    },
};

/// A store without a file.
#[derive(Debug, Default)]
pub struct RamStore {
    scope_data: Mutex<BTreeMap<Scope, ScopeData>>,
    /// The model in use.
    model: Mutex<Option<EmbeddingModelId>>,
    usage_ledger: Mutex<UsageLedgerData>,
    cached_vectors: Mutex<CachedVectorMap>,
    documents: Mutex<BTreeMap<String, SharedDocument>>,
    /// Sealed agents, each with the holder of its seal.
    sealed_agents: Mutex<BTreeMap<String, String>>,
}

impl RamStore {
    /// Creates a store with these memories of one scope and no history.
    pub(crate) fn with_memories(scope: &Scope, memories: Vec<Memory>) -> Self {
        let mut data = ScopeData::default();
        for memory in memories {
            let address = data.address_for(&memory);
            data.rows.insert(address, memory);
        }
        Self { scope_data: Mutex::new(BTreeMap::from([(scope.clone(), data)])), ..Self::default() }
    }

    /// Locks the scopes. They are replaced whole, so none is seen half changed, even after a panic.
    fn lock_scopes(&self) -> MutexGuard<'_, BTreeMap<Scope, ScopeData>> {
        lock(&self.scope_data)
    }

    fn current_model(&self) -> Option<EmbeddingModelId> {
        lock(&self.model).clone()
    }

    /// Returns the vectors of a write if they are of the model in use. The first model that writes is taken into use.
    fn usable_vectors<'a>(&self, vectors: Option<&'a ChangeVectors>) -> Option<&'a ChangeVectors> {
        let vectors = vectors?;
        self.current_model().is_none_or(|model| model == vectors.model).then_some(vectors)
    }

    fn read<T>(&self, scope: &Scope, read: impl FnOnce(&ScopeData) -> T) -> T {
        let empty = ScopeData::default();
        read(self.lock_scopes().get(scope).unwrap_or(&empty))
    }
}

#[async_trait]
impl Store for RamStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let mut scopes = self.lock_scopes();
        if lock(&self.sealed_agents).contains_key(write.scope.agent()) {
            return Err(Error::Sealed { agent: write.scope.agent().to_owned() });
        }
        let mut data = scopes.get(&write.scope).cloned().unwrap_or_default();
        data.check_repeated(&write)?;
        write.check_plan(data.journal.len() as u64)?;
        let mut applied = Vec::with_capacity(write.changes.len());
        let vectors = self.usable_vectors(write.vectors.as_ref());
        for (index, change) in write.changes.iter().enumerate() {
            let vector = vectors.and_then(|vector| {
                Some((vector.model.clone(), vector.vectors.get(index)?.clone()?))
            });
            applied.push(data.apply(&write, change, vector)?);
        }
        for receipt in applied.iter_mut() {
            let Some(erasure) = &mut receipt.erasure else { continue };
            erasure.usage_lines = self.lock_usage_ledger().remove_memory(&write.scope, receipt.id);
            erasure.cached_vectors =
                lock(&self.cached_vectors).forget(&write.scope, &data.tombstones);
        }
        data.tombstones.extend(&write.erased_texts);
        if let Some(extracted) = &write.checkpoint {
            data.commit_extraction(extracted, write.at)?;
        }
        scopes.insert(write.scope, data);
        if let (None, Some(ChangeVectors { model, .. })) = (self.current_model(), write.vectors) {
            *lock(&self.model) = Some(model);
        }
        Ok(applied)
    }

    crate::store_facets! {
        own: memories, index, journal, vectors, token_vectors, queue, uris, usage, ledger, vector_cache,
            documents, admin
    }
}

#[async_trait]
impl SearchIndex for RamStore {
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        let model = model.filter(|model| self.current_model().as_ref() == Some(model));
        Ok(self.read(scope, |data| vec![Segment::of_memories(data.indexed(model), terms, model)]))
    }

    async fn similarities(
        &self,
        _scope: &Scope,
        _blocks: &[i64],
        _query: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        // All vectors are in the segments.
        Ok(None)
    }

    async fn inconsistencies(&self, _scope: &Scope) -> Result<Vec<String>> {
        // The index is built from the rows at every query, so the two cannot disagree.
        Ok(Vec::new())
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        Ok(self.read(scope, |data| data.rows.len()))
    }

    async fn stale_scopes(&self) -> Result<Vec<Scope>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Journal for RamStore {
    async fn entries(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let selects = |entry: &&JournalEntry| query.selects(entry);
        Ok(self.read(scope, |data| {
            data.journal.iter().rev().filter(selects).take(limit).cloned().collect()
        }))
    }

    async fn newest_seq(&self, scope: &Scope) -> Result<u64> {
        Ok(self.read(scope, |data| data.journal.last().map_or(0, |entry| entry.seq)))
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |data| {
            let mut then: BTreeMap<_, _> =
                data.rows.values().map(|memory| (memory.id, memory)).collect();
            for entry in data.journal.iter().rev().filter(|entry| entry.at > at) {
                match &entry.before {
                    Some(before) => then.insert(entry.id, before),
                    None => then.remove(&entry.id),
                };
            }
            then.into_values().cloned().collect()
        }))
    }
}

#[async_trait]
impl SharedDocuments for RamStore {
    async fn get(&self, name: &str) -> Result<Option<SharedDocument>> {
        Ok(lock(&self.documents).get(name).cloned())
    }

    async fn put(&self, name: &str, expected: u64, text: &str) -> Result<Option<u64>> {
        let mut documents = lock(&self.documents);
        if documents.get(name).map_or(0, |document| document.version) != expected {
            return Ok(None);
        }
        let document = SharedDocument { text: text.to_owned(), version: expected + 1 };
        documents.insert(name.to_owned(), document);
        Ok(Some(expected + 1))
    }

    async fn remove(&self, name: &str) -> Result<bool> {
        Ok(lock(&self.documents).remove(name).is_some())
    }

    async fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let documents = lock(&self.documents);
        Ok(documents.keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }
}

#[async_trait]
impl StoreAdmin for RamStore {
    fn info(&self) -> StoreInfo {
        StoreInfo { url: "ram:".to_owned(), schema: 0, is_read_only: false }
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        Ok(self.lock_scopes().keys().cloned().collect())
    }

    async fn integrity(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn compact(&self) -> Result<u64> {
        Ok(0)
    }

    async fn size(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()> {
        // Under the lock of writes, so that none is under way.
        let _scopes = self.lock_scopes();
        let mut sealed = lock(&self.sealed_agents);
        let is_of = |holder| sealed.get(agent).is_some_and(|current| current == holder);
        match change {
            SealChange::Seal(holder) => drop(sealed.insert(agent.to_owned(), holder.to_owned())),
            SealChange::EndOf(holder) if !is_of(holder) => {}
            SealChange::End | SealChange::EndOf(_) => drop(sealed.remove(agent)),
        }
        Ok(())
    }

    async fn erase_agent(&self, agent: &str) -> Result<()> {
        self.lock_scopes().retain(|scope, _| scope.agent() != agent);
        self.lock_usage_ledger().remove_agent(agent);
        lock(&self.cached_vectors).remove_agent(agent);
        Ok(())
    }

    async fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::conformance::TestStore;

    async fn fresh() -> TestStore {
        TestStore::in_ram(Arc::new(RamStore::default()))
    }

    crate::store::conformance::suite!(fresh);
}
