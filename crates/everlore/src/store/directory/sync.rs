//! Two-way sync of a vault and a database: changes on either side reach the other, and nothing is lost.
//!
//! One sync (decision 0007 has the reasons):
//!
//! 1. `everlore vault sync` or the tool `memory` calls `Engine::sync_vault`, which calls `sync`. `open` takes the
//!    vault's lock and loads the `SyncState`, on which both sides last agreed.
//! 2. `scan_vault` (`vault_scan.rs`) reads only files touched since; `files/vault/page.rs` parses them with
//!    `files/front_matter.rs`, which keeps every byte that does not change.
//! 3. `DatabaseView::load` (`database_view.rs`) asks the journal which memories changed since, and reads those only.
//! 4. `plan` (`plan.rs`, pure) compares both sides with the merge base of each file; `files/vault/decide.rs` has the
//!    table of decisions.
//! 5. New memories are noted in the state as pending; `apply_changes` stores all changes as one run.
//! 6. `finish` writes files (`execute.rs`), each only while its bytes are those that were scanned, then the index file,
//!    then the state. The next sync completes whatever a crash leaves undone, and does nothing twice: a change that has
//!    arrived on both sides is one on which both agree.

use std::{collections::HashSet, path::Path};

use super::{
    database_view::{DatabaseView, SyncInputs},
    execute::SyncExecutor,
    plan::{FileOp, IndexFileOp, SyncPlan, plan},
    sync_report::{SyncAction, SyncReport, SyncRequest, SyncStep},
    sync_state::{
        JournalCheckpoint, MergeBase, SyncState, clear_in_progress, load_in_progress,
        record_in_progress,
    },
    vault_scan::{VaultScan, scan_vault},
};
use crate::{
    error::{Error, Result},
    files::vault::{VaultLock, VaultPage, read_limited, unique_file_name},
    store::{Store, confirm_readable},
    sync::{boxed, run_blocking},
    types::{
        Actor, AppliedChange, Change, ChangeAuthor, Kind, Memory, Timestamp, WriteBatch, run_name,
        to_millisecond,
    },
};

/// Attempts when another writer saves the same memories meanwhile; it will not do so many times.
const MAX_ATTEMPTS: usize = 5;

/// Changes written at a time: bounds the size of one transaction.
const BATCH: usize = 1_000;

/// Syncs both sides once.
pub(crate) async fn sync(
    store: &dyn Store,
    request: &SyncRequest,
    now: Timestamp,
) -> Result<SyncReport> {
    sync_with_crash_point(store, request, now, &CrashPoint::default()).await
}

/// Syncs, unless the crash point stops it.
pub(super) async fn sync_with_crash_point(
    store: &dyn Store,
    request: &SyncRequest,
    now: Timestamp,
    stop: &CrashPoint,
) -> Result<SyncReport> {
    let now = to_millisecond(now);
    for _ in 1..MAX_ATTEMPTS {
        match attempt(store, request, now, stop).await {
            Err(Error::Conflict { .. }) => {}
            done => return done,
        }
    }
    attempt(store, request, now, stop).await
}

#[boxed]
async fn attempt(
    store: &dyn Store,
    request: &SyncRequest,
    now: Timestamp,
    stop: &CrashPoint,
) -> Result<SyncReport> {
    let OpenedVault { lock, state, scan, kinds } = open(request).await?;
    let request = &SyncRequest { kinds, ..request.clone() };
    let database = load_database(store, request, &state, &scan).await?;
    let (state, scan, database) = if database.is_same_database {
        (state, scan, database)
    } else {
        restart_without_state(store, request).await?
    };
    let mut work = plan(&state, &scan, &database, request, now);
    if request.dry_run {
        return Ok(dry_run_report(&request.folder, work));
    }
    let changes = std::mem::take(&mut work.changes);
    state.append_pending(&request.folder, &work.pending)?;
    stop.step()?;
    let (run, checkpoint) =
        apply_changes(store, request, changes, database.journal_head, now, stop).await?;
    stop.step()?;
    let looked_at = lock.as_ref().map_or(0, |lock| lock.acquired_at);
    let (folder, stop, kinds) = (request.folder.clone(), stop.clone(), request.kinds.clone());
    let recorded = SyncHeaderUpdate { checkpoint, looked_at, kinds };
    let outcome = run_blocking(move || finish(&folder, &state, work, recorded, &stop));
    let (done, unchanged) = outcome.await?;
    drop(lock);
    Ok(SyncReport { run, done, unchanged, superseded: Vec::new() })
}

