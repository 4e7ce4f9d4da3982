//! Command checks: no shell, no inherited environment, a short time limit, and no process left behind.

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{self, Read},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::sync::lock;
use crate::types::{Check, CheckReason, CheckResult, CheckStatus, StoredCheck};

/// Time limit of a command; one that needs longer is no check.
const LIMIT: Duration = Duration::from_secs(2);

/// Wait for the end of the output after the command has exited; output is read as it comes.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

/// Time that a recall waits for commands: their limit, and a little for killing them.
pub(super) const MAX_COMMAND_WAIT: Duration = Duration::from_millis(2_500);

/// Lifetime of a cached result: a conversation asks for the same memories again and again.
const CACHE_TTL: Duration = Duration::from_secs(60);

/// Capacity of the result cache; a full cache is cleared.
const MAX_CACHED: usize = 256;

/// Largest output read; no expected text is longer.
const MAX_OUTPUT: usize = 64 * 1024;

/// Cache of recent command results.
#[derive(Default)]
pub(super) struct CommandResultCache(Mutex<HashMap<Check, (Instant, CheckResult)>>);

impl CommandResultCache {
    /// Returns the command's result if it is at most a minute old.
    pub(super) fn cached(&self, stored: &StoredCheck) -> Option<CheckResult> {
        let cache = lock(&self.0);
        let (at, verified) = cache.get(&stored.check)?;
        (at.elapsed() < CACHE_TTL).then(|| verified.clone())
    }

    /// Runs the command and caches its result.
    pub(super) fn run_and_cache(
        &self,
        stored: &StoredCheck,
        environment: &[(OsString, OsString)],
    ) -> CheckResult {
        let (verdict, reason) = run_check_command(&stored.check, environment);
        let verified = stored.result(verdict, reason);
        let mut cache = lock(&self.0);
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(stored.check.clone(), (Instant::now(), verified.clone()));
        verified
    }
}

fn run_check_command(
    check: &Check,
    environment: &[(OsString, OsString)],
) -> (CheckStatus, CheckReason) {
    let Check::Command { command, folder, prints } = check else {
        return (CheckStatus::Unverifiable, CheckReason::SetElsewhere);
    };
    let Some((program, arguments)) = command.split_first() else {
        return (CheckStatus::Unverifiable, CheckReason::SetElsewhere);
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(folder.as_deref().unwrap_or("/"));
    let output = if prints.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    match command.spawn().and_then(wait_for_output) {
        Ok(Some((status, printed))) => judge_output(status, &printed, prints.as_deref()),
        Ok(None) => (CheckStatus::Unverifiable, CheckReason::TimedOut),
        Err(error) => {
            (CheckStatus::Unverifiable, CheckReason::Unreadable(error.kind().to_string()))
        }
    }
}

fn judge_output(
    status: ExitStatus,
    printed: &[u8],
    expected: Option<&str>,
) -> (CheckStatus, CheckReason) {
    match expected {
        _ if !status.success() => (CheckStatus::Stale, CheckReason::Failed(status.code())),
        Some(expected) if String::from_utf8_lossy(printed).trim() != expected.trim() => {
            (CheckStatus::Stale, CheckReason::OutputDiffers)
        }
        _ => (CheckStatus::Fresh, CheckReason::Passed),
    }
}

/// Returns the exit status and output of a command; `None` if it was killed at the time limit.
fn wait_for_output(mut child: Child) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let printed = child.stdout.take().map(read_in_background);
    let in_time = has_ended_in_time(&mut child)?;
    // The kill ends the processes that it left running; its pid is not reused before the wait.
    end_group(&mut child);
    let status = child.wait()?;
    // A process that left the group may hold the output open for any length of time.
    let printed =
        printed.map_or(Some(Vec::new()), |printed| printed.recv_timeout(DRAIN_TIMEOUT).ok());
    Ok(printed.filter(|_| in_time).map(|printed| (status, printed)))
}

/// Reads the output in a thread while the command runs.
fn read_in_background(output: ChildStdout) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    // The receiver is dropped after the time limit.
    thread::spawn(move || drop(sender.send(read_output(output))));
    receiver
}

