//! Vectors: a store whose writes carry them, and making those that are missing.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::Serialize;

use super::{Engine, filler::Filler};
use crate::{
    error::{Error, Result},
    llm::Embedder,
    store::{
        CacheStatus, Counts, JournalQuery, Key, Ledger, Made, MadeTokens, Page, Place, Segment,
        Store, UsageLog,
    },
    text::terms::Term,
    types::{
        Applied, Change, Entry, Fingerprint, Memory, MemoryId, ModelId, Scope, Timestamp, Vector,
        Vectors, Write,
    },
};

/// A store with the model that makes its vectors.
pub(super) enum Embedding {
    /// A model in this process: vectors are stored with the memories.
    AtOnce { store: Arc<dyn Store>, embedder: Arc<dyn Embedder> },
    /// A model elsewhere: memories are stored at once, vectors when they come.
    Later(Arc<Filler>),
}

impl Embedding {
    pub(super) fn store(&self) -> &dyn Store {
        match self {
            Self::AtOnce { store, .. } => &**store,
            Self::Later(filler) => &*filler.store,
        }
    }
}

/// The vectors of what a write stores. A model that fails keeps nothing from being stored: the vectors are made
/// later.
async fn vectors(embedder: &dyn Embedder, changes: &[Change]) -> Option<Vectors> {
    let texts: Vec<&str> = changes.iter().filter_map(text).collect();
    let made = match embedder.embed(&texts).await {
        Ok(made) => made,
        Err(error) => {
            tracing::warn!("{error}: memories are stored without vectors, which are made later");
            return None;
        }
    };
    let mut made = made.iter().map(|numbers| Vector::quantize(numbers));
    let vectors = changes.iter().map(|change| text(change).and_then(|_| made.next())).collect();
    Some(Vectors { model: embedder.model().clone(), vectors })
}

fn text(change: &Change) -> Option<&str> {
    match change {
        Change::Add(memory) | Change::Update(memory) => Some(&memory.content),
        Change::Delete(_) | Change::Erase(_) => None,
    }
}

/// The state of the vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedStatus {
    /// The model whose vectors are kept.
    pub in_use: Option<ModelId>,
    /// The model that this engine has.
    pub model: Option<ModelId>,
    /// Memories with a vector of the model in use.
    pub embedded: usize,
    /// Memories without.
    pub waiting: usize,
    /// What is kept of a model on another server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStatus>,
    /// What compares texts word by word, if anything does.
    pub reranker: Option<ModelId>,
    /// Memories that it has read.
    pub read: usize,
    /// Memories that it has not.
    pub unread: usize,
}

/// Texts that are read at a time: what is made of them is written together.
const READ_BATCH: usize = 64;

fn no_model() -> Error {
    Error::invalid("there is no model to make vectors with", "choose one in the settings")
}

impl Engine {
    /// Which model's vectors are kept, which one makes them now, and how many are made and still to be made.
    pub async fn embed_status(&self) -> Result<EmbedStatus> {
        let (embedded, waiting) = self.store.embedded().await?;
        let model = self.filler.as_ref().map(|filler| filler.embedder.model().clone());
        let cache = match self.filler.as_ref().and_then(|filler| filler.cache.as_ref()) {
            Some(cache) => Some(cache.cache_status().await?),
            None => None,
        };
        let reranker = self.reranker.as_ref().map(|reranker| reranker.model().clone());
        let (read, unread) = match &reranker {
            Some(reranker) => self.store.count_read(reranker).await?,
            None => (0, 0),
        };
        let in_use = self.store.model().await?;
        Ok(EmbedStatus { in_use, model, embedded, waiting, cache, reranker, read, unread })
    }

    /// Takes this engine's model into use; vectors of another one wait to be made anew by [`Engine::embed_rest`].
    pub async fn switch_model(&self) -> Result<()> {
        let filler = self.filler.as_ref().ok_or_else(no_model)?;
        self.store.use_model(filler.embedder.model()).await
    }

    /// Makes the vectors that are still to be made, calling `progress` with how many are done. Recall goes on
    /// meanwhile, and what was done stays done if it is cut off.
    pub async fn embed_rest(&self, progress: &mut (dyn FnMut(usize) + Send)) -> Result<usize> {
        let filler = self.filler.as_ref().ok_or_else(no_model)?;
        filler.in_use().await?;
        filler.fill(None, progress).await
    }

