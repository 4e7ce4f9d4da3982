//! The one writer of a process: concurrent writes share a transaction, and so a sync; index merges run while no write
//! is queued.

use std::{
    any::Any,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Mutex, MutexGuard, mpsc},
    thread::JoinHandle,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    ScopeDb,
    apply::PreparedWrite,
    index,
    open::{self, OpenMode},
    pool::store_closed,
};
use crate::{
    error::{Error, Result},
    store::index::merge_policy::MergeLimit,
    sync::{BoxFuture, lock, run_blocking},
    types::{AppliedChange, Scope, WriteBatch},
};

/// The most changes that share a transaction: a bulk import must not make a small save wait long.
const MAX_GROUP: usize = 4_096;

/// Writes with more changes than this are analysed away from the async threads.
const MAX_INLINE: usize = 8;

/// A vacuum runs if at least one page in this many is free; it rewrites the whole file.
const VACUUM_FREE_SHARE: i64 = 4;

/// Handle that sends writes to a thread; the first write starts it.
pub(super) struct SqliteWriter {
    path: PathBuf,
    mode: OpenMode,
    thread: Mutex<WriterState>,
}

enum WriterState {
    Idle,
    Running(mpsc::Sender<WriteJob>, JoinHandle<()>),
    Closed,
}

struct WriteJob {
    /// Scope whose index may need merging afterwards.
    scope: Option<Scope>,
    /// Number of changes.
    size: usize,
    durability: Durability,
    work: JobFn,
}

/// Moment at which a write survives a power cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// When it is answered.
    Answered,
    /// When the next write that is synced is answered: what it stores can be computed again.
    Later,
}

/// Value that a write returned, without its type.
type AnyValue = Box<dyn Any + Send>;

/// Write of any type.
type UntypedWrite = Box<dyn FnOnce(&Connection) -> Result<AnyValue> + Send>;

/// Function that runs on the connection, or gets `None` if the transaction could not begin or go on.
type JobFn = Box<dyn FnOnce(Option<&Connection>) -> JobOutcome + Send>;

/// Finished job: set if it succeeded, and the answer to send once the commit succeeded or failed.
struct JobOutcome {
    succeeded: bool,
    reply: Box<dyn FnOnce(Result<()>) + Send>,
}

impl SqliteWriter {
    pub(super) fn new(path: PathBuf, mode: OpenMode) -> Self {
        Self { path, mode, thread: Mutex::new(WriterState::Idle) }
    }

    /// Fails if the file is read-only.
    pub(super) fn check_writable(&self) -> Result<()> {
        match self.mode {
            OpenMode::ReadWrite => Ok(()),
            OpenMode::ReadOnly | OpenMode::Immutable => {
                Err(Error::ReadOnly { path: self.path.display().to_string() })
            }
        }
    }