#[boxed]
async fn load_database(
    store: &dyn Store,
    SyncRequest { scope, kinds, .. }: &SyncRequest,
    state: &SyncState,
    scan: &VaultScan,
) -> Result<DatabaseView> {
    DatabaseView::load(SyncInputs { store, scope, state, scan, kinds }).await
}

struct OpenedVault {
    lock: Option<VaultLock>,
    state: SyncState,
    scan: VaultScan,
    kinds: Vec<Kind>,
}

/// Takes the lock, unless the sync changes nothing, and scans the folder.
async fn open(request: &SyncRequest) -> Result<OpenedVault> {
    let request = request.clone();
    run_blocking(move || {
        if !request.folder.is_dir() {
            return Err(Error::invalid(
                format!("there is no vault at {}", request.folder.display()),
                "create one with `everlore vault init`, or name another folder",
            ));
        }
        let lock = if request.dry_run { None } else { Some(VaultLock::acquire(&request.folder)?) };
        let state = SyncState::load(&request.folder)?;
        let state =
            state.unwrap_or_else(|| SyncState::new(&request.scope, &SyncRequest::DEFAULT_KINDS));
        let kinds = if request.kinds.is_empty() {
            state.header.kinds.clone()
        } else {
            request.kinds.clone()
        };
        check_owner(&request, &state)?;
        let scan = scan_vault(&request.folder, &state, request.mask_secrets)?;
        Ok(OpenedVault { lock, state, scan, kinds })
    })
    .await
}

fn check_owner(request: &SyncRequest, state: &SyncState) -> Result<()> {
    let owner = &state.header.scope;
    if *owner == request.scope {
        return Ok(());
    }
    Err(Error::invalid(
        format!(
            "the vault {} belongs to agent `{}` and user `{}`",
            request.folder.display(),
            owner.agent(),
            owner.user()
        ),
        "name them with --agent and --user, or use another folder for these memories",
    ))
}

/// Starts over without a record: the database is another one, or an older copy, so every memory is compared.
async fn restart_without_state(
    store: &dyn Store,
    request: &SyncRequest,
) -> Result<(SyncState, VaultScan, DatabaseView)> {
    let state = SyncState::new(&request.scope, &request.kinds);
    let (folder, fresh) = (request.folder.clone(), state.clone());
    let mask_secrets = request.mask_secrets;
    let scan = run_blocking(move || scan_vault(&folder, &fresh, mask_secrets)).await?;
    let database = load_database(store, request, &state, &scan).await?;
    Ok((state, scan, database))
}

/// Stores all changes as one run and returns the newest journal line that the sync accounts for.
async fn apply_changes(
    store: &dyn Store,
    request: &SyncRequest,
    changes: Vec<Change>,
    mut head: Option<JournalCheckpoint>,
    now: Timestamp,
    stop: &CrashPoint,
) -> Result<(Option<String>, Option<JournalCheckpoint>)> {
    if changes.is_empty() {
        return Ok((None, head));
    }
    let run = run_name("sync", now);
    let author = request.author.clone().unwrap_or_else(|| sync_author(&request.folder));
    let cause = author.reason_for("vault sync");
    for batch in changes.chunks(BATCH) {
        let write = WriteBatch::new(&request.scope, author.actor, &cause, now, batch.to_vec());
        let applied = store.apply(WriteBatch { run: Some(run.clone()), ..write }).await?;
        verify_batch(store, request, batch).await?;
        head = advance_checkpoint(head, &applied, now);
        stop.step()?;
    }
    Ok((Some(run), head))
}

fn sync_author(folder: &Path) -> ChangeAuthor {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let cause = Some(format!("vault sync {name}").trim().to_owned());
    ChangeAuthor { actor: Actor::Engine, reason: cause, run: None }
}

/// Reads a batch back: a sync reports only memories that it can read back.
async fn verify_batch(store: &dyn Store, request: &SyncRequest, batch: &[Change]) -> Result<()> {
    let stays = |change: &&Change| matches!(change, Change::Add(_) | Change::Update(_));
    let ids: Vec<_> = batch.iter().filter(stays).map(Change::id).collect();
    confirm_readable(store, &request.scope, &ids).await
}

/// Returns the new checkpoint. If no other writer came in between, it passes over the sync's own changes.
fn advance_checkpoint(
    head: Option<JournalCheckpoint>,
    applied: &[AppliedChange],
    at: Timestamp,
) -> Option<JournalCheckpoint> {
    let next = head.map_or(1, |head| head.seq + 1);
    let (first, last) = (applied.first()?, applied.last()?);
    if first.seq == next && last.seq == next + applied.len() as u64 - 1 {
        Some(JournalCheckpoint { seq: last.seq, id: last.id, at })
    } else {
        head
    }
}

