//! Pipes, devices, sockets and folders where a file belongs, names that are no text, and a clock beyond the calendar: a
//! clear error at once, never a hang, a panic or an endless read.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, net::UnixListener},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::home::TestHome;

/// Time after which a command counts as hanging.
const DEADLINE: Duration = Duration::from_secs(20);

/// Runs a command that may hang, and returns its exit code and all that it printed.
fn run<S: AsRef<OsStr>>(home: &TestHome, args: &[S]) -> (i32, String) {
    run_command(home.command(args))
}

fn run_command(mut command: Command) -> (i32, String) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, began) = (command.spawn().unwrap(), Instant::now());
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > DEADLINE {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&printed).into_owned())
}

fn make_pipe(path: &Path) -> PathBuf {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    path.to_owned()
}

/// Returns the path and the name of everything that is no file.
fn special_files(folder: &Path) -> (Vec<(PathBuf, &'static str)>, UnixListener) {
    let socket = folder.join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let files = vec![
        (make_pipe(&folder.join("pipe")), "a pipe"),
        (socket, "a socket"),
        (PathBuf::from("/dev/zero"), "a device"),
    ];
    (files, listener)
}

#[test]
fn what_is_no_file_is_not_read_by_any_command() {
    let home = TestHome::new();
    home.remember("I like tea 我喜欢茶");
    let (files, _listener) = special_files(&home.sibling(""));
    for (path, name) in files {
        let path = path.to_str().unwrap();
        for args in [
            &["ingest", path][..],
            &["memory", "import", path],
            &["import", "mem0", path],
            &["fs", "add", "resources/a.md", "--file", path],
            &["--config", path, "memory", "list"],
        ] {
            let (code, printed) = run(&home, args);
            assert!(code == 1 || code == 2, "{args:?}: {printed}");
            let is_told = printed.contains(name) || printed.contains("not a regular file");
            assert!(is_told && !printed.contains("panicked"), "{args:?}: {printed}");
        }
    }
    let (code, printed) = run(&home, &["memory", "import", "/"]);
    assert!(code == 2 && printed.contains("a folder"), "{printed}");
}

#[test]
fn settings_and_keys_that_are_pipes_are_told_at_once() {
    let home = TestHome::new();
    home.remember("I like tea 我喜欢茶");
    for (file, args) in [
        ("config.toml", &["memory", "list"][..]),
        ("server.token", &["serve", "--port", "0"]),
        ("server.keys.json", &["serve", "key", "list"]),
    ] {
        let pipe = make_pipe(&home.path().join(file));
        let (code, printed) = run(&home, args);
        assert_eq!(code, 2, "{file}: {printed}");
        assert!(printed.contains("it is a pipe"), "{file}: {printed}");
        fs::remove_file(pipe).unwrap();
    }
}

#[test]
fn a_vault_with_pipes_and_sockets_is_synced_without_them() {
    let home = TestHome::new();
    home.remember("I like tea 我喜欢茶");
    let vault = home.sibling("notes");
    fs::create_dir(&vault).unwrap();
    make_pipe(&vault.join("pipe.md"));
    make_pipe(&vault.join("MEMORY.md"));
    let _listener = UnixListener::bind(vault.join("socket.md")).unwrap();
    let (code, printed) = run(&home, &["vault", "sync", vault.to_str().unwrap()]);
    assert!((0..=2).contains(&code) && !printed.contains("panicked"), "{code}: {printed}");
}

#[test]
fn a_file_that_grows_is_read_up_to_the_limit() {
    let home = TestHome::new();
    let file = home.sibling("large.txt");
    fs::write(&file, "tea 茶 ".repeat(1_000)).unwrap();
    let (code, printed) = run(&home, &["ingest", "--max-bytes", "1000", file.to_str().unwrap()]);
    assert!(code == 2 && printed.contains("--max-bytes"), "{printed}");
}

#[test]
fn names_that_are_no_text_do_not_share_an_id() {
    let home = TestHome::new();
    let folder = home.sibling("docs");
    fs::create_dir(&folder).unwrap();
    let names = [b"a\xff.md", b"a\xfe.md"].map(|name| folder.join(OsStr::from_bytes(name)));
    fs::write(&names[0], "# Tea\n\nOolong 乌龙").unwrap();
    fs::write(&names[1], "# Coffee\n\nEspresso 浓缩").unwrap();
    let mut args: Vec<&OsStr> = vec![OsStr::new("ingest")];
    args.extend(names.iter().map(|name| name.as_os_str()));
    let (code, printed) = run(&home, &args);
    assert!(code == 2 && printed.contains("not UTF-8"), "{printed}");
    fs::write(folder.join("茶.md"), "# Tea\n\nOolong 乌龙").unwrap();
    let (code, printed) = run(&home, &["ingest", folder.to_str().unwrap()]);
    assert!(code == 0, "{printed}");
}

/// Shared library that moves the clock of a process to the year 31,000.
const FAR_CLOCK: &str = "\
#include <time.h>\n#include <sys/time.h>\n\
int clock_gettime(clockid_t id, struct timespec *ts) { ts->tv_sec = 916000000000LL; ts->tv_nsec = 0; return 0; }\n\
time_t time(time_t *t) { if (t) *t = 916000000000LL; return 916000000000LL; }\n";

#[cfg(target_os = "linux")]
#[test]
fn a_clock_beyond_the_calendar_is_no_panic() {
    let home = TestHome::new();
    let (source, library) = (home.sibling("clock.c"), home.sibling("clock.so"));
    fs::write(&source, FAR_CLOCK).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().unwrap().success());
    for args in [
        &["remember", "I live in Rome 我住在罗马"][..],
        &["observe", "--session", "s", "see you next friday 下周五见"],
        &["recall", "what did I say last week 上周我说了什么"],
        &["context", "where do I live?"],
        &["memory", "list"],
        &["memory", "history"],
        &["upkeep"],
        &["doctor"],
    ] {
        let mut command = home.command(args);
        command.env("LD_PRELOAD", &library);
        let (code, printed) = run_command(command);
        assert!(!printed.contains("panicked") && (0..=2).contains(&code), "{args:?}: {printed}");
    }
    assert_eq!(home.recall("罗马"), ["I live in Rome 我住在罗马"]);
}
