//! The ledger facet: spend by scope, day and job, and the time each job last began.

use std::time::Duration;

use async_trait::async_trait;
use jiff::civil::Date;

use super::{
    ServerStore,
    scope_row::ScopeKey,
    sql::{OnConflict, SqlRow, insert, sql, sql_row},
    tables::{JOBS, LEDGER},
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{
        Ledger, LedgerEntry, ModelSpend,
        ledger::{day_from_number, day_number},
        row::timestamp,
    },
    types::{Scope, Timestamp},
};

#[async_trait]
impl Ledger for ServerStore {
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()> {
        let row = sql_row![
            ScopeKey::of(scope),
            day_number(day),
            job,
            spent.calls,
            spent.read,
            spent.cached,
            spent.written,
            spent.millis,
            spent.cost,
        ];
        let add = vec![insert(&LEDGER, vec![row], OnConflict::Add)];
        self.db.write(RetryRule::Unchanged, add).await.map(drop)
    }

    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>> {
        let text = "SELECT calls, tokens_read, tokens_cached, tokens_written, millis, cost, day, job FROM ledger \
                    WHERE scope = ? AND day >= ? ORDER BY day DESC, job";
        let found = self.db.read_one(sql!(text, ScopeKey::of(scope), day_number(since))).await?;
        let read = |mut row: SqlRow| {
            let (day, job) = (day_from_number(row.int(6)?), row.text(7)?);
            Ok(LedgerEntry { day, job, spend: read_spend(row)? })
        };
        found.into_iter().map(read).collect()
    }

    async fn total_on(&self, day: Date) -> Result<ModelSpend> {
        let sums = ["calls", "tokens_read", "tokens_cached", "tokens_written", "millis"]
            .map(|column| format!("CAST(COALESCE(sum({column}), 0) AS BIGINT)"));
        let text =
            format!("SELECT {}, COALESCE(sum(cost), 0) FROM ledger WHERE day = ?", sums.join(", "));
        let found = self.db.read_one(sql!(text, day_number(day))).await?;
        found.into_iter().next().map_or_else(|| Ok(ModelSpend::default()), read_spend)
    }

    async fn prune(&self, before: Date) -> Result<usize> {
        let prune = vec![sql!("DELETE FROM ledger WHERE day < ?", day_number(before))];
        let removed = self.db.write(RetryRule::Unchanged, prune).await?;
        Ok(removed.iter().sum::<u64>() as usize)
    }

    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool> {
        let key = ScopeKey::of(scope);
        let latest = now.as_millisecond() - every.as_millis() as i64;
        let text = "UPDATE jobs SET begun_at = ? WHERE scope = ? AND job = ? AND begun_at <= ?";
        let begin = vec![
            insert(&JOBS, vec![sql_row![key, job, now]], OnConflict::Keep),
            sql!(text, now, key, job, latest),
        ];
        let changed = self.db.write(RetryRule::Unchanged, begin).await?;
        Ok(changed.iter().sum::<u64>() > 0)
    }

    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>> {
        let text = "SELECT begun_at FROM jobs WHERE scope = ? AND job = ?";
        let found = self.db.read_one(sql!(text, ScopeKey::of(scope), job)).await?;
        let begun_at = found.into_iter().next().map(|mut row| timestamp(row.int(0)?));
        begun_at.transpose()
    }
}

/// Decodes the first six columns.
fn read_spend(mut row: SqlRow) -> Result<ModelSpend> {
    Ok(ModelSpend {
        calls: row.int(0)?,
        read: row.int(1)?,
        cached: row.int(2)?,
        written: row.int(3)?,
        millis: row.int(4)?,
        cost: row.real(5)?,
    })
}