/// Facts for the header of the state at the end of a sync.
struct SyncHeaderUpdate {
    checkpoint: Option<JournalCheckpoint>,
    looked_at: i64,
    kinds: Vec<Kind>,
}

/// Changes the folder and records the new state of both sides.
fn finish(
    folder: &Path,
    state: &SyncState,
    mut work: SyncPlan,
    recorded: SyncHeaderUpdate,
    stop: &CrashPoint,
) -> Result<(Vec<SyncStep>, usize)> {
    let mut files = state.files.clone();
    let drops: HashSet<&str> = work.untracked.iter().map(String::as_str).collect();
    files.retain(|file, _| !drops.contains(file.as_str()));
    files.extend(std::mem::take(&mut work.bases));
    let mut executor = SyncExecutor::new(folder, files, &work.file_ops, stop)?;
    let left = load_in_progress(folder);
    record_in_progress(
        folder,
        &[left.clone(), executor.assign_names(&mut work.file_ops)].concat(),
    )?;
    let mut index = std::mem::take(&mut work.index_ops);
    executor.apply_file_ops(std::mem::take(&mut work.file_ops), &mut index)?;
    index.extend(stale_index_lines(folder, &left));
    executor.apply_index_file_ops(index)?;
    let mut next = SyncState { files: executor.files, header: state.header.clone() };
    next.header.checkpoint = recorded.checkpoint;
    next.header.incomplete = executor.failed || work.is_incomplete;
    next.header.kinds = recorded.kinds;
    stop.step()?;
    if must_save(state, &next) || !SyncState::exists(folder) {
        next.header.looked_at = recorded.looked_at;
        next.save(folder)?;
    }
    clear_in_progress(folder)?;
    work.steps.extend(executor.steps);
    Ok((work.steps, work.unchanged + executor.unchanged))
}

/// Returns removals of index lines whose files an interrupted sync was about to create and that do not exist.
fn stale_index_lines(folder: &Path, left: &[String]) -> Vec<IndexFileOp> {
    let missing = left.iter().filter(|file| !folder.join(file).exists());
    missing.map(|file| IndexFileOp::Remove { file: file.clone() }).collect()
}

/// Returns `true` if the state must be written: it changed, or some file is too young to be trusted next time.
fn must_save(old: &SyncState, new: &SyncState) -> bool {
    let young = |base: &MergeBase| {
        base.stat.last_changed() + super::vault_scan::CLOCK_GRANULARITY_NS >= old.header.looked_at
    };
    old.header != new.header || old.files != new.files || new.files.values().any(young)
}

/// Builds the report of a plan as if all of it succeeded.
fn dry_run_report(folder: &Path, work: SyncPlan) -> SyncReport {
    let (done, unchanged) = (work.steps, work.unchanged);
    let mut report = SyncReport { run: None, done, unchanged, superseded: Vec::new() };
    for file in work.file_ops {
        let (what, file, id, note) = match file {
            FileOp::Write { file, memory, .. } if file_matches(folder, &file, &memory) => {
                report.unchanged += 1;
                continue;
            }
            FileOp::Write { file, memory, .. } => (SyncAction::Written, file, memory.id, None),
            FileOp::Create { memory, name, note } => {
                let name =
                    name.unwrap_or_else(|| unique_file_name(memory.kind, &memory.name, |_| false));
                (SyncAction::Written, name, memory.id, note)
            }
            FileOp::Remove { file, id, .. } => (SyncAction::Removed, file, id, None),
        };
        report.done.push(SyncStep { what, file, id: Some(id), note });
    }
    report
}

/// Returns `true` if a file has all fields of its memory.
fn file_matches(folder: &Path, file: &str, memory: &Memory) -> bool {
    let bytes = read_limited(&folder.join(file)).map_or_else(|_| Vec::new(), |(bytes, _)| bytes);
    let text = String::from_utf8(bytes).unwrap_or_default();
    VaultPage::revise(&text, memory).is_ok_and(|revised| revised == text)
}

/// Test hook that stops a sync in its middle, as a crash would.
#[derive(Debug, Clone, Default)]
pub(crate) struct CrashPoint {
    #[cfg(test)]
    pub(crate) steps_left: Option<std::sync::Arc<std::sync::atomic::AtomicUsize>>,
}

impl CrashPoint {
    /// Counts a step; called between any two operations.
    pub(super) fn step(&self) -> Result<()> {
        #[cfg(test)]
        if let Some(after) = &self.steps_left {
            use std::sync::atomic::Ordering;
            let left = after.load(Ordering::Relaxed);
            if left == 0 {
                return Err(Error::store("stopped by a test"));
            }
            after.store(left - 1, Ordering::Relaxed);
        }
        Ok(())
    }
}
