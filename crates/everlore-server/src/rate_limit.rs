//! How often each caller may ask: an allowance that refills with time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use axum::http::StatusCode;

use crate::problem::Problem;

/// Requests with a wrong secret that are answered in a second, at least: a person who mistypes stays far below.
const GUESSES_PER_SECOND: f64 = 10.0;

/// The share of a caller's requests that guesses may have where that is more.
const GUESSES_SHARE: f64 = 0.01;

/// What is saved up while nobody asks, in seconds: bursts are usual, floods are not.
const BURST_SECONDS: f64 = 2.0;

/// The allowances of all callers. There are as many as keys, so they are bounded.
pub(crate) struct RateLimits {
    per_second: f64,
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

struct TokenBucket {
    tokens: f64,
    refilled_at: Instant,
}

impl RateLimits {
    /// The same allowance for each caller.
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1).into(), buckets: Mutex::default() }
    }

    /// Takes one request of a caller.
    pub(crate) fn take(&self, who: &str, now: Instant) -> Result<(), Problem> {
        self.take_token(who, self.per_second, now)
    }

    /// Takes one request of someone unknown.
    pub(crate) fn take_unauthenticated(&self, now: Instant) -> Result<(), Problem> {
        self.take_token("", GUESSES_PER_SECOND.max(self.per_second * GUESSES_SHARE), now)
    }

    fn take_token(&self, who: &str, per_second: f64, now: Instant) -> Result<(), Problem> {
        let most = per_second * BURST_SECONDS;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket =
            buckets.entry(who.to_owned()).or_insert(TokenBucket { tokens: most, refilled_at: now });
        let passed = now.saturating_duration_since(bucket.refilled_at).as_secs_f64();
        *bucket = TokenBucket {
            tokens: (bucket.tokens + passed * per_second).min(most),
            refilled_at: now,
        };
        if bucket.tokens < 1.0 {
            return Err(too_many_requests());
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

fn too_many_requests() -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_often",
            "too many requests at once",
            "wait as long as Retry-After says; `everlore serve --rate` sets the limit",
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_allowance_is_spent_and_comes_back() {
        let (limits, start) = (RateLimits::new(5), Instant::now());
        let allowed = |at| (0..100).filter(|_| limits.take("key:a", at).is_ok()).count();
        assert_eq!(allowed(start), 10);
        assert_eq!(allowed(start), 0);
        assert_eq!(allowed(start + Duration::from_secs(1)), 5);
        assert_eq!(limits.take("key:b", start), Ok(()));
    }

    #[test]
    fn guesses_take_nothing_from_those_who_know() {
        let (limits, now) = (RateLimits::new(5), Instant::now());
        while limits.take_unauthenticated(now).is_ok() {}
        assert_eq!(limits.take("token", now), Ok(()));
    }
}
