//! Vectors: a store whose writes carry them, and making those that are missing.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::Serialize;

use super::{Engine, embedding_backfill::EmbeddingBackfill};
use crate::{
    error::{Error, Result},
    llm::Embedder,
    store::{
        DocAddress, JournalQuery, Ledger, ListQuery, MemoryKey, NewEmbedding, NewTokenVectors,
        ScopeCounts, Segment, Store, UsageLog, VectorCacheStatus,
    },
    text::terms::TermHash,
    types::{
        AppliedChange, Change, ChangeVectors, EmbeddingModelId, Fingerprint, JournalEntry, Memory,
        MemoryId, Scope, Timestamp, Vector, WriteBatch,
    },
};

/// A store with the model that makes its vectors.
pub(super) enum EmbedOnWrite {
    /// A model in this process: vectors are stored with the memories.
    Inline { store: Arc<dyn Store>, embedder: Arc<dyn Embedder> },
    /// A model elsewhere: memories are stored at once, vectors when they come.
    Deferred(Arc<EmbeddingBackfill>),
}

impl EmbedOnWrite {
    pub(super) fn store(&self) -> &dyn Store {
        match self {
            Self::Inline { store, .. } => &**store,
            Self::Deferred(filler) => &*filler.store,
        }
    }
}

/// The vectors of what a write stores. A model that fails keeps nothing from being stored: the vectors are made
/// later.
async fn embed_changes(embedder: &dyn Embedder, changes: &[Change]) -> Option<ChangeVectors> {
    let texts: Vec<&str> = changes.iter().filter_map(embeddable_text).collect();
    let made = match embedder.embed(&texts).await {
        Ok(made) => made,
        Err(error) => {
            tracing::warn!("{error}: memories are stored without vectors, which are made later");
            return None;
        }
    };
    let mut made = made.iter().map(|numbers| Vector::quantize(numbers));
    let vectors =
        changes.iter().map(|change| embeddable_text(change).and_then(|_| made.next())).collect();
    Some(ChangeVectors { model: embedder.model().clone(), vectors })
}

fn embeddable_text(change: &Change) -> Option<&str> {
    match change {
        Change::Add(memory) | Change::Update(memory) => Some(&memory.content),
        Change::Delete(_) | Change::Erase(_) => None,
    }
}

/// The state of the vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedStatus {
    /// The model whose vectors are kept.
    pub in_use: Option<EmbeddingModelId>,
    /// The model that this engine has.
    pub model: Option<EmbeddingModelId>,
    /// Memories with a vector of the model in use.
    pub embedded: usize,
    /// Memories without.
    pub waiting: usize,
    /// What is kept of a model on another server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<VectorCacheStatus>,
    /// What compares texts word by word, if anything does.
    pub reranker: Option<EmbeddingModelId>,
    /// Memories that it has read.
    pub read: usize,
    /// Memories that it has not.
    pub unread: usize,
}

/// Texts that are read at a time: what is made of them is written together.
const TOKEN_BATCH: usize = 64;

fn no_embedder_error() -> Error {
    Error::invalid("there is no model to make vectors with", "choose one in the settings")
}

impl Engine {
    /// Which model's vectors are kept, which one makes them now, and how many are made and still to be made.
    pub async fn embed_status(&self) -> Result<EmbedStatus> {
        let (embedded, waiting) = self.store.embedding_counts().await?;
        let model = self.backfill.as_ref().map(|filler| filler.embedder.model().clone());
        let cache = match self.backfill.as_ref().and_then(|filler| filler.cache.as_ref()) {
            Some(cache) => Some(cache.status().await?),
            None => None,
        };
        let reranker = self.reranker.as_ref().map(|reranker| reranker.model().clone());
        let (read, unread) = match &reranker {
            Some(reranker) => self.store.token_vector_counts(reranker).await?,
            None => (0, 0),
        };
        let in_use = self.store.embedding_model().await?;
        Ok(EmbedStatus { in_use, model, embedded, waiting, cache, reranker, read, unread })
    }

    /// Takes this engine's model into use; vectors of another one wait to be made anew by [`Engine::embed_rest`].
    pub async fn switch_embedding_model(&self) -> Result<()> {
        let filler = self.backfill.as_ref().ok_or_else(no_embedder_error)?;
        self.store.set_embedding_model(filler.embedder.model()).await
    }

