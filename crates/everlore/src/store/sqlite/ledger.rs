//! The ledger in SQLite: spend by day, scope and job, and the time each job last began.
//!
//! Rows name their scope by agent and user, not by row id: a scope may spend before it stores anything.

use std::time::Duration;

use async_trait::async_trait;
use jiff::civil::Date;
use rusqlite::{Row, params};

use super::{SqliteStore, statements::Statements};
use crate::{
    error::Result,
    store::{
        Ledger, LedgerEntry, ModelSpend,
        ledger::{day_from_number, day_number},
    },
    types::{Scope, Timestamp},
};

#[async_trait]
impl Ledger for SqliteStore {
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()> {
        let sql = "INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
                   ON CONFLICT DO UPDATE SET calls = calls + ?5, read = read + ?6, cached = cached + ?7, \
                   written = written + ?8, millis = millis + ?9, cost = cost + ?10";
        let (scope, job) = (scope.clone(), job.to_owned());
        self.writer
            .run(move |db| {
                let row = params![
                    day_number(day),
                    scope.agent(),
                    scope.user(),
                    job,
                    spent.calls as i64,
                    spent.read as i64,
                    spent.cached as i64,
                    spent.written as i64,
                    spent.millis as i64,
                    spent.cost
                ];
                db.run(sql, row).map(drop)
            })
            .await
    }

    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>> {
        let sql = "SELECT day, job, calls, read, cached, written, millis, cost FROM ledger \
                   WHERE agent = ?1 AND user = ?2 AND day >= ?3 ORDER BY day DESC, job";
        let scope = scope.clone();
        self.pool
            .read(move |db| {
                db.all(sql, (scope.agent(), scope.user(), day_number(since)), read_entry)
            })
            .await
    }

    async fn total_on(&self, day: Date) -> Result<ModelSpend> {
        let sql = "SELECT SUM(calls), SUM(read), SUM(cached), SUM(written), SUM(millis), SUM(cost) \
                   FROM ledger WHERE day = ?1";
        let read = |row: &Row<'_>| read_spend(row, 0);
        let total = self.pool.read(move |db| db.one(sql, [day_number(day)], read)).await?;
        Ok(total.unwrap_or_default())
    }

    async fn prune(&self, before: Date) -> Result<usize> {
        let sql = "DELETE FROM ledger WHERE day < ?1";
        self.writer.run(move |db| db.run(sql, [day_number(before)])).await
    }

    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool> {
        let sql = "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT DO UPDATE SET begun_at = ?4 WHERE begun_at <= ?5";
        let (scope, job) = (scope.clone(), job.to_owned());
        let now = now.as_millisecond();
        let latest = now - every.as_millis() as i64;
        self.writer
            .run(move |db| Ok(db.run(sql, (scope.agent(), scope.user(), job, now, latest))? > 0))
            .await
    }

    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>> {
        let sql = "SELECT begun_at FROM jobs WHERE agent = ?1 AND user = ?2 AND job = ?3";
        let (scope, job) = (scope.clone(), job.to_owned());
        let begun_at = self
            .pool
            .read(move |db| db.one(sql, (scope.agent(), scope.user(), job), |row| row.get(0)))
            .await?;
        Ok(begun_at.and_then(|at| Timestamp::from_millisecond(at).ok()))
    }
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    Ok(LedgerEntry {
        day: day_from_number(row.get(0)?),
        job: row.get(1)?,
        spend: read_spend(row, 2)?,
    })
}

/// Reads six figures from column `first` on. A sum over no rows is NULL and reads as 0.
fn read_spend(row: &Row<'_>, first: usize) -> rusqlite::Result<ModelSpend> {
    let figure = |offset| row.get::<_, Option<i64>>(first + offset).map(|n| n.unwrap_or(0) as u64);
    Ok(ModelSpend {
        calls: figure(0)?,
        read: figure(1)?,
        cached: figure(2)?,
        written: figure(3)?,
        millis: figure(4)?,
        cost: row.get::<_, Option<f64>>(first + 5)?.unwrap_or(0.0),
    })
}
