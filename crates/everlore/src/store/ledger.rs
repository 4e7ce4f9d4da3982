//! What background work costs, and when it was last done.

use std::time::Duration;

use async_trait::async_trait;
use jiff::civil::Date;
use serde::Serialize;

use crate::{
    error::Result,
    types::{Scope, Timestamp},
};

/// Keeps what was spent by day, scope and job, and when each job was last begun.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Adds to what was spent.
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()>;

    /// What a scope spent since a day, the newest day first.
    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>>;

    /// What all scopes together spent on a day. For the owner of the store, who pays for all of them.
    async fn total_on(&self, day: Date) -> Result<ModelSpend>;

    /// Removes what was spent before a day, in all scopes, and returns how many lines went.
    async fn prune(&self, before: Date) -> Result<usize>;

    /// Notes that a job begins now, unless it was begun less than `every` ago: of several processes one gets true.
    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool>;

    /// When a job was last begun.
    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>>;
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ModelSpend {
    /// How often a model was asked.
    pub calls: u64,
    /// Tokens that it read.
    pub read: u64,
    /// Of these, tokens from the provider's cache.
    pub cached: u64,
    /// Tokens that it wrote.
    pub written: u64,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// What it cost, in the currency of the prices in the settings.
    pub cost: f64,
}

impl ModelSpend {
    /// Both together.
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

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.read + self.written
    }
}

/// What a job of a scope spent on a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerEntry {
    /// The day, in the zone of the user.
    pub day: Date,
    /// The job, such as `extract`.
    pub job: String,
    /// How much.
    #[serde(flatten)]
    pub spend: ModelSpend,
}
