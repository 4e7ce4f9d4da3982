//! Server under test: its own process on its own home.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::client::LoadClient;

/// Rate limit above any load here, so that the limiter is not measured.
const RATE: &str = "1000000";

pub(crate) struct ServerProcess {
    binary: PathBuf,
    home: PathBuf,
    /// Address of the database; `None` for that of the home.
    store: Option<String>,
    child: Child,
    pub(super) address: String,
    pub(super) token: String,
}

impl ServerProcess {
    /// Starts a server on a free port and waits for its address.
    pub(crate) fn start(binary: &Path, home: &Path) -> Result<Self> {
        Self::start_on(binary, home, None)
    }

    /// Starts a server on a database, and waits for its address.
    pub(crate) fn start_on(binary: &Path, home: &Path, store: Option<&str>) -> Result<Self> {
        let (child, address, token) = spawn_server(binary, home, store)?;
        let (binary, home) = (binary.to_owned(), home.to_owned());
        Ok(Self { binary, home, store: store.map(str::to_owned), child, address, token })
    }

    /// Returns the address and the token.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn access(&self) -> (String, String) {
        (self.address.clone(), self.token.clone())
    }

    /// Starts the server again after it has ended.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.child.wait()?;
        (self.child, self.address, self.token) =
            spawn_server(&self.binary, &self.home, self.store.as_deref())?;
        Ok(())
    }

    /// Returns a function that kills the server without warning.
    pub(crate) fn killer(&self) -> impl FnOnce() + Send + use<> {
        let pid = self.child.id().to_string();
        move || {
            let killed = Command::new("kill").args(["-9", &pid]).status();
            assert!(killed.is_ok_and(|status| status.success()), "cannot kill {pid}");
        }
    }

    /// Returns the bytes of anonymous memory, or `None` where the system does not report them. Mapped file pages do not
    /// count: the system can take them back.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Returns the ids of saved memories that the server does not have.
    pub(crate) fn missing(&self, saved: &[(u32, String)]) -> Result<Vec<String>> {
        let mut client = LoadClient::connect(self)?;
        let is_lost = |client: &mut LoadClient, (user, id): &(u32, String)| {
            client.get(&format!("/v1/memories/{id}?user=u{user}")).is_err()
        };
        let lost = saved.iter().filter(|one| is_lost(&mut client, one));
        Ok(lost.map(|(_, id)| id.clone()).collect())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn_server(
    binary: &Path,
    home: &Path,
    store: Option<&str>,
) -> Result<(Child, String, String)> {
    let mut command = Command::new(binary);
    if let Some(store) = store {
        command.env("EVERLORE_STORE", store);
    }
    command.args(["--json", "--home"]).arg(home);
    command.args(["serve", "--port", "0", "--rate", RATE]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
    let address: Value =
        serde_json::from_str(&line).context("the server did not say where it is")?;
    let url = address["url"].as_str().context("no url")?;
    let token = fs::read_to_string(address["token_file"].as_str().context("no token")?)?;
    Ok((child, url.trim_start_matches("http://").to_owned(), token.trim().to_owned()))
}
