//! The seam between the store and a database client: a connection runs many statements in one round trip.

use std::time::Duration;

use async_trait::async_trait;

use super::sql::{Dialect, SqlRow, Statement};
use crate::error::Error;

/// Client of one database with its pool of connections.
#[async_trait]
pub(super) trait SqlDriver: Send + Sync {
    /// Returns the dialect of the database.
    fn dialect(&self) -> Dialect;

    /// Takes a connection from the pool, or opens one.
    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError>;

    /// Returns the most time of a call with all its attempts.
    fn call_limit(&self) -> Duration;

    /// Counts the round trips of all connections so far, those that prepare statements included.
    fn round_trips(&self) -> u64;

    /// Closes the pool. Connections in use are closed when they come back.
    async fn close(&self);
}

/// Connection of a pool. Dropped, it goes back, unless it is broken.
#[async_trait]
pub(super) trait SqlConnection: Send + Sync {
    /// Runs statements in their order, in one round trip whatever their number, and returns the result of each. The
    /// first failure is the error of all; statements after it change nothing if a transaction is open.
    async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, SqlError>;

    /// Sends a statement that ends a transaction without waiting for its answer: a caller that goes away, or that has
    /// all it needs, does not wait. The connection goes back to the pool behind it.
    fn end_transaction(self: Box<Self>, statement: &'static str);
}

/// Result of a statement.
#[derive(Debug, Default)]
pub(super) struct StatementResult {
    pub(super) rows: Vec<SqlRow>,
    /// Rows that a change touched.
    pub(super) affected: u64,
}

/// Failure of a statement, a connection or the pool.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct SqlError {
    pub(super) kind: SqlErrorKind,
    /// Message of the database, without a password.
    pub(super) message: String,
}

/// Failures by what the store can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlErrorKind {
    /// The database ended the transaction in favour of another one: a deadlock, a serialization or certification
    /// failure. Nothing was changed, and the same may succeed when tried again.
    TryAgain,
    /// A unique key is taken.
    Unique,
    /// The connection broke or answered too late. A commit that was under way may have happened.
    Lost,
    /// The database answers and does not let this user in, or not to this: a wrong password, an unknown database, a
    /// right that is missing.
    Refused,
    /// A commit was under way when the connection broke.
    CommitUnknown,
    /// Anything else.
    Other,
}

impl SqlError {
    /// Creates an error from the message of a client.
    pub(super) fn new(kind: SqlErrorKind, message: impl std::fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Self::store(error)
    }
}

/// Returns the kind of a database failure inside an error of the engine.
pub(super) fn failure_kind(error: &Error) -> Option<SqlErrorKind> {
    let Error::Store(source) = error else { return None };
    source.downcast_ref::<SqlError>().map(|error| error.kind)
}
