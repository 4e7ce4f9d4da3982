//! Checks of memories: set by options, reported by recall, show, list and verify.

use std::fs;

use serde_json::{Value, json};

use crate::home::TestHome;

/// Returns a home with timeouts long enough for any disk, and more settings of `[checks]`.
pub(crate) fn patient_home(settings: &str) -> TestHome {
    let home = TestHome::new();
    everlore::internal::files::atomic_file::create_private_folder(&home.path()).unwrap();
    let text = format!("[checks]\ntime_limit_ms = 30000\n{settings}");
    fs::write(home.path().join("config.toml"), text).unwrap();
    home
}

fn first_check(home: &TestHome, query: &str) -> Value {
    home.json(&["recall", query])["hits"][0]["check"].clone()
}

#[test]
fn a_relative_path_is_taken_from_the_folder_and_recall_tells_when_it_is_gone() {
    let home = patient_home("");
    fs::create_dir(home.sibling("源")).unwrap();
    fs::write(home.sibling("源/a.rs"), "fn a() {}").unwrap();
    home.json(&["remember", "The parser 解析器 lives in 源/a.rs", "--check-path", "源/a.rs"]);
    let check = first_check(&home, "parser");
    let whole = fs::canonicalize(home.sibling("源/a.rs")).unwrap();
    assert_eq!(check["verdict"], "fresh", "{check}");
    assert_eq!(fs::canonicalize(check["path"].as_str().unwrap()).unwrap(), whole);
    fs::remove_file(whole).unwrap();
    let check = first_check(&home, "parser");
    assert_eq!(check["verdict"], "stale");
    assert!(check["why"].as_str().unwrap().ends_with("源/a.rs is gone"), "{check}");
    let ran = home.run(&["recall", "parser", "--explain"]);
    assert!(
        ran.out.contains("stale: ") && ran.out.contains("ranked after memories that hold"),
        "{}",
        ran.out
    );
    let ran = home.run(&["context", "where does the parser live?"]);
    assert!(ran.out.contains("check failed: "), "{}", ran.out);
    let ran = home.run(&["context", "解析器 parser 在哪里？"]);
    assert!(ran.out.contains("检查未通过："), "{}", ran.out);
}

