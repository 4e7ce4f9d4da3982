//! Rate limits: a token bucket for each caller.

use std::{collections::HashMap, sync::Mutex, time::Instant};

use axum::http::StatusCode;

use crate::{Problem, lock};

/// Lowest number of failed authentications answered per second: a person who mistypes stays far below.
const GUESSES_PER_SECOND: f64 = 10.0;

/// Share of a caller's rate that failed authentications may have, where that is more.
const GUESSES_SHARE: f64 = 0.01;

/// Seconds of the rate that a bucket saves up: bursts are usual, floods are not.
const BURST_SECONDS: f64 = 2.0;

/// Token buckets of all callers. There are only as many as keys, so their number is bounded.
pub(crate) struct RateLimits {
    per_second: f64,
    buckets: Mutex<HashMap<String, TokenBucket>>,
}

struct TokenBucket {
    tokens: f64,
    refilled_at: Instant,
}

impl RateLimits {
    /// Creates buckets with the same rate for each caller.
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second: per_second.max(1).into(), buckets: Mutex::default() }
    }

    /// Takes a token from a caller's bucket.
    pub(crate) fn take(&self, caller: &str, now: Instant) -> Result<(), Problem> {
        self.take_token(caller, self.per_second, now)
    }

    /// Takes a token from the bucket that all unauthenticated requests share.
    pub(crate) fn take_unauthenticated(&self, now: Instant) -> Result<(), Problem> {
        self.take_token("", GUESSES_PER_SECOND.max(self.per_second * GUESSES_SHARE), now)
    }

    fn take_token(&self, caller: &str, per_second: f64, now: Instant) -> Result<(), Problem> {
        let capacity = per_second * BURST_SECONDS;
        let mut buckets = lock(&self.buckets);
        let bucket = buckets
            .entry(caller.to_owned())
            .or_insert(TokenBucket { tokens: capacity, refilled_at: now });
        let passed = now.saturating_duration_since(bucket.refilled_at).as_secs_f64();
        *bucket = TokenBucket {
            tokens: (bucket.tokens + passed * per_second).min(capacity),
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
            "too many requests",
            "wait for the seconds in Retry-After; `everlore serve --rate` sets the limit",
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tokens_are_spent_and_come_back() {
        let (limits, start) = (RateLimits::new(5), Instant::now());
        let allowed = |at| (0..100).filter(|_| limits.take("key:a", at).is_ok()).count();
        assert_eq!(allowed(start), 10);
        assert_eq!(allowed(start), 0);
        assert_eq!(allowed(start + Duration::from_secs(1)), 5);
        assert_eq!(limits.take("key:b", start), Ok(()));
    }

    #[test]
    fn failed_authentications_take_no_tokens_from_callers() {
        let (limits, now) = (RateLimits::new(5), Instant::now());
        while limits.take_unauthenticated(now).is_ok() {}
        assert_eq!(limits.take("token", now), Ok(()));
    }
}
