//! Official clients of other systems, run against Everlore as their users run them.

mod examples;
mod mcp;
#[cfg(feature = "mem0")]
mod mem0;
#[cfg(feature = "openviking")]
mod openviking;
mod opencode_plugin;
mod schemathesis;
#[cfg(feature = "remote")]
mod proxy;
#[cfg(feature = "remote")]
mod refusals;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Folder that `make clients` fills.
pub(super) struct OfficialClients(PathBuf);

/// Returns the clients. They are required where the folder is named or `CI` is set.
pub(super) fn clients() -> Option<OfficialClients> {
    let folder_variable = std::env::var_os("EVERLORE_TEST_CLIENTS").map(PathBuf::from);
    let required = folder_variable.is_some() || std::env::var_os("CI").is_some();
    let folder = folder_variable.unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/clients"))
    });
    let ready = ["python/ready", "node/ready"].iter().all(|part| folder.join(part).is_file());
    if ready {
        return Some(OfficialClients(folder));
    }
    assert!(!required, "there are no clients in {}: run `make clients`", folder.display());
    let reason = format!("none in {}, `make clients` fetches them", folder.display());
    crate::skipped::report_skipped("tests with the official clients", &reason);
    None
}

impl OfficialClients {
    /// Returns a script of `tests/clients`, run by the Python that has the clients.
    pub(super) fn python(&self, script: &str) -> Command {
        let mut command = Command::new(self.0.join("python/bin/python"));
        command.arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients")).join(script));
        isolate(&mut command);
        command
    }

    /// Returns a command of one of the Python packages.
    pub(super) fn python_command(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join("python/bin").join(name));
        isolate(&mut command);
        command
    }

    /// Returns the Node.js of the clients.
    pub(super) fn node(&self) -> Command {
        let mut command = Command::new(self.0.join("node/node_modules/.bin/node"));
        isolate(&mut command);
        command
    }

    /// Returns a command of one of the Node.js packages, run by their Node.js.
    pub(super) fn node_command(&self, name: &str) -> Command {
        let mut command = self.node();
        command.arg(self.0.join("node/node_modules/.bin").join(name));
        command
    }
}

/// Disables telemetry, proxies and output buffering.
fn isolate(command: &mut Command) {
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("MEM0_TELEMETRY", "False").env("PYTHONUNBUFFERED", "1").env("NO_PROXY", "*");
}

/// Runs a command and returns its output; the test fails with all of its output unless it succeeds.
pub(super) fn succeed(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?} ended with {status}\n{out}\n{err}");
    out.into_owned()
}
