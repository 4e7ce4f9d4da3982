//! After forgetting, no byte of the home holds the text.

use std::fs;

use crate::home::{TestHome, turn_lines};

const SECRET: &str = "xylocarpquokka";
const CHINESE: &str = "魑魅魍魉饕餮";

/// Returns the home's files that hold any of these texts.
fn traces(home: &TestHome, secrets: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, bytes) in home.files() {
        for secret in secrets {
            if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
                found.push(format!("{secret} in {}", path.display()));
            }
        }
    }
    found
}

fn remember_many(home: &TestHome, from: usize) {
    let texts: Vec<String> = (from..from + 150)
        .map(|number| format!("turn {number} about daily things 日常 {number}"))
        .collect();
    let lines = turn_lines(texts.iter().map(String::as_str));
    assert_eq!(home.run_with_input(&["observe", "--session", "daily"], lines.as_bytes()).code, 0);
}

#[test]
fn what_was_forgotten_leaves_no_trace_even_if_edited_deleted_or_sealed() {
    let home = TestHome::new();
    remember_many(&home, 0);
    let edited = home.remember(&format!("the code is {SECRET}"));
    home.json(&["memory", "edit", &edited, "--content", &format!("密码是{CHINESE}")]);
    home.json(&["memory", "edit", &edited, "--content", "nothing to see", "--name", SECRET]);
    let tagged = home.json(&["remember", CHINESE, "--tag", SECRET, "--description", CHINESE]);
    let tagged = tagged["id"].as_str().unwrap();
    let turn = turn_lines([format!("{SECRET} und {CHINESE}").as_str()]);
    let turn = home.run_with_input(&["observe", "--session", "daily"], turn.as_bytes());
    let turn = turn.json()["id"].as_str().unwrap().to_owned();
    remember_many(&home, 150);
    let deleted = home.remember(&format!("also {SECRET} deleted"));
    home.json(&["memory", "delete", &deleted]);
    assert!(!traces(&home, &[SECRET, CHINESE]).is_empty(), "the texts are stored as they are");

    let forgotten = home.json(&["memory", "forget", "--yes", &edited, tagged, &turn, &deleted]);
    let receipts = forgotten["forgotten"].as_array().unwrap();
    assert_eq!(receipts.len(), 4);
    let removed = receipts.iter().find(|receipt| receipt["id"] == edited.as_str()).unwrap();
    assert_eq!(removed["removed"]["rows"], 1, "{removed}");
    assert_eq!(removed["removed"]["tombstones"], 3, "{removed}");
    assert_eq!(forgotten["warnings"], serde_json::json!([]));

    assert_eq!(traces(&home, &[SECRET, CHINESE]), [""; 0]);
    for text in [SECRET, CHINESE] {
        let found = home.recall(text);
        assert!(found.iter().all(|hit| !hit.contains(text)), "{found:?}");
    }
    home.assert_healthy();
    assert_eq!(home.json(&["memory", "stats"])["total"], 300);
}

#[test]
fn a_forgotten_memory_takes_the_turn_along_that_said_it() {
    for (text, place) in [
        ("I teach at the xylocarpquokka school.", SECRET),
        ("我在魑魅魍魉饕餮魔法学校当老师。", CHINESE),
    ] {
        let home = TestHome::new();
        let told = home.run(&["observe", "--session", "b", "--role", "user", "--end", text]);
        assert_eq!(told.code, 0, "{told:?}");
        let extracted = home.json(&["memory", "list", "--kind", "user"]);
        let id = extracted["memories"][0]["id"].as_str().unwrap();
        let preview = home.json(&["memory", "forget", id, "--dry-run"]);
        assert_eq!(preview["turns"].as_array().map(Vec::len), Some(1), "{preview}");
        home.json(&["memory", "delete", id]);
        assert_eq!(home.recall(place), [""; 0]);
        home.json(&["memory", "undo"]);
        assert_eq!(home.json(&["memory", "stats"])["total"], 2);
        home.json(&["memory", "forget", id, "--yes"]);
        assert_eq!(traces(&home, &[place]), [""; 0]);
    }
}

#[test]
fn a_forgotten_turn_leaves_no_trace_in_the_daily_log_of_any_day() {
    for (secret, text, other) in [
        (SECRET, "The key of the archive is xylocarpquokka for now.", "The archive moves in May."),
        (CHINESE, "档案室的钥匙叫魑魅魍魉饕餮。", "档案室五月搬家。"),
    ] {
        let home = TestHome::new();
        let observe = |session: &str, days: u32, text: &str| {
            let time = format!("2026-03-{:02}T12:00:00Z", 10 - days);
            let turn = serde_json::json!({ "session": session, "text": text, "role": "user", "time": time });
            let ran = home.run_with_input(&["observe"], format!("{turn}\n").as_bytes());
            ran.json()["id"].as_str().unwrap().to_owned()
        };
        let turn = observe("old", 5, text);
        observe("old", 5, other);
        home.json(&["session", "end", "old"]);
        let logged = home.run(&["layer", "show", "daily", "--day", "2026-03-05", "--json"]).json();
        assert_eq!(logged["text"], "", "the day is archived at once: {logged}");
        assert!(traces(&home, &[secret]).iter().any(|file| file.contains("archive/2026-03-05.md")));
        let ran = home.run(&["memory", "forget", &turn, "--yes"]);
        assert!(ran.out.contains("the daily log of 2026-03-05 quoted it"), "{ran:?}");
        assert!(ran.err.contains("everlore layer forget daily --day 2026-03-05"), "{ran:?}");
        assert_eq!(traces(&home, &[secret]), [""; 0]);
        assert!(home.recall(secret).is_empty());
        assert!(traces(&home, &[other]).iter().any(|file| file.contains("archive/2026-03-05.md")));
        home.assert_healthy();
    }
}

#[test]
fn what_was_forgotten_does_not_come_back_by_import_or_undo() {
    let home = TestHome::new();
    let id = home.remember(SECRET);
    let file = home.sibling("before.jsonl");
    home.json(&["memory", "export", file.to_str().unwrap()]);
    home.json(&["memory", "forget", &id, "--yes"]);
    let report = home.json(&["memory", "import", file.to_str().unwrap()]);
    assert_eq!((&report["added"], &report["erased"]), (&0.into(), &1.into()), "{report}");
    assert_eq!(home.run(&["memory", "undo", "--last"]).code, 2);
    assert_eq!(home.run(&["memory", "undo", "1"]).code, 2);
    assert_eq!(traces(&home, &[SECRET]), [""; 0]);
}

#[test]
fn forgetting_needs_a_yes_and_warns_of_backups() {
    let home = TestHome::new();
    let id = home.remember(SECRET);
    assert_eq!(home.run(&["memory", "forget", &id]).code, 2);
    assert_eq!(home.recall(SECRET).len(), 1);
    fs::write(home.path().join("everlore.schema-0.backup"), "").unwrap();
    let ran = home.run(&["memory", "forget", &id, "--yes"]);
    assert!(ran.code == 0 && ran.err.contains("everlore.schema-0.backup"), "{ran:?}");
}
