//! Read-only homes, on a read-only disk or of another user: reading works, writing is rejected.

use std::{
    fs,
    io::Write,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

#[cfg(feature = "server")]
use serde_json::{Value, json};

use crate::home::{CommandOutput, TestHome};

/// Numeric id of the user `nobody`.
const NOBODY: u32 = 65_534;

/// Home that the commands of this test can read but not write.
struct ReadOnlyHome {
    home: TestHome,
    /// Copy of the program that an unprivileged user can run.
    program: PathBuf,
    is_root: bool,
}

impl ReadOnlyHome {
    /// Makes a home read-only. Permissions do not stop root, so a test run as root starts its commands as `nobody`.
    fn new(home: TestHome) -> Self {
        let is_root = fs::metadata(home.path()).unwrap().uid() == 0;
        let program = if is_root {
            home.sibling("everlore")
        } else {
            PathBuf::from(env!("CARGO_BIN_EXE_everlore"))
        };
        if is_root {
            let built = env!("CARGO_BIN_EXE_everlore");
            fs::hard_link(built, &program)
                .or_else(|_| fs::copy(built, &program).map(drop))
                .unwrap();
            set_mode(&home.sibling(""), 0o755);
        }
        let fixed = Self { home, program, is_root };
        fixed.remove_write_permission();
        fixed
    }

    fn remove_write_permission(&self) {
        for_each_below(&self.home.path(), &|path| {
            set_mode(path, if path.is_dir() { 0o555 } else { 0o444 })
        });
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut command = Command::new(&self.program);
        command.env_clear().env("TZ", "UTC").env("HOME", "/nonexistent");
        command.arg("--home").arg(self.home.path()).args(args).current_dir("/");
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that needs no input may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        CommandOutput::from(child.wait_with_output().unwrap())
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_with_input(args, "")
    }
}

impl Drop for ReadOnlyHome {
    fn drop(&mut self) {
        // So that the temporary folder can be removed.
        for_each_below(&self.home.path(), &|path| {
            set_mode(path, if path.is_dir() { 0o755 } else { 0o644 })
        });
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a folder and everything below it, each folder after its content.
fn for_each_below(path: &Path, change: &dyn Fn(&Path)) {
    if path.is_dir() {
        set_mode(path, 0o755);
        fs::read_dir(path)
            .unwrap()
            .for_each(|entry| for_each_below(&entry.unwrap().path(), change));
    }
    change(path);
}

fn known() -> (TestHome, String) {
    let home = TestHome::new();
    home.remember("我的猫叫小白。");
    let id = home.remember("The staging server listens on port 9443.");
    (home, id)
}

#[test]
fn everything_that_reads_works_and_says_once_that_nothing_is_noted() {
    let (home, id) = known();
    let before = home.files();
    let fixed = ReadOnlyHome::new(home);
    for (args, words) in [
        (&["recall", "which port does the staging server use"][..], "9443"),
        (&["recall", "我的猫叫什么"], "小白"),
        (&["context", "Which port does the staging server use?"], "9443"),
        (&["context", "我的猫叫什么名字？"], "小白"),
        (&["memory", "list"], "小白"),
        (&["memory", "show", &id], "9443"),
        (&["memory", "history", &id], "person"),
        (&["memory", "export"], "小白"),
        (&["fs", "tree"], "agent://"),
        (&["fs", "grep", "9443"], "9443"),
        (&["--json", "recall", "小白"], "小白"),
        (&["--json", "scopes"], "default"),
    ] {
        let ran = fixed.run(args);
        assert!(ran.code == 0 && ran.out.contains(words), "{args:?}: {ran:?}");
        assert_eq!(ran.err.matches("is read-only here").count(), 1, "{args:?}: {ran:?}");
    }
    assert_eq!(fixed.home.files(), before);
}

#[test]
fn writing_is_refused_with_what_to_do() {
    let (home, id) = known();
    let before = home.files();
    let fixed = ReadOnlyHome::new(home);
    for args in [
        &["remember", "I sail."][..],
        &["remember", "我喜欢航海。"],
        &["memory", "delete", &id],
        &["memory", "forget", &id, "--yes"],
    ] {
        let ran = fixed.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("is read-only here"), "{args:?}: {ran:?}");
    }
    let ran = fixed.run(&["--json", "memory", "delete", &id]);
    assert_eq!(ran.json()["error"]["code"], "read_only", "{ran:?}");
    assert!(ran.out.contains("--home"), "{ran:?}");
    assert_eq!(fixed.home.files(), before);
}

#[cfg(feature = "server")]
#[test]
fn tools_that_read_work_over_mcp() {
    let (home, _) = known();
    let fixed = ReadOnlyHome::new(home);
    let call = |id: u32, name: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": name, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            } } })
    };
    let script = format!(
        "{}\n{}\n",
        call(1, "memory_recall", json!({ "query": "我的猫叫什么" })),
        call(2, "memory_save", json!({ "content": "I sail." }))
    );
    let ran = fixed.run_with_input(&["mcp"], &script);
    let answer = |id: u32| ran.lines().into_iter().find(|line| line["id"] == id).unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(answer(1).to_string().contains("小白"), "{ran:?}");
    assert_eq!(answer(2)["result"]["isError"], true, "{ran:?}");
    assert!(answer(2).to_string().contains("is read-only here"), "{ran:?}");
}

#[cfg(feature = "server")]
#[test]
fn what_a_server_just_saved_is_seen_beside_it() {
    let (home, _) = known();
    let server = crate::serve::TestServer::start(&home, &[]);
    let saved = json!({ "content": "The pilot boat is called Otter." });
    server.request("POST", "/v1/memories", Some(saved)).json(201);
    let fixed = ReadOnlyHome::new(home);
    let ran = fixed.run(&["recall", "what is the pilot boat called"]);
    assert!(ran.code == 0 && ran.out.contains("Otter"), "{ran:?}");
    drop(server);
    // The process was killed, so its writes are still only in the write-ahead log.
    let ran = fixed.run(&["recall", "what is the pilot boat called"]);
    assert!(ran.code == 0 && ran.out.contains("Otter"), "{ran:?}");
}
