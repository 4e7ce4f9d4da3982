//! Homes whose memories are in PostgreSQL or MariaDB, as people and programs use them.

mod backup;
mod choosing;
mod cookbook;
mod copying;
mod erasure;
mod failures;
mod moving;
mod outage;
mod sharing;

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use everlore_test_databases::{
    DatabaseInstallation, MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer,
};
use tokio::runtime::{Builder, Runtime};

use crate::home::{CommandOutput, TestHome};

/// Longer than a server database takes to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// PostgreSQL server of a test, which can be stopped and started again.
struct TestPostgres {
    runtime: Runtime,
    server: PostgresServer,
}

impl TestPostgres {
    fn start() -> Self {
        let runtime = runtime();
        let options = PostgresOptions::default().setting("fsync", "off");
        let server = runtime.block_on(PostgresServer::start(options));
        Self { runtime, server }
    }

    fn stop(&mut self) {
        self.server.stop();
    }

    fn restart(&mut self) {
        self.runtime.block_on(self.server.restart());
    }

    /// Returns the address with the password.
    fn url(&self) -> String {
        self.server.url()
    }

    fn password(&self) -> String {
        let url = self.url();
        url.split_once("://").unwrap().1.split(['@', ':']).nth(1).unwrap().to_owned()
    }

    /// Returns the address as it may be shown.
    fn shown(&self) -> String {
        self.url().replace(&self.password(), "***")
    }

    /// Returns a new home whose settings choose this server.
    fn home(&self) -> TestHome {
        home_on(&self.url())
    }

    /// Fails if any output of a command has the password.
    #[track_caller]
    fn assert_hidden(&self, ran: &CommandOutput) {
        let password = self.password();
        assert!(!ran.out.contains(&password) && !ran.err.contains(&password), "{ran:?}");
    }
}

/// MariaDB server of a test.
struct TestMariaDb {
    runtime: Runtime,
    server: MariaDbServer,
}

impl TestMariaDb {
    /// Starts a server with an empty database `everlore`.
    fn start() -> Self {
        let runtime = runtime();
        let options = MariaDbOptions::default().argument("--debug-no-sync");
        let server = runtime.block_on(MariaDbServer::start(options));
        let mariadb = Self { runtime, server };
        mariadb.query("CREATE DATABASE everlore");
        mariadb
    }

    fn query(&self, statement: &str) -> Option<String> {
        self.runtime.block_on(self.server.query(statement))
    }

    /// Returns the address of a database, with the password.
    fn url(&self, database: &str) -> String {
        let url = self.server.url();
        format!("{}/{database}", url.rsplit_once('/').unwrap().0)
    }
}

fn runtime() -> Runtime {
    // Two threads: one waits for the server's answers while the test blocks on something else.
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Returns a new home whose settings choose a database.
fn home_on(url: &str) -> TestHome {
    let home = TestHome::new();
    write_config(&home, &format!("[store]\nurl = \"{url}\"\n"));
    home
}

/// Returns a command of the documents, in a shell whose path has the programs of both databases.
fn shell(folder: &Path, script: &str) -> Command {
    let installation = DatabaseInstallation::find();
    let programs = installation.postgres_program("");
    let mut command = Command::new("sh");
    command.args(["-euc", &format!("PATH=\"$PROGRAMS:$PATH\"; {script}")]).current_dir(folder);
    command.env_clear().envs(installation.environment(folder)).env("PROGRAMS", programs);
    command
}

/// Runs a command to its end.
#[track_caller]
fn run_shell(mut command: Command) -> Vec<u8> {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    output.stdout
}

fn write_config(home: &TestHome, text: &str) {
    if !home.path().exists() {
        fs::DirBuilder::new().mode(0o700).create(home.path()).unwrap();
    }
    fs::write(home.path().join("config.toml"), text).unwrap();
}

/// Waits until a condition holds.
#[track_caller]
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
