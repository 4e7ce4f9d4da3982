//! The ledger in the file.

use std::time::Duration;

use async_trait::async_trait;
use jiff::{ToSpan, civil::Date};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, failed};
use crate::{
    error::Result,
    store::ledger::{Ledger, LedgerEntry, ModelSpend},
    types::{Scope, Timestamp},
};

/// The day that days are counted from.
const EPOCH_DAY: Date = jiff::civil::date(1970, 1, 1);

#[async_trait]
impl Ledger for SqliteStore {
    async fn record(&self, scope: &Scope, day: Date, job: &str, spent: ModelSpend) -> Result<()> {
        let (scope, job) = (scope.clone(), job.to_owned());
        self.writer.run(move |db| spend(db, &scope, day_number(day), &job, &spent)).await
    }

    async fn entries(&self, scope: &Scope, since: Date) -> Result<Vec<LedgerEntry>> {
        let scope = scope.clone();
        self.pool.read(move |db| spent(db, &scope, day_number(since))).await
    }

    async fn total_on(&self, day: Date) -> Result<ModelSpend> {
        let sql = "SELECT SUM(calls), SUM(read), SUM(cached), SUM(written), SUM(millis), SUM(cost) \
                   FROM ledger WHERE day = ?1";
        self.pool
            .read(move |db| {
                db.prepare_cached(sql)
                    .and_then(|mut select| {
                        select.query_row([day_number(day)], |row| read_spend(row, 0))
                    })
                    .map_err(failed)
            })
            .await
    }

    async fn prune(&self, before: Date) -> Result<usize> {
        self.writer
            .run(move |db| {
                db.execute("DELETE FROM ledger WHERE day < ?1", [day_number(before)])
                    .map_err(failed)
            })
            .await
    }

    async fn try_begin_job(
        &self,
        scope: &Scope,
        job: &str,
        now: Timestamp,
        every: Duration,
    ) -> Result<bool> {
        let (scope, job) = (scope.clone(), job.to_owned());
        self.writer.run(move |db| begin(db, &scope, &job, now, every)).await
    }

    async fn job_begun_at(&self, scope: &Scope, job: &str) -> Result<Option<Timestamp>> {
        let (scope, job) = (scope.clone(), job.to_owned());
        let sql = "SELECT begun_at FROM jobs WHERE agent = ?1 AND user = ?2 AND job = ?3";
        self.pool
            .read(move |db| {
                let at = db
                    .prepare_cached(sql)
                    .and_then(|mut select| {
                        let key = params![scope.agent(), scope.user(), job];
                        select.query_row(key, |row| row.get(0)).optional()
                    })
                    .map_err(failed)?;
                Ok(at.and_then(|at| Timestamp::from_millisecond(at).ok()))
            })
            .await
    }
}

fn spend(db: &Connection, scope: &Scope, day: i32, job: &str, spent: &ModelSpend) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO UPDATE SET \
         calls = calls + ?5, read = read + ?6, cached = cached + ?7, written = written + ?8, \
         millis = millis + ?9, cost = cost + ?10",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            day,
            scope.agent(),
            scope.user(),
            job,
            spent.calls as i64,
            spent.read as i64,
            spent.cached as i64,
            spent.written as i64,
            spent.millis as i64,
            spent.cost
        ])
    })
    .map(drop)
    .map_err(failed)
}

fn spent(db: &Connection, scope: &Scope, since: i32) -> Result<Vec<LedgerEntry>> {
    let mut select = db
        .prepare_cached(
            "SELECT day, job, calls, read, cached, written, millis, cost FROM ledger \
             WHERE agent = ?1 AND user = ?2 AND day >= ?3 ORDER BY day DESC, job",
        )
        .map_err(failed)?;
    let rows = select
        .query_map(params![scope.agent(), scope.user(), since], |row| {
            Ok(LedgerEntry {
                day: day_from_number(row.get(0)?),
                job: row.get(1)?,
                spend: read_spend(row, 2)?,
            })
        })
        .map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn read_spend(row: &Row<'_>, from: usize) -> rusqlite::Result<ModelSpend> {
    let figure = |at| row.get::<_, Option<i64>>(from + at).map(|n| n.unwrap_or(0) as u64);
    Ok(ModelSpend {
        calls: figure(0)?,
        read: figure(1)?,
        cached: figure(2)?,
        written: figure(3)?,
        millis: figure(4)?,
        cost: row.get::<_, Option<f64>>(from + 5)?.unwrap_or(0.0),
    })
}

fn begin(
    db: &Connection,
    scope: &Scope,
    job: &str,
    now: Timestamp,
    every: Duration,
) -> Result<bool> {
    let now = now.as_millisecond();
    let before = now - every.as_millis() as i64;
    let changed = db
        .execute(
            "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET begun_at = ?4 WHERE begun_at <= ?5",
            params![scope.agent(), scope.user(), job, now, before],
        )
        .map_err(failed)?;
    Ok(changed > 0)
}

fn day_number(day: Date) -> i32 {
    day.since(EPOCH_DAY).map_or(0, |span| span.get_days())
}

fn day_from_number(number: i32) -> Date {
    EPOCH_DAY.checked_add(number.days()).unwrap_or(EPOCH_DAY)
}
