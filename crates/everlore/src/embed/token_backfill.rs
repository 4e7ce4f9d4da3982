//! Token vectors for the reranker: a save is acknowledged at once, and a background task encodes what is new.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::task::JoinHandle;

use crate::{
    error::Result,
    llm::Reranker,
    store::{NewTokenVectors, Store},
    sync::lock,
    types::{Memory, MemoryId, Scope},
};

/// Texts encoded at a time; one write stores their token vectors.
const BATCH: usize = 16;

/// Most scopes that are remembered as searched, some hundred bytes each; beyond it all are forgotten and searched again.
const MAX_SEARCHED_SCOPES: usize = 10_000;

/// Background task that encodes memories without token vectors, one scope after the other, and ends when none is left.
///
/// The first save of a process has its scope searched for them from the beginning. Later ones have it searched from the
/// memories that they wrote: a save must not cost more the more there is.
pub(crate) struct TokenBackfill {
    store: Arc<dyn Store>,
    reranker: Arc<dyn Reranker>,
    state: Mutex<TokenBackfillState>,
}

#[derive(Default)]
struct TokenBackfillState {
    /// Scopes to search, each with the first memory that was written.
    pending_scopes: BTreeMap<Scope, MemoryId>,
    /// Scopes that were searched from the beginning.
    searched_scopes: BTreeSet<Scope>,
    /// Set while a task runs; the task looks at the pending scopes again before it ends.
    is_running: bool,
    task: Option<JoinHandle<()>>,
}

impl TokenBackfill {
    pub(crate) fn new(store: Arc<dyn Store>, reranker: Arc<dyn Reranker>) -> Self {
        Self { store, reranker, state: Mutex::default() }
    }

    /// Queues a scope for encoding, of which these memories were written, and returns at once.
    pub(crate) fn notify(
        self: &Arc<Self>,
        scope: &Scope,
        written: impl IntoIterator<Item = MemoryId>,
    ) {
        let Some(first) = written.into_iter().min() else { return };
        let mut state = lock(&self.state);
        let pending = state.pending_scopes.entry(scope.clone()).or_insert(first);
        *pending = first.min(*pending);
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
        self.backfill_after(scope, None, progress).await
    }

    /// Encodes the memories after one, by id.
    async fn backfill_after(
        &self,
        scope: &Scope,
        mut after: Option<MemoryId>,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let mut done = 0;
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
        while let Some((scope, after)) = self.next_search() {
            match self.backfill_after(&scope, after, &mut |_| {}).await {
                Ok(_) => lock(&self.state).remember_searched(scope),
                Err(error) => {
                    tracing::warn!("{error}: token vectors are computed by a later save or recall");
                }
            }
        }
    }

    /// Returns the next scope, and the memory after which to search it.
    fn next_search(&self) -> Option<(Scope, Option<MemoryId>)> {
        let mut state = lock(&self.state);
        let next = state.pending_scopes.pop_first();
        state.is_running = next.is_some();
        let (scope, first) = next?;
        let after = state.searched_scopes.contains(&scope).then(|| first.predecessor()).flatten();
        Some((scope, after))
    }
}

impl TokenBackfillState {
    fn remember_searched(&mut self, scope: Scope) {
        if self.searched_scopes.len() >= MAX_SEARCHED_SCOPES {
            self.searched_scopes.clear();
        }
        self.searched_scopes.insert(scope);
    }
}

#[cfg(test)]
#[cfg(feature = "local-model")]
mod tests {
    use super::*;
    use crate::{
        Engine, Turn,
        llm::BuiltinEmbedder,
        store::{SqliteStore, sqlite::vm_steps},
    };

    const LIMIT: Duration = Duration::from_secs(60);

    fn turn(number: u32) -> Turn {
        Turn { text: format!("cup of tea {number}"), ..Turn::default() }
    }

    /// Returns the instructions that readers run for a save beside so many memories, until its text is encoded.
    async fn steps_of_save(memories: u32) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        let store = Arc::new(SqliteStore::open(&path).await.unwrap());
        let embedder = Arc::new(BuiltinEmbedder::new());
        let engine = Engine::builder(store).embedder(embedder).builtin_encoder().build();
        let scope = Scope::default();
        engine.observe(&scope, (0..memories).map(turn).collect()).await.unwrap();
        engine.flush(LIMIT).await;
        let before = vm_steps::total(&path);
        engine.observe(&scope, vec![turn(memories)]).await.unwrap();
        engine.flush(LIMIT).await;
        let steps = vm_steps::total(&path) - before;
        let status = engine.admin().embed_status().await.unwrap();
        assert_eq!((status.read, status.unread), (memories as usize + 1, 0));
        steps
    }

    #[tokio::test]
    async fn a_save_beside_many_memories_takes_no_more_steps_than_beside_few() {
        let (few, many) = (steps_of_save(20).await, steps_of_save(200).await);
        assert!(many < few + few / 2, "{few} {many}");
    }
}
