//! `everlore layer`: answers for people and programs, two processes at once, and kills at any moment.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
};

use serde_json::Value;

use crate::{
    home::{TestHome, turn_lines},
    kill::spin,
    random::TestRandom,
};

/// Edits of each of two processes.
const EDITS: usize = 1_000;

const KILLS: usize = 100;

fn read(home: &TestHome, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).unwrap()
}

#[test]
fn a_home_begins_with_a_soul_in_the_language_of_its_user() {
    let home = TestHome::new();
    home.remember("tea");
    assert!(read(&home, "SOUL.md").starts_with("# Who I am"));
    let chinese = TestHome::new();
    let created = chinese
        .command(&["layer", "add", "user", "偏好", "喜欢茶"])
        .env("LANG", "zh_CN.UTF-8")
        .output();
    assert!(created.unwrap().status.success());
    assert!(read(&chinese, "SOUL.md").starts_with("# 我是谁"));
    let written = TestHome::new();
    fs::create_dir(written.path()).unwrap();
    fs::write(written.path().join("SOUL.md"), "mine").unwrap();
    written.remember("tea");
    assert_eq!(read(&written, "SOUL.md"), "mine");
    let other = TestHome::new();
    assert_eq!(other.run(&["layer", "show", "soul"]).code, 1);
    assert!(!other.path().exists(), "reading creates nothing");
}

#[test]
fn people_change_a_file_section_by_section() {
    let home = TestHome::new();
    let added = home.run(&["layer", "add", "user", "偏好", "--", "- 喜欢", "龙井茶"]);
    assert!(added.out.starts_with("changed: ") && added.out.contains("16 of 1400"), "{added:?}");
    home.json(&["layer", "replace", "user", "偏好", "龙井", "乌龙"]);
    assert_eq!(home.run(&["layer", "show", "user"]).out, "## 偏好\n\n- 喜欢 乌龙茶\n");
    let history = home.run(&["layer", "history", "user"]);
    assert!(
        history.out.contains("person: replace in `偏好`")
            && history.out.contains("{+乌+}龙[-井-]茶"),
        "{history:?}"
    );
    home.json(&["layer", "undo", "user"]);
    assert_eq!(read(&home, "memories/USER.md"), "## 偏好\n\n- 喜欢 龙井茶\n");
    home.json(&["layer", "remove", "user", "偏好"]);
    assert_eq!(home.run(&["layer", "show", "user"]).code, 1);
    let list = home.run(&["layer", "list"]);
    assert!(
        list.out.contains("░░░░░░░░ 0 of 1400 characters") && list.out.contains("SOUL.md"),
        "{list:?}"
    );
}

