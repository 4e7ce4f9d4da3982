//! State of the vectors, and making the missing ones.

use std::time::Duration;

use serde::Serialize;

use super::Engine;
use crate::{
    error::{Error, Result},
    store::{NewTokenVectors, VectorCacheStatus},
    types::EmbeddingModelId,
};

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
        let (embedded, waiting) = self.store.vectors().counts().await?;
        let model = self.backfill.as_ref().map(|filler| filler.embedder.model().clone());
        let cache = match self.backfill.as_ref().and_then(|backfill| backfill.vector_cache()) {
            Some(handle) => Some(handle.cache.status().await?),
            None => None,
        };
        let reranker = self.reranker.as_ref().map(|reranker| reranker.model().clone());
        let (read, unread) = match &reranker {
            Some(reranker) => self.store.token_vectors().counts(reranker).await?,
            None => (0, 0),
        };
        let in_use = self.store.vectors().model().await?;
        Ok(EmbedStatus { in_use, model, embedded, waiting, cache, reranker, read, unread })
    }

    /// Takes this engine's model into use; vectors of another one wait to be made anew by [`Engine::embed_rest`].
    pub async fn switch_embedding_model(&self) -> Result<()> {
        let filler = self.backfill.as_ref().ok_or_else(no_embedder_error)?;
        self.store.vectors().set_model(filler.embedder.model()).await
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
        for scope in self.store.admin().scopes().await? {
            let mut after = None;
            loop {
                let model = reranker.model();
                let waiting =
                    self.store.token_vectors().missing(&scope, model, after, TOKEN_BATCH).await?;
                let Some(last) = waiting.last() else { break };
                after = Some(last.id);
                let texts: Vec<&str> = waiting.iter().map(|memory| &*memory.content).collect();
                let made = waiting.iter().zip(reranker.encode_texts(&texts).await?);
                let made = made.map(|(memory, packed)| NewTokenVectors {
                    id: memory.id,
                    version: memory.version,
                    token_vectors: packed.0,
                });
                self.store.token_vectors().put(&scope, model, made.collect()).await?;
                done += waiting.len();
                progress(done);
            }
        }
        Ok(done)
    }
}
