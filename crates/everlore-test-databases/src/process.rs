//! Server processes that end with the test process, and the signals that end them sooner.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{LazyLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    DatabaseInstallation,
    server_folder::{ServerAccount, ServerFolder},
};

/// Time that a server gets to shut down before it is killed; it takes a tenth of a second.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval of looks at processes that are about to end.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Lines of a log that a panic shows; servers tell the reason in their last ones.
const SHOWN_LINES: usize = 20;

/// Shell script that becomes the program unless the test process died before the signal for that was set.
const UNLESS_ORPHANED: &str = r#"[ "$PPID" = "$0" ] && exec "$@""#;

/// Command to start and the channel for its process.
type LaunchRequest = (Command, mpsc::Sender<io::Result<Child>>);

/// Thread that starts every server. A server ends with the thread that started it, and this one ends with the process;
/// those of tests and of tokio may end sooner.
static LAUNCHER: LazyLock<mpsc::Sender<LaunchRequest>> = LazyLock::new(|| {
    let (sender, requests) = mpsc::channel::<LaunchRequest>();
    thread::spawn(move || {
        for (mut command, reply) in requests {
            // A test that ended meanwhile needs no process.
            let _ = reply.send(command.spawn());
        }
    });
    sender
});

/// Running server.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    log: PathBuf,
}

impl ServerProcess {
    /// Starts a command of [`server_command`]; its output goes to the end of the log.
    pub(crate) fn launch(mut command: Command, log: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(log).expect("a log file");
        command.stdout(copy_of(&file)).stderr(copy_of(&file));
        let (reply, child) = mpsc::channel();
        LAUNCHER.send((command, reply)).expect("the launcher never ends");
        let child = child.recv().expect("the launcher answers");
        Self { child: child.expect("setpriv is installed"), log: log.to_owned() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails the test if the server has ended.
    pub(crate) fn assert_running(&mut self) {
        if let Some(status) = self.child.try_wait().expect("it is our child") {
            panic!("the server ended with {status}:\n{}", self.last_lines());
        }
    }

    /// Kills the server and all its processes with SIGKILL, as the end of the machine would.
    pub(crate) fn kill_all(&mut self) {
        let descendants = descendants(self.id());
        // It may have ended by itself.
        let _ = self.child.kill();
        descendants.iter().for_each(|id| signal(*id, Signal::KILL));
        let _ = self.child.wait();
        while descendants.iter().any(|id| is_alive(*id)) {
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks the server to end and waits for it.
    pub(crate) fn end(&mut self, how: Signal) {
        signal(self.id(), how);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                return self.kill_all();
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the end of the log.
    pub(crate) fn last_lines(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
    }
}

/// Returns a command that runs a program without root's rights, with the folder as its home, and ends it by `on_orphaned`
/// (`INT`, `KILL` …) when the thread that starts it ends.
pub(crate) fn server_command(
    installation: &DatabaseInstallation,
    folder: &ServerFolder,
    on_orphaned: &str,
    program: &Path,
) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", on_orphaned]);
    if let Some(ServerAccount { user, group }) = ServerAccount::if_root() {
        command.args([format!("--reuid={user}"), format!("--regid={group}")]).arg("--clear-groups");
    }
    command.args(["sh", "-c", UNLESS_ORPHANED]).arg(std::process::id().to_string()).arg(program);
    command.env_clear().envs(installation.environment(&folder.path()));
    command.current_dir(folder.path()).stdin(Stdio::null());
    command
}

/// Runs a command to its end, beside the async threads.
pub(crate) async fn run_to_end(mut command: Command) {
    let run = move || {
        let output = command.output().expect("setpriv is installed");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success(), "{command:?} fails:\n{text}");
    };
    tokio::task::spawn_blocking(run).await.expect("the command succeeds");
}

fn copy_of(file: &File) -> Stdio {
    file.try_clone().expect("an open file").into()
}

fn signal(id: u32, signal: Signal) {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    // The process may have ended.
    let _ = kill_process(id.expect("an id of a process"), signal);
}

/// Returns the processes below one, at any depth.
fn descendants(root: u32) -> Vec<u32> {
    let parents = parents();
    let is_below = |id: &u32| {
        let ancestors = std::iter::successors(parents.get(id), |parent| parents.get(*parent));
        ancestors.into_iter().any(|ancestor| *ancestor == root)
    };
    parents.keys().copied().filter(is_below).collect()
}

/// Returns the parent of each process.
fn parents() -> HashMap<u32, u32> {
    let entries = fs::read_dir("/proc").expect("a Linux system").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, status_fields(id)?.1))).collect()
}

/// Returns `true` unless the process has ended; one that only waits for its parent to notice has.
fn is_alive(id: u32) -> bool {
    status_fields(id).is_some_and(|(state, _)| state != "Z" && state != "X")
}

/// Returns state and parent of a process. They follow its name, which is in parentheses and may contain some.
fn status_fields(id: u32) -> Option<(String, u32)> {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = status.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}
