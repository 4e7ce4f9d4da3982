//! Draws memories, and makes better overviews, in the background of a process that stays: never in the way of a turn.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::Notify, task::JoinHandle};

use super::{Engine, capture::Extraction, overviews::Looked};
use crate::{
    error::Result,
    files::agent_settings::SettingsFile,
    store::{Claimed, Due},
    types::Scope,
};

/// How often it looks by itself: silences and retries end without anyone saying so.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// It rests for so many times as long as it looked, so that many turns, with many sessions that wait, cost others little.
const REST: u32 = 20;

/// Two readings of one scope are this far apart, so that what comes in between is read together (C2).
const APART: Duration = Duration::from_secs(30);

/// Work in the background.
pub struct Worker {
    engine: Engine,
    stop: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
    /// The session that it is reading.
    reading: Reading,
}

type Reading = Arc<Mutex<Option<Claimed>>>;

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
        let (stop, reading) = (Arc::new(Notify::new()), Reading::default());
        let work = run(self.clone(), Arc::clone(&stop), Arc::clone(&reading), tell);
        let task = Mutex::new(Some(tokio::spawn(work)));
        Worker { engine: self.clone(), stop, task, reading }
    }

    /// When sessions are due by themselves: as the home says, or their agents.
    pub(super) async fn due(&self) -> Result<Due> {
        let extract = &self.config.memory_agent.extract;
        let (exchanges, quiet, own) = (extract.batch_size, extract.quiet, BTreeMap::new());
        let mut due = Due { exchanges, quiet, apart: APART, own };
        if self.home.as_deref().is_none_or(|home| SettingsFile::all(home).is_empty()) {
            return Ok(due);
        }
        for waiting in self.store.waiting(None).await? {
            let agent = waiting.scope.agent();
            let settings = self.settings(agent);
            if !Arc::ptr_eq(&settings, &self.config) && !due.own.contains_key(agent) {
                let extract = &settings.memory_agent.extract;
                let pace = (extract.batch_size, extract.quiet);
                due.own.insert(agent.to_owned(), settings.memory.enabled.then_some(pace));
            }
        }
        Ok(due)
    }
}

impl Worker {
    /// Ends it after what it is doing, but not later than this; what it was doing then goes back to the queue.
    pub async fn stop(&self, limit: Duration) {
        self.stop.notify_one();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // Only when it is really over may the store be closed.
            let _ = task.await;
            self.give_back().await;
        }
    }

    /// Ends the lease of a reading that was cut off. If the reading was done after all, there is none.
    async fn give_back(&self) {
        let Some(claimed) = set(&self.reading, None) else { return };
        if let Err(error) = self.engine.store.give_back(&claimed, None).await {
            tracing::warn!("{error}: a reading that was cut off waits until its lease is over");
        }
    }
}

/// Notes what is being read and returns what was before.
fn set(reading: &Reading, claimed: Option<Claimed>) -> Option<Claimed> {
    std::mem::replace(&mut *reading.lock().unwrap_or_else(PoisonError::into_inner), claimed)
}

async fn read_next(engine: &Engine, reading: &Reading) -> Result<Option<(Scope, Extraction)>> {
    let Some(claimed) = engine.claim_next().await? else { return Ok(None) };
    set(reading, Some(claimed.clone()));
    let read = engine.read_claimed(&claimed).await;
    set(reading, None);
    Ok(Some((claimed.scope, read?)))
}

async fn run(
    engine: Engine,
    stop: Arc<Notify>,
    reading: Reading,
    tell: impl Fn(&Scope, Extraction),
) {
    let mut looked = Looked::default();
    loop {
        let begun = Instant::now();
        let more = match read_next(&engine, &reading).await {
            Ok(Some((scope, extraction))) => {
                tell(&scope, extraction);
                true
            }
            Ok(None) => {
                if let Err(error) = engine.improve_overviews_if_due(&mut looked).await {
                    tracing::warn!("{error}: overviews stay as they are for now");
                }
                false
            }
            Err(error) => {
                tracing::warn!("{error}: nothing is drawn from conversations for now");
                false
            }
        };
        let rest = (begun.elapsed() * REST).min(LOOK_EVERY);
        let woken = async {
            tokio::time::sleep(rest).await;
            engine.wake.notified().await;
        };
        tokio::select! {
            biased;
            () = stop.notified() => return,
            () = woken => {}
            () = tokio::time::sleep(if more { Duration::ZERO } else { LOOK_EVERY }) => {}
        }
    }
}
