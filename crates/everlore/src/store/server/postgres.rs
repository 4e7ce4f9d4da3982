//! The PostgreSQL client: statements are prepared once for each connection, and those of a round trip are pipelined.

use std::{
    borrow::Cow,
    pin::{Pin, pin},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use async_trait::async_trait;
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, QueueMode, Runtime,
};
use tokio_postgres::{
    Client, Config, NoTls, SimpleQueryMessage,
    config::SslMode,
    error::SqlState,
    types::{FromSql, IsNull, Kind as PgKind, ToSql, Type, private::BytesMut, to_sql_checked},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlConnection, SqlDriver, SqlError, SqlErrorKind, StatementResult},
    sql::{Dialect, SqlRow, SqlValue, Statement},
    tls,
};
use crate::{
    error::{Error, Result},
    sync::BoxFuture,
};

/// Time that the network may add to a statement before the connection counts as lost.
const NETWORK_GRACE: Duration = Duration::from_secs(5);

/// Pool of connections to a PostgreSQL database.
pub(super) struct PostgresDriver {
    pool: Pool,
    round_trips: Arc<AtomicU64>,
    statement_timeout: Duration,
}

impl PostgresDriver {
    /// Prepares a pool; no connection is opened yet.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let options = &address.options;
        let mut config = Config::from_str(&address.url).map_err(|error| {
            Error::invalid(
                format!("{} is not an address of PostgreSQL: {error}", address.shown),
                "use postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        config.connect_timeout(options.connect_timeout);
        config.tcp_user_timeout(options.statement_timeout + NETWORK_GRACE);
        if config.get_application_name().is_none() {
            config.application_name("everlore");
        }
        let pool = Pool::builder(manager(config, options)?)
            .max_size(options.max_connections)
            .wait_timeout(Some(options.acquire_timeout))
            .create_timeout(Some(options.connect_timeout))
            // The connection used last has the most statements prepared.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .post_create(session_settings(options.statement_timeout))
            .build()
            .map_err(Error::store)?;
        let statement_timeout = options.statement_timeout;
        Ok(Self { pool, round_trips: Arc::default(), statement_timeout })
    }
}

fn manager(mut config: Config, options: &ServerOptions) -> Result<Manager> {
    let recycling = ManagerConfig::default();
    if !options.is_tls {
        config.ssl_mode(SslMode::Disable);
        return Ok(Manager::from_config(config, NoTls, recycling));
    }
    config.ssl_mode(SslMode::Require);
    let connector = MakeRustlsConnect::new(tls::client_config(options)?);
    Ok(Manager::from_config(config, connector, recycling))
}

/// Sets the limits of a new connection. A transaction whose client went away ends soon and frees its locks.
fn session_settings(statement_timeout: Duration) -> Hook {
    let millis = statement_timeout.as_millis();
    let settings = format!(
        "SET statement_timeout = {millis}; SET idle_in_transaction_session_timeout = {millis}; \
         SET default_transaction_isolation = 'read committed'"
    );
    Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
        let settings = settings.clone();
        Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
    })
}

#[async_trait]
impl SqlDriver for PostgresDriver {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError> {
        let client = self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => connect_error(&error),
            PoolError::PostCreateHook(HookError::Backend(error)) => connect_error(&error),
            PoolError::Timeout(_) => SqlError::new(
                SqlErrorKind::Lost,
                "the database did not accept a connection in time",
            ),
            other => SqlError::new(SqlErrorKind::Other, other),
        })?;
        Ok(Box::new(PostgresConnection {
            client: Some(client),
            round_trips: Arc::clone(&self.round_trips),
            timeout: self.statement_timeout + NETWORK_GRACE,
        }))
    }

    fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        self.pool.close();
    }
}

/// Connection of the pool.
struct PostgresConnection {
    /// `None` once it was found broken.
    client: Option<Object>,
    round_trips: Arc<AtomicU64>,
    timeout: Duration,
}

