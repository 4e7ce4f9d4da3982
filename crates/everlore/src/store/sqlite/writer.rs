//! The one writer of a process: waiting writes share a transaction, and so a sync; merging of the index waits until
//! nobody does.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    apply::PreparedWrite,
    failed, index,
    open::{self, OpenMode},
    pool::store_closed,
    scope_number,
};
use crate::{
    error::{Error, Result},
    types::{AppliedChange, Scope, WriteBatch},
};

/// The most changes that share a transaction: a bulk import must not make a small save wait long.
const MAX_GROUP: usize = 4_096;

/// Writes with more changes than this are analysed away from the async threads.
const MAX_INLINE: usize = 8;

/// A file is packed when one part in so many of it is empty: packing writes all of the rest anew.
const VACUUM_FREE_SHARE: i64 = 4;

/// Sends writes to a thread that is started by the first one.
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
    /// Whose index may want merging afterwards.
    scope: Option<Scope>,
    /// How many changes it makes.
    size: usize,
    work: JobFn,
}

/// Runs on the connection, or not at all if the transaction could not begin or go on.
type JobFn = Box<dyn FnOnce(Option<&Connection>) -> JobOutcome + Send>;

/// Work that ran: whether it succeeded, and how to answer once the commit succeeded or failed.
struct JobOutcome {
    succeeded: bool,
    reply: Box<dyn FnOnce(Result<()>) + Send>,
}

impl SqliteWriter {
    pub(super) fn new(path: PathBuf, mode: OpenMode) -> Self {
        Self { path, mode, thread: Mutex::new(WriterState::Idle) }
    }

    /// Refuses to write where that cannot be done.
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
            super::blocking(move || PreparedWrite::new(write)).await?
        };
        self.send(Some(scope), size, move |db| prepared.apply(db)).await
    }

    /// Runs work that is no change of memories, all or nothing; returns when it is durable.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.send(None, MAX_GROUP, work).await
    }

    /// Overwrites what the write-ahead log still holds of erased texts; false if readers kept it from doing so.
    pub(super) async fn truncate_wal(&self) -> Result<bool> {
        let path = self.path.clone();
        super::blocking(move || {
            let db = open::writer(&path)?;
            let busy: i64 = db
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(failed)?;
            Ok(busy == 0)
        })
        .await
    }

    /// Packs the file if a good part of it is empty, and returns how many bytes that gave back.
    pub(super) async fn vacuum(&self) -> Result<u64> {
        self.check_writable()?;
        let path = self.path.clone();
        let freed = super::blocking(move || {
            let db = open::writer(&path)?;
            let figure = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let (free, all) = (figure("freelist_count"), figure("page_count"));
            let (free, all) = (free.map_err(failed)?, all.map_err(failed)?);
            if free == 0 || free < all / VACUUM_FREE_SHARE {
                return Ok(0);
            }
            let page = figure("page_size").map_err(failed)?;
            db.execute_batch("VACUUM").map_err(failed)?;
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
            // A panic of the thread was already answered to everyone who waited for it.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    async fn send<T, F>(&self, scope: Option<Scope>, size: usize, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move |db: Option<&Connection>| {
            let outcome = db.map(work);
            let succeeded = matches!(outcome, Some(Ok(_)));
            let answer = Box::new(move |committed: Result<()>| {
                let unreached = || Err(Error::store("the write was not reached"));
                let outcome = match outcome {
                    Some(Err(error)) => Err(error),
                    Some(Ok(value)) => committed.map(|()| value),
                    None => committed.and_then(|()| unreached()),
                };
                // Whoever no longer waits needs no answer.
                drop(sender.send(outcome));
            });
            JobOutcome { succeeded, reply: answer }
        });
        self.job_sender()?.send(WriteJob { scope, size, work }).map_err(|_| store_closed())?;
        receiver.await.map_err(|_| Error::store("the writer ended before it answered"))?
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
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits what waits, then merges while nobody does.
fn run(mut db: Connection, jobs: &mpsc::Receiver<WriteJob>) {
    let mut touched = BTreeSet::new();
    while let Some(group) = next_group(jobs, &mut db, &mut touched) {
        touched.extend(group.iter().filter_map(|job| job.scope.clone()));
        // A panic takes back the transaction and fails those who wait for it, not those who come later.
        let _ = catch_unwind(AssertUnwindSafe(|| commit(&mut db, group)));
    }
    // Large merges are left to a process that stays: a command should not make its user wait for them.
    while let Ok(true) = merge_one(&mut db, &mut touched, index::MergeLimit::Small) {}
}

/// The jobs of the next transaction, or `None` when no more can come.
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

/// The next job; merges until one comes.
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
                match merge_one(db, touched, index::MergeLimit::Any) {
                    Ok(true) => {}
                    // A failed merge changed nothing and is tried again after the next write.
                    Ok(false) | Err(_) => return jobs.recv().ok(),
                }
            }
        }
    }
}

/// Runs the jobs in one transaction, each all or nothing, and answers when it is durable.
fn commit(db: &mut Connection, group: Vec<WriteJob>) {
    let mut waiting = group.into_iter();
    let mut done = Vec::with_capacity(waiting.len());
    let committed = commit_jobs(db, &mut waiting, &mut done);
    let reason = committed.err().map(|error| match error {
        Error::Store(source) => source.to_string(),
        other => other.to_string(),
    });
    done.extend(waiting.map(|job| (job.work)(None)));
    for JobOutcome { reply: answer, .. } in done {
        answer(reason.as_ref().map_or(Ok(()), |reason| Err(Error::store(reason.clone()))));
    }
}

fn commit_jobs(
    db: &mut Connection,
    group: &mut impl Iterator<Item = WriteJob>,
    done: &mut Vec<JobOutcome>,
) -> Result<()> {
    let mut tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for job in group {
        let savepoint = tx.savepoint().map_err(failed)?;
        let outcome = (job.work)(Some(&savepoint));
        let succeeded = outcome.succeeded;
        done.push(outcome);
        if succeeded {
            savepoint.commit().map_err(failed)?;
        } else {
            drop(savepoint);
        }
        if tx.is_autocommit() {
            // A full disk ends the whole transaction, not only the savepoint.
            return Err(Error::store("the transaction was rolled back"));
        }
    }
    tx.commit().map_err(failed)
}

/// Merges blocks of one touched scope; false when nothing is due.
fn merge_one(
    db: &mut Connection,
    touched: &mut BTreeSet<Scope>,
    patience: index::MergeLimit,
) -> Result<bool> {
    while let Some(scope) = touched.first().cloned() {
        let number = scope_number(db, &scope)?;
        let due =
            number.map(|number| index::due_merge(db, number, patience)).transpose()?.flatten();
        if let (Some(number), Some(_)) = (number, due) {
            let tx =
                db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
            // Another process may have merged meanwhile, so it is asked again under the lock.
            if let Some(blocks) = index::due_merge(&tx, number, patience)? {
                index::merge(&tx, number, &blocks)?;
            }
            tx.commit().map_err(failed)?;
            return Ok(true);
        }
        touched.remove(&scope);
    }
    Ok(false)
}
