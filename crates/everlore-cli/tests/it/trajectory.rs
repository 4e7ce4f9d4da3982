//! `everlore trajectory`, `health`, `tokens` and `embed text`: the shapes that programs rely on, and words for people.

use std::fs;

use serde_json::{Value, json};

use crate::home::TestHome;

/// Records a conversation in which a failure is solved.
fn record(home: &TestHome, session: &str) {
    let at = |second: u32| format!("2026-03-02T12:00:{second:02}Z");
    let bash = |command: &str, failed: bool| json!({ "name": "Bash", "arguments": { "command": command }, "failed": failed });
    let lines = [
        json!({ "role": "user", "text": "测试跑不起来，帮我修一下。", "time": at(0) }),
        json!({ "role": "tool", "text": "error: linker `cc` not found", "call": bash("cargo test", true), "time": at(1) }),
        json!({ "role": "tool", "text": "", "call": bash("apt install gcc", false), "time": at(2) }),
        json!({ "role": "tool", "text": "12 passed", "call": bash("cargo test", false), "time": at(3) }),
        json!({ "role": "assistant", "text": "装上 gcc 就好了。", "time": at(4),
            "answer": { "model": "small/1", "tokens": { "read": 90, "cached": 0, "written": 9 }, "ended": "done" } }),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = home.run_with_input(&["observe", "--session", session], input.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_conversation_is_listed_shown_compressed_and_exported() {
    let home = TestHome::new();
    assert_eq!(home.run(&["trajectory", "list"]).code, 1);
    record(&home, "codex/商店/1");
    let page = home.json(&["trajectory", "list"]);
    let listed = &page["trajectories"][0];
    assert_eq!(
        (&listed["session"], &listed["calls"], &listed["failed_calls"]),
        (&json!("codex/商店/1"), &json!(3), &json!(1))
    );
    assert_eq!(listed["outcome"]["kind"], "succeeded");
    let shown = home.json(&["trajectory", "show", "codex/商店/1"]);
    assert_eq!(shown["steps"].as_array().unwrap().len(), 5);
    assert_eq!(shown["tokens"], json!({ "read": 90, "cached": 0, "written": 9 }));
    let people = home.run(&["trajectory", "show", "codex/商店/1"]);
    assert!(
        people.out.contains("Bash cargo test (failed)") && people.out.contains("先失败后成功"),
        "{people:?}"
    );
    let short = home.json(&["trajectory", "compress", "codex/商店/1", "--budget", "60"]);
    assert!(short["compressed"]["tokens"].as_u64().unwrap() <= 60, "{short}");
    let small = home.run(&["trajectory", "compress", "codex/商店/1", "--budget", "5"]);
    assert!(small.code == 2 && small.err.contains("50"), "{small:?}");
    let missing = home.run(&["trajectory", "show", "nothing"]);
    assert!(missing.code == 2 && missing.err.contains("not found"), "{missing:?}");
}

#[test]
fn exports_go_to_standard_output_or_a_new_file() {
    let home = TestHome::new();
    record(&home, "one");
    record(&home, "two");
    let one = home.run(&["trajectory", "export", "--session", "one"]);
    assert_eq!(one.lines()[0]["schema_version"], "ATIF-v1.8");
    for (format, field) in [("sharegpt", "conversations"), ("openai", "messages")] {
        let all = home.run(&["trajectory", "export", "--format", format]).lines();
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|line| line[field].is_array()), "{all:?}");
    }
    let none = home.run(&["trajectory", "export", "--since", "2026-04-01"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    let file = home.sibling("trajectories.jsonl").display().to_string();
    let written = home.run(&["trajectory", "export", "-o", &file]);
    assert_eq!((written.code, written.out.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
    assert_eq!(home.run(&["trajectory", "export", "-o", &file]).code, 2, "a file is not replaced");
    let wrong = home.run(&["trajectory", "export", "--format", "xml"]);
    assert!(wrong.code == 2 && wrong.err.contains("sharegpt"), "{wrong:?}");
}

#[test]
fn forgetting_a_turn_removes_it_from_exports() {
    let home = TestHome::new();
    record(&home, "one");
    let step = home.json(&["trajectory", "show", "one"])["steps"][0]["id"].clone();
    home.run(&["memory", "forget", step.as_str().unwrap(), "--yes"]);
    let text = home.run(&["trajectory", "export"]).out;
    assert!(!text.contains("跑不起来") && text.contains("cargo test"), "{text}");
}

#[test]
fn health_tells_the_state_and_what_to_do() {
    let home = TestHome::new();
    home.remember("我喜欢喝龙井茶");
    let well = home.run(&["health"]);
    assert!(well.code == 0 && well.out.contains("all is well"), "{well:?}");
    let report = home.json(&["health"]);
    assert_eq!((&report["status"], &report["memories"]["active"]), (&json!("ok"), &json!(1)));
    assert!(report["store"]["bytes"].as_u64().unwrap() > 0);
    fs::create_dir_all(home.path().join("hooks/waiting")).unwrap();
    fs::write(home.path().join("hooks/waiting/a.refused"), "{}").unwrap();
    let ill = home.run(&["health"]);
    assert!(ill.code != 0 && ill.out.contains("PROBLEM") && ill.out.contains("refused"), "{ill:?}");
}

#[test]
fn small_calls_count_embed_and_name_the_database() {
    let home = TestHome::new();
    let size = home.run_with_input(&["tokens", "--json"], "我喜欢茶".as_bytes()).json();
    assert_eq!((&size["characters"], &size["bytes"]), (&json!(4), &json!(12)));
    assert!(home.run(&["tokens", "green tea"]).out.contains("tokens"));
    let embedded = home.json(&["embed", "text", "我喝绿茶"]);
    let vector: Vec<f64> = serde_json::from_value(embedded["vector"].clone()).unwrap();
    let length: f64 = vector.iter().map(|it| it * it).sum();
    assert!((length - 1.0).abs() < 0.01 && embedded["dimensions"] == vector.len());
    let providers = home.json(&["embed", "providers"]);
    let in_use = |it: &&Value| it["in_use"] == true;
    let all = providers["providers"].as_array().unwrap();
    assert_eq!(all.iter().find(in_use).unwrap()["name"], "builtin");
    assert!(home.json(&["store", "show"])["store"].as_str().unwrap().ends_with("everlore.db"));
}