    /// Waits for vectors that are being made since a save, but not longer than this; what is not made then is made after
    /// the next save or by [`Engine::embed_rest`].
    pub async fn settle(&self, limit: Duration) {
        self.settle_usage().await;
        if let Some(filler) = &self.filler {
            filler.settle(limit).await;
        }
    }
}

impl Engine {
    /// Has the reranking model read what it has not read yet, calling `progress` with how many texts are done, so that no
    /// question waits for it. What was done stays done if it is cut off. Does nothing without such a model.
    pub async fn read_rest(&self, progress: &mut (dyn FnMut(usize) + Send)) -> Result<usize> {
        let Some(reranker) = &self.reranker else { return Ok(0) };
        let mut done = 0;
        for scope in self.store.scopes().await? {
            let mut after = None;
            loop {
                let model = reranker.model();
                let waiting = self.store.unread(&scope, model, after, READ_BATCH).await?;
                let Some(last) = waiting.last() else { break };
                after = Some(last.id);
                let texts: Vec<&str> = waiting.iter().map(|memory| &*memory.content).collect();
                let made = waiting.iter().zip(reranker.read(&texts).await?);
                let made = made.map(|(memory, packed)| MadeTokens {
                    id: memory.id,
                    version: memory.version,
                    tokens: packed.0,
                });
                self.store.keep_tokens(&scope, model, made.collect()).await?;
                done += waiting.len();
                progress(done);
            }
        }
        Ok(done)
    }
}

#[async_trait]
impl Store for Embedding {
    async fn apply(&self, write: Write) -> Result<Vec<Applied>> {
        match self {
            Self::AtOnce { store, embedder } => {
                let vectors = vectors(&**embedder, &write.changes).await;
                store.apply(Write { vectors, ..write }).await
            }
            Self::Later(filler) => {
                let scope = write
                    .changes
                    .iter()
                    .any(|change| text(change).is_some())
                    .then(|| write.scope.clone());
                let applied = filler.store.apply(write).await?;
                if let Some(scope) = scope {
                    filler.wake(&scope);
                }
                Ok(applied)
            }
        }
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        self.store().get(scope, ids).await
    }

    async fn find(&self, scope: &Scope, key: &Key, limit: usize) -> Result<Vec<Memory>> {
        self.store().find(scope, key, limit).await
    }

    async fn list(&self, scope: &Scope, page: &Page) -> Result<Vec<Memory>> {
        self.store().list(scope, page).await
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[Term],
        model: Option<&ModelId>,
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

    async fn model(&self) -> Result<Option<ModelId>> {
        self.store().model().await
    }

    async fn use_model(&self, model: &ModelId) -> Result<()> {
        self.store().use_model(model).await
    }

    async fn embedded(&self) -> Result<(usize, usize)> {
        self.store().embedded().await
    }

    async fn unembedded(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        self.store().unembedded(scope).await
    }

    async fn embed(&self, scope: &Scope, model: &ModelId, made: Vec<Made>) -> Result<()> {
        self.store().embed(scope, model, made).await
    }

    async fn tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        places: &[Place],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.store().tokens(scope, model, places).await
    }

    async fn keep_tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        made: Vec<MadeTokens>,
    ) -> Result<()> {
        self.store().keep_tokens(scope, model, made).await
    }

    async fn unread(
        &self,
        scope: &Scope,
        model: &ModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.store().unread(scope, model, after, limit).await
    }

    async fn count_read(&self, model: &ModelId) -> Result<(usize, usize)> {
        self.store().count_read(model).await
    }

    async fn at_places(&self, scope: &Scope, places: &[Place]) -> Result<Vec<(Place, Memory)>> {
        self.store().at_places(scope, places).await
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        self.store().verify(scope, ids).await
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<Entry>> {
        self.store().journal(scope, query).await
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        self.store().as_of(scope, at).await
    }

    async fn erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        self.store().erased(scope, texts).await
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        self.store().tombstones(scope).await
    }

    async fn count(&self, scope: &Scope) -> Result<Counts> {
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

    async fn vacuum(&self) -> Result<u64> {
        self.store().vacuum().await
    }

    async fn close(&self) {
        self.store().close().await;
    }
}
