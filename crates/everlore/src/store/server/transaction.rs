//! Transactions, and the one place that retries them.
//!
//! `BEGIN` and `COMMIT` travel in the round trips of the statements beside them. A transaction that is dropped sends a
//! rollback behind whatever is under way and gives its connection back, so that a caller may go away at any moment.

use std::time::{Duration, Instant};

use super::{
    driver::{SqlConnection, SqlError, SqlErrorKind, StatementResult, failure_kind},
    sql::{Dialect, Statement, sql},
};
use crate::error::{Error, Result};

/// Wait before the second attempt; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// Longest wait between two attempts, but for what is added at random: a caller waits for all of them.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// Time after which nothing is tried again: enough for a burst of deadlocks or a restart of the database, and a caller
/// would rather have an answer.
const MAX_RETRY_TIME: Duration = Duration::from_secs(5);

/// Open transaction on a connection of the pool.
pub(super) struct Transaction {
    /// `None` once it ended.
    connection: Option<Box<dyn SqlConnection>>,
    /// Statements that begin it, until they were sent.
    begin: Vec<Statement>,
    /// Statements that commit it.
    commit: Vec<Statement>,
    /// Statement that ends it without a commit.
    rollback: &'static str,
}

impl Transaction {
    /// Prepares a transaction that changes data; nothing is sent yet.
    pub(super) fn write(connection: Box<dyn SqlConnection>, dialect: Dialect) -> Self {
        Self {
            connection: Some(connection),
            begin: vec![dialect.begin_write()],
            commit: dialect.commit_write(),
            rollback: dialect.rollback_write(),
        }
    }

    /// Prepares a transaction that sees one unchanging state; nothing is sent yet.
    pub(super) fn snapshot(connection: Box<dyn SqlConnection>, dialect: Dialect) -> Self {
        Self {
            connection: Some(connection),
            begin: dialect.begin_snapshot(),
            commit: vec![sql!("COMMIT")],
            rollback: "ROLLBACK",
        }
    }

    /// Runs statements in one round trip.
    pub(super) async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<StatementResult>> {
        let mut all = std::mem::take(&mut self.begin);
        let skipped = all.len();
        all.extend(statements);
        let Some(connection) = &mut self.connection else {
            return Err(Error::store("the transaction has ended"));
        };
        let mut results = connection.run(all).await?;
        results.drain(..skipped);
        Ok(results)
    }

    /// Runs statements and commits, in one round trip. Statements with nothing to insert are left out, and so are their
    /// results.
    pub(super) async fn commit(
        mut self,
        mut statements: Vec<Statement>,
    ) -> Result<Vec<StatementResult>> {
        statements.retain(|statement| !statement.is_empty());
        let count = statements.len();
        statements.append(&mut self.commit);
        let mut results = self.run(statements).await.map_err(commit_error)?;
        results.truncate(count);
        self.connection = None;
        Ok(results)
    }

    /// Commits like [`Transaction::commit`] and runs a query behind the commit, in the same round trip. Fails with an
    /// unknown outcome if it finds nothing.
    pub(super) async fn commit_verified(
        mut self,
        statements: Vec<Statement>,
        verify: Option<Statement>,
    ) -> Result<Vec<StatementResult>> {
        let Some(verify) = verify else { return self.commit(statements).await };
        self.commit.push(verify);
        let mut statements: Vec<Statement> =
            statements.into_iter().filter(|statement| !statement.is_empty()).collect();
        let count = statements.len();
        statements.append(&mut self.commit);
        let mut results = self.run(statements).await.map_err(commit_error)?;
        let is_there = results.last().is_some_and(|result| !result.rows.is_empty());
        results.truncate(count);
        self.connection = None;
        if is_there {
            return Ok(results);
        }
        let message = "the database ended a transaction while it was committed";
        Err(SqlError::new(SqlErrorKind::CommitUnknown, message).into())
    }

    /// Ends a transaction that changed nothing, without waiting.
    pub(super) fn finish(mut self) {
        self.end("COMMIT");
    }

