//! Shortcuts for cached statements: run, read one row, read all rows.

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row};

use crate::error::{Error, Result};

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) {
            return Self::damaged(format!("the database file cannot be read everywhere ({error})"));
        }
        Self::store(error)
    }
}

/// Statements that are compiled once for a connection.
pub(super) trait Statements {
    /// Runs a statement and returns how many rows it changed.
    fn run(&self, sql: &str, params: impl Params) -> Result<usize>;

    /// Returns `true` if a query finds a row.
    fn finds(&self, sql: &str, params: impl Params) -> Result<bool>;

    /// Reads the first row of a query; `None` if there is none.
    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>>;

    /// Reads every row of a query.
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>>;
}

impl Statements for Connection {
    fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(params)?)
    }

    fn finds(&self, sql: &str, params: impl Params) -> Result<bool> {
        Ok(self.prepare_cached(sql)?.exists(params)?)
    }

    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let rows = statement.query_map(params, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