    /// Applies all changes or none; returns when they are durable.
    pub(super) async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let (scope, size) = (write.scope.clone(), write.changes.len());
        let prepared = if size <= MAX_INLINE {
            PreparedWrite::new(write)?
        } else {
            run_blocking(move || PreparedWrite::new(write)).await?
        };
        let apply = Box::new(move |db: &Connection| untyped(prepared.apply(db)));
        self.send(Some(scope), size, Durability::Answered, apply).await
    }

    /// Runs work that changes no memories, all or nothing; returns when it is durable.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let work = Box::new(|db: &Connection| untyped(work(db)));
        self.send(None, MAX_GROUP, Durability::Answered, work).await
    }

    /// Runs work that stores what can be computed again. It waits for no sync, and no save waits for one of it.
    pub(super) async fn run_unsynced<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let work = Box::new(|db: &Connection| untyped(work(db)));
        self.send(None, MAX_GROUP, Durability::Later, work).await
    }

    /// Overwrites what the write-ahead log still holds of erased texts; `false` if readers prevented it.
    pub(super) async fn truncate_wal(&self) -> Result<bool> {
        let path = self.path.clone();
        run_blocking(move || {
            let db = open::writer(&path)?;
            let busy: i64 =
                db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(busy == 0)
        })
        .await
    }

    /// Vacuums the file if a good part of it is empty, and returns how many bytes that freed.
    pub(super) async fn vacuum(&self) -> Result<u64> {
        self.check_writable()?;
        let path = self.path.clone();
        let freed = run_blocking(move || {
            let db = open::writer(&path)?;
            let figure = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let (free, all) = (figure("freelist_count"), figure("page_count"));
            let (free, all) = (free?, all?);
            if free == 0 || free < all / VACUUM_FREE_SHARE {
                return Ok(0);
            }
            let page = figure("page_size")?;
            db.execute_batch("VACUUM")?;
            Ok((free * page) as u64)
        });
        let freed = freed.await?;
        if freed > 0 {
            self.truncate_wal().await?;
        }
        Ok(freed)
    }

    /// Ends the thread after the writes already sent.
    pub(super) async fn close(&self) {
        let state = std::mem::replace(&mut *self.lock_state(), WriterState::Closed);
        if let WriterState::Running(jobs, thread) = state {
            drop(jobs);
            // Every caller already got an error for a panic of the thread.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    async fn send<T: 'static>(
        &self,
        scope: Option<Scope>,
        size: usize,
        durability: Durability,
        work: UntypedWrite,
    ) -> Result<T> {
        let value = self.send_untyped(scope, size, durability, work).await?;
        value.downcast().map(|value| *value).map_err(|_| Error::store("a result of another type"))
    }

    /// Sends work without the type of its result, so that this is compiled once for all writes.
    fn send_untyped(
        &self,
        scope: Option<Scope>,
        size: usize,
        durability: Durability,
        work: UntypedWrite,
    ) -> BoxFuture<'_, Result<AnyValue>> {
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let work = Box::new(move |db: Option<&Connection>| job_outcome(db.map(work), sender));
            let job = WriteJob { scope, size, durability, work };
            self.job_sender()?.send(job).map_err(|_| store_closed())?;
            receiver.await.map_err(|_| Error::store("the writer ended before it answered"))?
        })
    }

    fn job_sender(&self) -> Result<mpsc::Sender<WriteJob>> {
        self.check_writable()?;
        let mut state = self.lock_state();
        if let WriterState::Idle = *state {
            let db = open::writer(&self.path)?;
            let (sender, jobs) = mpsc::channel();
            let thread = std::thread::Builder::new()
                .name("everlore-writer".into())
                .spawn(move || run(db, &jobs))
                .map_err(|error| Error::io("starting the writer", error))?;
            *state = WriterState::Running(sender, thread);
        }
        match &*state {
            WriterState::Running(jobs, _) => Ok(jobs.clone()),
            WriterState::Idle | WriterState::Closed => Err(store_closed()),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, WriterState> {
        lock(&self.thread)
    }
}

/// Removes the type of a result.
fn untyped<T: Send + 'static>(result: Result<T>) -> Result<AnyValue> {
    Ok(Box::new(result?))
}

/// Wraps what a job returned; the caller gets it once the commit succeeded or failed.
fn job_outcome(
    outcome: Option<Result<AnyValue>>,
    sender: oneshot::Sender<Result<AnyValue>>,
) -> JobOutcome {
    let succeeded = matches!(outcome, Some(Ok(_)));
    let reply = Box::new(move |committed: Result<()>| {
        let unreached = || Err(Error::store("the write was not reached"));
        let outcome = match outcome {
            Some(Err(error)) => Err(error),
            Some(Ok(value)) => committed.map(|()| value),
            None => committed.and_then(|()| unreached()),
        };
        // A caller that no longer waits needs no answer.
        drop(sender.send(outcome));
    });
    JobOutcome { succeeded, reply }
}

/// Commits queued jobs, then merges while there are none.
fn run(mut db: Connection, jobs: &mpsc::Receiver<WriteJob>) {
    let (mut touched, mut is_synced) = (BTreeSet::new(), true);
    while let Some(group) = next_group(jobs, &mut db, &mut touched) {
        touched.extend(group.iter().filter_map(|job| job.scope.clone()));
        // A panic rolls back the transaction and fails its callers, not later ones.
        let _ = catch_unwind(AssertUnwindSafe(|| commit(&mut db, &mut is_synced, group)));
    }
    // Large merges are left to a process that stays: a command should not make its user wait for them.
    while let Ok(true) = merge_one(&mut db, &mut touched, MergeLimit::Small) {}
}

