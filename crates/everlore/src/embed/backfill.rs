//! Embedding backfill for slow models: a write stores its memories first, and a background task adds the missing
//! vectors.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::task::JoinHandle;

use super::{
    cached::{CachedEmbedder, VectorCacheHandle},
    circuit_breaker::CircuitBreaker,
};
use crate::{
    error::Result,
    llm::{Embedder, replaces_builtin},
    store::{NewEmbedding, Store},
    sync::lock,
    types::{Clock, Memory, Scope, Vector},
};

/// Background task that embeds memories without a vector, one scope after the other, and ends when none is left.
pub(crate) struct EmbeddingBackfill {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) is_remote: bool,
    pub(crate) max_cached: usize,
    pub(crate) clock: Clock,
    state: Mutex<BackfillState>,
    /// Circuit breaker of the model: one that answers with vectors of another size fails with every save.
    breaker: CircuitBreaker,
}

#[derive(Default)]
struct BackfillState {
    /// Scopes with memories that have no vector yet.
    pending_scopes: BTreeSet<Scope>,
    /// Set while a task runs; the task looks at the pending scopes again before it ends.
    is_running: bool,
    task: Option<JoinHandle<()>>,
}

impl EmbeddingBackfill {
    /// Creates a backfill; `max_cached` is the size of the vector cache for a remote model, `None` for a local one.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        max_cached: Option<usize>,
        clock: Clock,
    ) -> Self {
        Self {
            store,
            embedder,
            is_remote: max_cached.is_some(),
            max_cached: max_cached.unwrap_or(0),
            clock,
            state: Mutex::default(),
            // One failure may be a server that is starting: the next save tries again.
            breaker: CircuitBreaker::with_tolerance(1),
        }
    }

    /// Returns the vector cache; `None` for a local model.
    pub(crate) fn vector_cache(&self) -> Option<VectorCacheHandle<'_>> {
        let max_vectors = self.max_cached;
        (max_vectors > 0)
            .then(|| VectorCacheHandle { cache: self.store.vector_cache(), max_vectors })
    }

    /// Queues a scope for embedding and returns at once.
    pub(crate) fn notify(self: &Arc<Self>, scope: &Scope) {
        let mut work = self.lock_state();
        work.pending_scopes.insert(scope.clone());
        // The first save after the pause embeds the pending memories.
        if !work.is_running && self.breaker.open_circuit((self.clock)()).is_none() {
            work.is_running = true;
            work.task = Some(tokio::spawn(Arc::clone(self).run_task()));
        }
    }

    /// Waits until no scope is pending, at most `limit`; the rest is left for later.
    pub(crate) async fn flush(&self, limit: Duration) {
        let Some(mut task) = self.lock_state().task.take() else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // The store may be closed only after the task has really ended.
            let _ = task.await;
            self.lock_state().is_running = false;
        }
    }

    /// Embeds the memories without a vector, in one scope or in all.
    pub(crate) async fn backfill(
        &self,
        scope: Option<&Scope>,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let mut done = 0;
        loop {
            let missing = self.store.vectors().missing(scope).await?;
            let Some(first) = missing.first() else { return Ok(done) };
            self.embed_memories(&first.scope, &missing).await?;
            done += missing.len();
            progress(done);
        }
    }

    async fn embed_memories(&self, scope: &Scope, missing: &[Memory]) -> Result<()> {
        let asking = CachedEmbedder {
            embedder: &*self.embedder,
            vector_cache: self.vector_cache(),
            scope,
            breaker: None,
            now: (self.clock)(),
        };
        let texts: Vec<&str> = missing.iter().map(|memory| memory.content.as_str()).collect();
        let numbers = asking.embed(&texts).await?;
        let embeddings = missing.iter().zip(&numbers).map(|(memory, numbers)| NewEmbedding {
            id: memory.id,
            version: memory.version,
            vector: Vector::quantize(numbers),
        });
        self.store.vectors().put(scope, self.embedder.model(), embeddings.collect()).await
    }

    /// Takes the model into use if no other is, or an earlier version of it; returns `true` if it is in use.
    pub(crate) async fn ensure_model_in_use(&self) -> Result<bool> {
        let model = self.embedder.model();
        match self.store.vectors().model().await? {
            Some(in_use) if !replaces_builtin(model, &in_use) => Ok(in_use == *model),
            _ => self.store.vectors().set_model(model).await.map(|()| true),
        }
    }

    /// Computes the vectors of an earlier version of the built-in model again: as many as `limit` allows at once, the
    /// rest in the background. Does nothing if the store has no such vectors.
    pub(crate) async fn renew(self: &Arc<Self>, limit: Duration) -> Result<()> {
        let in_use = self.store.vectors().model().await?;
        if !in_use.is_some_and(|in_use| replaces_builtin(self.embedder.model(), &in_use)) {
            return Ok(());
        }
        self.ensure_model_in_use().await?;
        match tokio::time::timeout(limit, self.backfill(None, &mut |_| {})).await {
            Ok(renewed) => renewed.map(drop),
            Err(_) => {
                self.store.admin().scopes().await?.iter().for_each(|scope| self.notify(scope));
                Ok(())
            }
        }
    }

    async fn run_task(self: Arc<Self>) {
        while let Some(scope) = self.next_scope() {
            let Ok(trial) = self.breaker.attempt((self.clock)()) else {
                return self.defer_scope(scope);
            };
            match self.backfill_scope(&scope).await {
                Ok(()) => trial.succeeded(),
                Err(error) => {
                    trial.failed(&error);
                    tracing::warn!(
                        "{error}: missing vectors are computed after a later save, or by `everlore embed rebuild`"
                    );
                }
            }
        }
    }

    async fn backfill_scope(&self, scope: &Scope) -> Result<()> {
        if self.ensure_model_in_use().await? {
            self.backfill(Some(scope), &mut |_| {}).await?;
        }
        Ok(())
    }

    fn next_scope(&self) -> Option<Scope> {
        let mut work = self.lock_state();
        let next = work.pending_scopes.pop_first();
        work.is_running = next.is_some();
        next
    }

    /// Leaves a scope for a later save, and ends the task.
    fn defer_scope(&self, scope: Scope) {
        let mut work = self.lock_state();
        work.pending_scopes.insert(scope);
        work.is_running = false;
    }

    fn lock_state(&self) -> MutexGuard<'_, BackfillState> {
        lock(&self.state)
    }
}
