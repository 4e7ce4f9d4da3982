//! Background worker of a long-running process: extracts memories and improves overviews without delaying any turn.

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

/// Poll interval: idle periods and retry delays end without a wake-up.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Rest after a poll, as a multiple of its duration, so that many turns with many pending sessions cost others little.
const REST_FACTOR: u32 = 20;

/// Shortest interval between extractions of one scope, so that turns arriving in between are read together.
const MIN_SCOPE_INTERVAL: Duration = Duration::from_secs(30);

/// Handle of a background worker.
pub struct BackgroundWorker {
    engine: Engine,
    stop: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
    /// Lease of the session that the worker reads now.
    current_lease: CurrentLease,
}

type CurrentLease = Arc<Mutex<Option<SessionLease>>>;

impl Engine {
    /// Starts a worker that extracts memories from observed turns until [`BackgroundWorker::stop`]. Needs a Tokio
    /// runtime.
    pub fn spawn_worker(&self) -> BackgroundWorker {
        self.spawn_worker_with(|_, _| {})
    }

    /// Starts a worker like [`Engine::spawn_worker`] and calls `on_report` with every extraction, of any scope.
    pub fn spawn_worker_with(
        &self,
        on_report: impl Fn(&Scope, ExtractionReport) + Send + 'static,
    ) -> BackgroundWorker {
        let (stop, current_lease) = (Arc::new(Notify::new()), CurrentLease::default());
        let work = run_loop(self.clone(), Arc::clone(&stop), Arc::clone(&current_lease), on_report);
        let task = Mutex::new(Some(tokio::spawn(work)));
        BackgroundWorker { engine: self.clone(), stop, task, current_lease }
    }

    /// Returns the rules that make sessions due, with overrides by agent.
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
        for pending in self.store.queue().pending(None).await? {
            let agent = pending.scope.agent();
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
    /// Stops the worker after its current extraction, or aborts it after `limit`; an aborted session returns to the
    /// queue.
    pub async fn stop(&self, limit: Duration) {
        self.stop.notify_one();
        let task = lock(&self.task).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(limit, &mut task).await.is_err() {
            task.abort();
            // The store may close only after the task has ended.
            let _ = task.await;
            self.release_lease().await;
        }
    }

    /// Releases the lease of an aborted extraction; there is none if the extraction finished.
    async fn release_lease(&self) {
        let Some(lease) = replace_lease(&self.current_lease, None) else { return };
        if let Err(error) = self.engine.store.queue().release(&lease, None).await {
            tracing::warn!("{error}: an interrupted extraction is retried when its lease ends");
        }
    }
}

/// Replaces the current lease and returns the previous one.
fn replace_lease(
    current_lease: &CurrentLease,
    lease: Option<SessionLease>,
) -> Option<SessionLease> {
    std::mem::replace(&mut *current_lease.lock().unwrap_or_else(PoisonError::into_inner), lease)
}

async fn extract_next(
    engine: &Engine,
    current_lease: &CurrentLease,
) -> Result<Option<(Scope, ExtractionReport)>> {
    let Some(lease) = engine.claim_next().await? else { return Ok(None) };
    replace_lease(current_lease, Some(lease.clone()));
    let report = engine.extract_claimed(&lease).await;
    replace_lease(current_lease, None);
    Ok(Some((lease.scope, report?)))
}

async fn run_loop(
    engine: Engine,
    stop: Arc<Notify>,
    current_lease: CurrentLease,
    on_report: impl Fn(&Scope, ExtractionReport),
) {
    let mut cursor = OverviewCursor::default();
    loop {
        let begun = Instant::now();
        let more = match extract_next(&engine, &current_lease).await {
            Ok(Some((scope, extraction))) => {
                on_report(&scope, extraction);
                true
            }
            Ok(None) => {
                if let Err(error) = engine.improve_overviews_if_due(&mut cursor).await {
                    tracing::warn!("{error}: overviews were not improved; this is retried later");
                }
                false
            }
            Err(error) => {
                tracing::warn!("{error}: no memories were extracted; this is retried later");
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
