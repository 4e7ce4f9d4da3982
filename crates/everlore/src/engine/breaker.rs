//! A server that does not answer is left alone for a while, longer with every failure, so that nobody waits for it each time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;
use serde::Serialize;

use crate::types::Timestamp;

/// The first pause: enough to spare the next few questions of an agent at work.
const FIRST_SECONDS: i64 = 1;

/// The longest: a server that is back is noticed within a minute.
const LONGEST_SECONDS: i64 = 60;

/// Why a server is not asked at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Paused {
    /// How often it failed since it last answered.
    pub failures: u32,
    /// It is asked again at this moment.
    pub until: Timestamp,
    /// What it failed with the last time.
    pub why: String,
}

/// Remembers failures, for the life of a process.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Failures in a row after which it is asked as before.
    tolerated: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    paused: Option<Paused>,
    /// Whether somebody is trying whether it is back.
    trying: bool,
}

/// The permission to ask once. If it is dropped without an answer, that is a failure.
pub(super) struct Trial<'a> {
    breaker: &'a Breaker,
    at: Timestamp,
    why: Option<String>,
}

impl Breaker {
    /// One that lets so many failures pass.
    pub(super) fn tolerating(tolerated: u32) -> Self {
        Self { tolerated, ..Self::default() }
    }

    /// Lets the server be asked: always while it answers, after a pause by one caller at a time.
    pub(super) fn begin(&self, at: Timestamp) -> Result<Trial<'_>, Paused> {
        let mut state = self.state();
        if let Some(paused) = &state.paused {
            if at < paused.until || state.trying {
                return Err(paused.clone());
            }
            state.trying = true;
        }
        let why = Some("it did not answer in time".to_owned());
        Ok(Trial { breaker: self, at, why })
    }

    /// Whether it is left alone at this moment.
    pub(super) fn paused(&self, at: Timestamp) -> Option<Paused> {
        self.state().paused.clone().filter(|paused| at < paused.until)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trial<'_> {
    /// It answered: everybody may ask again.
    pub(super) fn answered(mut self) {
        self.why = None;
        *self.breaker.state() = State::default();
    }

    /// It failed with this.
    pub(super) fn failed(mut self, why: &(impl ToString + ?Sized)) {
        self.why = Some(why.to_string());
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        let Some(why) = self.why.take() else { return };
        let mut state = self.breaker.state();
        let failures = state.paused.as_ref().map_or(0, |paused| paused.failures).saturating_add(1);
        let pause = pause(failures.saturating_sub(self.breaker.tolerated));
        let until = self.at.saturating_add(pause).unwrap_or(self.at);
        *state = State { paused: Some(Paused { failures, until, why }), trying: false };
    }
}

/// How long it is left alone after so many failures.
fn pause(failures: u32) -> SignedDuration {
    let doubled = failures.checked_sub(1).map_or(0, |more| FIRST_SECONDS << more.min(6));
    SignedDuration::from_secs(doubled.min(LONGEST_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn pauses_grow_to_a_minute_and_an_answer_ends_them() {
        let breaker = Breaker::default();
        let mut now = 0;
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            breaker.begin(at(now)).unwrap().failed("refused");
            let paused = breaker.begin(at(now + pause - 1)).err().unwrap();
            assert_eq!((paused.until, paused.why.as_str()), (at(now + pause), "refused"));
            now += pause;
        }
        assert!(breaker.paused(at(now)).is_none(), "it may be tried");
        breaker.begin(at(now)).unwrap().answered();
        let both = [breaker.begin(at(now)), breaker.begin(at(now))];
        assert!(both.iter().all(Result::is_ok), "nobody waits for another");
    }

    #[test]
    fn after_a_pause_one_tries_at_a_time_and_an_abandoned_trial_is_a_failure() {
        let breaker = Breaker::default();
        breaker.begin(at(0)).unwrap().failed("refused");
        let trial = breaker.begin(at(1)).unwrap();
        assert!(breaker.begin(at(1)).is_err(), "somebody tries already");
        drop(trial);
        assert_eq!(breaker.paused(at(1)).unwrap().failures, 2);
    }

    #[test]
    fn a_tolerated_failure_makes_no_pause() {
        let breaker = Breaker::tolerating(1);
        breaker.begin(at(0)).unwrap().failed("refused");
        breaker.begin(at(0)).unwrap().failed("refused");
        assert!(breaker.begin(at(0)).is_err() && breaker.begin(at(1)).is_ok());
    }
}
