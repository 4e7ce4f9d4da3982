//! Memories in RAM: the plainest store there is. Others are compared with it, and recall of a past day runs on it.

mod scope_data;
mod usage_ledger;
mod capture_queue;
mod uri_index;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use self::{
    scope_data::{MODEL_NUMBER, ScopeData},
    usage_ledger::UsageLedgerData,
};
use super::{
    DocAddress, EMBED_BATCH, JournalQuery, Ledger, ListOrder, ListQuery, MemoryKey, NewEmbedding,
    NewTokenVectors, ScopeCounts, Segment, Store, UsageLog, index_entry::build_segment,
};
use crate::{
    error::Result,
    text::terms::TermHash,
    types::{
        AppliedChange, ChangeVectors, EmbeddingModelId, Fingerprint, JournalEntry, Kind, Memory,
        MemoryId, Scope, Timestamp, WriteBatch,
    },
};

/// A store without a file.
#[derive(Debug, Default)]
pub struct RamStore {
    scope_data: Mutex<BTreeMap<Scope, ScopeData>>,
    /// The model in use.
    model: Mutex<Option<EmbeddingModelId>>,
    usage_ledger: Mutex<UsageLedgerData>,
}

impl RamStore {
    /// A store that holds these memories of one scope, with no history.
    pub fn with_memories(scope: &Scope, memories: Vec<Memory>) -> Self {
        let mut shelf = ScopeData::default();
        for memory in memories {
            let place = shelf.address_for(&memory);
            shelf.rows.insert(place, memory);
        }
        Self { scope_data: Mutex::new(BTreeMap::from([(scope.clone(), shelf)])), ..Self::default() }
    }

    fn lock_scopes(&self) -> MutexGuard<'_, BTreeMap<Scope, ScopeData>> {
        // Shelves are replaced whole, so one is never seen half changed, even after a panic.
        self.scope_data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current_model(&self) -> Option<EmbeddingModelId> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The vectors of a write, if they are of the model in use; the first model that writes is.
    fn usable_vectors<'a>(&self, vectors: Option<&'a ChangeVectors>) -> Option<&'a ChangeVectors> {
        let made = vectors?;
        self.current_model().is_none_or(|model| model == made.model).then_some(made)
    }

    fn read<T>(&self, scope: &Scope, read: impl FnOnce(&ScopeData) -> T) -> T {
        let empty = ScopeData::default();
        read(self.lock_scopes().get(scope).unwrap_or(&empty))
    }
}

