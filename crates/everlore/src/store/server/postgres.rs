//! The PostgreSQL client: statements are prepared once for each connection, and those of a round trip are pipelined.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use async_trait::async_trait;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, QueueMode, Runtime};
use tokio_postgres::{Client, SimpleQueryMessage, types::ToSql};

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlConnection, SqlDriver, SqlError, SqlErrorKind, StatementResult},
    postgres_hosts::{PostgresHosts, connect_error, sql_error},
    sql::{Dialect, SqlRow, SqlValue, Statement},
};
use crate::{
    error::{Error, Result},
    sync::BoxFuture,
};

/// Pool of connections to a PostgreSQL database.
pub(super) struct PostgresDriver {
    pool: Pool,
    round_trips: Arc<AtomicU64>,
    options: ServerOptions,
}

impl PostgresDriver {
    /// Prepares a pool; no connection is opened yet.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let options = address.options.clone();
        let hosts = PostgresHosts::new(address)?;
        let (config, connect_limit) = (hosts.first_config(), hosts.connect_limit());
        let manager = Manager::from_connect(config, hosts, ManagerConfig::default());
        let pool = Pool::builder(manager)
            .max_size(options.max_connections)
            .wait_timeout(Some(options.acquire_timeout))
            .create_timeout(Some(connect_limit))
            // The connection used last has the most statements prepared.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(Error::store)?;
        Ok(Self { pool, round_trips: Arc::default(), options })
    }
}

#[async_trait]
impl SqlDriver for PostgresDriver {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn acquire(&self) -> Result<Box<dyn SqlConnection>, SqlError> {
        let client = self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => connect_error(&error),
            PoolError::Timeout(_) => SqlError::new(
                SqlErrorKind::Lost,
                "the database did not accept a connection in time",
            ),
            other => SqlError::new(SqlErrorKind::Other, other),
        })?;
        Ok(Box::new(PostgresConnection {
            client: Some(client),
            round_trips: Arc::clone(&self.round_trips),
            timeout: self.options.answer_limit(),
        }))
    }

    fn call_limit(&self) -> Duration {
        self.options.call_limit()
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
                self.discard_all();
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

    /// Closes idle connections too: they lead to the same silent server, and each would have to be waited for.
    fn discard_all(&mut self) {
        if let Some(pool) = self.client.as_ref().and_then(Object::pool) {
            pool.retain(|_, _| false);
        }
        self.discard();
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
