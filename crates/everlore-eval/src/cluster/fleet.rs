//! Everlore servers that share a database: each a process on a home of its own.

use std::{
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::client::{ClusterClient, PATIENCE};
use crate::load::ServerProcess;

/// Longest wait for all servers to be ready.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Interval of looks at `/ready`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Address and token of a server.
#[derive(Debug, Clone)]
pub(super) struct ServerAccess {
    pub(super) address: String,
    pub(super) token: String,
}

/// Servers, which end when it is dropped.
pub(super) struct ServerFleet {
    servers: Vec<ServerProcess>,
    /// Homes of the servers, and one for commands.
    homes: Vec<TempDir>,
    stores: Vec<String>,
}

impl ServerFleet {
    /// Starts a server for each address of a database, and waits until all are ready.
    pub(super) fn start(binary: &Path, stores: Vec<String>) -> Result<Self> {
        let mut fleet = Self { servers: Vec::new(), homes: Vec::new(), stores };
        for store in &fleet.stores {
            let home = tempfile::tempdir()?;
            let started = ServerProcess::start_on(binary, home.path(), Some(store));
            fleet.servers.push(started.with_context(|| {
                format!("cannot start {}: give it by --binary", binary.display())
            })?);
            fleet.homes.push(home);
        }
        fleet.wait_until_ready()?;
        Ok(fleet)
    }

    /// Returns the ways to all servers.
    pub(super) fn access(&self) -> Vec<ServerAccess> {
        let access = self.servers.iter().map(ServerProcess::access);
        access.map(|(address, token)| ServerAccess { address, token }).collect()
    }

    /// Returns a client that begins with a server.
    pub(super) fn client(&self, first: usize) -> ClusterClient {
        ClusterClient::new(self.access(), first, PATIENCE)
    }

    /// Waits until every server can reach its database.
    pub(super) fn wait_until_ready(&self) -> Result<()> {
        let began = Instant::now();
        for number in 0..self.servers.len() {
            let mut client = self.client(number);
            while !client.get("/ready").is_ok_and(|answer| answer.is_success()) {
                ensure!(began.elapsed() < READY_WITHIN, "server {number} is not ready");
                thread::sleep(POLL_INTERVAL);
            }
        }
        Ok(())
    }

    /// Lets `everlore doctor` compare rows, index and journal of all users; returns what it finds.
    pub(super) fn diagnose(&self, binary: &Path) -> Result<Option<String>> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(binary);
        // The command makes its home private.
        command.arg("--home").arg(folder.path().join("home")).arg("doctor");
        let output = command.env("EVERLORE_STORE", &self.stores[0]).output()?;
        if output.status.success() {
            return Ok(None);
        }
        let told = [output.stdout, output.stderr].concat();
        Ok(Some(String::from_utf8_lossy(&told).into_owned()))
    }
}
