//! Many Everlore servers on server databases that fail: failover, crashes, load and bad networks. Clients write through
//! the HTTP API all the while, and at the end every write is looked for.

mod client;
mod fleet;
mod writers;
mod verify;
mod report;
mod failover;
mod many;
mod network;

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use tokio::runtime::Runtime;

pub(crate) use report::{ClusterReport, HEAD};

/// Options of all scenarios.
pub(crate) struct ClusterOptions {
    /// Everlore's program.
    pub(crate) binary: PathBuf,
    /// Repetitions of each failure.
    pub(crate) runs: usize,
    /// Length of the load and of the bad network.
    pub(crate) length: Duration,
    /// Seed of the faults of the network.
    pub(crate) seed: u64,
    /// Runtime of the databases and proxies.
    pub(crate) runtime: Runtime,
}

/// Scenario by the name of its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ClusterScenario {
    /// PostgreSQL's primary is killed and its synchronous standby promoted
    FailoverPostgres,
    /// One of three nodes of a Galera cluster is killed
    FailoverGalera,
    /// PostgreSQL is killed and started again
    KillPostgres,
    /// MariaDB is killed and started again
    KillMariadb,
    /// Four servers on one PostgreSQL, beside one
    ManyPostgres,
    /// Three servers on a Galera cluster, beside one
    ManyGalera,
    /// A network before PostgreSQL that delays, cuts and swallows
    NetworkPostgres,
    /// A network before MariaDB that delays, cuts and swallows
    NetworkMariadb,
}

impl ClusterScenario {
    /// Runs the scenario and returns a report of each of its runs.
    pub(crate) fn run(self, options: &ClusterOptions) -> Result<Vec<ClusterReport>> {
        let repeated = |run: fn(&ClusterOptions, usize) -> Result<ClusterReport>| {
            (0..options.runs).map(|number| run(options, number)).collect()
        };
        match self {
            Self::FailoverPostgres => repeated(failover::fail_over_postgres),
            Self::FailoverGalera => repeated(failover::fail_over_galera),
            Self::KillPostgres => repeated(failover::kill_postgres),
            Self::KillMariadb => repeated(failover::kill_mariadb),
            Self::ManyPostgres => many::on_postgres(options),
            Self::ManyGalera => many::on_galera(options),
            Self::NetworkPostgres => Ok(vec![network::before_postgres(options)?]),
            Self::NetworkMariadb => Ok(vec![network::before_mariadb(options)?]),
        }
    }
}
