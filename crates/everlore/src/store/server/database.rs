//! The database as facets see it: reads, snapshots and writes, each retried in one place.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    driver::{SqlDriver, StatementResult},
    sql::{Dialect, SqlRow, Statement, sql},
    transaction::{RetryRule, Transaction, retried},
};
use crate::error::{Error, Result};

/// Pool of connections to one database.
pub(super) struct Database {
    driver: Box<dyn SqlDriver>,
    is_closed: AtomicBool,
}

impl Database {
    pub(super) fn new(driver: Box<dyn SqlDriver>) -> Self {
        Self { driver, is_closed: AtomicBool::new(false) }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    /// Counts the round trips so far.
    #[cfg(test)]
    pub(super) fn round_trips(&self) -> u64 {
        self.driver.round_trips()
    }

    /// Begins a transaction that changes data.
    pub(super) async fn begin(&self) -> Result<Transaction> {
        self.check_open()?;
        Ok(Transaction::write(self.driver.acquire().await?, self.dialect()))
    }

    /// Begins a transaction that sees one unchanging state.
    pub(super) async fn snapshot(&self) -> Result<Transaction> {
        self.check_open()?;
        Ok(Transaction::snapshot(self.driver.acquire().await?, self.dialect()))
    }

    /// Reads by several statements what holds at one moment, in one round trip.
    pub(super) async fn read<const N: usize>(
        &self,
        statements: [Statement; N],
    ) -> Result<[Vec<SqlRow>; N]> {
        let statements = Vec::from(statements);
        retried(RetryRule::Idempotent, || async {
            rows(self.snapshot().await?.commit(statements.clone()).await?)
        })
        .await
    }

    /// Reads by one statement.
    pub(super) async fn read_one(&self, statement: Statement) -> Result<Vec<SqlRow>> {
        retried(RetryRule::Idempotent, || async {
            self.check_open()?;
            let mut connection = self.driver.acquire().await?;
            let results = connection.run(vec![statement.clone()]).await?;
            Ok(results.into_iter().next().unwrap_or_default().rows)
        })
        .await
    }

    /// Runs statements that change data in one transaction and one round trip; returns how many rows each touched.
    pub(super) async fn write(
        &self,
        policy: RetryRule,
        statements: Vec<Statement>,
    ) -> Result<Vec<u64>> {
        retried(policy, || async {
            let results = self.begin().await?.commit(statements.clone()).await?;
            Ok(results.into_iter().map(|result| result.affected).collect())
        })
        .await
    }

    /// Asks the database for an answer.
    pub(super) async fn ping(&self) -> Result<()> {
        self.read_one(sql!("SELECT 1")).await.map(drop)
    }

    /// Closes the pool; later calls fail.
    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        tracing::debug!("closed after {} round trips", self.driver.round_trips());
        self.driver.close().await;
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(Error::store("the store is closed"));
        }
        Ok(())
    }
}

/// Returns the rows of each result; an error if there are not as many as expected.
pub(super) fn rows<const N: usize>(results: Vec<StatementResult>) -> Result<[Vec<SqlRow>; N]> {
    let rows: Vec<Vec<SqlRow>> = results.into_iter().map(|result| result.rows).collect();
    rows.try_into().map_err(|_| Error::store("the database returned too few results"))
}

/// Returns the first integer of the first row; 0 if there is none.
pub(super) fn number(rows: Vec<SqlRow>) -> Result<i64> {
    let first = rows.into_iter().next().map(|mut row| row.opt_int(0)).transpose()?;
    Ok(first.flatten().unwrap_or(0))
}
