//! `tools/databases/run`: the servers that all tests share, and what is left when it ends.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    process::{Child, ChildStdin, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/databases/run");

/// Prints the URLs, reads a line and returns a status that nothing else returns.
const COMMAND: &str =
    r#"printf '%s\n%s\n' "$EVERLORE_TEST_POSTGRES" "$EVERLORE_TEST_MYSQL"; read -r _; exit 7"#;

/// Time in which servers must end: a fast shutdown of PostgreSQL takes a tenth of a second.
const DEADLINE: Duration = Duration::from_secs(30);

/// Runner with both servers up and a command that waits for its input.
struct SharedServers {
    runner: Child,
    /// Input of the command, which ends when this is dropped.
    input: Option<ChildStdin>,
    addresses: Vec<SocketAddr>,
    /// Temporary folder of the runner.
    folder: TempDir,
}

impl SharedServers {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Servers run as another user where tests run as root, and must reach their folders.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        let mut command = runner(&folder);
        command.args(["sh", "-c", COMMAND]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut runner = command.spawn().unwrap();
        let lines = BufReader::new(runner.stdout.take().unwrap()).lines().take(2);
        let addresses = lines.map(|url| address(&url.unwrap())).collect();
        Self { input: runner.stdin.take(), runner, addresses, folder }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.runner), signal).unwrap();
    }

    /// Returns `true` if both servers accept connections.
    fn listen(&self) -> bool {
        self.addresses.len() == 2
            && self.addresses.iter().all(|address| TcpStream::connect(address).is_ok())
    }

    fn assert_nothing_is_left(&self) {
        assert!(self.addresses.iter().all(|address| TcpStream::connect(address).is_err()));
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 0);
    }
}

/// Returns a runner that does not see the servers of the one that these tests run under.
fn runner(folder: &TempDir) -> Command {
    let mut command = Command::new(RUNNER);
    command.env_remove("EVERLORE_TEST_POSTGRES").env_remove("EVERLORE_TEST_MYSQL");
    command.env("TMPDIR", folder.path());
    command
}

/// Returns the address in `postgres://user:password@127.0.0.1:5432/database`.
fn address(url: &str) -> SocketAddr {
    let (_, rest) = url.split_once('@').unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

#[test]
fn the_status_of_the_command_is_returned_and_the_servers_are_gone() {
    let mut servers = SharedServers::start();
    assert!(servers.listen());
    servers.input = None;
    assert_eq!(servers.runner.wait().unwrap().code(), Some(7));
    servers.assert_nothing_is_left();
}

#[test]
fn a_signal_ends_the_command_and_the_servers() {
    // As a shell tells them: 128 and the number of the signal.
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut servers = SharedServers::start();
        servers.signal(signal);
        assert_eq!(servers.runner.wait().unwrap().code(), Some(status));
        servers.assert_nothing_is_left();
    }
}

#[test]
fn the_servers_of_a_killed_runner_end_and_the_next_one_deletes_their_folder() {
    let mut killed = SharedServers::start();
    killed.signal(Signal::KILL);
    assert_eq!(killed.runner.wait().unwrap().signal(), Some(9));
    let deadline = Instant::now() + DEADLINE;
    while killed.addresses.iter().any(|address| TcpStream::connect(address).is_ok()) {
        assert!(Instant::now() < deadline, "a server still listens");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(runner(&killed.folder).arg("true").status().unwrap().success());
    killed.assert_nothing_is_left();
}
