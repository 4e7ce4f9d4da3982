//! Embedding status and backfill of missing vectors.

use std::time::Duration;

use serde::Serialize;

use super::{Engine, EngineAdmin};
use crate::{
    error::{Error, Result},
    llm::replaces_builtin,
    store::VectorCacheStatus,
    types::EmbeddingModelId,
};

/// Embedding status: the models and the number of embedded memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedStatus {
    /// Model whose vectors the store holds.
    pub in_use: Option<EmbeddingModelId>,
    /// Embedding model of this engine.
    pub model: Option<EmbeddingModelId>,
    /// Memories with a vector of the model in use.
    pub embedded: usize,
    /// Memories without a vector of the model in use.
    pub waiting: usize,
    /// Vector cache of a remote model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<VectorCacheStatus>,
    /// Reranking model, if any.
    pub reranker: Option<EmbeddingModelId>,
    /// Memories with token vectors of the reranking model.
    pub read: usize,
    /// Memories without token vectors of the reranking model.
    pub unread: usize,
    /// Set while the store holds vectors of an earlier version of the built-in model, which are renewed without a
    /// command.
    pub is_outdated: bool,
}

/// Time that opening a store of an earlier version takes for its vectors: enough for a thousand memories. The rest is
/// renewed in the background.
const RENEWAL_LIMIT: Duration = Duration::from_millis(50);

fn no_embedder_error() -> Error {
    Error::invalid("there is no embedding model", "choose one in the settings")
}

impl Engine {
    /// Waits for usage records and for embeddings started by saves, the latter for at most `limit`. Memories that lack
    /// a vector by then get one after the next save or from [`EngineAdmin::backfill_embeddings`].
    pub async fn flush(&self, limit: Duration) {
        self.flush_usage().await;
        if let Some(backfill) = &self.backfill {
            backfill.flush(limit).await;
        }
        if let Some(backfill) = &self.token_backfill {
            backfill.flush(limit).await;
        }
    }
}

impl EngineAdmin<'_> {
    /// Returns the embedding models in use and configured, and how many memories have vectors and how many lack them.
    /// Fails if the store fails.
    pub async fn embed_status(self) -> Result<EmbedStatus> {
        let (embedded, waiting) = self.engine.store.vectors().counts().await?;
        let model = self.engine.backfill.as_ref().map(|backfill| backfill.embedder.model().clone());
        let cache = match self.engine.backfill.as_ref().and_then(|backfill| backfill.vector_cache())
        {
            Some(handle) => Some(handle.cache.status().await?),
            None => None,
        };
        let reranker = self.engine.reranker.as_ref().map(|reranker| reranker.model().clone());
        let (read, unread) = match &reranker {
            Some(reranker) => self.engine.store.token_vectors().counts(reranker).await?,
            None => (0, 0),
        };
        let in_use = self.engine.store.vectors().model().await?;
        let is_outdated =
            model.iter().zip(&in_use).any(|(model, in_use)| replaces_builtin(model, in_use));
        Ok(EmbedStatus {
            in_use,
            model,
            embedded,
            waiting,
            cache,
            reranker,
            read,
            unread,
            is_outdated,
        })
    }

    /// Computes the vectors of an earlier version of the built-in model again, most of them in the background if there
    /// are many. [`Engine::open`] calls it; call it after [`EngineBuilder::build`](super::EngineBuilder::build).
    pub async fn renew_embeddings(self) {
        let Some(backfill) = &self.engine.backfill else { return };
        if self.store_info().is_read_only {
            return;
        }
        if let Err(error) = backfill.renew(RENEWAL_LIMIT).await {
            tracing::warn!("{error}: vectors of an earlier version could not be renewed");
        }
    }

    /// Makes this engine's embedding model the one in use. Vectors of another model become stale until
    /// [`EngineAdmin::backfill_embeddings`] replaces them. Fails if the engine has no embedder.
    pub async fn switch_embedding_model(self) -> Result<()> {
        let backfill = self.engine.backfill.as_ref().ok_or_else(no_embedder_error)?;
        self.engine.store.vectors().set_model(backfill.embedder.model()).await
    }

    /// Embeds all memories that lack a vector and returns how many; calls `progress` with the number done. Recall
    /// works meanwhile, and finished work survives an interruption. Fails if the engine has no embedder, or if the
    /// embedder or the store fails.
    pub async fn backfill_embeddings(
        self,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let backfill = self.engine.backfill.as_ref().ok_or_else(no_embedder_error)?;
        backfill.ensure_model_in_use().await?;
        backfill.backfill(None, progress).await
    }

    /// Encodes all memories that lack token vectors with the reranker, so that no query waits for it, and returns how
    /// many; calls `progress` with the number done. Finished work survives an interruption. Does nothing without a
    /// reranker. Fails if the reranker or the store fails.
    pub async fn backfill_token_vectors(
        self,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let Some(backfill) = &self.engine.token_backfill else { return Ok(0) };
        let mut done = 0;
        for scope in self.engine.store.admin().scopes().await? {
            let before = done;
            done += backfill.backfill(&scope, &mut |count| progress(before + count)).await?;
        }
        Ok(done)
    }
}
