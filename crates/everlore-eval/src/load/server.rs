//! The server that is measured: a process of its own, on a home of its own.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::client::LoadClient;

/// More than any load here asks for: what a key may ask is not measured.
const RATE: &str = "1000000";

pub(crate) struct ServerProcess {
    binary: PathBuf,
    home: PathBuf,
    child: Child,
    pub(super) address: String,
    pub(super) token: String,
}

impl ServerProcess {
    /// Starts one on a free port and waits until it says where it is.
    pub(crate) fn start(binary: &Path, home: &Path) -> Result<Self> {
        let (child, address, token) = spawn_server(binary, home)?;
        Ok(Self { binary: binary.to_owned(), home: home.to_owned(), child, address, token })
    }

    /// Starts it again after its end.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.child.wait()?;
        (self.child, self.address, self.token) = spawn_server(&self.binary, &self.home)?;
        Ok(())
    }

    /// What ends it without a warning.
    pub(crate) fn killer(&self) -> impl FnOnce() + Send + use<> {
        let pid = self.child.id().to_string();
        move || {
            let killed = Command::new("kill").args(["-9", &pid]).status();
            assert!(killed.is_ok_and(|status| status.success()), "cannot kill {pid}");
        }
    }

    /// The bytes of its own memory, where the system tells: pages of files that it maps are the system's to take back.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Those of these memories that it does not have.
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

fn spawn_server(binary: &Path, home: &Path) -> Result<(Child, String, String)> {
    let mut command = Command::new(binary);
    command.args(["--json", "--home"]).arg(home);
    command.args(["serve", "--port", "0", "--rate", RATE]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
    let told: Value = serde_json::from_str(&line).context("the server did not say where it is")?;
    let url = told["url"].as_str().context("no url")?;
    let token = fs::read_to_string(told["token_file"].as_str().context("no token")?)?;
    Ok((child, url.trim_start_matches("http://").to_owned(), token.trim().to_owned()))
}
