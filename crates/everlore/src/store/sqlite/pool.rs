//! Connections for reading, made when needed and kept for the next reader.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{
    blocking, failed,
    open::{self, Mode},
};
use crate::error::{Error, Result};

/// Idle connections kept; more readers at once get one of their own that is closed afterwards.
const MAX_IDLE: usize = 8;

/// Readers of one file.
pub(super) struct Pool(Arc<Shared>);

struct Shared {
    path: PathBuf,
    mode: Mode,
    /// `None` once closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Pool {
    pub(super) fn new(path: PathBuf, mode: Mode, first: Connection) -> Self {
        Self(Arc::new(Shared { path, mode, idle: Mutex::new(Some(vec![first])) }))
    }

    /// Runs `read` on one unchanging state of the database.
    pub(super) async fn read<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let shared = Arc::clone(&self.0);
        blocking(move || {
            let db = shared.take()?;
            let tx = db.unchecked_transaction().map_err(failed)?;
            let answer = read(&tx);
            drop(tx);
            shared.give_back(db);
            answer
        })
        .await
    }

    /// Closes idle connections; those in use are closed when their reader is done.
    pub(super) fn close(&self) {
        *self.0.idle.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Shared {
    fn take(&self) -> Result<Connection> {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = guard.as_mut().ok_or_else(closed)?.pop();
        drop(guard);
        idle.map_or_else(|| open::reader(&self.path, self.mode), Ok)
    }

    fn give_back(&self, db: Connection) {
        if let Some(idle) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
            && idle.len() < MAX_IDLE
        {
            idle.push(db);
        }
    }
}

/// The answer of a store that was closed.
pub(super) fn closed() -> Error {
    Error::store("the store is closed")
}
