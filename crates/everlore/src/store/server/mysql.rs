//! The MySQL and MariaDB client: the statements of a round trip are one text, in which every parameter is a number or a
//! hexadecimal literal, so that no value can be read as SQL.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use mysql_async::{
    Column, Conn, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, Row, SslOpts, Value,
    consts::ColumnType, prelude::Queryable,
};

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlConnection, SqlDriver, SqlError, SqlErrorKind, StatementResult},
    sql::{Dialect, OnConflict, SqlRow, SqlValue, Statement},
    tables::Table,
};
use crate::error::{Error, Result};

/// Time that the network may add to a statement before the connection counts as lost.
const NETWORK_GRACE: Duration = Duration::from_secs(5);

/// Size of a text that is sent at once, in bytes: half of what servers accept by default.
const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// Number of the character set of bytes.
const BINARY_CHARSET: u16 = 63;

/// Pool of connections to a MySQL or MariaDB database.
pub(super) struct MySqlDriver {
    pool: Pool,
    round_trips: Arc<AtomicU64>,
    options: ServerOptions,
}

impl MySqlDriver {
    /// Prepares a pool; no connection is opened yet.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let options = address.options.clone();
        let (_, rest) = address.url.split_once("://").unwrap_or(("", &address.url));
        let url = Opts::from_url(&format!("mysql://{rest}")).map_err(|error| {
            Error::invalid(
                format!("{} is not an address of MySQL: {error}", address.shown),
                "use mysql://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        let limits = PoolConstraints::new(0, options.max_connections)
            .ok_or_else(|| Error::store("a pool without connections"))?;
        // A reset would cost a round trip each time; no session state is changed after the first settings.
        let pool = PoolOpts::default().with_constraints(limits).with_reset_connection(false);
        let opts = OptsBuilder::from_opts(url)
            .pool_opts(pool)
            .prefer_socket(false)
            .client_found_rows(true)
            .ssl_opts(options.is_tls.then(|| ssl_opts(&options)))
            .init(session_settings(options.statement_timeout).into());
        Ok(Self { pool: Pool::new(opts), round_trips: Arc::default(), options })
    }
}

fn ssl_opts(options: &ServerOptions) -> SslOpts {
    let file = options.root_certificates.clone();
    let roots = file.map(|file| std::path::PathBuf::from(file).into()).into_iter().collect();
    SslOpts::default().with_root_certs(roots)
}

/// Returns the statements that set up a connection. A transaction sees what is committed at each of its statements; the
/// part for MariaDB is a comment to MySQL.
fn session_settings(statement_timeout: Duration) -> [String; 2] {
    let seconds = statement_timeout.as_secs().max(1);
    [
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned(),
        format!(
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = {seconds} \
             /*M! , max_statement_time = {seconds} */"
        ),
    ]
}

#[async_trait]
impl SqlDriver for MySqlDriver {
    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError> {
        let connection = tokio::time::timeout(self.options.acquire_timeout, self.pool.get_conn());
        let connection = connection.await.map_err(|_| {
            SqlError::new(SqlErrorKind::Lost, "the database did not accept a connection in time")
        })?;
        Ok(Box::new(MySqlConnection {
            connection: Some(connection.map_err(|error| sql_error(&error))?),
            is_running: false,
            round_trips: Arc::clone(&self.round_trips),
            timeout: self.options.statement_timeout + NETWORK_GRACE,
        }))
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        // Connections that cannot say goodbye are closed by the server.
        let _ = self.pool.clone().disconnect().await;
    }
}

/// Connection of the pool.
struct MySqlConnection {
    /// `None` once it was found broken.
    connection: Option<Conn>,
    /// Set while an answer is awaited. A caller that goes away then leaves a connection that nobody can use.
    is_running: bool,
    round_trips: Arc<AtomicU64>,
    timeout: Duration,
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

/// Sorts an error by what the store can do.
fn sql_error(error: &mysql_async::Error) -> SqlError {
    let mysql_async::Error::Server(failure) = error else {
        return SqlError::new(SqlErrorKind::Lost, error);
    };
    let kind = match failure.code {
        // Deadlock or certification failure, lock wait timeout, record changed since it was read, and the guard of a
        // write (`Dialect::guard_write`).
        1213 | 1205 | 1020 | 1242 => SqlErrorKind::TryAgain,
        1062 => SqlErrorKind::Unique,
        // A node of a cluster that is not ready, too many connections, shutdown, killed connection.
        1047 | 1040 | 1053 | 1927 => SqlErrorKind::Lost,
        _ => SqlErrorKind::Other,
    };
    SqlError::new(kind, format!("{} ({})", failure.message, failure.code))
}

impl Statement {
    /// Renders the statement with its parameters: one text, or several that insert a part of the rows each.
    fn render_mysql(self) -> Vec<String> {
        match self {
            Self::Plain { text, params } => vec![fill_params(&text, &params)],
            Self::Insert { table, rows, on_conflict } => insert_texts(table, &rows, on_conflict),
        }
    }
}

fn fill_params(text: &str, params: &[SqlValue]) -> String {
    let mut filled = String::with_capacity(text.len() + params.len() * 36);
    let mut params = params.iter();
    for (index, part) in text.split('?').enumerate() {
        if index > 0 {
            push_literal(params.next().unwrap_or(&SqlValue::Null), &mut filled);
        }
        filled.push_str(part);
    }
    filled.replace(" AS BIGINT)", " AS SIGNED)")
}

fn insert_texts(table: &Table, rows: &[Vec<SqlValue>], on_conflict: OnConflict) -> Vec<String> {
    let ignore = if on_conflict == OnConflict::Keep { "IGNORE " } else { "" };
    let names = table.column_names().join(", ");
    let head = format!("INSERT {ignore}INTO {} ({names}) VALUES ", table.name);
    let set = |name: &&str| match on_conflict {
        OnConflict::Add => format!("{name} = {name} + VALUES({name})"),
        _ => format!("{name} = VALUES({name})"),
    };
    let tail = match on_conflict {
        OnConflict::Fail | OnConflict::Keep => String::new(),
        OnConflict::Replace | OnConflict::Add => {
            let sets: Vec<String> = table.value_columns().iter().map(set).collect();
            format!(" ON DUPLICATE KEY UPDATE {}", sets.join(", "))
        }
    };
    let mut texts = Vec::new();
    let mut text = head.clone();
    for row in rows {
        if text.len() > MAX_TEXT_BYTES / 2 {
            texts.push(std::mem::replace(&mut text, head.clone()) + &tail);
        }
        text.push_str(if text.len() == head.len() { "" } else { ", " });
        push_list(row, &mut text);
    }
    texts.push(text + &tail);
    texts
}

/// Appends a value: a number, or hexadecimal digits.
fn push_literal(value: &SqlValue, to: &mut String) {
    match value {
        SqlValue::Null => to.push_str("NULL"),
        SqlValue::Int(value) => drop(write!(to, "{value}")),
        SqlValue::Real(value) => drop(write!(to, "{value:e}")),
        SqlValue::Text(text) => push_hex("_utf8mb4 x'", text.as_bytes(), to),
        SqlValue::Bytes(bytes) => push_hex("x'", bytes, to),
        SqlValue::List(values) if values.is_empty() => to.push_str("(NULL)"),
        SqlValue::List(values) => push_list(values, to),
    }
}

fn push_list(values: &[SqlValue], to: &mut String) {
    to.push('(');
    for (index, value) in values.iter().enumerate() {
        to.push_str(if index == 0 { "" } else { ", " });
        push_literal(value, to);
    }
    to.push(')');
}

fn push_hex(start: &str, bytes: &[u8], to: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    to.reserve(start.len() + bytes.len() * 2 + 1);
    to.push_str(start);
    for byte in bytes {
        to.push(char::from(DIGITS[usize::from(byte >> 4)]));
        to.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    to.push('\'');
}

#[cfg(test)]
mod tests {
    use super::super::sql::{list, sql};

    #[test]
    fn no_value_can_be_read_as_sql() {
        let statement = sql!(
            "SELECT a FROM t WHERE b = ? AND c IN ? AND d = ?",
            "x'; DROP TABLE t; -- ?",
            list(["'", "\\"]),
            0.5
        );
        let [text] = &statement.render_mysql()[..] else { panic!("one text") };
        assert_eq!(
            text,
            "SELECT a FROM t WHERE b = _utf8mb4 x'78273b2044524f50205441424c4520743b202d2d203f' \
             AND c IN (_utf8mb4 x'27', _utf8mb4 x'5c') AND d = 5e-1"
        );
    }
}
