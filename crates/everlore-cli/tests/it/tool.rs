//! `everlore tool`: listed, shown, called, rejected, killed in the middle, and forgotten.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::{Value, json};

use crate::home::{CommandOutput, TestHome};

fn call(home: &TestHome, name: &str, input: &Value) -> CommandOutput {
    home.run(&["tool", "call", name, &input.to_string()])
}

/// Calls a tool and returns its text; fails on an error.
fn ok(home: &TestHome, name: &str, input: &Value) -> String {
    let ran = call(home, name, input);
    assert!(ran.code == 0 && ran.err.is_empty(), "{ran:?}");
    ran.out.trim_end_matches('\n').to_owned()
}

/// Returns the folder of the tool `memory`.
fn folder(home: &TestHome) -> PathBuf {
    home.path().join("vault")
}

#[test]
fn tools_are_listed_and_shown() {
    let home = TestHome::new();
    let listed = home.run(&["tool", "list"]);
    assert_eq!((listed.code, listed.out.lines().count()), (0, 37), "{listed:?}");
    assert!(
        listed.out.contains("memory_recall        core       Search long-term memory"),
        "{listed:?}"
    );
    let names = |args: &[&str]| {
        let tools = home.json(args)["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let core = names(&["tool", "list", "--set", "core"]).join(" ");
    let expected = "memory_recall memory_timeline memory_get memory_save memory_update memory_forget memory_context";
    assert_eq!(core, expected);
    let layered = ["memory_read", "memory_add", "memory_replace", "memory_remove"];
    assert_eq!(names(&["tool", "list", "--set", "layers"]), layered);
    assert_eq!(names(&["tool", "list", "--set", "anthropic"]), ["memory"]);
    assert_eq!(names(&["tool", "list", "--set", "fs"]).len(), 8);
    let shown = home.json(&["tool", "show", "memory_save"]);
    assert_eq!(shown["inputSchema"]["additionalProperties"], false);
    assert_eq!(shown["annotations"]["openWorldHint"], false);
    let shown = home.run(&["tool", "show", "memory_save"]);
    assert!(shown.code == 0 && shown.out.contains("\"action\": {"), "{shown:?}");
    let missing = home.run(&["tool", "show", "memory_sav"]);
    assert!(
        missing.code == 2 && missing.err.contains("did you mean `memory_save`?"),
        "{missing:?}"
    );
    assert!(!home.path().exists(), "nothing was stored, so nothing was made");
}

#[test]
fn a_tool_is_called_from_an_argument_or_from_standard_input() {
    let home = TestHome::new();
    let result = ok(
        &home,
        "memory_save",
        &json!({"action": "create", "type": "user", "content": "我喜欢喝龙井茶"}),
    );
    assert!(result.starts_with("Saved: [user] 我喜欢喝龙井茶 (id "), "{result}");
    let input = json!({"query": "喝什么茶？"}).to_string();
    for args in [["tool", "call", "memory_recall", "-"], ["tool", "call", "memory_recall", &input]]
    {
        let ran = home.run_with_input(&args, input.as_bytes());
        assert!(ran.code == 0 && ran.out.contains("\n  我喜欢喝龙井茶\n"), "{ran:?}");
    }
    let whole = home.json(&["tool", "call", "memory_recall", &input]);
    assert_eq!((&whole["is_error"], &whole["structured"]["found"]), (&json!(false), &json!(true)));
    // Other commands see the same memory, journaled as the agent's.
    let history = home.json(&["memory", "history"]);
    let entry = &history["changes"][0];
    assert_eq!(
        (&entry["actor"], &entry["cause"]),
        (&json!("agent"), &json!("memory_save: create")),
        "{history}"
    );
    home.assert_healthy();
}

#[test]
fn a_tool_that_refuses_says_why_with_exit_code_2() {
    let home = TestHome::new();
    let ran =
        call(&home, "memory", &json!({"command": "view", "path": "/memories/../everlore.db"}));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(ran.err, "Path /memories/../everlore.db would escape /memories directory\n");
    let ran = home.run(&["--json", "tool", "call", "memory_save", "{}"]);
    assert_eq!(
        (ran.code, &ran.json()["is_error"], &ran.json()["structured"]),
        (2, &json!(true), &Value::Null)
    );
    let ran = home.run(&["tool", "call", "memory_save", "{action"]);
    assert!(
        ran.code == 2
            && ran.err.contains("the input is not JSON")
            && ran.err.contains("tool show memory_save"),
        "{ran:?}"
    );
    let ran = home.run(&["--json", "tool", "call", "weather", "{}"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("invalid")));
}

#[test]
fn each_agent_and_user_has_a_folder_and_memories_of_its_own() {
    let home = TestHome::new();
    let names = [["a", "u"], ["A", "u"], ["a", "U"], ["助手", "王 小明"]];
    for [agent, user] in names {
        let input = json!({"command": "create", "path": "/memories/own.md", "file_text": format!("the parrot of {agent} and {user}")});
        let ran = home.run(&[
            "--agent",
            agent,
            "--user",
            user,
            "tool",
            "call",
            "memory",
            &input.to_string(),
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    for [agent, user] in names {
        let run = |name: &str, input: Value| {
            home.run(&["--agent", agent, "--user", user, "tool", "call", name, &input.to_string()])
                .out
        };
        let text = format!("the parrot of {agent} and {user}");
        assert!(
            run("memory", json!({"command": "view", "path": "/memories/own.md"}))
                .ends_with(&format!("\t{text}\n"))
        );
        let recalled = run("memory_recall", json!({"query": "Whose parrot is it?"}));
        assert!(recalled.starts_with("1 memory ") && recalled.contains(&text), "{recalled}");
    }
    // Folder names that differ only in case are kept apart, even on a case-insensitive file system.
    let folders: Vec<String> = fs::read_dir(home.path().join("agents"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().to_lowercase())
        .collect();
    assert_eq!(folders.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "{folders:?}");
    home.assert_healthy();
}

/// Returns every file below a folder with its bytes.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let each = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![(path.clone(), fs::read(path).unwrap())]
        }
    };
    entries.flat_map(each).collect()
}

#[test]
fn forgetting_a_file_removes_it_from_disk_index_and_journal_under_every_name() {
    let (home, secret) = (TestHome::new(), "xylocarpquokka");
    ok(
        &home,
        "memory",
        &json!({"command": "create", "path": "/memories/a.md", "file_text": format!("the code is {secret}")}),
    );
    ok(
        &home,
        "memory",
        &json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "noted"}),
    );
    ok(
        &home,
        "memory",
        &json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b/c.md"}),
    );
    let id = home.json(&["recall", secret])["hits"][0]["id"].as_str().unwrap().to_owned();
    let forgotten = home.json(&["memory", "forget", &id, "--yes"]);
    assert_eq!(forgotten["forgotten"].as_array().unwrap().len(), 2, "{forgotten}");
    assert_eq!(forgotten["warnings"], json!([]));
    for (path, bytes) in files_below(&home.path()) {
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "{}",
            path.display()
        );
    }
    assert!(!folder(&home).join("b/c.md").exists());
    home.assert_healthy();
}

