//! Circuit breaker: a server that does not answer is not called for a while, longer with every failure, so that callers
//! do not wait for it each time.

use std::sync::{Mutex, MutexGuard};

use jiff::SignedDuration;
use serde::Serialize;

use crate::{sync::lock, types::Timestamp};

/// First pause: enough to spare the next few queries of an agent at work.
const FIRST_PAUSE_SECONDS: i64 = 1;

/// Longest pause: a server that is back is noticed within a minute.
const MAX_PAUSE_SECONDS: i64 = 60;

/// Reason why a server is not called at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenCircuit {
    /// Failures since its last answer.
    pub failures: u32,
    /// Time of the next call.
    pub until: Timestamp,
    /// Message of the last failure.
    pub why: String,
}

/// Circuit breaker of one server; it remembers failures for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// Failures in a row that open no pause.
    tolerated: u32,
    state: Mutex<CircuitState>,
}

#[derive(Debug, Default)]
struct CircuitState {
    open: Option<OpenCircuit>,
    /// Set while one caller probes if the server is back.
    is_probing: bool,
}

/// Permission to call once. Dropping it without an answer counts as a failure.
pub(crate) struct CircuitAttempt<'a> {
    breaker: &'a CircuitBreaker,
    at: Timestamp,
    error: Option<String>,
}

impl CircuitBreaker {
    /// Creates a breaker that lets so many failures pass.
    pub(crate) fn with_tolerance(tolerated: u32) -> Self {
        Self { tolerated, ..Self::default() }
    }

    /// Permits a call: always while the server answers, after a pause by one caller at a time.
    pub(crate) fn attempt(&self, at: Timestamp) -> Result<CircuitAttempt<'_>, OpenCircuit> {
        let mut state = self.state();
        if let Some(paused) = &state.open {
            if at < paused.until || state.is_probing {
                return Err(paused.clone());
            }
            state.is_probing = true;
        }
        let why = Some("it did not answer in time".to_owned());
        Ok(CircuitAttempt { breaker: self, at, error: why })
    }

    /// Returns the reason if the server is not called at this moment.
    pub(crate) fn open_circuit(&self, at: Timestamp) -> Option<OpenCircuit> {
        self.state().open.clone().filter(|paused| at < paused.until)
    }

    fn state(&self) -> MutexGuard<'_, CircuitState> {
        lock(&self.state)
    }
}

impl CircuitAttempt<'_> {
    /// Records an answer: every caller may call again.
    pub(crate) fn succeeded(mut self) {
        self.error = None;
        *self.breaker.state() = CircuitState::default();
    }

    /// Records a failure with its message.
    pub(crate) fn failed(mut self, why: &(impl ToString + ?Sized)) {
        self.error = Some(why.to_string());
    }
}

impl Drop for CircuitAttempt<'_> {
    fn drop(&mut self) {
        let Some(why) = self.error.take() else { return };
        let mut state = self.breaker.state();
        let failures = state.open.as_ref().map_or(0, |paused| paused.failures).saturating_add(1);
        let pause = pause_after(failures.saturating_sub(self.breaker.tolerated));
        let until = self.at.saturating_add(pause).unwrap_or(self.at);
        *state =
            CircuitState { open: Some(OpenCircuit { failures, until, why }), is_probing: false };
    }
}

/// Returns the pause after so many failures.
fn pause_after(failures: u32) -> SignedDuration {
    let doubled = failures.checked_sub(1).map_or(0, |more| FIRST_PAUSE_SECONDS << more.min(6));
    SignedDuration::from_secs(doubled.min(MAX_PAUSE_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn pauses_grow_to_a_minute_and_an_answer_ends_them() {
        let breaker = CircuitBreaker::default();
        let mut now = 0;
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            breaker.attempt(at(now)).unwrap().failed("refused");
            let paused = breaker.attempt(at(now + pause - 1)).err().unwrap();
            assert_eq!((paused.until, paused.why.as_str()), (at(now + pause), "refused"));
            now += pause;
        }
        assert!(breaker.open_circuit(at(now)).is_none(), "it may be tried");
        breaker.attempt(at(now)).unwrap().succeeded();
        let both = [breaker.attempt(at(now)), breaker.attempt(at(now))];
        assert!(both.iter().all(Result::is_ok), "nobody waits for another");
    }

    #[test]
    fn after_a_pause_one_tries_at_a_time_and_an_abandoned_trial_is_a_failure() {
        let breaker = CircuitBreaker::default();
        breaker.attempt(at(0)).unwrap().failed("refused");
        let trial = breaker.attempt(at(1)).unwrap();
        assert!(breaker.attempt(at(1)).is_err(), "somebody tries already");
        drop(trial);
        assert_eq!(breaker.open_circuit(at(1)).unwrap().failures, 2);
    }

    #[test]
    fn a_tolerated_failure_makes_no_pause() {
        let breaker = CircuitBreaker::with_tolerance(1);
        breaker.attempt(at(0)).unwrap().failed("refused");
        breaker.attempt(at(0)).unwrap().failed("refused");
        assert!(breaker.attempt(at(0)).is_err() && breaker.attempt(at(1)).is_ok());
    }
}
