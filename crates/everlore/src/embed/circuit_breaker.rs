//! A server that does not answer is left alone for a while, longer with every failure, so that nobody waits for it each time.

use std::sync::{Mutex, MutexGuard};

use jiff::SignedDuration;
use serde::Serialize;

use crate::{sync::lock, types::Timestamp};

/// The first pause: enough to spare the next few questions of an agent at work.
const FIRST_PAUSE_SECONDS: i64 = 1;

/// The longest: a server that is back is noticed within a minute.
const MAX_PAUSE_SECONDS: i64 = 60;

/// Why a server is not asked at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenCircuit {
    /// How often it failed since it last answered.
    pub failures: u32,
    /// It is asked again at this moment.
    pub until: Timestamp,
    /// What it failed with the last time.
    pub why: String,
}

/// Remembers failures, for the life of a process.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// Failures in a row after which it is asked as before.
    tolerated: u32,
    state: Mutex<CircuitState>,
}

#[derive(Debug, Default)]
struct CircuitState {
    open: Option<OpenCircuit>,
    /// Whether somebody is trying whether it is back.
    is_probing: bool,
}

/// The permission to ask once. If it is dropped without an answer, that is a failure.
pub(crate) struct CircuitAttempt<'a> {
    breaker: &'a CircuitBreaker,
    at: Timestamp,
    error: Option<String>,
}

impl CircuitBreaker {
    /// One that lets so many failures pass.
    pub(crate) fn with_tolerance(tolerated: u32) -> Self {
        Self { tolerated, ..Self::default() }
    }

    /// Lets the server be asked: always while it answers, after a pause by one caller at a time.
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

    /// Whether it is left alone at this moment.
    pub(crate) fn open_circuit(&self, at: Timestamp) -> Option<OpenCircuit> {
        self.state().open.clone().filter(|paused| at < paused.until)
    }

    fn state(&self) -> MutexGuard<'_, CircuitState> {
        lock(&self.state)
    }
}

impl CircuitAttempt<'_> {
    /// It answered: everybody may ask again.
    pub(crate) fn succeeded(mut self) {
        self.error = None;
        *self.breaker.state() = CircuitState::default();
    }

    /// It failed with this.
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

/// How long it is left alone after so many failures.
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
