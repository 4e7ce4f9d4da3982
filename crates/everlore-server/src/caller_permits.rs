//! Requests that a key has in flight: a bounded number, so that one program cannot occupy the server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{Problem, connections::server_busy, lock};

/// Requests of one key at a time, event streams included: an eighth of all connections.
const MAX_REQUESTS_PER_KEY: usize = 64;

/// Exports at a time: each holds a page of memories and a thread for as long as its client reads.
const MAX_EXPORTS: usize = 8;

/// Exports of one caller at a time, so that others can export too.
const MAX_EXPORTS_PER_CALLER: usize = 4;

/// Number of requests in flight by caller, with their limits.
pub(crate) struct CallerPermits {
    per_caller: usize,
    total: usize,
    /// Answer for a caller without a permit.
    refusal: &'static str,
    in_flight: Mutex<HashMap<String, usize>>,
}

impl CallerPermits {
    /// Makes the permits for the requests of keys.
    pub(crate) fn for_requests() -> Self {
        let refusal = "this key has too many requests in flight";
        Self::new(MAX_REQUESTS_PER_KEY, usize::MAX, refusal)
    }

    /// Makes the permits for exports.
    pub(crate) fn for_exports() -> Self {
        Self::new(MAX_EXPORTS_PER_CALLER, MAX_EXPORTS, "too many exports are running")
    }

    fn new(per_caller: usize, total: usize, refusal: &'static str) -> Self {
        Self { per_caller, total, refusal, in_flight: Mutex::default() }
    }

    /// Takes a permit of a caller; it is kept for as long as the request's access is.
    pub(crate) fn take(self: &Arc<Self>, caller: &str) -> Result<Arc<CallerPermit>, Problem> {
        let mut in_flight = lock(&self.in_flight);
        let own = in_flight.get(caller).copied().unwrap_or_default();
        if own >= self.per_caller || in_flight.values().sum::<usize>() >= self.total {
            return Err(server_busy(self.refusal));
        }
        in_flight.insert(caller.to_owned(), own + 1);
        Ok(Arc::new(CallerPermit { permits: Arc::clone(self), caller: caller.to_owned() }))
    }
}

/// Permit of a request in flight, free again when its last holder drops it.
pub(crate) struct CallerPermit {
    permits: Arc<CallerPermits>,
    caller: String,
}

impl Drop for CallerPermit {
    fn drop(&mut self) {
        let mut in_flight = lock(&self.permits.in_flight);
        let Some(count) = in_flight.get_mut(&self.caller) else { return };
        *count -= 1;
        if *count == 0 {
            in_flight.remove(&self.caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_own_permits_and_gets_them_back() {
        let permits = Arc::new(CallerPermits::for_requests());
        let taken: Vec<_> =
            (0..MAX_REQUESTS_PER_KEY).map(|_| permits.take("key:a").unwrap()).collect();
        assert_eq!(permits.take("key:a").err().unwrap().code, "busy");
        assert!(permits.take("key:编辑器").is_ok());
        drop(taken);
        assert!(permits.take("key:a").is_ok());
        assert!(lock(&permits.in_flight).is_empty());
    }

    #[test]
    fn exports_of_all_callers_together_are_few() {
        let permits = Arc::new(CallerPermits::for_exports());
        let take = |caller: &str| permits.take(caller);
        let own: Vec<_> = (0..MAX_EXPORTS_PER_CALLER).map(|_| take("key:a").unwrap()).collect();
        assert_eq!(take("key:a").err().unwrap().code, "busy");
        let others: Vec<_> = (own.len()..MAX_EXPORTS).map(|_| take("key:导出").unwrap()).collect();
        assert_eq!(take("key:c").err().unwrap().title, "too many exports are running");
        drop(others);
        assert!(take("key:c").is_ok());
    }
}
