//! Counts the work of readers in tests: instructions of SQLite's virtual machine, by database file.
//!
//! Unlike time, the count is the same on every machine and in every run, and it grows with each row that a query
//! visits.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};

/// Counter of each database file.
static COUNTERS: LazyLock<Mutex<HashMap<String, Arc<AtomicU64>>>> = LazyLock::new(Mutex::default);

/// Makes a connection add the instructions of every statement that it finishes to the counter of its file.
pub(super) fn counted(mut db: Connection) -> Connection {
    let counter = counter(db.path().unwrap_or_default());
    // SQLite reports a statement's total since it was prepared; cached statements run many times.
    let mut totals: HashMap<String, u64> = HashMap::new();
    let add = move |event: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = event {
            let total = statement.get_status(StatementStatus::VmStep) as u64;
            let before = totals.insert(statement.sql().into_owned(), total).unwrap_or_default();
            counter.fetch_add(total.checked_sub(before).unwrap_or(total), Ordering::Relaxed);
        }
    };
    db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(add)).unwrap();
    db
}

/// Returns the instructions that the readers of this file have run so far.
pub(crate) fn total(path: &Path) -> u64 {
    let path = path.canonicalize().unwrap();
    counter(path.to_str().unwrap()).load(Ordering::Relaxed)
}

fn counter(path: &str) -> Arc<AtomicU64> {
    let mut counters = COUNTERS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(counters.entry(path.to_owned()).or_default())
}
