//! Database servers that subjects run on, started with memory for a million memories.

use anyhow::{Context, Result};
use everlore_test_databases::{MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer};
use tokio::runtime::Runtime;

/// Memory for pages: a tenth of that of a small database machine.
const CACHE: &str = "2GB";

/// Server of one subject.
pub(super) enum DatabaseServer {
    Postgres(PostgresServer),
    MariaDb(MariaDbServer),
}

impl DatabaseServer {
    /// Starts PostgreSQL.
    pub(super) fn start_postgres(runtime: &Runtime) -> Self {
        let options = PostgresOptions::default()
            .setting("shared_buffers", CACHE)
            .setting("maintenance_work_mem", CACHE)
            .setting("max_wal_size", "8GB");
        Self::Postgres(runtime.block_on(PostgresServer::start(options)))
    }

    /// Starts MariaDB.
    pub(super) fn start_mariadb(runtime: &Runtime) -> Self {
        let options = MariaDbOptions::default()
            .argument("--innodb-buffer-pool-size=2G")
            .argument("--innodb-log-file-size=1G");
        Self::MariaDb(runtime.block_on(MariaDbServer::start(options)))
    }

    /// Returns the address, with the password.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
        }
    }

    /// Returns the bytes of all tables and indexes.
    pub(super) fn bytes(&self, runtime: &Runtime) -> Result<i64> {
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
