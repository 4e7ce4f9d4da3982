//! `everlore doctor` finds and repairs damage of a home.

use std::fs;

use rusqlite::Connection;

use crate::home::{TestHome, turn_lines};

/// Returns a home with memories both in the tail of the index and in its blocks.
fn filled() -> TestHome {
    let home = TestHome::new();
    let texts: Vec<String> = (0..300).map(|number| format!("turn {number} 第{number}句")).collect();
    home.run_with_input(&["observe"], turn_lines(texts.iter().map(String::as_str)).as_bytes());
    home.remember("Lunch is at noon");
    home.remember("我喜欢喝龙井茶");
    home
}

#[test]
fn an_index_that_lost_entries_is_built_again() {
    for damage in [
        "DELETE FROM tail",
        "DELETE FROM block_parts",
        "UPDATE tail SET entry = (SELECT max(entry) FROM tail)",
    ] {
        let home = filled();
        let db = Connection::open(home.path().join("everlore.db")).unwrap();
        db.execute_batch(damage).unwrap();
        drop(db);
        let found = home.run(&["--json", "doctor"]);
        assert_eq!((found.code, &found.json()["ok"]), (2, &false.into()), "{damage}: {found:?}");
        assert!(found.out.contains("doctor --repair"), "{found:?}");
        let repaired = home.run(&["doctor", "--repair"]);
        assert!(
            repaired.code == 0 && repaired.out.contains("the index was rebuilt"),
            "{damage}: {repaired:?}"
        );
        home.assert_healthy();
        assert_eq!(home.recall("龙井"), ["我喜欢喝龙井茶"]);
        assert!(home.recall("第7句").contains(&"turn 7 第7句".to_owned()));
    }
}

#[test]
fn a_row_that_the_journal_does_not_know_is_told() {
    let home = filled();
    let db = Connection::open(home.path().join("everlore.db")).unwrap();
    db.execute_batch("DELETE FROM changes WHERE seq = 5").unwrap();
    drop(db);
    let found = home.run(&["doctor", "--repair"]);
    assert!(found.code == 2 && found.out.contains("no line 5 in the journal"), "{found:?}");
}

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    let home = filled();
    let path = home.path().join("everlore.db");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, b"these are my holiday notes, not a database at all".repeat(20)).unwrap();
    for args in [&["--json", "recall", "x"][..], &["--json", "remember", "x"]] {
        let ran = home.run(args);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &"store".into()), "{ran:?}");
    }
    let found = home.run(&["doctor"]);
    assert!(found.code == 2 && found.out.contains("PROBLEM   database"), "{found:?}");
    assert!(fs::read(&path).unwrap().starts_with(b"these are my holiday notes"));
    fs::write(&path, whole).unwrap();
    assert_eq!(home.recall("龙井")[0], "我喜欢喝龙井茶");
}

#[test]
fn pages_that_were_overwritten_are_told_and_never_a_panic() {
    let home = filled();
    let path = home.path().join("everlore.db");
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 8_192].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    assert_eq!(home.run(&["doctor"]).code, 2);
    for args in
        [&["recall", "龙井"][..], &["memory", "list"], &["memory", "export"], &["remember", "new"]]
    {
        let ran = home.run(args);
        assert!(ran.code <= 2, "{ran:?}");
    }
}
