//! Embeddings and token vectors in RAM.

use async_trait::async_trait;

use super::{RamStore, ScopeData};
use crate::{
    error::Result,
    store::{
        DocAddress, Embeddings, NewEmbedding, NewTokenVectors, TokenVectors,
        embeddings::EMBED_BATCH,
    },
    sync::lock,
    types::{EmbeddingModelId, Memory, MemoryId, Scope},
};

#[async_trait]
impl Embeddings for RamStore {
    async fn model(&self) -> Result<Option<EmbeddingModelId>> {
        Ok(self.current_model())
    }

    async fn set_model(&self, model: &EmbeddingModelId) -> Result<()> {
        *lock(&self.model) = Some(model.clone());
        Ok(())
    }

    async fn counts(&self) -> Result<(usize, usize)> {
        let model = self.current_model();
        let embedded = |data: &ScopeData| {
            let has = |address: &&DocAddress| {
                model.as_ref().is_some_and(|model| data.has_vector(**address, model))
            };
            data.rows.keys().filter(has).count()
        };
        let scopes = self.lock_scopes();
        let embedded: usize = scopes.values().map(embedded).sum();
        Ok((embedded, scopes.values().map(|data| data.rows.len()).sum::<usize>() - embedded))
    }

    async fn missing(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let Some(model) = self.current_model() else { return Ok(Vec::new()) };
        let pending = |data: &ScopeData| -> Vec<Memory> {
            let rows = data.rows.iter().filter(|(address, _)| !data.has_vector(**address, &model));
            rows.map(|(_, memory)| memory.clone()).take(EMBED_BATCH).collect()
        };
        Ok(self
            .lock_scopes()
            .iter()
            .filter(|(owner, _)| scope.is_none_or(|scope| scope == *owner))
            .map(|(_, data)| pending(data))
            .find(|pending| !pending.is_empty())
            .unwrap_or_default())
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        new: Vec<NewEmbedding>,
    ) -> Result<()> {
        if let Some(data) = self.lock_scopes().get_mut(scope) {
            for NewEmbedding { id, version, vector } in new {
                if data.memory(id).is_some_and(|memory| memory.version == version) {
                    data.vectors.insert(data.addresses[&id], (model.clone(), vector));
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl TokenVectors for RamStore {
    async fn get(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        addresses: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let stored = |data: &ScopeData, address| match data.token_vectors.get(address) {
            Some((made_by, tokens)) if made_by == model => Some(tokens.clone()),
            _ => None,
        };
        Ok(self.read(scope, |data| addresses.iter().map(|address| stored(data, address)).collect()))
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        new: Vec<NewTokenVectors>,
    ) -> Result<()> {
        let mut scopes = self.lock_scopes();
        for data in scopes.values_mut() {
            data.token_vectors.retain(|_, (made_by, _)| made_by == model);
        }
        let Some(data) = scopes.get_mut(scope) else { return Ok(()) };
        for NewTokenVectors { id, version, token_vectors } in new {
            if data.memory(id).is_some_and(|memory| memory.version == version) {
                data.token_vectors.insert(data.addresses[&id], (model.clone(), token_vectors));
            }
        }
        Ok(())
    }

    async fn missing(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |data| {
            let stored = |address| {
                data.token_vectors.get(address).is_some_and(|(made_by, _)| made_by == model)
            };
            let waits =
                |memory: &&Memory| after < Some(memory.id) && !stored(&data.addresses[&memory.id]);
            data.oldest_first().into_iter().filter(waits).take(limit).cloned().collect()
        }))
    }

    async fn counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        let scopes = self.lock_scopes();
        let encoded =
            |data: &ScopeData| data.token_vectors.values().filter(|(by, _)| by == model).count();
        let encoded: usize = scopes.values().map(encoded).sum();
        Ok((encoded, scopes.values().map(|data| data.rows.len()).sum::<usize>() - encoded))
    }
}
