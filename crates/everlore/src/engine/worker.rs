//! Draws memories in the background of a process that stays: never in the way of a turn.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, task::JoinHandle};

use super::{Engine, capture::Extraction};
use crate::types::Scope;

/// How often it looks by itself: silences and retries end without anyone saying so.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Work in the background.
pub struct Worker {
    stop: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Engine {
    /// Starts to draw memories from what is observed, until the worker is stopped.
    pub fn spawn_worker(&self) -> Worker {
        self.spawn_worker_telling(|_, _| {})
    }

    /// The same; `tell` hears of every reading, whoever's conversation it was.
    pub fn spawn_worker_telling(
        &self,
        tell: impl Fn(&Scope, Extraction) + Send + 'static,
    ) -> Worker {
        let stop = Arc::new(Notify::new());
        let task = tokio::spawn(run(self.clone(), Arc::clone(&stop), tell));
        Worker { stop, task: Mutex::new(Some(task)) }
    }
}

impl Worker {
    /// Ends it after what it is doing, but not later than this; what it was doing then is done by the next one, once its
    /// lease is over.
    pub async fn stop(&self, limit: Duration) {
        self.stop.notify_one();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // Only when it is really over may the store be closed.
            let _ = task.await;
        }
    }
}

async fn run(engine: Engine, stop: Arc<Notify>, tell: impl Fn(&Scope, Extraction)) {
    loop {
        let more = match engine.extract_next().await {
            Ok(Some((scope, extraction))) => {
                tell(&scope, extraction);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::warn!("{error}: nothing is drawn from conversations for now");
                false
            }
        };
        let pause = if more { Duration::ZERO } else { LOOK_EVERY };
        tokio::select! {
            biased;
            () = stop.notified() => return,
            () = engine.wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}
