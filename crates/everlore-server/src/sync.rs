//! Locking without poisoning: a panic elsewhere must not take every later request along.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex; a value left by a thread that panicked is used as it is.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
