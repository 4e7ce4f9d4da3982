//! Journal watch: one task looks for new journal lines and changed keys on behalf of all event streams, so that a
//! listener costs nothing while nothing happens.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use everlore::Scope;
use tokio::sync::{broadcast, watch};

use crate::{App, lock, tasks};

/// Interval between two looks. Other processes write to the journal and to the keys as well, without a notification.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Reminders that wait for a listener that is busy: more than a person has at a time.
const MAX_WAITING: usize = 64;

/// Newest journal line of each scope with listeners, its reminders, and the version of the keys.
#[derive(Default)]
pub(crate) struct JournalWatch {
    scopes: Mutex<HashMap<Scope, ScopeWatch>>,
    is_polling: AtomicBool,
}

/// Channels to the listeners of a scope.
struct ScopeWatch {
    state: watch::Sender<WatchedState>,
    /// Events of reminders, as they are sent.
    reminders: broadcast::Sender<String>,
}

impl Default for ScopeWatch {
    fn default() -> Self {
        Self { state: watch::Sender::default(), reminders: broadcast::Sender::new(MAX_WAITING) }
    }
}

/// Receivers of one listener.
pub(crate) struct ScopeEvents {
    pub(crate) state: watch::Receiver<WatchedState>,
    pub(crate) reminders: broadcast::Receiver<String>,
}

/// State that wakes the listeners of a scope when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WatchedState {
    /// Number of the newest journal line.
    pub(crate) newest_seq: u64,
    /// Rises whenever the keys change.
    pub(crate) keys_version: u64,
}

impl JournalWatch {
    /// Follows a scope.
    pub(crate) fn subscribe(app: &App, scope: &Scope) -> ScopeEvents {
        let watch = &app.journal_watch;
        let events = {
            let mut scopes = lock(&watch.scopes);
            let scope = scopes.entry(scope.clone()).or_default();
            ScopeEvents { state: scope.state.subscribe(), reminders: scope.reminders.subscribe() }
        };
        if !watch.is_polling.swap(true, Ordering::SeqCst) {
            tasks::spawn(Box::pin(poll_changes(app.clone())));
        }
        events
    }

    /// Sends a reminder to all listeners of a scope.
    pub(crate) fn tell(&self, scope: &Scope, event: String) {
        if let Some(watch) = lock(&self.scopes).get(scope) {
            // A listener that has just left takes it with it, as one that reads and forgets would.
            let _ = watch.reminders.send(event);
        }
    }

    /// Returns the scopes that are followed, without those whose listeners have left.
    pub(crate) fn followed(&self) -> Vec<Scope> {
        let mut scopes = lock(&self.scopes);
        scopes.retain(|_, watch| watch.state.receiver_count() > 0);
        scopes.keys().cloned().collect()
    }

    fn publish(&self, scope: &Scope, state: WatchedState) {
        if let Some(watch) = lock(&self.scopes).get(scope) {
            watch.state.send_if_modified(|known| std::mem::replace(known, state) != state);
        }
    }
}

/// Publishes changes until the server ends.
async fn poll_changes(app: App) {
    let mut shutting_down = app.shutting_down.subscribe();
    loop {
        let keys_version = app.credentials.keys_version();
        for scope in app.journal_watch.followed() {
            match app.engine.newest_seq(&scope).await {
                Ok(newest_seq) => {
                    app.journal_watch.publish(&scope, WatchedState { newest_seq, keys_version });
                }
                Err(error) => tracing::warn!(%error, "the journal could not be read"),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = shutting_down.wait_for(|shutting_down| *shutting_down) => return,
        }
    }
}
