//! Vectors from a model that takes its time: memories are stored first, and what is missing is made meanwhile.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::task::JoinHandle;

use super::{
    asking::{Asking, Kept},
    breaker::Breaker,
};
use crate::{
    error::Result,
    llm::Embedder,
    store::{Made, Store, VectorCache},
    types::{Memory, Scope, Timestamp, Vector},
};

/// Makes what is missing, one scope after the other, in a task that ends when nothing is left.
pub(super) struct Filler {
    pub(super) store: Arc<dyn Store>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) cache: Option<Arc<dyn VectorCache>>,
    pub(super) most_kept: usize,
    pub(super) clock: fn() -> Timestamp,
    work: Mutex<Work>,
    /// Whether the model makes what it is asked for: one that answers with vectors of another size fails with every save.
    breaker: Breaker,
}

#[derive(Default)]
struct Work {
    /// Whose memories wait.
    scopes: BTreeSet<Scope>,
    /// Whether a task is at it, which looks here before it ends.
    busy: bool,
    task: Option<JoinHandle<()>>,
}

impl Filler {
    pub(super) fn new(
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        cache: Option<(Arc<dyn VectorCache>, usize)>,
        clock: fn() -> Timestamp,
    ) -> Self {
        let (cache, most_kept) = cache.unzip();
        Self {
            store,
            embedder,
            cache,
            most_kept: most_kept.unwrap_or(0),
            clock,
            work: Mutex::default(),
            // One failure may be a server that starts: the next save tries again.
            breaker: Breaker::tolerating(1),
        }
    }

    /// Where vectors are kept.
    pub(super) fn kept(&self) -> Option<Kept<'_>> {
        let cache = self.cache.as_deref().filter(|_| self.most_kept > 0)?;
        Some(Kept { cache, most: self.most_kept })
    }

    /// Has the vectors of a scope made; returns at once.
    pub(super) fn wake(self: &Arc<Self>, scope: &Scope) {
        let mut work = self.work();
        work.scopes.insert(scope.clone());
        // What waits is made with the first save after the pause.
        if !work.busy && self.breaker.paused((self.clock)()).is_none() {
            work.busy = true;
            work.task = Some(tokio::spawn(Arc::clone(self).run()));
        }
    }

    /// Waits until all is made, but not longer than this; then the rest is left for later.
    pub(super) async fn settle(&self, limit: Duration) {
        let Some(mut task) = self.work().task.take() else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // Only when it is really over may the store be closed.
            let _ = task.await;
            self.work().busy = false;
        }
    }

    /// Makes the vectors that are missing in a scope, or in all.
    pub(super) async fn fill(
        &self,
        scope: Option<&Scope>,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<usize> {
        let mut done = 0;
        loop {
            let waiting = self.store.unembedded(scope).await?;
            let Some(first) = waiting.first() else { return Ok(done) };
            self.make(&first.scope, &waiting).await?;
            done += waiting.len();
            progress(done);
        }
    }

    async fn make(&self, scope: &Scope, waiting: &[Memory]) -> Result<()> {
        let asking = Asking {
            embedder: &*self.embedder,
            kept: self.kept(),
            scope,
            breaker: None,
            now: (self.clock)(),
        };
        let texts: Vec<&str> = waiting.iter().map(|memory| memory.content.as_str()).collect();
        let numbers = asking.embed(&texts).await?;
        let made = waiting.iter().zip(&numbers).map(|(memory, numbers)| Made {
            id: memory.id,
            version: memory.version,
            vector: Vector::quantize(numbers),
        });
        self.store.embed(scope, self.embedder.model(), made.collect()).await
    }

    /// Takes the model into use if no other is; tells whether it is in use.
    pub(super) async fn in_use(&self) -> Result<bool> {
        match self.store.model().await? {
            Some(model) => Ok(model == *self.embedder.model()),
            None => self.store.use_model(self.embedder.model()).await.map(|()| true),
        }
    }

    async fn run(self: Arc<Self>) {
        while let Some(scope) = self.next() {
            let Ok(trial) = self.breaker.begin((self.clock)()) else { return self.rest(scope) };
            match self.fill_scope(&scope).await {
                Ok(()) => trial.answered(),
                Err(error) => {
                    trial.failed(&error);
                    tracing::warn!(
                        "{error}: vectors are made after a later save, or by `everlore embed rebuild`"
                    );
                }
            }
        }
    }

    async fn fill_scope(&self, scope: &Scope) -> Result<()> {
        if self.in_use().await? {
            self.fill(Some(scope), &mut |_| {}).await?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Scope> {
        let mut work = self.work();
        let next = work.scopes.pop_first();
        work.busy = next.is_some();
        next
    }

    /// Leaves a scope for a later save, and ends the task.
    fn rest(&self, scope: Scope) {
        let mut work = self.work();
        work.scopes.insert(scope);
        work.busy = false;
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