    /// Makes the vectors that are still to be made, calling `progress` with how many are done. Recall goes on
    /// meanwhile, and what was done stays done if it is cut off.
    pub async fn backfill_embeddings(
        &self,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let filler = self.backfill.as_ref().ok_or_else(no_embedder_error)?;
        filler.ensure_model_in_use().await?;
        filler.backfill(None, progress).await
    }

    /// Waits for vectors that are being made since a save, but not longer than this; what is not made then is made after
    /// the next save or by [`Engine::embed_rest`].
    pub async fn flush(&self, limit: Duration) {
        self.flush_usage().await;
        if let Some(filler) = &self.backfill {
            filler.flush(limit).await;
        }
    }
}

impl Engine {
    /// Has the reranking model read what it has not read yet, calling `progress` with how many texts are done, so that no
    /// question waits for it. What was done stays done if it is cut off. Does nothing without such a model.
    pub async fn backfill_token_vectors(
        &self,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let Some(reranker) = &self.reranker else { return Ok(0) };
        let mut done = 0;
        for scope in self.store.scopes().await? {
            let mut after = None;
            loop {
                let model = reranker.model();
                let waiting =
                    self.store.missing_token_vectors(&scope, model, after, TOKEN_BATCH).await?;
                let Some(last) = waiting.last() else { break };
                after = Some(last.id);
                let texts: Vec<&str> = waiting.iter().map(|memory| &*memory.content).collect();
                let made = waiting.iter().zip(reranker.encode_texts(&texts).await?);
                let made = made.map(|(memory, packed)| NewTokenVectors {
                    id: memory.id,
                    version: memory.version,
                    token_vectors: packed.0,
                });
                self.store.put_token_vectors(&scope, model, made.collect()).await?;
                done += waiting.len();
                progress(done);
            }
        }
        Ok(done)
    }
}

#[async_trait]
impl Store for EmbedOnWrite {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        match self {
            Self::Inline { store, embedder } => {
                let vectors = embed_changes(&**embedder, &write.changes).await;
                store.apply(WriteBatch { vectors, ..write }).await
            }
            Self::Deferred(filler) => {
                let scope = write
                    .changes
                    .iter()
                    .any(|change| embeddable_text(change).is_some())
                    .then(|| write.scope.clone());
                let applied = filler.store.apply(write).await?;
                if let Some(scope) = scope {
                    filler.notify(&scope);
                }
                Ok(applied)
            }
        }
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        self.store().get(scope, ids).await
    }

    async fn find(&self, scope: &Scope, key: &MemoryKey, limit: usize) -> Result<Vec<Memory>> {
        self.store().find(scope, key, limit).await
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        self.store().list(scope, page).await
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        self.store().postings(scope, terms, model).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        segments: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        self.store().similarities(scope, segments, question).await
    }

    async fn embedding_model(&self) -> Result<Option<EmbeddingModelId>> {
        self.store().embedding_model().await
    }

    async fn set_embedding_model(&self, model: &EmbeddingModelId) -> Result<()> {
        self.store().set_embedding_model(model).await
    }

    async fn embedding_counts(&self) -> Result<(usize, usize)> {
        self.store().embedding_counts().await
    }

    async fn missing_embeddings(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        self.store().missing_embeddings(scope).await
    }

    async fn put_embeddings(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewEmbedding>,
    ) -> Result<()> {
        self.store().put_embeddings(scope, model, made).await
    }

    async fn token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        places: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.store().token_vectors(scope, model, places).await
    }

    async fn put_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewTokenVectors>,
    ) -> Result<()> {
        self.store().put_token_vectors(scope, model, made).await
    }

    async fn missing_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.store().missing_token_vectors(scope, model, after, limit).await
    }

    async fn token_vector_counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        self.store().token_vector_counts(model).await
    }

    async fn by_address(
        &self,
        scope: &Scope,
        places: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        self.store().by_address(scope, places).await
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        self.store().verify(scope, ids).await
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        self.store().journal(scope, query).await
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        self.store().as_of(scope, at).await
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        self.store().are_erased(scope, texts).await
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        self.store().tombstones(scope).await
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        self.store().count(scope).await
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        self.store().scopes().await
    }

    async fn check(&self, scope: &Scope) -> Result<Vec<String>> {
        self.store().check(scope).await
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        self.store().reindex(scope).await
    }

    fn usage(&self) -> &dyn UsageLog {
        self.store().usage()
    }

    fn ledger(&self) -> &dyn Ledger {
        self.store().ledger()
    }

    async fn compact(&self) -> Result<u64> {
        self.store().compact().await
    }

    async fn close(&self) {
        self.store().close().await;
    }
}
