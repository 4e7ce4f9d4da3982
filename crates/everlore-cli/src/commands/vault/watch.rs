//! `everlore vault watch`: syncs whenever a file or a memory changes.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use clap::Args;
use everlore::{
    Engine,
    engine::{SyncAction, SyncReport, SyncRequest, SyncStep},
    store::JournalQuery,
};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::json;

use super::{VaultTargetArgs, registry, report};
use crate::{CliContext, Exit, Output, Result};

/// Pause that ends an edit: editors write in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Longest wait for a pause, so that a file that changes all the time is synced too.
const MAX_DEBOUNCE: Duration = Duration::from_millis(400);

/// Interval at which the database is checked for changes of other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Sync a vault whenever a file or a memory changes, until stopped with Ctrl+C
#[derive(Debug, Args)]
pub(crate) struct VaultWatchArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
}

impl VaultWatchArgs {
    /// Syncs, then waits for a change on either side, over and over.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = self.vault.to_request(cx)?;
        let engine = cx.engine().await?;
        let (sender, changes) = mpsc::channel();
        let mut reported = BTreeSet::new();
        let mut seq = newest_change(engine, cx).await?;
        print_synced(out, &engine.sync_vault(&request).await?, &request, &mut reported)?;
        registry::register_vault(cx, &request)?;
        let watcher = watch_folder(&request.folder, sender);
        out.note(&match &watcher {
            Ok(_) => format!("watching {}; stop with Ctrl+C", request.folder.display()),
            Err(error) => {
                format!("the system cannot watch the folder ({error}); checking every half second")
            }
        });
        loop {
            let files_changed = wait_for_change(&changes, watcher.is_err());
            let newest = newest_change(engine, cx).await?;
            if files_changed || newest != seq {
                print_synced(out, &engine.sync_vault(&request).await?, &request, &mut reported)?;
                seq = newest_change(engine, cx).await?;
            }
        }
    }
}

/// Returns the number of the newest journal entry.
async fn newest_change(engine: &Engine, cx: &CliContext) -> Result<Option<u64>> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    Ok(engine.history(&cx.scope, &newest).await?.first().map(|entry| entry.seq))
}

/// Watches a folder and sends a message for every change of a visible file.
fn watch_folder(folder: &Path, sender: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let is_visible = |path: &std::path::PathBuf| {
        path.file_name().is_none_or(|name| !name.to_string_lossy().starts_with('.'))
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_relevant = match &event {
            Ok(event) => !event.kind.is_access() && event.paths.iter().any(is_visible),
            // Events were lost: sync everything.
            Err(_) => true,
        };
        if is_relevant {
            // The receiver is gone when the program ends.
            let _ = sender.send(());
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Waits for a change to settle, or for the next tick; returns `true` if a file may have changed.
fn wait_for_change(changes: &Receiver<()>, always: bool) -> bool {
    match changes.recv_timeout(POLL_INTERVAL) {
        Err(RecvTimeoutError::Timeout) => return always,
        Err(RecvTimeoutError::Disconnected) => {
            std::thread::sleep(POLL_INTERVAL);
            return true;
        }
        Ok(()) => {}
    }
    let first = Instant::now();
    while first.elapsed() < MAX_DEBOUNCE && changes.recv_timeout(DEBOUNCE).is_ok() {}
    // Events that arrived meanwhile belong to the same change.
    while changes.try_recv().is_ok() {}
    true
}

/// Prints the steps of a sync; a skipped file is reported once.
fn print_synced(
    out: &mut Output,
    synced: &SyncReport,
    request: &SyncRequest,
    reported: &mut BTreeSet<(String, Option<String>)>,
) -> Result<()> {
    let is_new = |step: &&SyncStep| {
        step.what != SyncAction::Skipped || reported.insert((step.file.clone(), step.note.clone()))
    };
    let steps: Vec<&SyncStep> = synced.done.iter().filter(is_new).collect();
    if steps.is_empty() {
        return Ok(());
    }
    if out.is_json() {
        let folder = request.folder.display().to_string();
        out.json(&json!({ "folder": folder, "run": synced.run, "done": steps, "unchanged": synced.unchanged }))?;
    } else {
        for step in steps {
            out.line(&report::step_line(step))?;
        }
    }
    out.flush()
}
