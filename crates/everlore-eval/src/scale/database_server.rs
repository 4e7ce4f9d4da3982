//! Database servers that subjects run on, started with memory for a million memories.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use everlore_test_databases::{MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer};
use tokio::runtime::Runtime;

/// Memory for pages: a tenth of that of a small database machine.
const CACHE: &str = "2GB";

/// Server of one subject.
pub(crate) enum DatabaseServer {
    Postgres(PostgresServer),
    MariaDb(MariaDbServer),
}

impl DatabaseServer {
    /// Starts PostgreSQL.
    pub(crate) fn start_postgres(runtime: &Runtime) -> Self {
        let options = PostgresOptions::default()
            .setting("shared_buffers", CACHE)
            .setting("maintenance_work_mem", CACHE)
            .setting("max_wal_size", "8GB");
        Self::Postgres(runtime.block_on(PostgresServer::start(options)))
    }

    /// Starts MariaDB.
    pub(crate) fn start_mariadb(runtime: &Runtime) -> Self {
        let options = MariaDbOptions::default()
            .argument("--innodb-buffer-pool-size=2G")
            .argument("--innodb-log-file-size=1G");
        Self::MariaDb(runtime.block_on(MariaDbServer::start(options)))
    }

    /// Returns the address, with the password.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
        }
    }

    /// Returns the URL of this server behind another address, such as that of a proxy.
    pub(crate) fn url_at(&self, address: SocketAddr) -> String {
        match self {
            Self::Postgres(server) => server.url_at(address),
            Self::MariaDb(server) => server.url_at(address),
        }
    }

    /// Returns the address for connections.
    pub(crate) fn address(&self) -> SocketAddr {
        match self {
            Self::Postgres(server) => server.address(),
            Self::MariaDb(server) => server.address(),
        }
    }

    /// Returns the number of the server's first process.
    pub(crate) fn process_id(&self) -> Option<u32> {
        match self {
            Self::Postgres(server) => server.process_id(),
            Self::MariaDb(server) => server.process_id(),
        }
    }

    /// Returns the bytes of all tables and indexes.
    pub(crate) fn bytes(&self, runtime: &Runtime) -> Result<i64> {
        let answer = match self {
            Self::Postgres(server) => {
                runtime.block_on(server.query("SELECT pg_database_size(current_database())"))
            }
            Self::MariaDb(server) => runtime.block_on(server.query(
                "SELECT CAST(SUM(data_length + index_length) AS CHAR) FROM information_schema.tables",
            )),
        };
        Ok(answer.context("the server tells its size")?.parse()?)
    }
}
