//! Pool of read connections, opened when needed and kept for the next reader.

use std::{
    any::Any,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use rusqlite::Connection;

use super::open::{self, OpenMode};
use crate::{
    error::{Error, Result},
    sync::{BoxFuture, downcast, lock, run_blocking},
};

/// Idle connections kept; more readers at once get one of their own that is closed afterwards.
const MAX_IDLE: usize = 8;

/// Reads for which a connection maps the file: those of a process that runs one query. After every write SQLite drops
/// the mapping, and for a process with more queries a new mapping costs more than reading some pages.
const MAPPED_READS: u32 = 8;

/// `Result` of a read, without its type.
type AnyResult = Box<dyn Any + Send>;

/// Read of any type.
type UntypedRead = Box<dyn FnOnce(&Connection) -> AnyResult + Send>;

/// Read connections of one file.
pub(super) struct ReaderPool(Arc<PoolState>);

/// Connection with the number of its reads, and a flag set while it maps the file.
struct PooledReader {
    db: Connection,
    reads: u32,
    is_mapped: bool,
}

struct PoolState {
    path: PathBuf,
    mode: OpenMode,
    /// Idle connections; `None` once closed.
    idle: Mutex<Option<Vec<PooledReader>>>,
}

impl ReaderPool {
    pub(super) fn new(path: PathBuf, mode: OpenMode, first: Connection) -> Self {
        let first = PooledReader::new(first);
        Self(Arc::new(PoolState { path, mode, idle: Mutex::new(Some(vec![first])) }))
    }

    /// Runs `read` on one unchanging state of the database.
    pub(super) async fn read<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.run(read, false).await
    }

    /// Runs `read`, which reads megabytes, on one unchanging state of the database.
    pub(super) async fn read_large<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.run(read, true).await
    }

    async fn run<T, F>(&self, read: F, is_large: bool) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        downcast(self.run_untyped(Box::new(|db| Box::new(read(db))), is_large).await?)
    }

    /// Runs `read` without the type of its result, so that this is compiled once for all reads.
    fn run_untyped(&self, read: UntypedRead, is_large: bool) -> BoxFuture<'_, Result<AnyResult>> {
        let shared = Arc::clone(&self.0);
        Box::pin(run_blocking(move || {
            let mut reader = shared.acquire()?;
            if is_large {
                reader.set_mmap(true)?;
            }
            let answer = reader.read(read);
            if reader.reads >= MAPPED_READS {
                reader.set_mmap(false)?;
            }
            shared.release(reader);
            answer
        }))
    }

    /// Closes idle connections; those in use are closed when their reader is done.
    pub(super) fn close(&self) {
        *lock(&self.0.idle) = None;
    }
}

impl PoolState {
    fn acquire(&self) -> Result<PooledReader> {
        let mut guard = lock(&self.idle);
        let idle = guard.as_mut().ok_or_else(store_closed)?.pop();
        drop(guard);
        let fresh = || open::reader(&self.path, self.mode).map(PooledReader::new);
        idle.map_or_else(fresh, Ok)
    }

    fn release(&self, reader: PooledReader) {
        if let Some(idle) = lock(&self.idle).as_mut()
            && idle.len() < MAX_IDLE
        {
            idle.push(reader);
        }
    }
}

impl PooledReader {
    fn new(db: Connection) -> Self {
        #[cfg(test)]
        let db = super::vm_steps::counted(db);
        Self { db, reads: 0, is_mapped: true }
    }

    fn read(&mut self, read: UntypedRead) -> Result<AnyResult> {
        self.reads = self.reads.saturating_add(1);
        let tx = self.db.unchecked_transaction()?;
        Ok(read(&tx))
    }

    fn set_mmap(&mut self, maps: bool) -> Result<()> {
        if self.is_mapped != maps {
            open::set_mmap(&self.db, maps)?;
            self.is_mapped = maps;
        }
        Ok(())
    }
}

/// Builds the error of a store that was closed.
pub(super) fn store_closed() -> Error {
    Error::store("the store is closed")
}
