//! Connections to the hosts of a MySQL or MariaDB address, and what their errors mean.

use std::{path::PathBuf, sync::Mutex, time::Duration};

use mysql_async::{
    Conn, IoError, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, SslOpts, prelude::Queryable,
};

use super::{
    address::{ServerAddress, ServerOptions},
    driver::{SqlError, SqlErrorKind},
};
use crate::{
    error::{Error, Result},
    sync::lock,
};

/// Time that an unused connection stays open: shorter than any proxy or firewall lets it be silent, and long enough for a
/// server that is in use. Without it the pool would close each connection as soon as it is given back.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Hosts of an address. Connections go to one of them until one is lost or cannot be opened, then to the next.
pub(super) struct MySqlHosts {
    hosts: Vec<Opts>,
    chosen: Mutex<ChosenHost>,
    /// Most time to open a connection to one host.
    timeout: Duration,
}

/// Host in use.
#[derive(Clone)]
struct ChosenHost {
    pool: Pool,
    /// Number of pools so far; it tells which host is next.
    generation: u64,
}

impl MySqlHosts {
    /// Reads the hosts of an address.
    pub(super) fn new(address: &ServerAddress) -> Result<Self> {
        let hosts = address.urls.iter().map(|url| client_options(url, address));
        let hosts = hosts.collect::<Result<Vec<Opts>>>()?;
        let first = hosts.first().ok_or_else(|| Error::store("an address without a host"))?;
        let chosen = ChosenHost { pool: Pool::new(first.clone()), generation: 0 };
        Ok(Self { hosts, chosen: chosen.into(), timeout: address.options.connect_timeout })
    }

    /// Takes a connection of the pool, or opens one to the first host that accepts it; returns the number of its pool too.
    pub(super) async fn connect(&self) -> Result<(Conn, u64), SqlError> {
        let mut outcome = self.connect_chosen().await;
        for _ in 1..self.hosts.len() {
            if outcome.is_ok() {
                break;
            }
            outcome = self.connect_chosen().await;
        }
        outcome
    }

    async fn connect_chosen(&self) -> Result<(Conn, u64), SqlError> {
        let ChosenHost { pool, generation } = lock(&self.chosen).clone();
        let outcome = match tokio::time::timeout(self.timeout, pool.get_conn()).await {
            Ok(opened) => opened.map_err(|error| sql_error(&error)),
            Err(_) => {
                let message = "the database did not accept a connection in time";
                Err(SqlError::new(SqlErrorKind::Lost, message))
            }
        };
        if outcome.is_err() {
            self.leave(generation);
        }
        Ok((outcome?, generation))
    }

    /// Goes on to the next host, or to new connections of the only one, unless that has happened meanwhile.
    pub(super) fn leave(&self, generation: u64) {
        let mut chosen = lock(&self.chosen);
        if chosen.generation != generation {
            return;
        }
        let next = generation + 1;
        let number = next as usize % self.hosts.len();
        let pool = Pool::new(self.hosts[number].clone());
        let left = std::mem::replace(&mut *chosen, ChosenHost { pool, generation: next });
        drop(chosen);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(left.pool.disconnect());
        }
    }

    /// Closes all connections. Those that cannot say goodbye are closed by the server.
    pub(super) async fn close(&self) {
        let ChosenHost { pool, .. } = lock(&self.chosen).clone();
        let _ = tokio::time::timeout(self.timeout, pool.disconnect()).await;
    }
}

fn client_options(url: &str, address: &ServerAddress) -> Result<Opts> {
    let options = &address.options;
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let url = Opts::from_url(&format!("mysql://{rest}")).map_err(|error| {
        Error::invalid(
            format!("{} is not an address of MySQL: {error}", address.shown),
            "use mysql://USER:PASSWORD@HOST:PORT/DATABASE, with commas between several HOST:PORT",
        )
    })?;
    let limits = PoolConstraints::new(0, options.max_connections)
        .ok_or_else(|| Error::store("a pool without connections"))?;
    // A reset would cost a round trip each time; no session state is changed after the first settings.
    let pool = PoolOpts::default()
        .with_constraints(limits)
        .with_inactive_connection_ttl(MAX_IDLE)
        .with_reset_connection(false);
    let opts = OptsBuilder::from_opts(url)
        .pool_opts(pool)
        .prefer_socket(false)
        .client_found_rows(true)
        .ssl_opts(options.is_tls.then(|| ssl_opts(options)))
        .init(session_settings(options.statement_timeout).into())
        .after_connect(|connection| Box::pin(read_own_writes(connection)));
    Ok(opts.into())
}

fn ssl_opts(options: &ServerOptions) -> SslOpts {
    let file = options.root_certificates.clone();
    let roots = file.map(|file| PathBuf::from(file).into()).into_iter().collect();
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

/// Makes a node of a Galera cluster wait, before it reads, until it has the writes that other nodes acknowledged.
async fn read_own_writes(connection: &mut Conn) -> mysql_async::Result<()> {
    let cluster = "SHOW SESSION VARIABLES LIKE 'wsrep_on'";
    let found: Option<(String, String)> = connection.query_first(cluster).await?;
    if found.is_some_and(|(_, value)| value == "ON") {
        connection.query_drop("SET SESSION wsrep_sync_wait = 1").await?;
    }
    Ok(())
}

/// Sorts an error by what the store can do.
pub(super) fn sql_error(error: &mysql_async::Error) -> SqlError {
    match error {
        mysql_async::Error::Server(failure) => {
            let message = format!("{} ({})", failure.message, failure.code);
            SqlError::new(kind_of_code(failure.code), message)
        }
        mysql_async::Error::Io(IoError::Io(cause)) => SqlError::new(SqlErrorKind::Lost, cause),
        mysql_async::Error::Io(cause) => SqlError::new(SqlErrorKind::Lost, cause),
        mysql_async::Error::Driver(cause) => SqlError::new(SqlErrorKind::Lost, cause),
        other => SqlError::new(SqlErrorKind::Lost, other),
    }
}

fn kind_of_code(code: u16) -> SqlErrorKind {
    match code {
        // Deadlock or certification failure, lock wait timeout, record changed since it was read, and the guard of a
        // write (`Dialect::guard_write`).
        1213 | 1205 | 1020 | 1242 => SqlErrorKind::TryAgain,
        1062 => SqlErrorKind::Unique,
        // A node of a cluster that is not ready, too many connections, shutdown, a primary that became a replica, killed
        // connection.
        1047 | 1040 | 1053 | 1203 | 1290 | 1836 | 1927 => SqlErrorKind::Lost,
        // Wrong password, unknown database, missing rights.
        1044 | 1045 | 1049 | 1142 | 1143 | 1227 | 1698 => SqlErrorKind::Refused,
        _ => SqlErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_a_failure_is_told_once() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let told = sql_error(&mysql_async::Error::Io(IoError::Io(refused)));
        assert_eq!((told.kind, told.message.as_str()), (SqlErrorKind::Lost, "connection refused"));
        assert_eq!(kind_of_code(1045), SqlErrorKind::Refused);
    }
}
