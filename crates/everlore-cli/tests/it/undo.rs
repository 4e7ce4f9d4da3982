//! `everlore memory undo` and `redo`: step by step, one command at a time.

use serde_json::Value;

use crate::home::TestHome;

fn active(home: &TestHome) -> Vec<String> {
    // Nothing found is exit code 1.
    let listed = home.run(&["--json", "memory", "list", "--status", "active", "--all"]).json();
    let memories = listed["memories"].as_array().unwrap().iter().rev();
    memories.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn undo_walks_back_and_redo_forward_until_a_new_change() {
    let home = TestHome::new();
    let tea = home.remember("likes tea");
    home.remember("喜欢爬山");
    home.json(&["memory", "edit", &tea, "--content", "likes green tea"]);
    home.json(&["memory", "archive", &tea]);
    let states =
        [vec!["喜欢爬山"], vec!["likes green tea", "喜欢爬山"], vec!["likes tea", "喜欢爬山"]];
    for state in &states[1..] {
        home.json(&["memory", "undo"]);
        assert_eq!(active(&home), *state);
    }
    let undone = home.run(&["memory", "undo", "--last"]);
    assert!(undone.out.starts_with("undone: change 2"), "{undone:?}");
    assert_eq!(active(&home), ["likes tea"]);
    home.json(&["memory", "undo"]);
    assert!(active(&home).is_empty());
    let ended = home.run(&["memory", "undo"]);
    assert!(ended.code == 2 && ended.err.contains("nothing to undo"), "{ended:?}");

    for state in
        [vec!["likes tea"], vec!["likes tea", "喜欢爬山"], vec!["likes green tea", "喜欢爬山"]]
    {
        home.json(&["memory", "redo"]);
        assert_eq!(active(&home), state);
    }
    home.json(&["memory", "undo"]);
    assert_eq!(active(&home), ["likes tea", "喜欢爬山"], "a redone step is undone again");
    let redone = home.run(&["memory", "redo"]);
    assert!(redone.out.starts_with("redone: change 3"), "{redone:?}");
    home.json(&["memory", "redo"]);
    assert_eq!(active(&home), ["喜欢爬山"]);
    assert_eq!(home.run(&["memory", "redo"]).code, 2);

    home.json(&["memory", "undo"]);
    home.remember("a new change");
    let ended = home.run(&["memory", "redo"]);
    assert!(ended.code == 2 && ended.err.contains("nothing to redo"), "{ended:?}");
    home.json(&["memory", "undo"]);
    home.json(&["memory", "undo"]);
    assert_eq!(active(&home), ["likes tea", "喜欢爬山"], "the archiving stays undone");
    home.assert_healthy();
}

#[test]
fn one_command_is_one_step() {
    let home = TestHome::new();
    let old = home.remember("the office is on floor 3");
    let saved = home.json(&["remember", "we sit upstairs now", "--replaces", &old]);
    assert_eq!(saved["superseded"][0]["id"], old.as_str(), "{saved}");
    assert_eq!(active(&home), ["we sit upstairs now"]);
    home.json(&["memory", "undo"]);
    assert_eq!(active(&home), ["the office is on floor 3"]);
    home.json(&["memory", "redo"]);
    assert_eq!(active(&home), ["we sit upstairs now"]);

    let ids: Vec<String> = ["一", "二", "三"].map(|text| home.remember(text)).to_vec();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for command in ["delete", "archive"] {
        home.json(&[&["memory", command], &ids[..]].concat());
        assert_eq!(active(&home), ["we sit upstairs now"], "{command}");
        let undone = home.json(&["memory", "undo"]);
        assert_eq!(undone["undone"].as_array().unwrap().len(), 3, "{undone}");
        assert_eq!(active(&home).len(), 4);
    }
    let lines: String =
        (0..1_500).map(|n| format!("{{\"content\":\"fact number {n}\"}}\n")).collect();
    let imported = home.run_with_input(&["--json", "memory", "import"], lines.as_bytes()).json();
    assert_eq!(imported["added"], 1_500);
    let undone: Value = home.json(&["memory", "undo"]);
    assert_eq!((undone["undone"].as_array().unwrap().len(), active(&home).len()), (1_500, 4));
}
