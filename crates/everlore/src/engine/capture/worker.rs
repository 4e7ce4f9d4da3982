//! Draws memories, and makes better overviews, in the background of a process that stays: never in the way of a turn.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::Notify, task::JoinHandle};

use super::{ExtractionReport, overviews::OverviewCursor};
use crate::{
    engine::Engine,
    error::Result,
    files::agent_settings::AgentSettingsFile,
    store::{DuePolicy, SessionLease},
    sync::lock,
    types::Scope,
};

/// How often it looks by itself: silences and retries end without anyone saying so.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// It rests for so many times as long as it looked, so that many turns, with many sessions that wait, cost others little.
const REST_FACTOR: u32 = 20;

/// Two readings of one scope are this far apart, so that what comes in between is read together (C2).
const MIN_SCOPE_INTERVAL: Duration = Duration::from_secs(30);

/// Work in the background.
pub struct BackgroundWorker {
    engine: Engine,
    stop: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
    /// The session that it is reading.
    current_lease: CurrentLease,
}

type CurrentLease = Arc<Mutex<Option<SessionLease>>>;

impl Engine {
    /// Starts to draw memories from what is observed, until the worker is stopped.
    pub fn spawn_worker(&self) -> BackgroundWorker {
        self.spawn_worker_with(|_, _| {})
    }

    /// The same; `tell` hears of every reading, whoever's conversation it was.
    pub fn spawn_worker_with(
        &self,
        tell: impl Fn(&Scope, ExtractionReport) + Send + 'static,
    ) -> BackgroundWorker {
        let (stop, reading) = (Arc::new(Notify::new()), CurrentLease::default());
        let work = run_loop(self.clone(), Arc::clone(&stop), Arc::clone(&reading), tell);
        let task = Mutex::new(Some(tokio::spawn(work)));
        BackgroundWorker { engine: self.clone(), stop, task, current_lease: reading }
    }

    /// When sessions are due by themselves: as the home says, or their agents.
    pub(crate) async fn due_rules(&self) -> Result<DuePolicy> {
        let extract = &self.config.memory_agent.extract;
        let (exchanges, quiet, own) = (extract.batch_size, extract.quiet, BTreeMap::new());
        let mut due = DuePolicy {
            min_exchanges: exchanges,
            idle_after: quiet,
            min_interval: MIN_SCOPE_INTERVAL,
            agent_overrides: own,
        };
        if self.home.as_deref().is_none_or(|home| AgentSettingsFile::all(home).is_empty()) {
            return Ok(due);
        }
        for waiting in self.store.queue().pending(None).await? {
            let agent = waiting.scope.agent();
            let settings = self.settings(agent);
            if !Arc::ptr_eq(&settings, &self.config) && !due.agent_overrides.contains_key(agent) {
                let extract = &settings.memory_agent.extract;
                let pace = (extract.batch_size, extract.quiet);
                due.agent_overrides
                    .insert(agent.to_owned(), settings.memory.enabled.then_some(pace));
            }
        }
        Ok(due)
    }
}

impl BackgroundWorker {
    /// Ends it after what it is doing, but not later than this; what it was doing then goes back to the queue.
    pub async fn stop(&self, limit: Duration) {
        self.stop.notify_one();
        let task = lock(&self.task).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // Only when it is really over may the store be closed.
            let _ = task.await;
            self.release_lease().await;
        }
    }

    /// Ends the lease of a reading that was cut off. If the reading was done after all, there is none.
    async fn release_lease(&self) {
        let Some(claimed) = replace_lease(&self.current_lease, None) else { return };
        if let Err(error) = self.engine.store.queue().release(&claimed, None).await {
            tracing::warn!("{error}: a reading that was cut off waits until its lease is over");
        }
    }
}

/// Notes what is being read and returns what was before.
fn replace_lease(reading: &CurrentLease, claimed: Option<SessionLease>) -> Option<SessionLease> {
    std::mem::replace(&mut *reading.lock().unwrap_or_else(PoisonError::into_inner), claimed)
}

async fn extract_next(
    engine: &Engine,
    reading: &CurrentLease,
) -> Result<Option<(Scope, ExtractionReport)>> {
    let Some(claimed) = engine.claim_next().await? else { return Ok(None) };
    replace_lease(reading, Some(claimed.clone()));
    let read = engine.extract_claimed(&claimed).await;
    replace_lease(reading, None);
    Ok(Some((claimed.scope, read?)))
}

async fn run_loop(
    engine: Engine,
    stop: Arc<Notify>,
    reading: CurrentLease,
    tell: impl Fn(&Scope, ExtractionReport),
) {
    let mut looked = OverviewCursor::default();
    loop {
        let begun = Instant::now();
        let more = match extract_next(&engine, &reading).await {
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
        let rest = (begun.elapsed() * REST_FACTOR).min(POLL_INTERVAL);
        let woken = async {
            tokio::time::sleep(rest).await;
            engine.worker_wakeup.notified().await;
        };
        tokio::select! {
            biased;
            () = stop.notified() => return,
            () = woken => {}
            () = tokio::time::sleep(if more { Duration::ZERO } else { POLL_INTERVAL }) => {}
        }
    }
}
