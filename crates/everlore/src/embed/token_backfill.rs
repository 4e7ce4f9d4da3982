//! Token vectors for the reranker: a save is acknowledged at once, and a background task encodes what is new.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::task::JoinHandle;

use crate::{
    error::Result,
    llm::Reranker,
    store::{NewTokenVectors, Store},
    sync::lock,
    types::{Memory, Scope},
};

/// Texts encoded at a time; one write stores their token vectors.
const BATCH: usize = 16;

/// Background task that encodes memories without token vectors, one scope after the other, and ends when none is left.
pub(crate) struct TokenBackfill {
    store: Arc<dyn Store>,
    reranker: Arc<dyn Reranker>,
    state: Mutex<TokenBackfillState>,
}

#[derive(Default)]
struct TokenBackfillState {
    pending_scopes: BTreeSet<Scope>,
    /// Set while a task runs; the task looks at the pending scopes again before it ends.
    is_running: bool,
    task: Option<JoinHandle<()>>,
}

impl TokenBackfill {
    pub(crate) fn new(store: Arc<dyn Store>, reranker: Arc<dyn Reranker>) -> Self {
        Self { store, reranker, state: Mutex::default() }
    }

    /// Queues a scope for encoding and returns at once.
    pub(crate) fn notify(self: &Arc<Self>, scope: &Scope) {
        let mut state = lock(&self.state);
        state.pending_scopes.insert(scope.clone());
        if !state.is_running {
            state.is_running = true;
            state.task = Some(tokio::spawn(Arc::clone(self).run_task()));
        }
    }

    /// Waits until no scope is pending, at most `limit`; the rest is encoded by a later save or recall.
    pub(crate) async fn flush(&self, limit: Duration) {
        let Some(mut task) = lock(&self.state).task.take() else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // The store may be closed only after the task has really ended.
            let _ = task.await;
            lock(&self.state).is_running = false;
        }
    }

    /// Encodes all memories of a scope that lack token vectors and returns how many; calls `progress` with the number
    /// done after each batch.
    pub(crate) async fn backfill(
        &self,
        scope: &Scope,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let (mut after, mut done) = (None, 0);
        loop {
            let missing =
                self.store.token_vectors().missing(scope, self.reranker.model(), after, BATCH);
            let missing = missing.await?;
            let Some(last) = missing.last() else { return Ok(done) };
            after = Some(last.id);
            self.encode(scope, &missing).await?;
            done += missing.len();
            progress(done);
        }
    }

    async fn encode(&self, scope: &Scope, memories: &[Memory]) -> Result<()> {
        let texts: Vec<&str> = memories.iter().map(|memory| &*memory.content).collect();
        let encoded = memories.iter().zip(self.reranker.encode_texts(&texts).await?);
        let encoded = encoded.map(|(memory, packed)| NewTokenVectors {
            id: memory.id,
            version: memory.version,
            token_vectors: packed.0,
        });
        self.store.token_vectors().put(scope, self.reranker.model(), encoded.collect()).await
    }

    async fn run_task(self: Arc<Self>) {
        // The save that woke the task is answered first.
        tokio::task::yield_now().await;
        while let Some(scope) = self.next_scope() {
            if let Err(error) = self.backfill(&scope, &mut |_| {}).await {
                tracing::warn!("{error}: token vectors are computed by a later save or recall");
            }
        }
    }

    fn next_scope(&self) -> Option<Scope> {
        let mut state = lock(&self.state);
        let next = state.pending_scopes.pop_first();
        state.is_running = next.is_some();
        next
    }
}
