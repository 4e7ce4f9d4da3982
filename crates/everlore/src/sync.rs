//! Concurrency helpers that the whole workspace shares: locks, blocking work and boxed futures.

use std::{
    any::Any,
    future::Future,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::error::{Error, Result};

/// Makes an `async fn` return a [`BoxFuture`].
pub use async_recursion::async_recursion as boxed;

/// Future behind a pointer. A function that returns one is compiled once: the state machine of an `async fn` is
/// compiled again in every codegen unit and crate that awaits it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Locks a mutex, even if a thread panicked while holding it: every guarded value is replaced or changed in one step,
/// so that a panic leaves it consistent, and one failed request must not fail all that follow.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocking work and its result, both without their types.
type BlockingWork = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// Runs work that blocks (files, models, SQLite) on a thread of its own, off the async workers.
///
/// Panics of the work become [`Error::Store`].
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    downcast(spawn(Box::new(move || Box::new(work()))).await?)
}

/// Runs work on a blocking thread. One function for all types of work and result: each instance of tokio's task is
/// some thousand lines for the compiler.
fn spawn(work: BlockingWork) -> BoxFuture<'static, Result<Box<dyn Any + Send>>> {
    Box::pin(async { tokio::task::spawn_blocking(work).await.map_err(Error::store) })
}

/// Returns a value of a known type that was passed on without it.
pub(crate) fn downcast<T: 'static>(value: Box<dyn Any + Send>) -> Result<T> {
    let value =
        value.downcast::<Result<T>>().map_err(|_| Error::store("a result of another type"))?;
    *value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisoned_lock_still_opens() {
        let mutex = std::sync::Arc::new(Mutex::new(1));
        let poisoner = std::sync::Arc::clone(&mutex);
        let panicked = std::thread::spawn(move || {
            let _guard = poisoner.lock();
            panic!("poisons the lock");
        });
        assert!(panicked.join().is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }

    #[tokio::test]
    async fn a_panic_of_blocking_work_is_an_error() {
        assert_eq!(run_blocking(|| Ok(7)).await.unwrap(), 7);
        assert!(matches!(run_blocking::<()>(|| panic!("work")).await, Err(Error::Store(_))));
    }
}
