//! Statements that cannot hold together: every way in supersedes the older one, says so, and can be undone.

use std::fs;

use serde_json::{Value, json};

use crate::{home::TestHome, kill::spin, random::TestRandom};

/// Older and newer statements that cannot both hold, and the question they answer.
const RIVALS: [[&str; 3]; 4] = [
    ["I live in Paris.", "I live in Rome.", "where do I live?"],
    ["I'm vegetarian", "I'm no longer vegetarian", "am I vegetarian?"],
    ["我住在巴黎。", "我现在住在罗马。", "我住在哪里？"],
    ["我吃素", "我不再吃素了", "我吃素吗？"],
];

/// Returns the contents of active memories, turns aside.
fn active(home: &TestHome) -> Vec<String> {
    // Nothing found is exit code 1.
    let listed = home.run(&["--json", "memory", "list", "--status", "active"]).json();
    let memories = listed["memories"].as_array().unwrap().iter();
    let memories = memories.filter(|memory| memory["kind"] != "turn");
    memories.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_statement_supersedes_its_rival_and_says_how_to_undo_it() {
    for [older, newer, question] in RIVALS {
        let home = TestHome::new();
        let first = home.remember(older);
        let saved = home.json(&["remember", newer]);
        assert_eq!(saved["superseded"][0]["id"], first.as_str(), "{saved}");
        assert_eq!(saved["superseded"][0]["content"], older);
        assert_eq!(active(&home), [newer]);
        assert_eq!(home.recall(question), [newer], "{question}");
        let run = saved["undo"]["run"].as_str().unwrap();
        home.json(&["memory", "undo", "--run", run]);
        assert_eq!(active(&home), [older]);
        let ran = home.run(&["remember", newer]);
        assert!(ran.out.contains("superseded: ") && ran.out.contains(older), "{ran:?}");
        assert!(ran.out.contains("undo with: everlore memory undo --run remember-"), "{ran:?}");
        let again = home.json(&["remember", older]);
        assert_eq!(again["superseded"][0]["content"], newer, "the newest word holds");
        assert_eq!(active(&home), [older]);
        home.assert_healthy();
    }
}

#[test]
fn a_statement_that_is_made_again_in_the_same_words_is_not_stored_twice() {
    let pairs =
        [("My salary is 1900 euros.", "my salary is  1900 euros"), ("我住在巴黎。", "我住在巴黎")];
    for (first, again) in pairs {
        let home = TestHome::new();
        let id = home.remember(first);
        let saved = home.json(&["remember", again]);
        assert_eq!(saved["id"], id.as_str(), "{saved}");
        assert_eq!(active(&home).len(), 1, "{:?}", active(&home));
        home.assert_healthy();
    }
    for (first, again) in
        [("My handle is joedoe", "My handle is JoeDoe"), ("代号是ａｂｃ", "代号是abc")]
    {
        let home = TestHome::new();
        home.remember(first);
        home.remember(again);
        let kept = home.recall(again);
        assert!(kept.contains(&again.to_owned()), "another spelling is not lost: {kept:?}");
    }
}

#[test]
fn who_removes_a_statement_is_told_what_it_had_superseded() {
    for [older, newer, _] in RIVALS {
        for removal in ["delete", "forget"] {
            let home = TestHome::new();
            let first = home.remember(older);
            let second = home.remember(newer);
            let removed = home.json(&["memory", removal, "--yes", &second]);
            let list = if removal == "delete" { "deleted" } else { "forgotten" };
            assert_eq!(removed[list][0]["superseded"], json!([first]), "{removed}");
            assert_eq!(active(&home), [""; 0], "nothing stands in for it");
            home.json(&["memory", "restore", &first]);
            assert_eq!(active(&home), [older]);
        }
        let home = TestHome::new();
        let first = home.remember(older);
        let second = home.remember(newer);
        let ran = home.run(&["memory", "delete", &second]);
        assert!(ran.err.contains("had superseded") && ran.err.contains(&first), "{ran:?}");
        let single = home.json(&["memory", "delete", &home.remember("unrelated words")]);
        assert_eq!(single["deleted"][0].get("superseded"), None, "{single}");
    }
}

#[test]
fn the_turn_of_a_superseded_fact_says_until_when_it_held() {
    for [older, newer, question] in [RIVALS[0], RIVALS[2]] {
        let home = TestHome::new();
        let turn = json!({ "text": older, "session": "s", "role": "user", "time": "2026-01-05T10:00:00Z" });
        home.run_with_input(&["observe"], format!("{turn}\n").as_bytes());
        home.json(&["remember", older, "--at", "2026-01-05"]);
        home.json(&["remember", newer]);
        let block = home.json(&["context", question])["text"].as_str().unwrap().to_owned();
        let new = block.find(newer.trim_end_matches(['.', '。'])).unwrap();
        if let Some(old) = block.find(older) {
            assert!(new < old, "{block}");
            let heading = block[..old].lines().rev().find(|line| line.contains("[turn]")).unwrap();
            assert!(heading.contains("until") || heading.contains('到'), "{heading}");
        }
    }
}

#[test]
fn tools_imports_and_vault_files_supersede_too() {
    for [older, newer, _] in RIVALS {
        let home = TestHome::new();
        home.remember(older);
        let input = json!({ "content": newer }).to_string();
        let ran = home.run(&["tool", "call", "memory_save", &input]);
        assert!(ran.out.contains("It supersedes: ") && ran.out.contains(older), "{ran:?}");
        assert!(ran.out.contains("everlore memory undo --run "), "{ran:?}");
        assert_eq!(active(&home), [newer]);

        let home = TestHome::new();
        home.remember(older);
        let line = json!({ "content": newer, "at": "2030-01-01T00:00:00Z" });
        let ran = home.run_with_input(&["--json", "memory", "import"], line.to_string().as_bytes());
        let report = ran.json();
        assert_eq!(report["superseded"][0]["content"], older, "{report}");
        assert_eq!(active(&home), [newer]);
        home.json(&["memory", "undo"]);
        assert_eq!(active(&home), [older], "an import is one step");

        let home = TestHome::new();
        home.remember(older);
        home.json(&["vault", "init"]);
        let page = format!("---\nname: home\ntype: user\n---\n\n{newer}\n");
        fs::write(home.path().join("vault/home.md"), page).unwrap();
        let synced = home.json(&["vault", "sync"]);
        assert_eq!(synced["superseded"].as_array().unwrap().len(), 1, "{synced}");
        assert_eq!(active(&home), [newer]);
    }
}

#[test]
fn what_was_said_in_a_conversation_supersedes_what_was_remembered() {
    for [older, newer, question] in [RIVALS[0], RIVALS[2]] {
        let home = TestHome::new();
        home.remember(older);
        let turn = json!({ "text": newer, "session": "s", "role": "user" });
        home.run_with_input(&["observe"], format!("{turn}\n").as_bytes());
        home.json(&["extract", "--session", "s"]);
        let listed = home.json(&["memory", "list", "--status", "superseded"]);
        let old: Vec<&Value> = listed["memories"].as_array().unwrap().iter().collect();
        assert_eq!(old.len(), 1, "{listed} {question}");
        assert_eq!(old[0]["content"], older);
    }
}

#[test]
fn a_kill_leaves_one_of_two_rivals() {
    let home = TestHome::new();
    let mut random = TestRandom::new();
    for round in 0..20 {
        let city = if round % 2 == 0 { "Paris" } else { "Rome" };
        let mut child = home.start(&["remember", &format!("I live in {city}")]);
        spin(&mut random, 3_000_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let holds = active(&home);
        assert!(holds.len() <= 1, "round {round}: {holds:?}");
    }
    home.remember("I live in Oslo");
    assert_eq!(active(&home), ["I live in Oslo"]);
    home.assert_healthy();
}
