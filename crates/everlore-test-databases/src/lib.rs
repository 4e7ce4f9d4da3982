//! Database servers that a test owns, to crash them and to fail over, and a proxy that disturbs connections; for tests
//! only.
//!
//! The programs are those that `tools/databases/fetch` unpacks. Servers listen on loopback, keep their data in a
//! temporary folder, are stopped when they are dropped and end with the test process, even if it is killed. Tests that
//! only need some server use those that `tools/databases/run` starts, by the URLs in `EVERLORE_TEST_POSTGRES` and
//! `EVERLORE_TEST_MYSQL`.
//!
//! Everything here panics where a test cannot go on, with the last lines of the server's log.

// The packages are for this system only; elsewhere the crate is empty.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod installation;
mod ports;
mod server_folder;
mod process;
mod readiness;
mod postgres;
mod mariadb;
mod galera;
mod fault_proxy;

pub use fault_proxy::{Fault, FaultProxy};
pub use galera::GaleraCluster;
pub use installation::DatabaseInstallation;
pub use mariadb::{MariaDbOptions, MariaDbServer};
pub use postgres::{PostgresOptions, PostgresServer};