#[test]
fn a_memory_that_only_claims_to_be_a_file_removes_none() {
    let home = TestHome::new();
    ok(
        &home,
        "memory",
        &json!({"command": "create", "path": "/memories/a.md", "file_text": "keep me"}),
    );
    let claim = home.json(&["remember", "a claim", "--metadata", r#"{"file": "/memories/a.md"}"#]);
    home.json(&["memory", "forget", claim["id"].as_str().unwrap(), "--yes"]);
    assert!(folder(&home).join("a.md").exists());
}

#[test]
fn processes_at_once_lose_no_line() {
    let home = TestHome::new();
    ok(
        &home,
        "memory",
        &json!({"command": "create", "path": "/memories/log.md", "file_text": "log\n"}),
    );
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = &home;
            scope.spawn(move || {
                for number in 0..5 {
                    let line = format!("writer {writer} line {number}\n");
                    ok(home, "memory", &json!({"command": "insert", "path": "/memories/log.md", "insert_line": 1, "insert_text": line}));
                }
            });
        }
    });
    let text = fs::read_to_string(folder(&home).join("log.md")).unwrap();
    assert_eq!(text.lines().count(), 21, "{text}");
}

const KILLS: u32 = 40;

/// Both texts are longer than a page, so that a torn file would show.
#[test]
fn a_kill_in_the_middle_leaves_the_old_or_the_new_file() {
    let home = TestHome::new();
    let text = |letter: char| format!("{}\n", letter.to_string().repeat(20_000));
    let file = folder(&home).join("big.md");
    let create = json!({"command": "create", "path": "/memories/big.md", "file_text": text('a')});
    let whole = Instant::now();
    ok(&home, "memory", &create);
    let whole = whole.elapsed();
    let mut now = 'a';
    for round in 0..KILLS {
        let next = if now == 'a' { 'b' } else { 'a' };
        let input = json!({"command": "str_replace", "path": "/memories/big.md", "old_str": text(now), "new_str": text(next)});
        let mut child = home.start(&["tool", "call", "memory", "-"]);
        let started = Instant::now();
        serde_json::to_writer(child.stdin.take().unwrap(), &input).unwrap();
        // Each round is killed at another moment, from its beginning to its usual end.
        while started.elapsed() < whole * round / KILLS {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read_to_string(&file).unwrap();
        let whole = found == text(now) || found == text(next);
        assert!(whole, "round {round}: torn after {} bytes", found.len());
        now = found.chars().next().unwrap();
    }
    // Temporary files of the killed processes do no harm, and the next change removes them.
    let insert = json!({"command": "insert", "path": "/memories/big.md", "insert_line": 0, "insert_text": "on"});
    ok(&home, "memory", &insert);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    home.assert_healthy();
}
