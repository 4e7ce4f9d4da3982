//! No byte of the home holds a secret, whichever way it came in.

use std::fs;

use serde_json::json;

use crate::home::{TestHome, turn_lines};

/// Returns secrets that are assembled here, so that no scanner takes this file for a leak.
fn values() -> [String; 3] {
    [
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)),
        format!("Tr0ub{}", "4dor&3x"),
        ["4111", "1111", "1111", "1111"].join(" "),
    ]
}

fn traces(home: &TestHome) -> Vec<String> {
    let values = values();
    let mut found = Vec::new();
    for (path, bytes) in home.files() {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let holds = |value: &&String| text.contains(&value.to_lowercase());
        found.extend(values.iter().filter(holds).map(|it| format!("{it} in {}", path.display())));
    }
    found
}

#[test]
fn a_secret_is_masked_before_anything_is_written_and_the_answer_says_so() {
    let home = TestHome::new();
    let [token, password, card] = values();
    let ran = home.run(&["remember", &format!("the deploy token is {token}")]);
    assert!(ran.out.contains("masked 1 secret (token): the value was not stored"), "{}", ran.out);
    let saved = home.json(&[
        "remember",
        &format!("我的密码是{password}，别告诉别人"),
        "--name",
        &format!("card {card}"),
        "--tag",
        &token,
        "--metadata",
        &json!({ "notes": [format!("password: {password}")] }).to_string(),
    ]);
    assert_eq!(saved["masked"], json!(["password", "card number", "token", "password"]));
    let stored = home.json(&["memory", "show", saved["id"].as_str().unwrap()]);
    assert_eq!(stored["content"], "我的密码是[secret: password]，别告诉别人");
    let answers = home.run_with_input(
        &["observe", "--session", "s"],
        turn_lines([format!("my card is {card}").as_str(), "nothing special"]).as_bytes(),
    );
    let answers: Vec<_> = answers.out.lines().collect();
    assert!(answers[0].contains(r#""masked":["card number"]"#) && !answers[1].contains("masked"));
    let ran = home.run_with_input(&["observe"], br#"{"text":"tea at four","at":"2026-01-01"}"#);
    assert!(ran.out.contains(r#""warning":"not read: at; "#), "{}", ran.out);
    let edited = home.remember("a harmless note");
    let ran = home.run(&["memory", "edit", &edited, "--content", &format!("口令是 {password}")]);
    assert!(ran.out.contains("masked 1 secret (password)"), "{}", ran.out);

    assert_eq!(traces(&home), [""; 0]);
    assert!(home.recall("deploy")[0].contains("the deploy token"));
    home.assert_healthy();
}

#[test]
fn imports_and_documents_are_masked_too() {
    let home = TestHome::new();
    let outside = tempfile::tempdir().unwrap();
    let [token, password, card] = values();
    let lines = [
        json!({ "content": format!("token {token}"), "name": format!("the password is {password}") }),
        json!({ "text": format!("卡号 {card}"), "session": "old", "time": "2025-01-01T00:00:00Z" }),
    ];
    let file = outside.path().join("lines.jsonl");
    fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let report = home.json(&["memory", "import", file.to_str().unwrap()]);
    assert_eq!((&report["added"], &report["masked"]), (&json!(2), &json!(3)));
    let document = outside.path().join("ops.md");
    fs::write(&document, format!("# Ops\n\nThe staging token is {token}.\n\n密码：{password}\n"))
        .unwrap();
    let ran = home.run(&["ingest", document.to_str().unwrap()]);
    assert!(ran.out.contains("masked 2 secrets"), "{}", ran.out);
    assert_eq!(traces(&home), [""; 0]);
    let again = home.json(&["memory", "import", file.to_str().unwrap()]);
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(2)));
}

#[test]
fn masking_can_be_switched_off() {
    let home = TestHome::new();
    let [token, ..] = values();
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[memory]\nmask_secrets = false\n").unwrap();
    let saved = home.json(&["remember", &format!("the deploy token is {token}")]);
    assert_eq!(saved["masked"], json!(null));
    assert!(!traces(&home).is_empty());
}

fn call(home: &TestHome, tool: &str, input: &serde_json::Value) -> String {
    let ran = home.run(&["tool", "call", tool, &input.to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

#[test]
fn layers_and_the_memory_directory_are_masked_too() {
    let home = TestHome::new();
    let [token, password, card] = values();
    let ran = home.run(&["layer", "add", "user", "Work", &format!("the deploy token is {token}")]);
    assert!(
        ran.err.contains("note: masked 1 secret (token): the value was not written"),
        "{ran:?}"
    );
    home.run(&["layer", "add", "user", "账号", "口令待定"]);
    let ran =
        home.run(&["layer", "replace", "user", "账号", "口令待定", &format!("口令是 {password}")]);
    assert!(ran.err.contains("masked 1 secret (password)"), "{ran:?}");
    let result = call(
        &home,
        "memory_add",
        &json!({"file": "memory", "section": "卡", "content": format!("卡号 {card}")}),
    );
    assert!(
        result.contains("masked 1 secret (card number): the value was not written."),
        "{result}"
    );
    let result = call(
        &home,
        "memory",
        &json!({"command": "create", "path": "/memories/ops.md", "file_text": format!("token {token}\n密码：\n")}),
    );
    assert!(
        result.contains("Note: masked 1 secret (token): the value was not written."),
        "{result}"
    );
    call(
        &home,
        "memory",
        &json!({"command": "str_replace", "path": "/memories/ops.md", "old_str": "密码：", "new_str": format!("密码：{password}")}),
    );
    call(
        &home,
        "memory",
        &json!({"command": "insert", "path": "/memories/ops.md", "insert_line": 0, "insert_text": format!("card {card}")}),
    );
    let page = format!(
        "---\nname: 银行\ndescription: my card is {card}\ntype: user\n---\n\n我的密码是{password}\n"
    );
    call(
        &home,
        "memory",
        &json!({"command": "create", "path": "/memories/user_bank.md", "file_text": page}),
    );
    let stored = home.json(&["memory", "list", "--kind", "user"])["memories"][0].clone();
    assert_eq!(
        (&stored["content"], &stored["description"]),
        (&json!("我的密码是[secret: password]"), &json!("my card is [secret: card number]"))
    );
    let path =
        json!({"command": "create", "path": format!("/memories/{token}.md"), "file_text": "x"});
    let refused = home.run(&["tool", "call", "memory", &path.to_string()]);
    assert!(refused.code == 2 && refused.err.contains("Use a name without it."), "{refused:?}");
    assert_eq!(traces(&home), [""; 0]);
    home.assert_healthy();
}

#[test]
fn a_summary_of_turns_from_a_time_without_masking_is_masked() {
    let home = TestHome::new();
    let [token, password, _] = values();
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[memory]\nmask_secrets = false\n").unwrap();
    let result = [
        format!("Please remember that the deploy token is {token}."),
        format!("服务器的密码是{password}，请记住。"),
    ];
    home.run_with_input(
        &["observe", "--session", "s"],
        turn_lines(result.iter().map(String::as_str)).as_bytes(),
    );
    fs::remove_file(home.path().join("config.toml")).unwrap();
    let ended = home.json(&["session", "end", "s"]);
    let log = ended["ended"]["log"]["path"].as_str().unwrap();
    let text = fs::read_to_string(log).unwrap();
    assert!(text.contains("[secret: token]") || text.contains("[secret: password]"), "{text}");
    assert!(!text.contains(&token) && !text.contains(&password), "{text}");
}

/// Checks that a secret stays where a person typed it and goes nowhere else, and that a sync changes neither side
/// again.
#[test]
fn a_secret_typed_into_a_vault_stays_in_that_file_alone() {
    for text in ["The deploy token is ", "部署口令是 "] {
        let home = TestHome::new();
        let [token, ..] = values();
        home.remember("I like 龙井茶");
        home.json(&["vault", "init"]);
        let file = home.path().join("vault/user_ops.md");
        let page = |more: &str| {
            format!(
                "---\nname: ops\ndescription: how to deploy\ntype: user\n---\n\n{text}{token}\n{more}"
            )
        };
        fs::write(&file, page("")).unwrap();
        let ran = home.run(&["vault", "sync"]);
        assert!(ran.out.contains("masked in memory, and still in the file"), "{ran:?}");
        let in_file_alone = || {
            let traces = traces(&home);
            assert!(traces.len() == 1 && traces[0].ends_with("user_ops.md"), "{traces:?}");
        };
        in_file_alone();
        assert_eq!(home.run(&["vault", "status"]).code, 1, "nothing is left to do");
        // Edited again, and compared without the record of the last sync.
        fs::write(&file, page("More.\n")).unwrap();
        assert!(home.run(&["vault", "sync"]).out.contains("masked in memory"));
        fs::remove_dir_all(home.path().join("vault/.everlore")).unwrap();
        let again = home.json(&["vault", "sync"]);
        assert_eq!(again["done"], json!([]), "{again}");
        assert_eq!(fs::read_to_string(&file).unwrap(), page("More.\n"));
        in_file_alone();
        // An agent that edits around it neither spreads nor destroys it.
        call(
            &home,
            "memory",
            &json!({"command": "str_replace", "path": "/memories/user_ops.md", "old_str": "More.", "new_str": "Less."}),
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), page("Less.\n"));
        in_file_alone();
        let listed = home.json(&["memory", "list"]).to_string();
        assert!(listed.contains("Less.") && listed.contains("[secret: "), "{listed}");
    }
}
