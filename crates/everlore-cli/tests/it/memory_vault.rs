//! The tool `memory` on the vault: files in the form of memories are memories, all others are notes.

use std::fs;

use serde_json::{Value, json};

use crate::home::TestHome;

fn memory(home: &TestHome, input: &Value) -> String {
    let ran = home.run(&["tool", "call", "memory", &input.to_string()]);
    assert!(ran.code == 0 && ran.err.is_empty(), "{input}: {ran:?}");
    ran.out.trim_end().to_owned()
}

fn page(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: user\n---\n\n{text}\n")
}

/// Returns kind and text of all memories.
fn memories(home: &TestHome) -> Vec<(String, String)> {
    let listed = home.run(&["--json", "memory", "list"]).json();
    let text = |memory: &Value, key: &str| memory[key].as_str().unwrap().trim().to_owned();
    let listed = listed["memories"].as_array().unwrap();
    listed.iter().map(|memory| (text(memory, "kind"), text(memory, "content"))).collect()
}

fn user(text: &str) -> (String, String) {
    ("user".to_owned(), text.to_owned())
}

#[test]
fn a_page_that_an_agent_creates_changes_and_deletes_is_one_memory() {
    for (name, first, second) in [
        ("tea", "Ann drinks green tea.", "Ann drinks black tea."),
        ("茶", "王小明喝龙井茶。", "王小明喝普洱茶。"),
    ] {
        let home = TestHome::new();
        let path = format!("/memories/user_{name}.md");
        let result = memory(
            &home,
            &json!({"command": "create", "path": path, "file_text": page(name, first)}),
        );
        assert_eq!(result, format!("File created successfully at: {path}"));
        assert_eq!(memories(&home), [user(first)]);
        let edit =
            json!({"command": "str_replace", "path": path, "old_str": first, "new_str": second});
        assert!(memory(&home, &edit).starts_with("The memory file has been edited."));
        assert_eq!(memories(&home), [user(second)]);
        let change = &home.json(&["memory", "history"])["changes"][0];
        assert_eq!(
            (&change["actor"], &change["cause"]),
            (&json!("agent"), &json!("memory: str_replace"))
        );
        memory(&home, &json!({"command": "delete", "path": path}));
        assert_eq!(home.run(&["--json", "memory", "list"]).json()["memories"], json!([]));
        let deleted = &home.json(&["memory", "history"])["changes"][0];
        home.json(&["memory", "undo", "--run", deleted["run"].as_str().unwrap()]);
        home.json(&["vault", "sync"]);
        assert_eq!(memories(&home), [user(second)]);
        assert!(memory(&home, &json!({"command": "view", "path": path})).contains(second));
        home.assert_healthy();
    }
}

#[test]
fn a_plain_file_stays_a_note_and_the_vault_leaves_it_alone() {
    let home = TestHome::new();
    let plain = "Half of the report is done. 报告写了一半。";
    let create = |path: &str, text: &str| {
        memory(&home, &json!({"command": "create", "path": path, "file_text": text}))
    };
    create("/memories/progress.md", plain);
    create("/memories/drafts/user_tea.md", &page("draft", "not a memory yet"));
    assert!(!home.path().join("vault/.everlore").exists(), "notes alone make no vault");
    create("/memories/user_tea.md", &page("tea", "Ann drinks tea."));
    let kinds: Vec<_> = memories(&home).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "knowledge").count(), 2, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "user").count(), 1, "{kinds:?}");
    let status = home.run(&["vault", "status"]);
    assert_eq!((status.code, status.err.as_str()), (1, ""), "nothing is left to do: {status:?}");
    assert_eq!(status.out.lines().count(), 2, "{status:?}");
    home.json(&["vault", "sync"]);
    assert_eq!(memories(&home).len(), 3);
    assert_eq!(fs::read_to_string(home.path().join("vault/progress.md")).unwrap(), plain);
}

