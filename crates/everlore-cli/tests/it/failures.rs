//! Errors: a plain message with a hint, as JSON if requested, with exit code 2.

use std::{ffi::OsStr, fs, process::Stdio};

use serde_json::Value;

use crate::{
    home::{TestHome, turn_lines, write_file},
    kill::spin,
    random::TestRandom,
};

/// Expects an error as JSON and returns it.
fn failure<S: AsRef<OsStr>>(home: &TestHome, args: &[S], input: &[u8]) -> Value {
    let ran = home.run_with_input(args, input);
    assert_eq!(ran.code, 2, "{ran:?}");
    let error = ran.json()["error"].clone();
    for key in ["code", "message", "hint"] {
        assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }
    error
}

#[test]
fn failures_say_what_to_do_in_plain_words() {
    let home = TestHome::new();
    home.remember("tea");
    let ran = home.run(&["memory", "show", "ffffffff"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.out, "");
    assert_eq!(
        ran.err,
        "error: memory `ffffffff` not found\nhint: list the memories with `everlore list`; only ids of the \
         current agent and user are found\n"
    );
}

#[test]
fn failures_are_json_where_asked() {
    let home = TestHome::new();
    home.remember("tea");
    let cases: [(&[&str], &str); 11] = [
        (&["--json", "memory", "show", "ffffffff"], "not_found"),
        (&["--json", "memory", "show", "茶"], "invalid"),
        (&["--json", "remember", " "], "invalid"),
        (&["--json", "remember", "x", "--importance", "7"], "invalid"),
        (&["--json", "memory", "forget", "0"], "invalid"),
        (&["--json", "memory", "edit", "0"], "invalid"),
        (&["--json", "memory", "undo", "99"], "not_found"),
        (&["--json", "--agent", "a/b", "recall", "x"], "invalid"),
        (&["recall", "--json", "--limit", "many", "x"], "usage"),
        (&["no-such-command", "--json"], "usage"),
        (&["--json", "remember", "x", "--kind", "colour"], "usage"),
    ];
    for (args, code) in cases {
        assert_eq!(failure(&home, args, b"")["code"], code, "{args:?}");
    }
}

#[test]
fn usage_errors_have_exit_code_2_and_help_has_0() {
    let home = TestHome::new();
    assert_eq!(home.run(&["recall"]).code, 2);
    assert_eq!(home.run(&["--help"]).code, 0);
    assert_eq!(home.run(&["--version"]).code, 0);
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let home = TestHome::new();
    let bad = OsStr::from_bytes(b"caf\xe9");
    for args in [[OsStr::new("remember"), bad], [OsStr::new("recall"), bad]] {
        let ran = home.run(&args);
        assert!(ran.code == 2 && ran.err.contains("UTF-8"), "{ran:?}");
    }
    let args = [OsStr::new("--json"), OsStr::new("remember"), bad];
    assert_eq!(failure(&home, &args, b"")["code"], "usage");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = TestHome::new();
    let text = "long ".repeat(400);
    let lines = turn_lines(std::iter::repeat_n(text.as_str(), 200));
    assert_eq!(home.run_with_input(&["observe"], lines.as_bytes()).code, 0);
    let mut command = home.command(&["memory", "export"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn what_storage_refuses_is_kept_and_told_at_the_next_start() {
    let home = TestHome::new();
    // A folder in the place of the database: no user, not even root, can store into it.
    fs::create_dir_all(home.path().join("everlore.db")).unwrap();
    let error = failure(&home, &["--json", "remember", "tea at five", "--tag", "drinks"], b"");
    assert_eq!(error["code"], "store", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("memory import"), "{error}");
    let observed =
        home.run_with_input(&["observe", "--session", "s"], turn_lines(["下午茶"]).as_bytes());
    assert_eq!((observed.code, &observed.lines()[0]["line"]), (2, &1.into()), "{observed:?}");
    let other = ["--agent", "b", "remember", "of another agent"];
    assert_eq!(home.run(&other).code, 2);

    fs::remove_dir(home.path().join("everlore.db")).unwrap();
    assert_eq!(home.run(&["doctor"]).code, 2);
    // A copy is imported by hand, as its hint says; the next command saves the rest by itself.
    let (unsaved, copy) = (home.path().join("unsaved.jsonl"), home.sibling("unsaved.jsonl"));
    fs::rename(&unsaved, &copy).unwrap();
    let ran = home.run(&["memory", "import", copy.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.out.starts_with("added 2,"), "{ran:?}");
    assert!(!copy.exists());
    let next = home.run(&["memory", "list"]);
    let note = "note: an earlier save failed; its input is saved now: 1 line\n";
    assert_eq!((next.code, next.err.as_str()), (0, note), "{next:?}");
    assert_eq!(home.recall("tea"), ["tea at five", "下午茶"]);
    assert_eq!(home.recall("下午茶"), ["下午茶", "tea at five"]);
    // The other agent's input goes to the other agent.
    assert_eq!(
        home.json(&["--agent", "b", "recall", "another"])["hits"][0]["content"],
        "of another agent"
    );
    assert_eq!(home.run(&["memory", "list"]).err, "");
    // This test created the folder itself, readable by others.
    assert_eq!(home.run(&["doctor", "--repair"]).code, 0);
    home.assert_healthy();
}

#[test]
fn a_failed_save_is_repeated_once_even_if_that_is_killed() {
    let home = TestHome::new();
    fs::create_dir_all(home.path().join("everlore.db")).unwrap();
    for text in ["tea at five", "下午三点喝茶"] {
        assert_eq!(home.run(&["remember", text]).code, 2);
    }
    fs::remove_dir(home.path().join("everlore.db")).unwrap();
    let mut random = TestRandom::new();
    for _ in 0..10 {
        let mut child = home.start(&["memory", "list"]);
        spin(&mut random, 3_000_000);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(home.json(&["memory", "stats"])["total"], 2);
    assert!(!home.path().join("unsaved.jsonl").exists());
    // This test created the folder itself, readable by others.
    assert_eq!(home.run(&["doctor", "--repair"]).code, 0);
}

#[test]
fn what_could_not_even_be_kept_is_told_once() {
    let home = TestHome::new();
    home.remember("tea");
    // A full disk leaves an empty file: there is room for a name, but not for a line.
    write_file(&home.path().join("unsaved.jsonl"), "");
    let next = home.run(&["recall", "tea"]);
    assert!(next.code == 0 && next.err.contains("its input is lost; enter it again"), "{next:?}");
    assert_eq!(home.run(&["recall", "tea"]).err, "");
}

#[test]
fn settings_that_cannot_be_used_are_told_with_their_place() {
    let home = TestHome::new();
    let bad = write_file(&home.sibling("bad.toml"), "[recall]\nlimit = 0\n");
    let error = failure(&home, &["--json", "--config", &bad, "recall", "x"], b"");
    assert!(error["message"].as_str().unwrap().contains("`recall.limit` is 0"), "{error}");
    let odd = write_file(&home.sibling("odd.toml"), "[recall]\nlimits = 3\n");
    let ran = home.run(&["--config", &odd, "memory", "stats"]);
    assert!(
        ran.code == 0 && ran.err.contains("line 2") && ran.err.contains("recall.limit"),
        "{ran:?}"
    );
    let ran = home.run(&["--config", &odd, "config", "check"]);
    assert!(ran.code == 0 && ran.out.contains("did you mean"), "{ran:?}");
    assert_eq!(home.run(&["--config", "no-such.toml", "recall", "x"]).code, 2);
    assert_eq!(home.run(&["--config", "no-such.toml", "doctor"]).code, 2);
    let shown = home.run(&["config", "show"]);
    assert!(shown.out.contains("token_budget = 2000"), "{shown:?}");
}

#[test]
fn settings_come_from_the_file_then_the_environment_then_options() {
    let home = TestHome::new();
    for word in ["one", "two", "three", "four"] {
        home.remember(&format!("tea number {word}"));
    }
    let count = |args: &[&str], limit: Option<&str>| {
        let mut command = home.command(&[&["--json", "recall", "tea"], args].concat());
        if let Some(limit) = limit {
            command.env("EVERLORE_RECALL__LIMIT", limit);
        }
        let output = command.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["hits"].as_array().unwrap().len()
    };
    write_file(&home.path().join("config.toml"), "[recall]\nlimit = 1\n");
    assert_eq!(count(&[], None), 1);
    assert_eq!(count(&[], Some("2")), 2);
    assert_eq!(count(&["--limit", "3"], Some("2")), 3);
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let home = TestHome::new();
    home.remember("tea");
    // The schema version is at byte 60 of the file.
    let path = home.path().join("everlore.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&path, bytes).unwrap();
    assert_eq!(failure(&home, &["--json", "recall", "tea"], b"")["code"], "too_new");
    assert_eq!(home.run(&["doctor"]).code, 2);
}
