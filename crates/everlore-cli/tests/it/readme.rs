//! The README is executed: its commands run and print what it shows.

use std::{fs, path::Path, process::Command};

use crate::home::TestHome;

/// Home as the README writes it.
const HOME: &str = "~/.everlore";

/// Command of the README with the lines it should print.
struct ReadmeCommand {
    command: String,
    answer: Vec<String>,
}

#[test]
fn the_commands_of_the_readme_answer_as_it_says() {
    let home = TestHome::new();
    let shown = readme_commands(&readme());
    assert!(shown.len() >= 10, "the README shows {} commands", shown.len());
    for ReadmeCommand { command, answer } in shown {
        let printed = run(&home, &command);
        assert!(!printed.is_empty() || answer.is_empty(), "`{command}` says nothing");
        assert_output(&normalize(&printed), &normalize(&answer.join("\n")), &command);
    }
}

#[test]
fn the_readme_names_both_make_targets() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for target in ["run", "test"] {
        assert!(readme().contains(&format!("\nmake {target} ")), "make {target}");
        assert!(makefile.contains(&format!("\n{target}:")), "{target}:");
    }
}

#[test]
fn the_files_that_the_readme_links_to_exist() {
    // Output of a command may contain links.
    let readme: String = readme().split("```").step_by(2).collect();
    let links: Vec<_> =
        readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() >= 8, "{links:?}");
    for link in links.into_iter().filter(|link| !link.contains("://")) {
        assert!(root().join(link).exists(), "{link}");
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Returns the commands after `$ ` in the blocks marked `console`.
fn readme_commands(readme: &str) -> Vec<ReadmeCommand> {
    let mut all: Vec<ReadmeCommand> = Vec::new();
    for block in readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for line in block.lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => {
                    all.push(ReadmeCommand { command: command.to_owned(), answer: vec![] })
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

/// Runs a line as a shell would, with the binary on the path.
fn run(home: &TestHome, command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_everlore"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
    let home_path = home.path().display().to_string();
    let output = Command::new("sh")
        .args(["-c", &command.replace(HOME, &home_path)])
        .current_dir(home.sibling(""))
        .env_clear()
        .env("PATH", path)
        .env("TZ", "UTC")
        .env("EVERLORE_HOME", home.path())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "`{command}` fails: {error}");
    String::from_utf8(output.stdout).unwrap().replace(&home_path, HOME)
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
        let is_run = word.starts_with("ingest-");
        if is_id || is_number || is_time || is_bar || is_run {
            "…".to_owned()
        } else {
            without_ids(word)
        }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns `true` for the characters of an id, which in JSON is no separate word.
fn without_ids(word: &str) -> String {
    if word.starts_with("{\"id\":\"") { "{\"id\":\"…\"}".to_owned() } else { word.to_owned() }
}
