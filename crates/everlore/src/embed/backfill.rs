//! Vectors from a model that takes its time: memories are stored first, and what is missing is made meanwhile.

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
    llm::Embedder,
    store::{NewEmbedding, Store},
    sync::lock,
    types::{Clock, Memory, Scope, Vector},
};

/// Makes what is missing, one scope after the other, in a task that ends when nothing is left.
pub(crate) struct EmbeddingBackfill {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) is_remote: bool,
    pub(crate) max_cached: usize,
    pub(crate) clock: Clock,
    state: Mutex<BackfillState>,
    /// Whether the model makes what it is asked for: one that answers with vectors of another size fails with every save.
    breaker: CircuitBreaker,
}

#[derive(Default)]
struct BackfillState {
    /// Whose memories wait.
    pending_scopes: BTreeSet<Scope>,
    /// Whether a task is at it, which looks here before it ends.
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
            // One failure may be a server that starts: the next save tries again.
            breaker: CircuitBreaker::with_tolerance(1),
        }
    }

    /// Where vectors are kept.
    pub(crate) fn vector_cache(&self) -> Option<VectorCacheHandle<'_>> {
        let max_vectors = self.max_cached;
        (max_vectors > 0).then(|| VectorCacheHandle { cache: self.store.cache(), max_vectors })
    }

    /// Has the vectors of a scope made; returns at once.
    pub(crate) fn notify(self: &Arc<Self>, scope: &Scope) {
        let mut work = self.lock_state();
        work.pending_scopes.insert(scope.clone());
        // What waits is made with the first save after the pause.
        if !work.is_running && self.breaker.open_circuit((self.clock)()).is_none() {
            work.is_running = true;
            work.task = Some(tokio::spawn(Arc::clone(self).run_task()));
        }
    }

    /// Waits until all is made, but not longer than this; then the rest is left for later.
    pub(crate) async fn flush(&self, limit: Duration) {
        let Some(mut task) = self.lock_state().task.take() else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // Only when it is really over may the store be closed.
            let _ = task.await;
            self.lock_state().is_running = false;
        }
    }

    /// Makes the vectors that are missing in a scope, or in all.
    pub(crate) async fn backfill(
        &self,
        scope: Option<&Scope>,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let mut done = 0;
        loop {
            let waiting = self.store.vectors().missing(scope).await?;
            let Some(first) = waiting.first() else { return Ok(done) };
            self.embed_memories(&first.scope, &waiting).await?;
            done += waiting.len();
            progress(done);
        }
    }

    async fn embed_memories(&self, scope: &Scope, waiting: &[Memory]) -> Result<()> {
        let asking = CachedEmbedder {
            embedder: &*self.embedder,
            vector_cache: self.vector_cache(),
            scope,
            breaker: None,
            now: (self.clock)(),
        };
        let texts: Vec<&str> = waiting.iter().map(|memory| memory.content.as_str()).collect();
        let numbers = asking.embed(&texts).await?;
        let made = waiting.iter().zip(&numbers).map(|(memory, numbers)| NewEmbedding {
            id: memory.id,
            version: memory.version,
            vector: Vector::quantize(numbers),
        });
        self.store.vectors().put(scope, self.embedder.model(), made.collect()).await
    }

    /// Takes the model into use if no other is; tells whether it is in use.
    pub(crate) async fn ensure_model_in_use(&self) -> Result<bool> {
        match self.store.vectors().model().await? {
            Some(model) => Ok(model == *self.embedder.model()),
            None => self.store.vectors().set_model(self.embedder.model()).await.map(|()| true),
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
                        "{error}: vectors are made after a later save, or by `everlore embed rebuild`"
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
