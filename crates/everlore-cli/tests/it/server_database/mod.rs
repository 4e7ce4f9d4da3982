//! Homes whose memories are in PostgreSQL, as people and programs use them.

mod choosing;
mod copying;
mod moving;
mod outage;
mod sharing;

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    time::{Duration, Instant},
};

use everlore_test_databases::{PostgresOptions, PostgresServer};
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
        // Two threads: one waits for the server's answers while the test blocks on something else.
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
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
        let home = TestHome::new();
        write_config(&home, &format!("[store]\nurl = \"{}\"\n", self.url()));
        home
    }

    /// Fails if any output of a command has the password.
    #[track_caller]
    fn assert_hidden(&self, ran: &CommandOutput) {
        let password = self.password();
        assert!(!ran.out.contains(&password) && !ran.err.contains(&password), "{ran:?}");
    }
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
