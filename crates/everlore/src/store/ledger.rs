//! The ledger facet: cost of background work, and the time each job last began.

use std::time::Duration;

use async_trait::async_trait;
use jiff::{ToSpan, civil::Date};
use serde::Serialize;

use crate::{
    error::Result,
    types::{Scope, Timestamp},
};

/// Keeps spend by day, scope and job, and the time at which each job last began.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Adds to the spend of a job.
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()>;

    /// Returns the spend of a scope since a day, the newest day first.
    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>>;

    /// Returns the spend of all scopes together on a day. For the owner of the store, who pays for all of them.
    async fn total_on(&self, day: Date) -> Result<ModelSpend>;

    /// Removes the spend before a day, in all scopes, and returns how many lines that were.
    async fn prune(&self, before: Date) -> Result<usize>;

    /// Records that a job begins now, unless it began less than `every` ago: of several processes one gets `true`.
    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool>;

    /// Returns the time at which a job last began.
    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>>;
}

/// Spend on model calls.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ModelSpend {
    /// Calls of a model.
    pub calls: u64,
    /// Input tokens.
    pub read: u64,
    /// Input tokens from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub written: u64,
    /// Duration in milliseconds.
    pub millis: u64,
    /// Cost, in the currency of the prices in the settings.
    pub cost: f64,
}

impl ModelSpend {
    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            read: self.read + other.read,
            cached: self.cached + other.cached,
            written: self.written + other.written,
            millis: self.millis + other.millis,
            cost: self.cost + other.cost,
        }
    }

    /// Returns the sum of input and output tokens.
    pub fn tokens(&self) -> u64 {
        self.read + self.written
    }
}

/// Spend of a job of a scope on a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerEntry {
    /// Day, in the time zone of the user.
    pub day: Date,
    /// Name of the job, such as `extract`.
    pub job: String,
    /// Spend of the job.
    #[serde(flatten)]
    pub spend: ModelSpend,
}

/// Day 0 in a database.
const EPOCH_DAY: Date = jiff::civil::date(1970, 1, 1);

/// Returns the number of a day in a database.
pub(super) fn day_number(day: Date) -> i32 {
    day.since(EPOCH_DAY).map_or(0, |span| span.get_days())
}

/// Returns the day with a number.
pub(super) fn day_from_number(number: i32) -> Date {
    EPOCH_DAY.checked_add(number.days()).unwrap_or(EPOCH_DAY)
}
