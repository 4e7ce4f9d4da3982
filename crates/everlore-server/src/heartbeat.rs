//! The heartbeat of a server: jobs that run by themselves, and reminders for those who follow events.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::App;

/// Interval between two looks for reminders that are due.
const REMINDER_INTERVAL: Duration = Duration::from_secs(5);

/// Interval between two looks for other jobs, each of which asks the store about every scope.
const JOB_INTERVAL: Duration = Duration::from_secs(60);

/// Runs jobs and tells reminders until the server ends.
pub(crate) async fn run(app: App) {
    let mut shutting_down = app.shutting_down.subscribe();
    // A server that starts answers first.
    let mut jobs_at = Instant::now();
    loop {
        let is_time = jobs_at.elapsed() >= JOB_INTERVAL;
        let listeners = app.journal_watch.followed();
        if is_time || !listeners.is_empty() {
            beat(&app, &listeners, is_time).await;
        }
        if is_time {
            jobs_at = Instant::now();
        }
        tokio::select! {
            () = tokio::time::sleep(REMINDER_INTERVAL) => {}
            _ = shutting_down.wait_for(|shutting_down| *shutting_down) => return,
        }
    }
}

async fn beat(app: &App, listeners: &[everlore::Scope], runs_jobs: bool) {
    let told = if runs_jobs {
        app.engine.heartbeat(listeners).await.map(|report| report.reminders)
    } else {
        app.engine.tell_reminders(listeners).await
    };
    match told {
        Ok(reminders) => {
            for (scope, reminder) in reminders {
                let data = json!(reminder);
                app.journal_watch.tell(&scope, format!("event: reminder\ndata: {data}\n\n"));
            }
        }
        Err(error) => tracing::warn!(%error, "the heartbeat failed; it is tried again"),
    }
}
