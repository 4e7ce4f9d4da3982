//! Work on large input, beside the async threads: a request with a large body is polled where blocking is allowed, so
//! that parsing and analysing it delays no other request, and only a few such requests compute at a time.

use std::{
    pin::Pin,
    sync::{Condvar, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::http::{HeaderMap, header};

use crate::{App, BoxFuture, lock};

/// Bodies up to this size are answered on the async threads: analysing them takes some milliseconds.
const MAX_INLINE_BYTES: u64 = 32 * 1024;

/// Permits for computing on large input: one core fewer than there are, so that small requests always find one.
pub(crate) struct OffloadPermits {
    free: Mutex<usize>,
    released: Condvar,
}

impl Default for OffloadPermits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { free: Mutex::new(cores.saturating_sub(1).max(1)), released: Condvar::new() }
    }
}

impl OffloadPermits {
    /// Waits for a permit; it blocks its thread.
    fn acquire(&self) -> OffloadPermit<'_> {
        let free = self.released.wait_while(lock(&self.free), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        OffloadPermit(self)
    }
}

/// Permit that is released when it is dropped.
struct OffloadPermit<'a>(&'a OffloadPermits);

impl Drop for OffloadPermit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.released.notify_one();
    }
}

/// Returns `true` for a body that is large, or of unknown size.
pub(crate) fn is_large(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse().ok());
    let is_streamed = headers.contains_key(header::TRANSFER_ENCODING);
    length.map_or(is_streamed, |length: u64| length > MAX_INLINE_BYTES)
}

/// Future that is polled beside the async threads, with a permit.
pub(crate) struct OffloadedFuture<'a, T> {
    future: BoxFuture<'a, T>,
    app: App,
}

/// Returns a future that does the same work beside the async threads.
pub(crate) fn offload<'a, T>(app: &App, future: BoxFuture<'a, T>) -> OffloadedFuture<'a, T> {
    OffloadedFuture { future, app: app.clone() }
}

impl<T> Future for OffloadedFuture<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        tokio::task::block_in_place(|| {
            let app = self.app.clone();
            let _permit = app.offload_permits.acquire();
            self.future.as_mut().poll(cx)
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn bodies_are_judged_by_their_length_and_streams_are_large() {
        let with = |name, value| {
            is_large(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
        };
        assert!(!is_large(&HeaderMap::new()));
        assert!(!with(header::CONTENT_LENGTH, "32768"));
        assert!(with(header::CONTENT_LENGTH, "32769"));
        assert!(with(header::TRANSFER_ENCODING, "chunked"));
    }

    #[test]
    fn a_permit_is_free_again_once_it_is_dropped() {
        let permits = OffloadPermits { free: Mutex::new(1), released: Condvar::new() };
        drop(permits.acquire());
        let held = permits.acquire();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(permits.acquire()));
            drop(held);
            waiting.join().unwrap();
        });
        assert_eq!(*lock(&permits.free), 1);
    }
}
