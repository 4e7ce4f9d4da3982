//! Requests that a key has in flight: a bounded number, so that one program cannot occupy the server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{Problem, connections::server_busy, sync::lock};

/// Requests of one key at a time, event streams included: an eighth of all connections.
const MAX_REQUESTS_PER_KEY: usize = 64;

/// Exports at a time: each holds a page of memories and a thread for as long as its client reads.
const MAX_EXPORTS: usize = 8;

/// Exports of one caller at a time, so that others can export too.
const MAX_EXPORTS_PER_CALLER: usize = 4;

/// Number of requests in flight by caller, with their limits.
pub(crate) struct CallerSlots {
    per_caller: usize,
    total: usize,
    /// Answer for a caller without a slot.
    refusal: &'static str,
    in_flight: Mutex<HashMap<String, usize>>,
}

impl CallerSlots {
    /// Makes the slots for the requests of keys.
    pub(crate) fn for_requests() -> Self {
        let refusal = "this key has too many requests in flight";
        Self::new(MAX_REQUESTS_PER_KEY, usize::MAX, refusal)
    }

    /// Makes the slots for exports.
    pub(crate) fn for_exports() -> Self {
        Self::new(MAX_EXPORTS_PER_CALLER, MAX_EXPORTS, "too many exports are running")
    }

    fn new(per_caller: usize, total: usize, refusal: &'static str) -> Self {
        Self { per_caller, total, refusal, in_flight: Mutex::default() }
    }

    /// Takes a slot of a caller; it is held for as long as the request's access is.
    pub(crate) fn take(self: &Arc<Self>, caller: &str) -> Result<Arc<CallerSlot>, Problem> {
        let mut in_flight = lock(&self.in_flight);
        let own = in_flight.get(caller).copied().unwrap_or_default();
        if own >= self.per_caller || in_flight.values().sum::<usize>() >= self.total {
            return Err(server_busy(self.refusal));
        }
        in_flight.insert(caller.to_owned(), own + 1);
        Ok(Arc::new(CallerSlot { slots: Arc::clone(self), caller: caller.to_owned() }))
    }
}

/// Slot of a request in flight, free again when its last holder drops it.
pub(crate) struct CallerSlot {
    slots: Arc<CallerSlots>,
    caller: String,
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        let mut in_flight = lock(&self.slots.in_flight);
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
    fn a_key_has_its_own_slots_and_gets_them_back() {
        let slots = Arc::new(CallerSlots::for_requests());
        let taken: Vec<_> =
            (0..MAX_REQUESTS_PER_KEY).map(|_| slots.take("key:a").unwrap()).collect();
        assert_eq!(slots.take("key:a").err().unwrap().code, "busy");
        assert!(slots.take("key:编辑器").is_ok());
        drop(taken);
        assert!(slots.take("key:a").is_ok());
        assert!(lock(&slots.in_flight).is_empty());
    }

    #[test]
    fn exports_of_all_callers_together_are_few() {
        let slots = Arc::new(CallerSlots::for_exports());
        let take = |caller: &str| slots.take(caller);
        let own: Vec<_> = (0..MAX_EXPORTS_PER_CALLER).map(|_| take("key:a").unwrap()).collect();
        assert_eq!(take("key:a").err().unwrap().code, "busy");
        let others: Vec<_> = (own.len()..MAX_EXPORTS).map(|_| take("key:导出").unwrap()).collect();
        assert_eq!(take("key:c").err().unwrap().title, "too many exports are running");
        drop(others);
        assert!(take("key:c").is_ok());
    }
}
