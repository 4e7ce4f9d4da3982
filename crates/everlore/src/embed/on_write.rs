//! Embedding on write: vectors with the write for a local model, later for a remote one.

use std::sync::Arc;

use async_trait::async_trait;

use super::{EmbeddingBackfill, TokenBackfill};
use crate::{
    error::Result,
    llm::Embedder,
    store::Store,
    types::{AppliedChange, Change, ChangeVectors, MemoryId, Vector, WriteBatch},
};

/// A store whose writes get vectors. Only [`Store::apply`] differs from the store inside.
pub(crate) struct EmbedOnWrite {
    pub(crate) path: EmbeddingPath,
    /// Encodes what is new for the reranker, if there is one.
    pub(crate) tokens: Option<Arc<TokenBackfill>>,
}

/// Way by which a memory gets its vector.
pub(crate) enum EmbeddingPath {
    /// A model in this process: vectors are stored with the memories.
    Inline { store: Arc<dyn Store>, embedder: Arc<dyn Embedder> },
    /// A remote model: memories are stored at once, and a background task adds the vectors.
    Deferred(Arc<EmbeddingBackfill>),
}

impl EmbedOnWrite {
    fn store(&self) -> &dyn Store {
        match &self.path {
            EmbeddingPath::Inline { store, .. } => &**store,
            EmbeddingPath::Deferred(backfill) => &*backfill.store,
        }
    }
}

/// Embeds the texts that a write stores. If the model fails, the write goes on without vectors and a backfill adds
/// them.
async fn embed_changes(embedder: &dyn Embedder, changes: &[Change]) -> Option<ChangeVectors> {
    let texts: Vec<&str> = changes.iter().filter_map(embeddable_text).collect();
    let embeddings = match embedder.embed(&texts).await {
        Ok(embeddings) => embeddings,
        Err(error) => {
            tracing::warn!(
                "{error}: memories are stored without vectors, which are computed later"
            );
            return None;
        }
    };
    let mut embeddings = embeddings.iter().map(|numbers| Vector::quantize(numbers));
    let vectors = changes
        .iter()
        .map(|change| embeddable_text(change).and_then(|_| embeddings.next()))
        .collect();
    Some(ChangeVectors { model: embedder.model().clone(), vectors })
}

fn embeddable_text(change: &Change) -> Option<&str> {
    change.written().map(|memory| &*memory.content)
}

fn written_id(change: &Change) -> Option<MemoryId> {
    change.written().map(|memory| memory.id)
}

#[async_trait]
impl Store for EmbedOnWrite {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let written: Vec<MemoryId> = write.changes.iter().filter_map(written_id).collect();
        let scope = (!written.is_empty()).then(|| write.scope.clone());
        let applied = match &self.path {
            EmbeddingPath::Inline { store, embedder } => {
                let vectors = embed_changes(&**embedder, &write.changes).await;
                store.apply(WriteBatch { vectors, ..write }).await?
            }
            EmbeddingPath::Deferred(backfill) => {
                let applied = backfill.store.apply(write).await?;
                scope.iter().for_each(|scope| backfill.notify(scope));
                applied
            }
        };
        if let (Some(tokens), Some(scope)) = (&self.tokens, &scope) {
            tokens.notify(scope, written);
        }
        Ok(applied)
    }

    crate::store_facets! {
        by [.store()]: memories, index, journal, vectors, token_vectors, queue, uris, usage, ledger,
            vector_cache, documents, admin
    }
}