/// Returns the jobs of the next transaction, or `None` when no more can come.
fn next_group(
    jobs: &mpsc::Receiver<WriteJob>,
    db: &mut Connection,
    touched: &mut BTreeSet<Scope>,
) -> Option<Vec<WriteJob>> {
    let mut group = vec![first_job(jobs, db, touched)?];
    let mut size = group[0].size;
    while size < MAX_GROUP {
        let Ok(job) = jobs.try_recv() else { break };
        size += job.size;
        group.push(job);
    }
    Some(group)
}

/// Returns the next job; merges until one comes.
fn first_job(
    jobs: &mpsc::Receiver<WriteJob>,
    db: &mut Connection,
    touched: &mut BTreeSet<Scope>,
) -> Option<WriteJob> {
    loop {
        match jobs.try_recv() {
            Ok(job) => return Some(job),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => {
                match merge_one(db, touched, MergeLimit::Any) {
                    Ok(true) => {}
                    // A failed merge changed nothing and is tried again after the next write.
                    Ok(false) | Err(_) => return jobs.recv().ok(),
                }
            }
        }
    }
}

/// Runs the jobs in one transaction, each all or nothing, and answers when it is durable.
fn commit(db: &mut Connection, is_synced: &mut bool, group: Vec<WriteJob>) {
    let needs_sync = group.iter().any(|job| job.durability == Durability::Answered);
    let mut jobs = group.into_iter();
    let mut done = Vec::with_capacity(jobs.len());
    let committed =
        switch_sync(db, is_synced, needs_sync).and_then(|()| commit_jobs(db, &mut jobs, &mut done));
    let reason = committed.err().map(|error| match error {
        Error::Store(source) => source.to_string(),
        other => other.to_string(),
    });
    done.extend(jobs.map(|job| (job.work)(None)));
    for JobOutcome { reply: answer, .. } in done {
        answer(reason.as_ref().map_or(Ok(()), |reason| Err(Error::store(reason.clone()))));
    }
}

/// Makes commits wait for the disk, or not. The write-ahead log is written in order either way: a power cut loses no commit
/// that waited, nor one before it.
fn switch_sync(db: &Connection, is_synced: &mut bool, needs_sync: bool) -> Result<()> {
    if *is_synced != needs_sync {
        open::set_synced(db, needs_sync)?;
        *is_synced = needs_sync;
    }
    Ok(())
}

fn commit_jobs(
    db: &mut Connection,
    group: &mut impl Iterator<Item = WriteJob>,
    done: &mut Vec<JobOutcome>,
) -> Result<()> {
    let mut tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group {
        let savepoint = tx.savepoint()?;
        let outcome = (job.work)(Some(&savepoint));
        let succeeded = outcome.succeeded;
        done.push(outcome);
        if succeeded {
            savepoint.commit()?;
        } else {
            drop(savepoint);
        }
        if tx.is_autocommit() {
            // A full disk ends the whole transaction, not only the savepoint.
            return Err(Error::store("the transaction was rolled back"));
        }
    }
    Ok(tx.commit()?)
}

/// Merges blocks of one touched scope; `false` when nothing is due.
fn merge_one(
    db: &mut Connection,
    touched: &mut BTreeSet<Scope>,
    limit: MergeLimit,
) -> Result<bool> {
    while let Some(scope) = touched.first().cloned() {
        let due = |db: &Connection| match ScopeDb::find(db, &scope)? {
            Some(db) => index::due_merge(db, limit),
            None => Ok(None),
        };
        if due(db)?.is_some() {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have merged meanwhile, so the check is repeated under the lock.
            if let (Some(db), Some(blocks)) = (ScopeDb::find(&tx, &scope)?, due(&tx)?) {
                index::merge(db, &blocks)?;
            }
            tx.commit()?;
            return Ok(true);
        }
        touched.remove(&scope);
    }
    Ok(false)
}
