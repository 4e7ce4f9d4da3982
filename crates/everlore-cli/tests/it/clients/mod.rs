//! Programs of others that talk to Everlore: the official clients, as their users run them.

mod examples;
mod mcp;
#[cfg(feature = "mem0")]
mod mem0;
#[cfg(feature = "openviking")]
mod openviking;
mod schemathesis;
#[cfg(feature = "remote")]
mod proxy;
#[cfg(feature = "remote")]
mod refusals;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Where `make clients` puts them.
pub(super) struct OfficialClients(PathBuf);

/// The clients. Whoever names the folder, or sets `CI`, must have them.
pub(super) fn clients() -> Option<OfficialClients> {
    let named = std::env::var_os("EVERLORE_TEST_CLIENTS").map(PathBuf::from);
    let required = named.is_some() || std::env::var_os("CI").is_some();
    let folder = named.unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/clients"))
    });
    let ready = ["python/ready", "node/ready"].iter().all(|part| folder.join(part).is_file());
    match ready {
        true => Some(OfficialClients(folder)),
        false if required => {
            panic!("there are no clients in {}: run `make clients`", folder.display())
        }
        false => {
            let reason = format!("none in {}, `make clients` fetches them", folder.display());
            crate::skipped::report_skipped("tests with the official clients", &reason);
            None
        }
    }
}

impl OfficialClients {
    /// A script of `tests/clients`, run by the Python that has the clients.
    pub(super) fn python(&self, script: &str) -> Command {
        let mut command = Command::new(self.0.join("python/bin/python"));
        command.arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients")).join(script));
        isolate(&mut command);
        command
    }

    /// A command that one of the Python packages brings.
    pub(super) fn python_command(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join("python/bin").join(name));
        isolate(&mut command);
        command
    }

    /// The Node.js that came with them.
    pub(super) fn node(&self) -> Command {
        let mut command = Command::new(self.0.join("node/node_modules/.bin/node"));
        isolate(&mut command);
        command
    }

    /// A command that one of the Node.js packages brings, run by the Node.js that came with them.
    pub(super) fn node_command(&self, name: &str) -> Command {
        let mut command = self.node();
        command.arg(self.0.join("node/node_modules/.bin").join(name));
        command
    }
}

/// Nothing reports home, no proxy is asked, and what is printed comes at once.
fn isolate(command: &mut Command) {
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("MEM0_TELEMETRY", "False").env("PYTHONUNBUFFERED", "1").env("NO_PROXY", "*");
}

/// What it printed, where it ended well; else the test fails with all that it said.
pub(super) fn succeed(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?} ended with {status}\n{out}\n{err}");
    out.into_owned()
}
