//! Connections to the hosts of a PostgreSQL address, and what their errors mean.

use std::{
    str::FromStr,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::{
    Client, Config, NoTls, Socket,
    config::{SslMode, TargetSessionAttrs},
    error::SqlState,
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlError, SqlErrorKind},
    tls,
};
use crate::{
    error::{Error, Result},
    sync::BoxFuture,
};

/// Hosts of an address. Connections go to the first one that takes writes, beginning with the one that did last.
pub(super) struct PostgresHosts {
    configs: Vec<Config>,
    /// Number of the host that accepted the last connection.
    last_good: AtomicUsize,
    /// `None` connects without encryption.
    tls: Option<MakeRustlsConnect>,
    /// Most time to open a connection to one host.
    timeout: Duration,
    /// Statements that set the limits of a new connection.
    settings: String,
}

type OpenConnection = (Client, JoinHandle<()>);

impl PostgresHosts {
    /// Reads the hosts of an address.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let options = &address.options;
        let configs = address.urls.iter().map(|url| {
            let mut config =
                Config::from_str(url).map_err(|error| not_an_address(address, &error))?;
            complete(&mut config, options, address.urls.len() > 1);
            Ok(config)
        });
        let tls = if options.is_tls {
            Some(MakeRustlsConnect::new(tls::client_config(options)?))
        } else {
            None
        };
        Ok(Self {
            configs: configs.collect::<Result<_>>()?,
            last_good: AtomicUsize::new(0),
            tls,
            timeout: options.connect_timeout,
            settings: session_settings(options.statement_timeout),
        })
    }

    /// Returns the most time to open a connection: some hosts may be silent.
    pub(super) fn connect_limit(&self) -> Duration {
        self.timeout.saturating_mul(u32::try_from(self.configs.len()).unwrap_or(u32::MAX))
    }

    /// Returns the settings of the first host.
    pub(super) fn first_config(&self) -> Config {
        self.configs.first().cloned().unwrap_or_default()
    }

    async fn connect_any(&self) -> Result<OpenConnection, tokio_postgres::Error> {
        let (first, count) = (self.last_good.load(Ordering::Relaxed), self.configs.len());
        let mut failure: Option<tokio_postgres::Error> = None;
        for number in (first..first + count).map(|number| number % count) {
            match self.connect_host(&self.configs[number]).await {
                Ok(opened) => {
                    self.last_good.store(number, Ordering::Relaxed);
                    return Ok(opened);
                }
                // What a database says tells more than that another one cannot be reached.
                Err(_) if failure.as_ref().is_some_and(|it| it.as_db_error().is_some()) => {}
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(tokio_postgres::Error::__private_api_timeout))
    }

    async fn connect_host(&self, config: &Config) -> Result<OpenConnection, tokio_postgres::Error> {
        let opened = async {
            let opened = match &self.tls {
                Some(tls) => open(config, tls.clone()).await?,
                None => open(config, NoTls).await?,
            };
            opened.0.batch_execute(&self.settings).await?;
            Ok(opened)
        };
        let in_time = tokio::time::timeout(self.timeout, opened).await;
        in_time.unwrap_or_else(|_| Err(tokio_postgres::Error::__private_api_timeout()))
    }
}

impl Connect for PostgresHosts {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<OpenConnection, tokio_postgres::Error>> {
        Box::pin(self.connect_any())
    }
}

/// Opens a connection, and polls it in a task until its client is dropped.
async fn open<T>(config: &Config, tls: T) -> Result<OpenConnection, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    let polling = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("a connection ended: {}", sql_error(&error));
        }
    });
    Ok((client, polling))
}

fn not_an_address(address: &ServerAddress, error: &tokio_postgres::Error) -> Error {
    Error::invalid(
        format!("{} is not an address of PostgreSQL: {}", address.shown, with_cause(error)),
        "use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with commas between several HOST:PORT",
    )
}

