//! Export and import: a lossless round trip, and damaged lines reported before anything is stored.

use std::fs;

use serde_json::Value;

use crate::home::{CommandOutput, TestHome, turn_lines, write_file};

fn filled() -> TestHome {
    let home = TestHome::new();
    let old = home.remember("The staging port is 8443");
    home.json(&[
        "remember",
        "The staging port is 9443",
        "--replaces",
        &old,
        "--tag",
        "ops",
        "--metadata",
        r#"{"a":[1,null]}"#,
    ]);
    let chinese = home.remember("我喜欢喝龙井茶");
    home.json(&["memory", "archive", &chinese]);
    let lines = "{\"session\":\"s\",\"speaker\":\"王\",\"role\":\"user\",\"text\":\"你好\\n第二行 \\u0000\",\"time\":\"2023-05-08\"}\n";
    home.run_with_input(&["observe"], lines.as_bytes());
    home
}

/// Returns the lines of an export without its header, which holds the time.
fn exported(home: &TestHome, args: &[&str]) -> Vec<Value> {
    let mut lines = home.run(&[&["memory", "export"], args].concat()).lines();
    assert!(lines.remove(0)["everlore_export"].is_number());
    lines
}

fn import(home: &TestHome, args: &[&str], path: &str) -> CommandOutput {
    home.run(&[&["--json", "memory", "import", path], args].concat())
}

#[test]
fn a_round_trip_gives_the_same_back_and_a_second_import_changes_nothing() {
    let (home, copy) = (filled(), TestHome::new());
    let path = home.sibling("all.jsonl");
    let report = home.json(&["memory", "export", path.to_str().unwrap()]);
    assert_eq!(report["memories"], 4, "{report}");
    let path = path.to_str().unwrap();
    let first = import(&copy, &[], path).json();
    assert_eq!((&first["added"], &first["rejected"]), (&4.into(), &0.into()), "{first}");
    assert_eq!(exported(&copy, &[]), exported(&home, &[]));
    let again = import(&copy, &[], path).json();
    assert_eq!(
        (&again["added"], &again["updated"], &again["unchanged"]),
        (&0.into(), &0.into(), &4.into())
    );
    assert_eq!(exported(&copy, &[]), exported(&home, &[]));
    copy.assert_healthy();
    let undone = copy.json(&["memory", "undo", "--run", first["run"].as_str().unwrap()]);
    assert_eq!(undone["undone"].as_array().unwrap().len(), 4);
    assert_eq!(copy.json(&["memory", "stats"])["total"], 0);
}

#[test]
fn an_export_can_be_piped_into_an_import() {
    let (home, copy) = (filled(), TestHome::new());
    let exported_lines = home.run(&["memory", "export", "-"]).out;
    let ran = copy.run_with_input(&["memory", "import", "-"], exported_lines.as_bytes());
    assert!(ran.code == 0 && ran.out.contains("added 4, updated 0"), "{ran:?}");
    assert!(ran.out.contains("undo with: everlore memory undo --run import-"), "{ran:?}");
    assert_eq!(exported(&copy, &[]), exported(&home, &[]));
}

#[test]
fn a_journal_export_replays_to_the_same_memories_and_history() {
    let (home, copy) = (filled(), TestHome::new());
    let path = home.sibling("journal.jsonl");
    let report = home.json(&["memory", "export", "--journal", path.to_str().unwrap()]);
    assert_eq!(report["changes"], 6, "{report}");
    assert_eq!(import(&copy, &[], path.to_str().unwrap()).code, 0);
    assert_eq!(exported(&copy, &[]), exported(&home, &[]));
    assert_eq!(exported(&copy, &["--journal"]), exported(&home, &["--journal"]));
    let again = import(&copy, &[], path.to_str().unwrap()).json();
    assert_eq!((&again["added"], &again["updated"]), (&0.into(), &0.into()), "{again}");
    copy.assert_healthy();
}

#[test]
fn damaged_lines_are_told_by_number_and_nothing_is_stored_unless_asked() {
    let home = TestHome::new();
    let path = write_file(
        &home.sibling("damaged.jsonl"),
        b"{\"content\":\"good one\"}\n{\"content\":\n\n{\"text\":\"good two\"}\ncaf\xe9\n{\"nothing\":1}\n{\"content\":\"\"}\n",
    );
    let ran = import(&home, &[], &path);
    assert_eq!(ran.code, 2);
    let error = ran.json()["error"].clone();
    let numbers: Vec<_> =
        error["rejections"].as_array().unwrap().iter().map(|line| line["line"].clone()).collect();
    assert_eq!(numbers, [2, 5, 6, 7], "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--keep-going"), "{error}");
    assert_eq!(home.json(&["memory", "stats"])["changes"], 0);

    let dry = import(&home, &["--keep-going", "--dry-run"], &path).json();
    assert_eq!((&dry["added"], &dry["dry_run"]), (&2.into(), &true.into()), "{dry}");
    assert_eq!(home.json(&["memory", "stats"])["changes"], 0);

    let imported = import(&home, &["--keep-going"], &path).json();
    assert_eq!((&imported["added"], &imported["rejected"]), (&2.into(), &4.into()), "{imported}");
    assert_eq!(home.recall("good").len(), 2);
}

#[test]
fn an_export_that_fails_leaves_the_old_file_alone() {
    let home = filled();
    let ran = home.run(&["--json", "memory", "export", "no/such/folder/file.jsonl"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &"io".into()), "{ran:?}");
    let path = home.sibling("all.jsonl");
    home.json(&["memory", "export", path.to_str().unwrap()]);
    let names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "no temporary file stays: {names:?}");
}

#[test]
fn thousands_of_memories_are_imported_in_one_go() {
    let home = TestHome::new();
    let texts: Vec<String> =
        (0..5_000).map(|number| format!("fact number {number} 第{number}条")).collect();
    let lines = turn_lines(texts.iter().map(String::as_str));
    let ran = home.run_with_input(&["--json", "memory", "import"], lines.as_bytes());
    assert_eq!(ran.json()["added"], 5_000, "{ran:?}");
    assert_eq!(home.recall("4711")[0], "fact number 4711 第4711条");
    home.assert_healthy();
}
