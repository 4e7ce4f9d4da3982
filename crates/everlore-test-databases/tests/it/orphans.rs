//! Servers end with the test process, even if nothing in it can end them.

use std::{
    env,
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use everlore_test_databases::{MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer};

/// Variable that makes this program the process that is killed.
const VICTIM_VAR: &str = "EVERLORE_TEST_SERVERS_OF_VICTIM";

/// Beginning of the line with which the victim tells the processes of its servers.
const REPORT: &str = "servers: ";

/// Time in which servers must end: a fast shutdown of PostgreSQL takes a tenth of a second.
const DEADLINE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn servers_end_with_a_process_that_is_killed() {
    if env::var_os(VICTIM_VAR).is_some() {
        return start_servers_and_wait().await;
    }
    let mut victim = Command::new(env::current_exe().unwrap());
    let test = "orphans::servers_end_with_a_process_that_is_killed";
    // The folders of its servers stay, so they are put where this process deletes them; servers must reach them.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
    victim.args([test, "--exact", "--nocapture"]).stdout(Stdio::piped());
    victim.env(VICTIM_VAR, "yes").env("TMPDIR", folder.path());
    let mut victim = victim.spawn().unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
    let report = lines.into_iter().find_map(|line| Some(line.split_once(REPORT)?.1.to_owned()));
    victim.kill().unwrap();
    victim.wait().unwrap();
    let deadline = Instant::now() + DEADLINE;
    for process in report.unwrap().split(' ').map(|id| Path::new("/proc").join(id)) {
        while process.join("exe").exists() {
            assert!(Instant::now() < deadline, "{} still runs", process.display());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[expect(clippy::print_stdout, reason = "the test that started this process reads it")]
async fn start_servers_and_wait() {
    // The thread that starts a server may end: the server stays.
    let postgres = tokio::spawn(PostgresServer::start(PostgresOptions::default())).await.unwrap();
    let mariadb = tokio::spawn(MariaDbServer::start(MariaDbOptions::default())).await.unwrap();
    println!("{REPORT}{} {}", postgres.process_id().unwrap(), mariadb.process_id().unwrap());
    std::future::pending().await
}