    fn end(&mut self, statement: &'static str) {
        if let Some(connection) = self.connection.take()
            && self.begin.is_empty()
        {
            connection.end_transaction(statement);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.end(self.rollback);
    }
}

/// Tells a commit whose outcome is unknown from one that failed.
fn commit_error(error: Error) -> Error {
    if failure_kind(&error) != Some(SqlErrorKind::Lost) {
        return error;
    }
    let message = "the connection broke while a write was committed; it may have been stored";
    SqlError::new(SqlErrorKind::CommitUnknown, message).into()
}

/// Repetition that is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryRule {
    /// After failures that changed nothing.
    Unchanged,
    /// After any failure of the database: doing it twice is the same as once, or the attempt itself looks whether the
    /// one before was stored.
    Idempotent,
}

/// Runs an attempt until it succeeds, fails for good, or was tried for long enough.
pub(super) async fn retried<T, F>(policy: RetryRule, attempt: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    retried_for(MAX_RETRY_TIME, policy, attempt).await
}

/// Runs an attempt until it succeeds, fails for good, or was tried for this long.
pub(super) async fn retried_for<T, F>(
    time: Duration,
    policy: RetryRule,
    attempt: impl Fn() -> F,
) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let (mut tried, began) = (0, Instant::now());
    loop {
        match attempt().await {
            Err(error) if began.elapsed() < time && may_retry(policy, &error) => {
                tracing::debug!("{error}: trying again");
                tokio::time::sleep(backoff(tried)).await;
                tried += 1;
            }
            outcome => return outcome,
        }
    }
}

fn may_retry(policy: RetryRule, error: &Error) -> bool {
    match failure_kind(error) {
        Some(SqlErrorKind::TryAgain | SqlErrorKind::Lost) => true,
        Some(SqlErrorKind::CommitUnknown) => policy == RetryRule::Idempotent,
        Some(SqlErrorKind::Unique | SqlErrorKind::Refused | SqlErrorKind::Other) | None => false,
    }
}

/// Returns the wait after an attempt: twice that before, and up to as much again at random, so that two transactions
/// that met do not meet again.
fn backoff(tried: u32) -> Duration {
    let wait = FIRST_WAIT.saturating_mul(2u32.saturating_pow(tried)).min(MAX_WAIT);
    let random = getrandom::u32().unwrap_or(0) % 1_024;
    wait + wait * random / 1_024
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    async fn attempts(policy: RetryRule, kind: SqlErrorKind, failing: u32) -> (bool, u32) {
        let tried = AtomicU32::new(0);
        let attempt = || async {
            if tried.fetch_add(1, Ordering::Relaxed) < failing {
                return Err(SqlError::new(kind, "failed").into());
            }
            Ok(())
        };
        let outcome = retried(policy, attempt).await;
        (outcome.is_ok(), tried.into_inner())
    }

    #[tokio::test]
    async fn only_failures_that_changed_nothing_are_tried_again() {
        use RetryRule::{Idempotent, Unchanged};
        assert_eq!(attempts(Unchanged, SqlErrorKind::TryAgain, 2).await, (true, 3));
        assert_eq!(attempts(Unchanged, SqlErrorKind::Lost, 1).await, (true, 2));
        assert_eq!(attempts(Unchanged, SqlErrorKind::CommitUnknown, 1).await, (false, 1));
        assert_eq!(attempts(Idempotent, SqlErrorKind::CommitUnknown, 1).await, (true, 2));
        assert_eq!(attempts(Idempotent, SqlErrorKind::Unique, 1).await, (false, 1));
        assert_eq!(attempts(Idempotent, SqlErrorKind::Refused, 1).await, (false, 1));
        // Between the shortest and the longest waits that chance allows.
        let (succeeded, tried) = attempts(Idempotent, SqlErrorKind::TryAgain, u32::MAX).await;
        assert!(!succeeded && (8..=30).contains(&tried), "{tried} attempts");
    }
}
