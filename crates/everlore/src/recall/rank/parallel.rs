//! Data parallelism for large scopes: splits work between a few threads to shorten the wait for an answer.

use std::{
    num::NonZero,
    sync::{LazyLock, Mutex, PoisonError},
    thread,
};

/// Documents per thread: working on them takes ten times as long as starting the thread.
const DOCS_PER_THREAD: usize = 20_000;

/// Maximum number of threads; more would wait for memory bandwidth.
const MAX_THREADS: usize = 4;

/// Runs `each` on every piece of work; threads take the next piece as they finish. `docs` sets the number of threads.
pub(super) fn for_each<W: Send>(docs: usize, work: Vec<W>, each: impl Fn(W) + Sync) {
    let threads = thread_count(docs).min(work.len());
    run_on_threads(threads, work, each, || ());
}

/// Runs `each` like [`for_each`], while this thread first runs `own` and returns its result.
pub(super) fn join<W: Send, T>(
    docs: usize,
    work: Vec<W>,
    each: impl Fn(W) + Sync,
    own: impl FnOnce() -> T,
) -> T {
    run_on_threads(thread_count(docs), work, each, own)
}

fn run_on_threads<W: Send, T>(
    threads: usize,
    work: Vec<W>,
    each: impl Fn(W) + Sync,
    own: impl FnOnce() -> T,
) -> T {
    let work = Mutex::new(work);
    let next = || work.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let run = || {
        while let Some(piece) = next() {
            each(piece);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can be started, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        let result = own();
        run();
        result
    })
}

/// Returns the number of threads for so many documents.
fn thread_count(docs: usize) -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    if docs < 2 * DOCS_PER_THREAD {
        1
    } else {
        (docs / DOCS_PER_THREAD).min(MAX_THREADS).min(*CORES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_by_one_thread_or_several() {
        for docs in [0, 10 * DOCS_PER_THREAD] {
            let mut done = vec![0; 1_000];
            let work = done.iter_mut().enumerate().collect();
            let own = join(docs, work, |(number, done)| *done += number, || 7);
            assert!(own == 7 && done.into_iter().eq(0..1_000));
        }
    }
}