#[test]
fn show_list_and_verify_tell_and_the_exit_code_of_verify_too() {
    let home = patient_home("");
    fs::write(home.sibling("notes.md"), "龙井").unwrap();
    let saved = home.json(&["remember", "茶的笔记", "--check-file", "notes.md"]);
    let id = saved["id"].as_str().unwrap();
    home.json(&["remember", "The offer holds", "--valid-until", "2999-12-31"]);
    home.remember("nothing to verify");
    let report = home.json(&["memory", "verify"]);
    assert_eq!((&report["checked"], &report["fresh"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(report["memories"], json!([]));
    let all = home.json(&["memory", "verify", "--all"]);
    assert_eq!(all["memories"].as_array().unwrap().len(), 2);
    fs::write(home.sibling("notes.md"), "碧螺春").unwrap();
    let ran = home.run(&["--json", "memory", "verify"]);
    assert_eq!((ran.code, &ran.json()["memories"][0]["id"]), (2, &json!(id)), "{ran:?}");
    let ran = home.run(&["memory", "verify"]);
    assert!(
        ran.out.contains("茶的笔记")
            && ran.out.contains("2 memories have a check: 1 fresh, 1 stale"),
        "{}",
        ran.out
    );
    assert_eq!(home.json(&["memory", "show", id])["check"]["verdict"], "stale");
    assert!(home.run(&["memory", "show", id]).out.contains("notes.md has changed"));
    let listed = home.json(&["memory", "list", "--verify"]);
    let verdicts: Vec<_> = listed["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| &memory["check"]["verdict"])
        .collect();
    assert_eq!(verdicts, [&Value::Null, &json!("fresh"), &json!("stale")]);
    assert!(home.run(&["memory", "list", "--verify"]).out.contains("stale: "));
    assert_eq!(home.json(&["memory", "list"])["memories"][2].get("check"), None);
}

#[test]
fn an_edit_sets_and_takes_a_check_away() {
    let home = patient_home("");
    let id = home.remember("服务器在机房");
    let edited = home.json(&["memory", "edit", &id, "--check-path", "."]);
    assert!(edited["metadata"]["check"]["seal"].is_string(), "{edited}");
    assert_eq!(home.json(&["memory", "show", &id])["check"]["verdict"], "fresh");
    home.json(&["memory", "edit", &id, "--verify-after", "30"]);
    assert_eq!(home.json(&["memory", "show", &id])["check"]["days"], 30);
    home.json(&["memory", "edit", &id, "--no-check"]);
    assert_eq!(home.json(&["memory", "show", &id]).get("check"), None);
    let both = home.run(&["memory", "edit", &id, "--no-check", "--check-path", "."]);
    assert_eq!(both.code, 2, "{both:?}");
    let two =
        home.run(&["--json", "memory", "edit", &id, "--check-path", ".", "--verify-after", "3"]);
    assert_eq!(two.code, 2);
    assert!(two.err.contains("exactly one") || two.out.contains("exactly one"), "{two:?}");
}

#[cfg(unix)]
#[test]
fn commands_need_the_settings_and_get_no_more_of_the_environment_than_they_need() {
    let words = |script: &str| -> Vec<String> {
        let all =
            ["remember", "构建通过 the build passes", "--check-command", "/bin/sh", "-c", script];
        all.map(str::to_owned).to_vec()
    };
    let off = patient_home("");
    let ran = off.run(&words("exit 0"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let check = first_check(&off, "build passes");
    assert_eq!(check["verdict"], "unverifiable");
    assert!(check["why"].as_str().unwrap().contains("commands = true"), "{check}");
    let on = patient_home("commands = true\n");
    on.run(&words("test -z \"$EVERLORE_HOME$TZ\" && test -n \"$HOME\""));
    assert_eq!(first_check(&on, "build passes")["verdict"], "fresh");
    on.run(&[
        "remember",
        "版本是 7",
        "--check-prints",
        "7",
        "--check-command",
        "/bin/sh",
        "-c",
        "echo 8",
    ]);
    let check = first_check(&on, "版本");
    assert_eq!((&check["verdict"], &check["prints"]), (&json!("stale"), &json!("7")), "{check}");
}

#[test]
fn a_copy_in_another_home_is_not_looked_at_until_it_is_confirmed() {
    let (home, copy) = (patient_home(""), patient_home(""));
    fs::write(home.sibling("a.md"), "茶").unwrap();
    let path = home.sibling("a.md");
    let path = path.to_str().unwrap();
    home.json(&["remember", "茶在 a.md", "--check-path", path]);
    let export = home.sibling("all.jsonl");
    home.json(&["memory", "export", export.to_str().unwrap()]);
    copy.json(&["memory", "import", export.to_str().unwrap()]);
    let hit = copy.json(&["recall", "茶在"])["hits"][0].clone();
    assert_eq!(hit["check"]["verdict"], "unverifiable");
    assert!(hit["check"]["why"].as_str().unwrap().contains("not set in this home"), "{hit}");
    copy.json(&["memory", "edit", hit["id"].as_str().unwrap(), "--check-path", path]);
    assert_eq!(first_check(&copy, "茶在")["verdict"], "fresh");
    copy.assert_healthy();
}

#[test]
fn a_vault_that_is_edited_by_hand_keeps_the_check() {
    let home = patient_home("");
    fs::write(home.sibling("a.md"), "茶").unwrap();
    let saved = home.json(&[
        "remember",
        "I keep my tea notes in a.md",
        "--kind",
        "reference",
        "--name",
        "Tea notes",
        "--check-path",
        "a.md",
    ]);
    let id = saved["id"].as_str().unwrap();
    home.json(&["vault", "init"]);
    home.json(&["vault", "sync"]);
    let files = home.files();
    let page = files.iter().find(|(_, bytes)| {
        String::from_utf8_lossy(bytes).contains("---")
            && String::from_utf8_lossy(bytes).contains(id)
    });
    let (page, bytes) = page.expect("the memory is a file");
    let text = String::from_utf8(bytes.clone()).unwrap().replace("tea notes in", "龙井 notes in");
    fs::write(page, text).unwrap();
    home.json(&["vault", "sync"]);
    let shown = home.json(&["memory", "show", id]);
    assert!(shown["content"].as_str().unwrap().contains("龙井"), "{shown}");
    assert_eq!(shown["check"]["verdict"], "fresh");
}