/// Returns the beginning of the output; reads and drops the rest, so that the command does not block.
fn read_output(mut output: ChildStdout) -> Vec<u8> {
    let (mut printed, mut chunk) = (Vec::new(), [0; 4_096]);
    while let Ok(count) = output.read(&mut chunk) {
        if count == 0 {
            break;
        }
        let room = MAX_OUTPUT.saturating_sub(printed.len());
        printed.extend_from_slice(&chunk[..count.min(room)]);
    }
    printed
}

/// Waits for the exit without reaping, so that the pid is not reused. Returns `false` after the time limit.
#[cfg(unix)]
fn has_ended_in_time(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let pid = pid(child)?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        // The receiver is dropped after the time limit.
        let _ = sender.send(());
    });
    Ok(receiver.recv_timeout(LIMIT).is_ok())
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    if let Ok(pid) = pid(child) {
        // The group may have ended already.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(unix)]
fn pid(child: &Child) -> io::Result<rustix::process::Pid> {
    let raw = i32::try_from(child.id()).ok();
    raw.and_then(rustix::process::Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Polls for the exit, on systems without process groups.
#[cfg(not(unix))]
fn has_ended_in_time(child: &mut Child) -> io::Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::types::{Actor, Timestamp};

    fn command(words: &[&str], prints: Option<&str>) -> StoredCheck {
        let check = Check::Command {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            folder: None,
            prints: prints.map(str::to_owned),
        };
        StoredCheck::unsigned(check, Actor::Person, Timestamp::UNIX_EPOCH)
    }

    fn run(words: &[&str], prints: Option<&str>) -> CheckResult {
        let path = (OsString::from("PATH"), OsString::from("/usr/bin:/bin"));
        CommandResultCache::default().run_and_cache(&command(words, prints), &[path])
    }

    #[test]
    fn the_exit_code_or_the_output_decides() {
        assert_eq!(run(&["true"], None).verdict, CheckStatus::Fresh);
        assert_eq!(run(&["sh", "-c", "exit 3"], None).why(), "`sh -c exit 3` exited with 3");
        assert_eq!(run(&["printf", " 龙井\n"], Some("龙井")).verdict, CheckStatus::Fresh);
        assert_eq!(run(&["echo", "tea"], Some("coffee")).reason, CheckReason::OutputDiffers);
        assert_eq!(run(&["no-such-program-here"], None).verdict, CheckStatus::Unverifiable);
    }

    #[test]
    fn it_knows_nothing_of_our_environment() {
        // Cargo sets this for every test.
        let script = "test -z \"$CARGO_MANIFEST_DIR\" && test -n \"$PATH\"";
        assert_eq!(run(&["sh", "-c", script], None).verdict, CheckStatus::Fresh);
    }

    #[test]
    fn output_without_end_is_dropped_and_the_time_is_limited() {
        let begun = Instant::now();
        assert_eq!(run(&["yes"], Some("y")).reason, CheckReason::TimedOut);
        assert!(begun.elapsed() < LIMIT * 3, "{:?}", begun.elapsed());
    }

    /// Returns `true` if a process still reads the pipe.
    fn is_read(pipe: &std::path::Path) -> bool {
        use std::{io::Write, os::unix::fs::OpenOptionsExt};
        let mut options = std::fs::OpenOptions::new();
        options.write(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        // A pipe without a reader cannot be opened for writing.
        let Ok(mut pipe) = options.open(pipe) else { return false };
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
            if pipe.write(b"x").as_ref().is_err_and(broken) {
                return false;
            }
        }
        true
    }

    #[test]
    fn what_it_leaves_running_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let script = format!("cat {} > /dev/null & exit 0", pipe.display());
        assert_eq!(run(&["sh", "-c", &script], Some("")).verdict, CheckStatus::Fresh);
        assert!(!is_read(&pipe));
    }

    #[test]
    fn an_answer_counts_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("茶");
        std::fs::write(&file, "").unwrap();
        let (cache, stored) =
            (CommandResultCache::default(), command(&["test", "-e", file.to_str().unwrap()], None));
        assert_eq!(cache.cached(&stored), None);
        cache.run_and_cache(&stored, &[]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(cache.cached(&stored).unwrap().verdict, CheckStatus::Fresh);
    }
}
