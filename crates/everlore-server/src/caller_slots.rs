//! Requests that a key has in flight: a bounded number, so that one program cannot occupy the server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{Problem, connections::server_busy, sync::lock};

/// Requests of one key at a time, event streams included: an eighth of all connections.
const MAX_REQUESTS_PER_KEY: usize = 64;

/// Number of requests in flight by key.
#[derive(Default)]
pub(crate) struct CallerSlots(Mutex<HashMap<String, usize>>);

impl CallerSlots {
    /// Takes a slot of a key; it is held for as long as the request's access is.
    pub(crate) fn take(self: &Arc<Self>, caller: &str) -> Result<Arc<CallerSlot>, Problem> {
        let mut in_flight = lock(&self.0);
        let count = in_flight.entry(caller.to_owned()).or_default();
        if *count >= MAX_REQUESTS_PER_KEY {
            return Err(server_busy("this key has too many requests in flight"));
        }
        *count += 1;
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
        let mut in_flight = lock(&self.slots.0);
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
        let slots = Arc::new(CallerSlots::default());
        let taken: Vec<_> =
            (0..MAX_REQUESTS_PER_KEY).map(|_| slots.take("key:a").unwrap()).collect();
        assert_eq!(slots.take("key:a").err().unwrap().code, "busy");
        assert!(slots.take("key:编辑器").is_ok());
        drop(taken);
        assert!(slots.take("key:a").is_ok());
        assert!(lock(&slots.0).is_empty());
    }
}
