//! Examples of the repository, run as their readers run them.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::{clients, succeed};
use crate::{home::TestHome, serve::TestServer};

/// Output of both examples.
const EXPECTED_LINES: [&str; 4] = [
    "recall: Mei prefers oolong tea in the afternoon",
    "回忆: 小美对花生过敏",
    "context: ",
    "edited: Mei prefers jasmine tea in the afternoon 茉莉花茶",
];

fn run(mut command: Command) {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    command
        .stdin(Stdio::null())
        .env("EVERLORE_URL", format!("http://{}", server.address))
        .env("EVERLORE_TOKEN", &server.token);
    let output = succeed(command);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), EXPECTED_LINES.len(), "{output}");
    for (line, expected) in lines.iter().zip(EXPECTED_LINES) {
        assert!(line.starts_with(expected), "{output}");
    }
    assert_eq!(lines[2].to_lowercase(), "context: true");
}

fn example(path: &str) -> std::path::PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(path)
}

#[test]
fn the_python_example_remembers_and_recalls() {
    let Some(clients) = clients() else { return };
    let mut command = clients.python_command("python");
    command.arg(example("python/everlore_http.py"));
    run(command);
}

#[test]
fn the_typescript_example_remembers_and_recalls() {
    let Some(clients) = clients() else { return };
    let mut command = clients.node();
    command.arg(example("typescript/everlore_http.ts"));
    run(command);
}