/// Adds our settings to those of the address. One host of several may be a standby, which takes no writes.
fn complete(config: &mut Config, options: &ServerOptions, has_several_hosts: bool) {
    config.connect_timeout(options.connect_timeout);
    config.tcp_user_timeout(options.answer_limit());
    config.ssl_mode(if options.is_tls { SslMode::Require } else { SslMode::Disable });
    if config.get_application_name().is_none() {
        config.application_name("everlore");
    }
    let has_more = has_several_hosts || config.get_hosts().len() > 1;
    if has_more && config.get_target_session_attrs() == TargetSessionAttrs::Any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
}

/// Returns the statements that set the limits of a connection. A transaction whose client went away ends soon and frees
/// its locks.
fn session_settings(statement_timeout: Duration) -> String {
    let millis = statement_timeout.as_millis();
    format!(
        "SET statement_timeout = {millis}; SET idle_in_transaction_session_timeout = {millis}; \
         SET default_transaction_isolation = 'read committed'"
    )
}

/// Sorts an error of a connection that could not be opened. What is neither of the network nor said by the database is a
/// setting: a password that is missing, a certificate that does not match.
pub(super) fn connect_error(error: &tokio_postgres::Error) -> SqlError {
    let is_setting = error.as_db_error().is_none() && std::error::Error::source(error).is_some();
    let error = sql_error(error);
    if is_setting && error.kind == SqlErrorKind::Other {
        return SqlError { kind: SqlErrorKind::Refused, ..error };
    }
    error
}

/// Sorts an error by what the store can do.
pub(super) fn sql_error(error: &tokio_postgres::Error) -> SqlError {
    let Some(failure) = error.as_db_error() else {
        let kind = if is_lost(error) { SqlErrorKind::Lost } else { SqlErrorKind::Other };
        return SqlError::new(kind, with_cause(error));
    };
    let message = format!("{} ({})", failure.message(), failure.code().code());
    SqlError::new(kind_of_state(failure.code()), message)
}

/// Sorts what the database says. Classes 08 and 57 are of connections and of operators that stop the server, class 28 of
/// logins.
fn kind_of_state(state: &SqlState) -> SqlErrorKind {
    match state.code() {
        _ if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED]
            .contains(state) =>
        {
            SqlErrorKind::TryAgain
        }
        _ if *state == SqlState::UNIQUE_VIOLATION => SqlErrorKind::Unique,
        // A statement that took too long was cancelled, and its transaction with it.
        _ if *state == SqlState::QUERY_CANCELED => SqlErrorKind::Other,
        // A primary that became a standby, and a server whose connections are all taken.
        _ if [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::TOO_MANY_CONNECTIONS]
            .contains(state) =>
        {
            SqlErrorKind::Lost
        }
        _ if [SqlState::INVALID_CATALOG_NAME, SqlState::INSUFFICIENT_PRIVILEGE].contains(state) => {
            SqlErrorKind::Refused
        }
        code if code.starts_with("08") || code.starts_with("57") => SqlErrorKind::Lost,
        code if code.starts_with("28") => SqlErrorKind::Refused,
        _ => SqlErrorKind::Other,
    }
}

/// Returns `true` if the network failed, or was silent for too long: only that has neither a cause nor an answer.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    error.is_closed() || source.is_none_or(|source| source.is::<std::io::Error>())
}

fn with_cause(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", cause.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_an_outage() {
        for (code, kind) in [
            ("28P01", SqlErrorKind::Refused),
            ("3D000", SqlErrorKind::Refused),
            ("42501", SqlErrorKind::Refused),
            ("25006", SqlErrorKind::Lost),
            ("53300", SqlErrorKind::Lost),
            ("57P01", SqlErrorKind::Lost),
            ("57014", SqlErrorKind::Other),
            ("40001", SqlErrorKind::TryAgain),
        ] {
            assert_eq!(kind_of_state(&SqlState::from_code(code)), kind, "{code}");
        }
    }
}
