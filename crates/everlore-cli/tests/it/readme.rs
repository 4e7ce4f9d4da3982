//! The README and the tour are executed: their commands run and print what the pages show.

use std::{fs, path::Path, process::Command};

use crate::home::TestHome;

/// Home as the pages write it.
const HOME: &str = "~/.everlore";

/// Beginnings of the names of runs, which go on with their time.
const RUNS: [&str; 6] = ["ingest-", "extract-", "import-", "sync-", "reflect-", "remember-"];

/// Command of a page with the lines it should print.
pub(crate) struct ShownCommand {
    pub(crate) command: String,
    answer: Vec<String>,
}

impl ShownCommand {
    /// Runs it and compares what it prints with what the page shows.
    pub(crate) fn assert(&self, home: &TestHome) {
        self.assert_printed(&run_in_shell(home, &self.command));
    }

    /// Compares what it printed with what the page shows.
    pub(crate) fn assert_printed(&self, printed: &str) {
        let Self { command, answer } = self;
        assert!(!printed.is_empty() || answer.is_empty(), "`{command}` says nothing");
        assert_output(&normalize(printed), &normalize(&answer.join("\n")), command);
    }
}

#[test]
fn the_commands_of_the_readme_answer_as_it_says() {
    assert_commands("README.md", 13);
}

#[test]
fn the_commands_of_the_tour_answer_as_it_says() {
    assert_commands("docs/tour.md", 30);
}

/// Runs the commands of a page, in order and on one new home; it must show at least this many.
fn assert_commands(page: &str, min_commands: usize) {
    let home = TestHome::new();
    let shown = shown_commands(&read_page(page));
    assert!(shown.len() >= min_commands, "{page} shows {} commands", shown.len());
    shown.iter().for_each(|shown| shown.assert(&home));
}

#[test]
fn what_the_readme_builds_and_installs_exists() {
    let (readme, makefile) = (read_page("README.md"), read_page("Makefile"));
    for target in ["run", "test", "install"] {
        assert!(readme.contains(&format!("\nmake {target} ")), "make {target}");
        assert!(makefile.contains(&format!("\n{target}:")), "{target}:");
    }
    let (_, install) = makefile.split_once(" install --locked ").unwrap();
    let (_, package) = install.lines().next().unwrap().split_once("--path ").unwrap();
    let manifest = read_page(&format!("{package}/Cargo.toml"));
    assert!(manifest.contains("name = \"everlore\""), "{package}");
}

/// Returns the folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Reads a file of the workspace.
pub(crate) fn read_page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the commands after `$ ` in the blocks marked `console`.
pub(crate) fn shown_commands(page: &str) -> Vec<ShownCommand> {
    let mut all: Vec<ShownCommand> = Vec::new();
    for block in page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for line in block.lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => {
                    all.push(ShownCommand { command: command.to_owned(), answer: vec![] })
                }
                (None, Some(shown)) => shown.answer.push(line.to_owned()),
                (None, None) => panic!("`{line}` answers no command"),
            }
        }
    }
    all
}

/// Checks that the passages between lines of three dots are printed in this order, the first at the beginning and the
/// last at the end.
fn assert_output(printed: &str, shown: &str, command: &str) {
    let passages: Vec<&str> =
        shown.split("...").map(|passage| passage.trim_matches('\n')).collect();
    let [first, .., last] = &passages[..] else {
        return assert_eq!(printed, shown, "`{command}` answers something else");
    };
    assert!(
        printed.starts_with(first) && printed.ends_with(last),
        "`{command}` answers:\n{printed}"
    );
    let mut rest = printed;
    for passage in passages {
        let at =
            rest.find(passage).unwrap_or_else(|| panic!("`{command}` lacks {passage}:\n{printed}"));
        rest = &rest[at + passage.len()..];
    }
}

/// Runs a line as a shell would, with the binary on the path, and returns what a terminal would show.
pub(crate) fn run_in_shell(home: &TestHome, command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_everlore"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
    let (user_path, home_path) = (home.sibling(""), home.path().display().to_string());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {}", command.replace(HOME, &home_path))])
        .current_dir(&user_path)
        .env_clear()
        .env("PATH", path)
        .env("HOME", &user_path)
        .env("TZ", "UTC")
        .env("EVERLORE_HOME", home.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "`{command}` fails: {printed}");
    let user_path = user_path.display().to_string();
    printed.replace(&home_path, HOME).replace(user_path.trim_end_matches('/'), "~")
}

/// Removes what differs from day to day: ids, runs, times, scores and alignment.
fn normalize(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_id = bare.len() >= 8 && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let is_number =
            !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || ".:".contains(c));
        let is_time = bare.ends_with('Z') && bare.parse::<jiff::Timestamp>().is_ok();
        let is_bar = word.contains('█');
        let is_run = RUNS.iter().any(|run| {
            word.strip_prefix(run)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        if is_id || is_number || is_time || is_bar || is_run {
            "…".to_owned()
        } else {
            without_ids(word)
        }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Replaces the id of a JSON object, which is no separate word.
fn without_ids(word: &str) -> String {
    if word.starts_with("{\"id\":\"") { "{\"id\":\"…\"}".to_owned() } else { word.to_owned() }
}
