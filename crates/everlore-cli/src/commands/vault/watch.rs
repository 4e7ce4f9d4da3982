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
    store::{
        JournalQuery,
        directory::{SyncAction, SyncReport, SyncRequest, SyncStep},
    },
};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::json;

use super::{VaultTargetArgs, registry, report};
use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Editors write in several steps; what they do within this time is one edit.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A file that changes without end is synced all the same.
const MAX_DEBOUNCE: Duration = Duration::from_millis(400);

/// How often the database is asked for changes of others.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Keep a vault and what is stored together until stopped with Ctrl+C
#[derive(Debug, Args)]
pub(crate) struct VaultWatchArgs {
    #[command(flatten)]
    vault: VaultTargetArgs,
}

impl VaultWatchArgs {
    /// Syncs, then waits for a change of either side, over and over.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let request = self.vault.to_request(cx)?;
        let engine = cx.engine().await?;
        let (sender, changes) = mpsc::channel();
        let mut told = BTreeSet::new();
        let mut seq = newest_change(engine, cx).await?;
        print_synced(out, &engine.sync_vault(&request).await?, &request, &mut told)?;
        registry::register_vault(cx, &request)?;
        let watcher = watch_folder(&request.folder, sender);
        out.note(&match &watcher {
            Ok(_) => format!("watching {}; stop with Ctrl+C", request.folder.display()),
            Err(error) => {
                format!("the system does not tell of changes ({error}); looking every half second")
            }
        });
        loop {
            let touched = wait_for_change(&changes, watcher.is_err());
            let now = newest_change(engine, cx).await?;
            if touched || now != seq {
                print_synced(out, &engine.sync_vault(&request).await?, &request, &mut told)?;
                seq = newest_change(engine, cx).await?;
            }
        }
    }
}

/// The number of the newest change in the database.
async fn newest_change(engine: &Engine, cx: &CliContext) -> Result<Option<u64>> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    Ok(engine.history(&cx.scope, &newest).await?.first().map(|entry| entry.seq))
}

/// Tells of every change to a file that could be a memory or the index.
fn watch_folder(folder: &Path, sender: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let is_visible = |path: &std::path::PathBuf| {
        path.file_name().is_none_or(|name| !name.to_string_lossy().starts_with('.'))
    };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let counts = match &event {
            Ok(event) => !event.kind.is_access() && event.paths.iter().any(is_visible),
            // Events were lost: look at everything.
            Err(_) => true,
        };
        if counts {
            // Nobody waits any more when the program ends.
            let _ = sender.send(());
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Waits for a change and until it has settled, or for the next tick; tells whether a file may have changed.
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
    // What has come meanwhile is part of it.
    while changes.try_recv().is_ok() {}
    true
}

/// Tells what was done; what is skipped is told once.
fn print_synced(
    out: &mut Output,
    synced: &SyncReport,
    request: &SyncRequest,
    told: &mut BTreeSet<(String, Option<String>)>,
) -> Result<()> {
    let is_news = |done: &&SyncStep| {
        done.what != SyncAction::Skipped || told.insert((done.file.clone(), done.note.clone()))
    };
    let news: Vec<&SyncStep> = synced.done.iter().filter(is_news).collect();
    if news.is_empty() {
        return Ok(());
    }
    if out.is_json() {
        let folder = request.folder.display().to_string();
        out.json(&json!({ "folder": folder, "run": synced.run, "done": news, "unchanged": synced.unchanged }))?;
    } else {
        for done in news {
            out.line(&report::step_line(done, false))?;
        }
    }
    out.flush()
}
