//! Connections for reading, made when needed and kept for the next reader.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{
    blocking, failed,
    open::{self, OpenMode},
};
use crate::error::{Error, Result};

/// Idle connections kept; more readers at once get one of their own that is closed afterwards.
const MAX_IDLE: usize = 8;

/// Reads for which a connection maps the file: those of a process that asks one question. Whenever something was written
/// SQLite lets go of the mapping, and making it anew costs one who asks again more than reading some pages does.
const MAPPED_READS: u32 = 8;

/// Readers of one file.
pub(super) struct ReaderPool(Arc<PoolState>);

/// A connection, how often it read, and whether it maps the file.
struct PooledReader {
    db: Connection,
    reads: u32,
    is_mapped: bool,
}

struct PoolState {
    path: PathBuf,
    mode: OpenMode,
    /// `None` once closed.
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

    /// The same for one that reads megabytes.
    pub(super) async fn read_large<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.run(read, true).await
    }

    async fn run<T, F>(&self, read: F, is_much: bool) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let shared = Arc::clone(&self.0);
        blocking(move || {
            let mut reader = shared.acquire()?;
            if is_much {
                reader.set_mmap(true)?;
            }
            let answer = reader.read(read);
            if reader.reads >= MAPPED_READS {
                reader.set_mmap(false)?;
            }
            shared.release(reader);
            answer
        })
        .await
    }

    /// Closes idle connections; those in use are closed when their reader is done.
    pub(super) fn close(&self) {
        *self.0.idle.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl PoolState {
    fn acquire(&self) -> Result<PooledReader> {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = guard.as_mut().ok_or_else(store_closed)?.pop();
        drop(guard);
        let fresh = || open::reader(&self.path, self.mode).map(PooledReader::new);
        idle.map_or_else(fresh, Ok)
    }

    fn release(&self, reader: PooledReader) {
        if let Some(idle) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
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

    fn read<T>(&mut self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.reads = self.reads.saturating_add(1);
        let tx = self.db.unchecked_transaction().map_err(failed)?;
        read(&tx)
    }

    fn set_mmap(&mut self, maps: bool) -> Result<()> {
        if self.is_mapped != maps {
            open::set_mmap(&self.db, maps)?;
            self.is_mapped = maps;
        }
        Ok(())
    }
}

/// The answer of a store that was closed.
pub(super) fn store_closed() -> Error {
    Error::store("the store is closed")
}