#[test]
fn an_agent_sees_what_was_saved_and_edits_what_a_person_edited() {
    let home = TestHome::new();
    memory(
        &home,
        &json!({"command": "create", "path": "/memories/user_tea.md", "file_text": page("tea", "Ann drinks tea.")}),
    );
    let save = json!({"action": "create", "type": "feedback", "content": "回答要简短"}).to_string();
    assert_eq!(home.run(&["tool", "call", "memory_save", &save]).code, 0);
    let listing = memory(&home, &json!({"command": "view", "path": "/memories"}));
    assert!(listing.contains("/memories/feedback_回答要简短.md"), "{listing}");
    assert!(listing.contains("/memories/MEMORY.md") && !listing.contains(".everlore"), "{listing}");
    fs::write(home.path().join("vault/user_tea.md"), page("tea", "Ann drinks oolong.")).unwrap();
    memory(
        &home,
        &json!({"command": "str_replace", "path": "/memories/user_tea.md", "old_str": "oolong", "new_str": "pu'er"}),
    );
    assert!(memories(&home).contains(&user("Ann drinks pu'er.")));
    let history = home.json(&["memory", "history"]).to_string();
    assert!(history.contains("Ann drinks oolong."), "what a person wrote is in the journal");
    // The index is no memory, even if it is edited.
    memory(
        &home,
        &json!({"command": "insert", "path": "/memories/MEMORY.md", "insert_line": 0, "insert_text": "# Mine"}),
    );
    assert_eq!(memories(&home).len(), 2);
}

#[test]
fn a_note_that_becomes_a_page_is_one_memory_and_a_page_that_breaks_is_told() {
    let home = TestHome::new();
    let path = "/memories/tea.md";
    memory(&home, &json!({"command": "create", "path": path, "file_text": "Ann drinks tea.\n"}));
    let head = "---\nname: tea\ntype: user\n---\n";
    memory(
        &home,
        &json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": head}),
    );
    assert_eq!(memories(&home), [user("Ann drinks tea.")]);
    let broken = json!({"command": "str_replace", "path": path, "old_str": "type: user", "new_str": "type: tea"});
    let result = memory(&home, &broken);
    assert!(
        result.contains("Note: the text of tea.md is not stored as a memory: `tea` is not a type"),
        "{result}"
    );
    assert_eq!(memories(&home), [user("Ann drinks tea.")]);
    memory(&home, &json!({"command": "rename", "old_path": path, "new_path": "/memories/old.md"}));
    memory(
        &home,
        &json!({"command": "str_replace", "path": "/memories/old.md", "old_str": "type: tea", "new_str": "type: user"}),
    );
    let texts: Vec<_> = memories(&home).into_iter().filter(|(kind, _)| kind == "user").collect();
    assert_eq!(texts, [user("Ann drinks tea.")]);
}

#[test]
fn what_an_agent_wrote_into_a_page_can_be_forgotten() {
    let (home, secret) = (TestHome::new(), "xylocarpquokka");
    memory(
        &home,
        &json!({"command": "create", "path": "/memories/user_code.md", "file_text": page("code", secret)}),
    );
    let id = home.json(&["recall", secret])["hits"][0]["id"].as_str().unwrap().to_owned();
    home.json(&["memory", "forget", &id, "--yes"]);
    for (path, bytes) in home.files() {
        let holds = String::from_utf8_lossy(&bytes).contains(secret);
        assert!(!holds, "{}", path.display());
    }
}

#[test]
fn processes_that_sync_and_edit_at_once_lose_nothing() {
    let home = TestHome::new();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let home = &home;
            scope.spawn(move || {
                for number in 0..4 {
                    let path = format!("/memories/user_{writer}_{number}.md");
                    let text = page(
                        &format!("fact {writer} {number}"),
                        &format!("fact {writer} {number}"),
                    );
                    memory(home, &json!({"command": "create", "path": path, "file_text": text}));
                }
            });
        }
    });
    assert_eq!(memories(&home).len(), 12);
    assert_eq!(home.run(&["vault", "status"]).code, 1);
    home.assert_healthy();
}
