//! There is no telemetry: every command runs under a filter of the kernel that kills a process at its first socket,
//! and works. Commands that use a network because they are asked to are killed by the same filter.

use std::{
    collections::BTreeSet,
    io::Write,
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::{home::TestHome, readme::read_page};

/// Signal of a process that the filter killed.
const SIGSYS: i32 = 31;

/// Every command that ends by itself and needs no server, in an order in which later ones find what earlier ones
/// stored; after ` < ` comes its standard input.
const COMMANDS: [&str; 76] = [
    "remember I'm allergic to peanuts",
    "remember 我喜欢喝龙井茶",
    "remember My password is hunter2secret!",
    "observe --session monday --role user --end < I moved to Lisbon.",
    "ingest notes.md",
    "import auto graph.jsonl",
    "recall peanuts --explain",
    "search 龙井",
    "list",
    "show agent://default/user/general/i-m-allergic-to-peanuts-ce122804",
    "context What should I cook tonight?",
    "context 早上喝什么？",
    "prompt show What should I cook tonight?",
    "chat --offline What am I allergic to?",
    "undo",
    "redo",
    "memory history",
    "memory stats",
    "memory status",
    "memory verify",
    "memory export export.jsonl",
    "memory import export.jsonl",
    "memory clean --dry-run",
    "fs tree user",
    "fs find 早上喝什么",
    "tool list",
    "tool call memory_recall {\"query\":\"peanuts\"}",
    "layer list",
    "layer add user Likes green tea",
    "layer history user",
    "session end monday",
    "session answered monday Fine.",
    "extract",
    "quarantine list",
    "experience add --json < {\"pain\":\"cargo cannot link\",\"solution\":\"install cc\",\"outcome\":\"worked\"}",
    "experience find linker",
    "feedback agent://default/user/general/i-m-allergic-to-peanuts-ce122804 good",
    "upkeep",
    "audit",
    "audit graph.jsonl",
    "reflect",
    "proposals list",
    "skill list",
    "workflow list",
    "schedule explain every weekday at 9am",
    "schedule add 每天早上8点吃药",
    "schedule list",
    "heartbeat --once",
    "heartbeat status",
    "profile",
    "trajectory list",
    "ledger",
    "vault init vault",
    "vault sync vault",
    "scopes",
    "store show",
    "store copy --to sqlite:copy.db",
    "agent list",
    "agent settings",
    "agent move default --to sqlite:moved.db",
    "embed status",
    "model list",
    "serve status",
    "serve key add ci --role read",
    "mcp < {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    "connect --list",
    "connect claude-code",
    "disconnect claude-code",
    "hook claude-code UserPromptSubmit < {\"session_id\":\"s\",\"cwd\":\"/\",\"prompt\":\"What should I cook tonight?\"}",
    "hook claude-code drain",
    "doctor",
    "health",
    "tokens some words",
    "config show",
    "completions bash",
    "forget --all-of-user default --yes",
];

/// Commands that the list leaves out: one asks a person at a terminal, the other runs the same commands again.
const NOT_LISTED: [&str; 2] = ["onboard", "demo"];

#[test]
fn no_command_opens_a_socket_unasked() {
    for language in ["en", "zh"] {
        let home = TestHome::in_ram();
        let entity =
            r#"{"type":"entity","name":"小林","entityType":"person","observations":["住在杭州"]}"#;
        std::fs::write(home.sibling("notes.md"), "# Rollback\nRun make rollback.\n").unwrap();
        std::fs::write(home.sibling("graph.jsonl"), entity).unwrap();
        for command in COMMANDS {
            let ran = run_without_sockets(&home, language, command);
            assert_eq!(ran.signal, None, "`{command}` opens a socket");
            assert!(ran.code.is_some_and(|code| code < 2), "`{command}`: {ran:?}");
        }
    }
}

#[test]
fn the_filter_kills_a_command_that_is_asked_to_use_a_network() {
    let home = TestHome::new();
    let remote = ["postgres", "mysql"]
        .map(|database| format!("recall tea --store {database}://nobody@127.0.0.1:1/nothing"));
    for command in remote.iter().map(String::as_str).chain(["serve --port 0"]) {
        let ran = run_without_sockets(&home, "en", command);
        assert_eq!(ran.signal, Some(SIGSYS), "{command}: {ran:?}");
    }
}

#[test]
fn every_command_of_the_reference_is_tried_without_a_network() {
    let reference = read_page("docs/reference/cli.md");
    let named = |line: &str| Some(line.strip_prefix("## everlore ")?.split(' ').next()?.to_owned());
    let commands: BTreeSet<String> = reference.lines().filter_map(named).collect();
    let tried: BTreeSet<&str> = COMMANDS.iter().filter_map(|line| line.split(' ').next()).collect();
    let is_missing =
        |name: &&String| !tried.contains(name.as_str()) && !NOT_LISTED.contains(&name.as_str());
    let missing: Vec<_> = commands.iter().filter(is_missing).collect();
    assert!(commands.len() > 40 && missing.is_empty(), "{missing:?}");
}

/// End of a command under the filter.
#[derive(Debug)]
struct FilteredRun {
    code: Option<i32>,
    signal: Option<i32>,
    #[expect(dead_code, reason = "shown when a test fails")]
    printed: String,
}

/// Runs a command that the kernel kills if it opens a socket of any kind.
fn run_without_sockets(home: &TestHome, language: &str, line: &str) -> FilteredRun {
    let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
    let mut command = home.command(&["--lang", language]);
    command.args(words(line));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let input = format!("{input}\n");
    let output = std::thread::scope(|threads| {
        // The filter is of one thread, and of what it starts.
        threads.spawn(|| run_filtered(&mut command, &input)).join().unwrap()
    });
    let printed = [output.stdout, output.stderr].concat();
    FilteredRun {
        code: output.status.code(),
        signal: output.status.signal(),
        printed: String::from_utf8_lossy(&printed).into_owned(),
    }
}

fn run_filtered(command: &mut Command, input: &str) -> std::process::Output {
    seccompiler::apply_filter(&socket_filter()).unwrap();
    let mut child = command.spawn().unwrap();
    // A command that is killed or needs no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Returns a filter that allows every call but `socket`.
fn socket_filter() -> BpfProgram {
    let killed = [(libc::SYS_socket, Vec::new())];
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let (otherwise, on_socket) = (SeccompAction::Allow, SeccompAction::KillProcess);
    let rules = killed.into_iter().collect();
    SeccompFilter::new(rules, otherwise, on_socket, architecture).unwrap().try_into().unwrap()
}

/// Splits a command into words; a statement or a question is one.
fn words(line: &str) -> Vec<&str> {
    let starts = ["remember ", "tool call memory_recall ", "chat --offline ", "prompt show "];
    match starts.iter().find(|start| line.starts_with(**start)) {
        Some(start) => start.split_whitespace().chain([&line[start.len()..]]).collect(),
        None => line.split_whitespace().collect(),
    }
}