#[test]
fn programs_get_errors_that_a_model_can_act_on() {
    let home = TestHome::new();
    home.json(&["layer", "add", "user", "Likes", "--", "- green tea"]);
    let refused = |args: &[&str]| {
        let ran = home.run(&[&["--json", "layer"], args].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        let error = ran.json()["error"].clone();
        format!("{} | {}", error["message"].as_str().unwrap(), error["hint"].as_str().unwrap())
    };
    assert!(
        refused(&["replace", "user", "Likes", "green teas", "x"])
            .contains("did you mean `- green tea`?")
    );
    assert!(refused(&["remove", "user", "Dislikes"]).contains("use one of its sections: `Likes`"));
    assert!(refused(&["add", "user", "Likes", "## New"]).contains("###"));
    let long = refused(&["add", "user", "Likes", &"茶".repeat(1_400)]);
    assert!(
        long.contains("USER.md would have 1423 characters, 1400 at most")
            && long.contains("`Likes` (22)"),
        "{long}"
    );
    assert!(
        refused(&["add", "user", "--day", "2026-01-01", "Likes", "x"])
            .contains("only the daily log")
    );
    assert_eq!(home.run(&["layer", "add", "mood", "a", "b"]).code, 2);
    assert_eq!(read(&home, "memories/USER.md"), "## Likes\n\n- green tea\n");
}

#[test]
fn what_is_forgotten_leaves_no_trace_in_the_home() {
    let home = TestHome::new();
    home.json(&["layer", "add", "user", "Secrets", "the word is xylocarpquokka"]);
    home.json(&["layer", "add", "user", "Likes", "tea"]);
    let refused = home.run(&["layer", "forget", "user", "--section", "Secrets"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let receipt = home.json(&["layer", "forget", "user", "--section", "Secrets", "--yes"]);
    assert_eq!(
        (receipt["forgotten"]["file"].as_bool(), receipt["forgotten"]["images"].as_u64()),
        (Some(true), Some(2))
    );
    for (path, bytes) in home.files() {
        assert!(!bytes.windows(9).any(|window| window == b"xylocarpq"), "{}", path.display());
    }
    assert_eq!(read(&home, "memories/USER.md"), "## Likes\n\ntea\n");
}

#[test]
fn the_doctor_reports_files_that_are_too_long_or_cannot_be_read() {
    let home = TestHome::new();
    home.json(&["layer", "add", "user", "Likes", "tea"]);
    home.assert_healthy();
    fs::write(home.path().join("memories/USER.md"), "茶".repeat(1_401)).unwrap();
    let ran = home.run(&["doctor"]);
    assert!(ran.code == 0 && ran.out.contains("1401 of 1400 characters, over budget"), "{ran:?}");
    fs::write(home.path().join("SOUL.md"), b"\xff").unwrap();
    let ran = home.run(&["doctor"]);
    assert!(ran.code == 2 && ran.out.contains("SOUL.md is not valid UTF-8"), "{ran:?}");
}

#[test]
fn a_conversation_that_goes_on_after_its_end_is_logged_anew() {
    let home = TestHome::new();
    let say = |text: &str| {
        home.run_with_input(&["observe", "--session", "s"], turn_lines([text]).as_bytes())
    };
    assert_eq!(say("The release of Borealis moved to May 4.").code, 0);
    let title = || {
        let ended = home.json(&["session", "end", "s"]);
        let text = ended["ended"]["log"]["text"].as_str().unwrap();
        let titles: Vec<String> =
            text.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect();
        titles.join(", ")
    };
    assert_eq!(title(), "## Session s (1 turn)");
    assert_eq!(say("Borealis needs a new logo before the release.").code, 0);
    assert_eq!(title(), "## Session s (2 turns)");
}

#[test]
fn the_end_of_a_conversation_is_logged_once_and_old_days_stay_searchable() {
    let home = TestHome::new();
    let turns = turn_lines([
        "The release of Borealis moved to May 4.",
        "Borealis needs a new logo before the release.",
    ]);
    assert_eq!(home.run_with_input(&["observe", "--session", "s1"], turns.as_bytes()).code, 0);
    let ended = home.json(&["session", "end", "s1"]);
    let text = ended["ended"]["log"]["text"].as_str().unwrap();
    assert!(text.starts_with("## Session s1 (2 turns)\n\n- ") && text.contains("May 4"), "{text}");
    assert_eq!(home.json(&["session", "end", "s1"])["ended"]["log"]["change"], Value::Null);
    assert_eq!(home.run(&["session", "end", "nobody"]).code, 2);
    let old = home.path().join("memories/daily/2020-01-02.md");
    fs::write(&old, "## 会议\n\n讨论了极光项目的预算\n").unwrap();
    let archived = home.json(&["session", "end", "s1"])["archived"].clone();
    assert_eq!(archived, serde_json::json!([{ "day": "2020-01-02", "memory": "added" }]));
    assert!(!old.exists() && home.path().join("memories/daily/archive/2020-01-02.md").is_file());
    assert!(home.recall("极光项目的预算")[0].contains("讨论了极光项目"));
    home.assert_healthy();
}

#[test]
fn two_processes_with_a_thousand_edits_each_lose_nothing() {
    let home = TestHome::in_ram();
    let lines =
        |letter: &str| (0..EDITS).map(|turn| format!("{letter}{turn}\n")).collect::<String>();
    let sections = [("One", "a"), ("二", "b")];
    let mut writers: Vec<Child> =
        sections.iter().map(|(section, _)| writer(&home, section, Stdio::null())).collect();
    std::thread::scope(|scope| {
        for (writer, (_, letter)) in writers.iter_mut().zip(sections) {
            scope.spawn(move || {
                writer.stdin.take().unwrap().write_all(lines(letter).as_bytes()).unwrap();
                assert!(writer.wait().unwrap().success());
            });
        }
    });
    let text = read(&home, "memories/MEMORY.md");
    for (_, letter) in sections {
        assert!(text.contains(lines(letter).trim_end()), "{letter} lost something");
    }
    let history = home.run(&["--json", "layer", "history", "memory", "--limit", "1"]).json();
    assert_eq!(history["changes"][0]["number"], 2 * EDITS, "each edit is one change");
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let home = TestHome::in_ram();
    let mut random = TestRandom::new();
    let path = home.path().join("memories/MEMORY.md");
    let mut before = 0;
    for round in 0..KILLS {
        let mut writer = writer(&home, "茶", Stdio::piped());
        let mut stdin = writer.stdin.take().unwrap();
        let lines: String =
            (0..64).map(|turn| format!("line {} 好\n", round * 64 + turn)).collect();
        stdin.write_all(lines.as_bytes()).unwrap();
        let mut answers = BufReader::new(writer.stdout.take().unwrap());
        let enough = 1 + random.below(16);
        let mut acknowledged = (0..enough).filter(|_| next(&mut answers)).count();
        spin(&mut random, 200_000);
        writer.kill().unwrap();
        writer.wait().unwrap();
        while next(&mut answers) {
            acknowledged += 1;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let found: Vec<&str> = text.lines().skip(2).collect();
        assert!(
            found.iter().all(|line| line.starts_with("line ") && line.ends_with(" 好")),
            "{text}"
        );
        let new = found.len() - before;
        assert!(
            new == acknowledged || new == acknowledged + 1,
            "{new} lines, {acknowledged} answers"
        );
        before = found.len();
    }
    assert!(before >= KILLS, "each round acknowledges a line before its kill");
    let history = home.run(&["--json", "layer", "history", "memory", "--limit", "1"]).json();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(history["changes"][0]["after"], text.as_str());
    let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert!(left <= 3, "a temporary file that a kill leaves behind is used again");
    home.assert_healthy();
}

/// Starts a process that adds every line of its input to a section, and answers each.
fn writer(home: &TestHome, section: &str, stdout: Stdio) -> Child {
    let mut command = home.command(&["--json", "layer", "add", "memory", section, "--lines"]);
    command.env("EVERLORE_LAYERS__MEMORY_CHARS", "100000");
    command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::inherit());
    command.spawn().unwrap()
}

/// Reads an answer; returns `false` if it is incomplete.
fn next(answers: &mut impl BufRead) -> bool {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    assert!(!line.contains("\"error\""), "{line}");
    line.ends_with('\n')
}
