//! What is secret is in no byte of the home, whichever way it came in (C9).

use std::fs;

use serde_json::json;

use crate::home::{Home, turns};

/// Values that are made here, so that no scanner takes this file for a leak.
fn values() -> [String; 3] {
    [
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)),
        format!("Tr0ub{}", "4dor&3x"),
        ["4111", "1111", "1111", "1111"].join(" "),
    ]
}

fn traces(home: &Home) -> Vec<String> {
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
    let home = Home::new();
    let [token, password, card] = values();
    let told = home.run(&["remember", &format!("the deploy token is {token}")]);
    assert!(told.out.contains("masked 1 secret (token): the value was not stored"), "{}", told.out);
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
    let heard = home.run_with(
        &["observe", "--session", "s"],
        turns([format!("my card is {card}").as_str(), "nothing special"]).as_bytes(),
    );
    let heard: Vec<_> = heard.out.lines().collect();
    assert!(heard[0].contains(r#""masked":["card number"]"#) && !heard[1].contains("masked"));
    let edited = home.remember("a harmless note");
    let told = home.run(&["memory", "edit", &edited, "--content", &format!("口令是 {password}")]);
    assert!(told.out.contains("masked 1 secret (password)"), "{}", told.out);

    assert_eq!(traces(&home), [""; 0]);
    assert_eq!(home.recall("deploy").len(), 1);
    home.assert_well();
}

#[test]
fn imports_and_documents_are_masked_too() {
    let home = Home::new();
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
    let told = home.run(&["ingest", document.to_str().unwrap()]);
    assert!(told.out.contains("masked 2 secrets"), "{}", told.out);
    assert_eq!(traces(&home), [""; 0]);
    let again = home.json(&["memory", "import", file.to_str().unwrap()]);
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(2)));
}

#[test]
fn masking_can_be_switched_off() {
    let home = Home::new();
    let [token, ..] = values();
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[memory]\nmask_secrets = false\n").unwrap();
    let saved = home.json(&["remember", &format!("the deploy token is {token}")]);
    assert_eq!(saved["masked"], json!(null));
    assert!(!traces(&home).is_empty());
}
