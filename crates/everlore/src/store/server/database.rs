//! The database as facets see it: reads, snapshots and writes, each retried in one place.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use super::{
    driver::{SqlDriver, SqlError, SqlErrorKind, StatementResult},
    sql::{Dialect, SqlRow, Statement},
    transaction::{RetryRule, Transaction, retried, retried_for},
};
use crate::error::{Error, Result};

/// Time for which a first connection is tried again: a person waits for the answer, and a server that starts tries for
/// as long as it takes.
const CONNECT_RETRY_TIME: Duration = Duration::from_secs(1);

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

    /// Opens a connection; fails soon if the database cannot be reached, and at once if it refuses.
    pub(super) async fn connect(&self) -> Result<()> {
        retried_for(CONNECT_RETRY_TIME, RetryRule::Idempotent, || async {
            self.driver.acquire().await.map(drop).map_err(Error::from)
        })
        .await
    }

    /// Runs attempts like [`retried`], and ends them when the call took too long.
    pub(super) async fn retried<T, F>(
        &self,
        policy: RetryRule,
        attempt: impl Fn() -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let in_time = tokio::time::timeout(self.driver.call_limit(), retried(policy, attempt));
        in_time.await.unwrap_or_else(|_| {
            let message = "the database did not answer in time; a write may have been stored";
            Err(SqlError::new(SqlErrorKind::Lost, message).into())
        })
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
        self.retried(RetryRule::Idempotent, || async {
            rows(self.snapshot().await?.commit(statements.clone()).await?)
        })
        .await
    }

    /// Reads by one statement.
    pub(super) async fn read_one(&self, statement: Statement) -> Result<Vec<SqlRow>> {
        self.retried(RetryRule::Idempotent, || async {
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
        self.retried(policy, || async {
            let results = self.begin().await?.commit(statements.clone()).await?;
            Ok(results.into_iter().map(|result| result.affected).collect())
        })
        .await
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