#[async_trait]
impl SqlConnection for PostgresConnection {
    async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, SqlError> {
        let Some(client) = &self.client else {
            return Err(SqlError::new(SqlErrorKind::Lost, "the connection is closed"));
        };
        let work = pipeline(client, statements, &self.round_trips);
        match tokio::time::timeout(self.timeout, work).await {
            Ok(Err(error)) if error.kind == SqlErrorKind::Lost => {
                self.discard();
                Err(error)
            }
            Ok(outcome) => outcome,
            Err(_) => {
                self.discard();
                Err(SqlError::new(SqlErrorKind::Lost, "the database did not answer in time"))
            }
        }
    }

    fn end_transaction(self: Box<Self>, statement: &'static str) {
        if let Some(client) = &self.client {
            // The first poll sends the message; the answer is of no interest.
            let mut sending = pin!(client.batch_execute(statement));
            let _ = sending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

impl PostgresConnection {
    /// Takes the connection out of the pool and closes it.
    fn discard(&mut self) {
        drop(self.client.take().map(Object::take));
    }
}

/// Statement that is ready to be sent.
enum PreparedStatement {
    /// Without parameters and without a result.
    Simple(String),
    Query(tokio_postgres::Statement, Vec<SqlValue>),
    Change(tokio_postgres::Statement, Vec<SqlValue>),
}

async fn pipeline(
    client: &Object,
    statements: Vec<Statement>,
    round_trips: &AtomicU64,
) -> Result<Vec<StatementResult>, SqlError> {
    let before = client.statement_cache.size();
    let prepared = join_all(statements.into_iter().map(|it| prepare(client, it)).collect()).await?;
    // Statements that were not prepared yet cost one more.
    let preparing = u64::from(client.statement_cache.size() > before);
    round_trips.fetch_add(1 + preparing, Ordering::Relaxed);
    join_all(prepared.into_iter().map(|it| execute(client, it)).collect()).await
}

fn prepare(
    client: &Object,
    statement: Statement,
) -> BoxFuture<'_, Result<PreparedStatement, SqlError>> {
    Box::pin(async move {
        let (text, params) = statement.render_postgres();
        let is_query = text.starts_with("SELECT");
        if params.is_empty() && !is_query {
            return Ok(PreparedStatement::Simple(text.into_owned()));
        }
        let statement = client.prepare_cached(&text).await.map_err(|error| sql_error(&error))?;
        Ok(if is_query {
            PreparedStatement::Query(statement, params)
        } else {
            PreparedStatement::Change(statement, params)
        })
    })
}

fn execute(
    client: &Client,
    statement: PreparedStatement,
) -> BoxFuture<'_, Result<StatementResult, SqlError>> {
    Box::pin(async move {
        let result = match statement {
            PreparedStatement::Simple(text) => simple(client, &text).await,
            PreparedStatement::Query(statement, params) => query(client, &statement, &params).await,
            PreparedStatement::Change(statement, params) => client
                .execute(&statement, &as_params(&params))
                .await
                .map(|affected| StatementResult { rows: Vec::new(), affected }),
        };
        result.map_err(|error| sql_error(&error))
    })
}

async fn simple(client: &Client, text: &str) -> Result<StatementResult, tokio_postgres::Error> {
    let count = |message: SimpleQueryMessage| match message {
        SimpleQueryMessage::CommandComplete(affected) => affected,
        _ => 0,
    };
    let messages = client.simple_query(text).await?;
    let affected = messages.into_iter().map(count).sum();
    Ok(StatementResult { rows: Vec::new(), affected })
}

async fn query(
    client: &Client,
    statement: &tokio_postgres::Statement,
    params: &[SqlValue],
) -> Result<StatementResult, tokio_postgres::Error> {
    let found = client.query(statement, &as_params(params)).await?;
    let read = |row: &tokio_postgres::Row| {
        (0..row.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>().map(SqlRow)
    };
    let rows = found.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(StatementResult { rows, affected: 0 })
}

fn as_params(params: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}

/// Waits for all; each is first polled in its order, so that messages are sent in that order. Returns the first failure
/// in that order.
async fn join_all<T>(
    mut futures: Vec<BoxFuture<'_, Result<T, SqlError>>>,
) -> Result<Vec<T>, SqlError> {
    let mut results: Vec<Option<Result<T, SqlError>>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut is_ready = true;
        for (future, result) in futures.iter_mut().zip(&mut results) {
            if result.is_none() {
                match Pin::as_mut(future).poll(context) {
                    Poll::Ready(outcome) => *result = Some(outcome),
                    Poll::Pending => is_ready = false,
                }
            }
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}

fn connect_error(error: &tokio_postgres::Error) -> SqlError {
    let error = sql_error(error);
    let is_refused = error.kind == SqlErrorKind::Other && error.message.contains("connect");
    SqlError { kind: if is_refused { SqlErrorKind::Lost } else { error.kind }, ..error }
}

/// Sorts an error by what the store can do. Classes 08 and 57 are of connections and of operators that stop the server.
fn sql_error(error: &tokio_postgres::Error) -> SqlError {
    let Some(failure) = error.as_db_error() else {
        let source = std::error::Error::source(error).map(|source| format!(": {source}"));
        let kind = if is_io(error) { SqlErrorKind::Lost } else { SqlErrorKind::Other };
        return SqlError::new(kind, format!("{error}{}", source.unwrap_or_default()));
    };
    let kind = match failure.code() {
        code if *code == SqlState::T_R_SERIALIZATION_FAILURE
            || *code == SqlState::T_R_DEADLOCK_DETECTED =>
        {
            SqlErrorKind::TryAgain
        }
        code if *code == SqlState::UNIQUE_VIOLATION => SqlErrorKind::Unique,
        // A statement that took too long was cancelled, and its transaction with it.
        code if *code == SqlState::QUERY_CANCELED => SqlErrorKind::Other,
        code if code.code().starts_with("08") || code.code().starts_with("57") => {
            SqlErrorKind::Lost
        }
        _ => SqlErrorKind::Other,
    };
    SqlError::new(kind, format!("{} ({})", failure.message(), failure.code().code()))
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    error.is_closed() || source.is_some_and(|source| source.is::<std::io::Error>())
}

/// Character that escapes NUL, which PostgreSQL does not store in texts: private use, at the end of Unicode.
const ESCAPE: char = '\u{10fffd}';

/// Replaces NUL by an escape that [`unescape_nul`] reverses.
fn escape_nul(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let escaped = text.replace(ESCAPE, &format!("{ESCAPE}1"));
    Cow::Owned(escaped.replace('\0', &format!("{ESCAPE}0")))
}

fn unescape_nul(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let nul_back = text.replace(&format!("{ESCAPE}0"), "\0");
    nul_back.replace(&format!("{ESCAPE}1"), &ESCAPE.to_string())
}

impl ToSql for SqlValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *kind == Type::INT2 => i16::try_from(*value)?.to_sql(kind, out),
            Self::Int(value) if *kind == Type::INT4 => i32::try_from(*value)?.to_sql(kind, out),
            Self::Int(value) => value.to_sql(kind, out),
            Self::Real(value) => value.to_sql(kind, out),
            Self::Text(value) => escape_nul(value).as_ref().to_sql(kind, out),
            // A uuid is sent as its sixteen bytes.
            Self::Bytes(value) => value.as_slice().to_sql(&Type::BYTEA, out),
            Self::List(values) => values.as_slice().to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        let element = match kind.kind() {
            PgKind::Array(element) => element,
            _ => kind,
        };
        [Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::VARCHAR]
            .iter()
            .chain(&[Type::BYTEA, Type::UUID])
            .any(|known| known == element)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => Self::Int(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => Self::Real(f64::from_sql(kind, raw)?),
            Type::BYTEA | Type::UUID => Self::Bytes(raw.to_vec()),
            _ => Self::Text(unescape_nul(<&str>::from_sql(kind, raw)?)),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::BOOL || <Self as ToSql>::accepts(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_nul_comes_back_as_it_was() {
        for text in ["茶", "a\0b", "\0\0", "\u{10fffd}0", "\u{10fffd}\0\u{10fffd}1", "\0\u{10fffd}"]
        {
            let escaped = escape_nul(text);
            assert!(!escaped.contains('\0'));
            assert_eq!(unescape_nul(&escaped), text);
        }
    }
}
