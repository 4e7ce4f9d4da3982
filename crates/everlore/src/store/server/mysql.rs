//! The MySQL and MariaDB client: the statements of a round trip are one text (`mysql_text.rs`).

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use mysql_async::{Column, Conn, Row, Value, consts::ColumnType, prelude::Queryable};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlConnection, SqlDriver, SqlError, SqlErrorKind, StatementResult},
    mysql_hosts::{MySqlHosts, sql_error},
    mysql_text::MAX_TEXT_BYTES,
    sql::{Dialect, SqlRow, SqlValue, Statement},
};
use crate::error::Result;

/// Number of the character set of bytes.
const BINARY_CHARSET: u16 = 63;

/// Pool of connections to a MySQL or MariaDB database.
pub(super) struct MySqlDriver {
    hosts: Arc<MySqlHosts>,
    /// Permits of connections.
    permits: Arc<Semaphore>,
    round_trips: Arc<AtomicU64>,
    options: ServerOptions,
}

impl MySqlDriver {
    /// Prepares a pool; no connection is opened yet.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let options = address.options.clone();
        let permits = Arc::new(Semaphore::new(options.max_connections));
        let hosts = Arc::new(MySqlHosts::new(address)?);
        Ok(Self { hosts, permits, round_trips: Arc::default(), options })
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, SqlError> {
        let waiting = Arc::clone(&self.permits).acquire_owned();
        match tokio::time::timeout(self.options.acquire_timeout, waiting).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(SqlError::new(SqlErrorKind::Other, "the pool is closed")),
            Err(_) => {
                let message = "all connections were in use for too long";
                Err(SqlError::new(SqlErrorKind::Lost, message))
            }
        }
    }
}

#[async_trait]
impl SqlDriver for MySqlDriver {
    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError> {
        let permit = self.permit().await?;
        let (connection, generation) = self.hosts.connect().await?;
        Ok(Box::new(MySqlConnection {
            connection: Some(connection),
            is_running: false,
            generation,
            hosts: Arc::clone(&self.hosts),
            round_trips: Arc::clone(&self.round_trips),
            timeout: self.options.answer_limit(),
            _permit: permit,
        }))
    }

    fn call_limit(&self) -> Duration {
        self.options.call_limit()
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        self.permits.close();
        self.hosts.close().await;
    }
}

/// Connection of the pool.
struct MySqlConnection {
    /// `None` once it was found broken.
    connection: Option<Conn>,
    /// Set while an answer is awaited. A caller that goes away then leaves a connection that nobody can use.
    is_running: bool,
    /// Number of the pool that it came from.
    generation: u64,
    hosts: Arc<MySqlHosts>,
    round_trips: Arc<AtomicU64>,
    timeout: Duration,
    /// Permit that the next caller waits for.
    _permit: OwnedSemaphorePermit,
}

#[async_trait]
impl SqlConnection for MySqlConnection {
    async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, SqlError> {
        let Some(connection) = &mut self.connection else {
            return Err(SqlError::new(SqlErrorKind::Lost, "the connection is closed"));
        };
        self.is_running = true;
        let work = run_texts(connection, statements, &self.round_trips);
        let outcome = tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| {
            Err(SqlError::new(SqlErrorKind::Lost, "the database did not answer in time"))
        });
        self.is_running = false;
        if outcome.as_ref().is_err_and(|error| error.kind == SqlErrorKind::Lost) {
            self.hosts.leave(self.generation);
            self.discard();
        }
        outcome
    }

    fn end_transaction(mut self: Box<Self>, statement: &'static str) {
        if self.is_running {
            return;
        }
        if let (Some(mut connection), Ok(runtime)) =
            (self.connection.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move { connection.query_drop(statement).await });
        }
    }
}

impl MySqlConnection {
    /// Closes the connection instead of giving it back.
    fn discard(&mut self) {
        if let (Some(connection), Ok(runtime)) =
            (self.connection.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(connection.disconnect());
        }
    }
}

impl Drop for MySqlConnection {
    fn drop(&mut self) {
        if self.is_running {
            self.discard();
        }
    }
}

/// Runs statements as one text, or as several if it would be too long.
async fn run_texts(
    connection: &mut Conn,
    statements: Vec<Statement>,
    round_trips: &AtomicU64,
) -> Result<Vec<StatementResult>, SqlError> {
    let mut results: Vec<StatementResult> = Vec::with_capacity(statements.len());
    let mut batch = TextBatch::default();
    for (index, statement) in statements.into_iter().enumerate() {
        results.push(StatementResult::default());
        for text in statement.render_mysql() {
            if batch.text.len() + text.len() > MAX_TEXT_BYTES {
                std::mem::take(&mut batch).run(connection, &mut results, round_trips).await?;
            }
            batch.push(index, &text);
        }
    }
    batch.run(connection, &mut results, round_trips).await?;
    Ok(results)
}

/// Text of several statements, and which result each belongs to.
#[derive(Default)]
struct TextBatch {
    text: String,
    owners: Vec<usize>,
}

impl TextBatch {
    fn push(&mut self, owner: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str(";\n");
        }
        self.text.push_str(text);
        self.owners.push(owner);
    }

    async fn run(
        self,
        connection: &mut Conn,
        results: &mut [StatementResult],
        round_trips: &AtomicU64,
    ) -> Result<(), SqlError> {
        if self.owners.is_empty() {
            return Ok(());
        }
        round_trips.fetch_add(1, Ordering::Relaxed);
        let mut answer = connection.query_iter(self.text).await.map_err(|it| sql_error(&it))?;
        for owner in self.owners {
            let affected = answer.affected_rows();
            let rows: Vec<Row> = answer.collect().await.map_err(|error| sql_error(&error))?;
            results[owner].affected += affected;
            for row in rows {
                results[owner].rows.push(read_row(row)?);
            }
        }
        answer.drop_result().await.map_err(|error| sql_error(&error))
    }
}

fn read_row(row: Row) -> Result<SqlRow, SqlError> {
    let columns = row.columns();
    let values = row.unwrap().into_iter().zip(columns.iter());
    values.map(|(value, column)| read_value(value, column)).collect::<Result<_, _>>().map(SqlRow)
}

fn read_value(value: Value, column: &Column) -> Result<SqlValue, SqlError> {
    let bytes = match value {
        Value::NULL => return Ok(SqlValue::Null),
        Value::Bytes(bytes) => bytes,
        other => return Err(unreadable(column, &format!("{other:?}"))),
    };
    use ColumnType::{
        MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG,
        MYSQL_TYPE_LONGLONG, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_SHORT, MYSQL_TYPE_TINY,
    };
    let is_binary = column.character_set() == BINARY_CHARSET;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| unreadable(column, "bytes"));
    Ok(match column.column_type() {
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_INT24 | MYSQL_TYPE_LONG
        | MYSQL_TYPE_LONGLONG => SqlValue::Int(parse(&text(bytes)?, column)?),
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE | MYSQL_TYPE_NEWDECIMAL => {
            SqlValue::Real(parse(&text(bytes)?, column)?)
        }
        _ if is_binary => SqlValue::Bytes(bytes),
        _ => SqlValue::Text(text(bytes)?),
    })
}

fn parse<T: std::str::FromStr>(text: &str, column: &Column) -> Result<T, SqlError> {
    text.parse().map_err(|_| unreadable(column, text))
}

fn unreadable(column: &Column, value: &str) -> SqlError {
    let message = format!("column `{}` has an unexpected value: {value}", column.name_str());
    SqlError::new(SqlErrorKind::Other, message)
}