#[async_trait]
impl Store for RamStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let mut shelves = self.lock_scopes();
        let mut shelf = shelves.get(&write.scope).cloned().unwrap_or_default();
        let mut applied = Vec::with_capacity(write.changes.len());
        let vectors = self.usable_vectors(write.vectors.as_ref());
        for (index, change) in write.changes.iter().enumerate() {
            let made = vectors
                .and_then(|made| Some((made.model.clone(), made.vectors.get(index)?.clone()?)));
            applied.push(shelf.apply(&write, change, made)?);
        }
        for erased in applied.iter_mut().filter(|applied| applied.erasure.is_some()) {
            let lines = self.lock_usage_ledger().remove_memory(&write.scope, erased.id);
            erased.erasure.iter_mut().for_each(|receipt| receipt.usage_lines = lines);
        }
        shelf.tombstones.extend(&write.erased_texts);
        if let Some(extracted) = &write.checkpoint {
            shelf.commit_extraction(extracted, write.at)?;
        }
        shelves.insert(write.scope, shelf);
        if let (None, Some(ChangeVectors { model, .. })) = (self.current_model(), write.vectors) {
            *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model);
        }
        Ok(applied)
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        Ok(self.read(scope, |shelf| ids.iter().map(|id| shelf.memory(*id).cloned()).collect()))
    }

    async fn find(&self, scope: &Scope, key: &MemoryKey, limit: usize) -> Result<Vec<Memory>> {
        let fits = |memory: &&Memory| match key {
            MemoryKey::IdPrefix(prefix) => {
                memory.id.to_string().replace('-', "").starts_with(prefix)
            }
            MemoryKey::Uri(uri) => memory.kind != Kind::Turn && memory.uri == *uri,
            MemoryKey::Text(text) => memory.kind != Kind::Turn && memory.fingerprint() == *text,
        };
        Ok(self.read(scope, |shelf| {
            shelf.oldest_first().into_iter().filter(fits).take(limit).cloned().collect()
        }))
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        let fits = |memory: &&Memory| {
            page.after.is_none_or(|after| match page.order {
                ListOrder::NewestFirst => memory.id < after,
                ListOrder::OldestFirst => memory.id > after,
            }) && page.filter.matches(memory)
        };
        Ok(self.read(scope, |shelf| {
            let mut all = shelf.oldest_first();
            if page.order == ListOrder::NewestFirst {
                all.reverse();
            }
            all.into_iter().filter(fits).take(page.limit).cloned().collect()
        }))
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        let model = model.filter(|model| self.current_model().as_ref() == Some(model));
        Ok(self.read(scope, |shelf| {
            let entries: Vec<_> = shelf
                .rows
                .iter()
                .map(|(place, memory)| shelf.index_entry(memory, *place, model))
                .collect();
            vec![build_segment(
                &entries,
                terms,
                model.map(|model| (MODEL_NUMBER, model.dimensions)),
            )]
        }))
    }

    async fn embedding_model(&self) -> Result<Option<EmbeddingModelId>> {
        Ok(self.current_model())
    }

    async fn set_embedding_model(&self, model: &EmbeddingModelId) -> Result<()> {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
        Ok(())
    }

    async fn embedding_counts(&self) -> Result<(usize, usize)> {
        let model = self.current_model();
        let made = |shelf: &ScopeData| {
            let has = |place: &&DocAddress| {
                model.as_ref().is_some_and(|model| shelf.has_vector(**place, model))
            };
            shelf.rows.keys().filter(has).count()
        };
        let shelves = self.lock_scopes();
        let made: usize = shelves.values().map(made).sum();
        Ok((made, shelves.values().map(|shelf| shelf.rows.len()).sum::<usize>() - made))
    }

    async fn missing_embeddings(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let Some(model) = self.current_model() else { return Ok(Vec::new()) };
        let waiting = |shelf: &ScopeData| -> Vec<Memory> {
            let rows = shelf.rows.iter().filter(|(place, _)| !shelf.has_vector(**place, &model));
            rows.map(|(_, memory)| memory.clone()).take(EMBED_BATCH).collect()
        };
        Ok(self
            .lock_scopes()
            .iter()
            .filter(|(owner, _)| scope.is_none_or(|scope| scope == *owner))
            .map(|(_, shelf)| waiting(shelf))
            .find(|waiting| !waiting.is_empty())
            .unwrap_or_default())
    }

    async fn put_embeddings(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewEmbedding>,
    ) -> Result<()> {
        if let Some(shelf) = self.lock_scopes().get_mut(scope) {
            for NewEmbedding { id, version, vector } in made {
                if shelf.memory(id).is_some_and(|memory| memory.version == version) {
                    shelf.vectors.insert(shelf.addresses[&id], (model.clone(), vector));
                }
            }
        }
        Ok(())
    }

    async fn token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        places: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let kept = |shelf: &ScopeData, place| match shelf.token_vectors.get(place) {
            Some((made_by, tokens)) if made_by == model => Some(tokens.clone()),
            _ => None,
        };
        Ok(self.read(scope, |shelf| places.iter().map(|place| kept(shelf, place)).collect()))
    }

    async fn put_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewTokenVectors>,
    ) -> Result<()> {
        let mut shelves = self.lock_scopes();
        for shelf in shelves.values_mut() {
            shelf.token_vectors.retain(|_, (made_by, _)| made_by == model);
        }
        let Some(shelf) = shelves.get_mut(scope) else { return Ok(()) };
        for NewTokenVectors { id, version, token_vectors } in made {
            if shelf.memory(id).is_some_and(|memory| memory.version == version) {
                shelf.token_vectors.insert(shelf.addresses[&id], (model.clone(), token_vectors));
            }
        }
        Ok(())
    }

    async fn missing_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |shelf| {
            let kept =
                |place| shelf.token_vectors.get(place).is_some_and(|(made_by, _)| made_by == model);
            let waits =
                |memory: &&Memory| after < Some(memory.id) && !kept(&shelf.addresses[&memory.id]);
            shelf.oldest_first().into_iter().filter(waits).take(limit).cloned().collect()
        }))
    }

    async fn token_vector_counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        let shelves = self.lock_scopes();
        let made =
            |shelf: &ScopeData| shelf.token_vectors.values().filter(|(by, _)| by == model).count();
        let made: usize = shelves.values().map(made).sum();
        Ok((made, shelves.values().map(|shelf| shelf.rows.len()).sum::<usize>() - made))
    }

    async fn by_address(
        &self,
        scope: &Scope,
        places: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        Ok(self.read(scope, |shelf| {
            places
                .iter()
                .filter_map(|place| Some((*place, shelf.rows.get(place)?.clone())))
                .collect()
        }))
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        Ok(self.read(scope, |shelf| ids.iter().map(|id| shelf.memory(*id).is_some()).collect()))
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        let fits = |entry: &&JournalEntry| {
            query.id.is_none_or(|id| entry.id == id)
                && query.run.as_ref().is_none_or(|run| entry.run.as_ref() == Some(run))
                && query.seq.is_none_or(|seq| entry.seq == seq)
                && query.before.is_none_or(|before| entry.seq < before)
        };
        let limit = query.limit.unwrap_or(usize::MAX);
        Ok(self.read(scope, |shelf| {
            shelf.journal.iter().rev().filter(fits).take(limit).cloned().collect()
        }))
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |shelf| {
            let mut then: BTreeMap<_, _> =
                shelf.rows.values().map(|memory| (memory.id, memory)).collect();
            for entry in shelf.journal.iter().rev().filter(|entry| entry.at > at) {
                match &entry.before {
                    Some(before) => then.insert(entry.id, before),
                    None => then.remove(&entry.id),
                };
            }
            then.into_values().cloned().collect()
        }))
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        Ok(self.read(scope, |shelf| {
            texts.iter().map(|text| shelf.tombstones.contains(text)).collect()
        }))
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        Ok(self.read(scope, |shelf| shelf.tombstones.iter().copied().collect()))
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        Ok(self.read(scope, |shelf| {
            let mut memories = BTreeMap::new();
            for memory in shelf.rows.values() {
                *memories.entry((memory.kind, memory.status)).or_default() += 1;
            }
            ScopeCounts {
                memories: memories
                    .into_iter()
                    .map(|((kind, status), count)| (kind, status, count))
                    .collect(),
                changes: shelf.journal.len(),
                tombstones: shelf.tombstones.len(),
            }
        }))
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        Ok(self.lock_scopes().keys().cloned().collect())
    }

    async fn check(&self, _scope: &Scope) -> Result<Vec<String>> {
        // The index is made from the rows at every question, so the two cannot disagree.
        Ok(Vec::new())
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        Ok(self.read(scope, |shelf| shelf.rows.len()))
    }

    fn usage(&self) -> &dyn UsageLog {
        self
    }

    fn ledger(&self) -> &dyn Ledger {
        self
    }

    async fn compact(&self) -> Result<u64> {
        Ok(0)
    }

    async fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    async fn fresh() -> Arc<dyn Store> {
        Arc::new(RamStore::default())
    }

    crate::store::conformance::suite!(fresh);
}
