//! Hooks with and without a server: the same context, the same stored turns.

use serde_json::Value;

use super::{
    capture::changed_event, drain_spool, hook, recorded_event, replay::home_with_memories, turns,
};
use crate::{
    home::TestHome,
    serve::{TestServer, tls::TlsServer},
};

/// Returns the responses of a home to a conversation, and the turns it has stored then.
fn conversation(home: &TestHome) -> (Vec<Option<Value>>, Vec<Value>) {
    let mut response = Vec::new();
    for ending in ["", ".zh"] {
        for event in ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "Stop"] {
            response.push(hook(
                home,
                "claude-code",
                event,
                &recorded_event(home, "claude-code", &format!("{event}{ending}")),
            ));
        }
        drain_spool(home);
    }
    (response, turns(home))
}

#[test]
fn a_server_changes_nothing_but_the_time() {
    let (alone, served) = (home_with_memories(), home_with_memories());
    let server = TestServer::start(&served, &[]);
    let (before, after) = (conversation(&alone), conversation(&served));
    assert_eq!(before.0, after.0);
    assert_eq!(before.1, after.1);
    // The response came from the server.
    let metrics = server.request("GET", "/metrics", None).text;
    let requested =
        metrics.lines().find(|line| line.contains("/v1/context") && line.contains("200"));
    assert!(requested.is_some(), "{metrics}");
}

#[test]
fn other_settings_and_other_versions_are_not_asked() {
    let home = home_with_memories();
    let server = TestServer::start(&home, &[]);
    let requested = || server.request("GET", "/metrics", None).text.contains("/v1/context");
    let prompt = recorded_event(&home, "codex", "UserPromptSubmit");
    let input = home.sibling("event.json");
    std::fs::write(&input, &prompt).unwrap();
    let mut command = home.command(&["hook", "codex", "UserPromptSubmit"]);
    command.env("EVERLORE_MEMORY__INJECT__LIMIT", "1").stdin(std::fs::File::open(&input).unwrap());
    let response = command.output().unwrap();
    assert!(
        String::from_utf8_lossy(&response.stdout).contains("5433") && !requested(),
        "{response:?}"
    );
    let note = home.path().join("server.json");
    let text = std::fs::read_to_string(&note).unwrap().replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    std::fs::write(&note, text).unwrap();
    let other = serde_json::json!({ "session_id": "another" });
    let response = hook(
        &home,
        "codex",
        "UserPromptSubmit",
        &changed_event(&home, "codex", "UserPromptSubmit", &other),
    );
    assert!(response.unwrap().to_string().contains("5433") && !requested());
}

#[test]
fn a_server_that_just_died_is_not_missed() {
    let home = home_with_memories();
    let mut server = TestServer::start(&home, &[]);
    let note = std::fs::read(home.path().join("server.json")).unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    std::fs::write(home.path().join("server.json"), note).unwrap();
    let response = hook(
        &home,
        "codex",
        "UserPromptSubmit",
        &recorded_event(&home, "codex", "UserPromptSubmit"),
    );
    assert!(response.unwrap().to_string().contains("5433"));
}

#[test]
fn commands_work_on_the_files_beside_a_server_and_both_see_the_same() {
    let (alone, served) = (home_with_memories(), home_with_memories());
    let server = TestServer::start(&served, &[]);
    let work = |home: &TestHome| {
        home.remember("The staging server is called Kiwi.");
        home.run_with_input(&["observe", "--session", "s"], "我们周五上线\n".as_bytes());
        (
            home.recall("staging server"),
            home.recall("什么时候上线"),
            home.run(&["context", "What is the staging server called?"]).out,
        )
    };
    assert_eq!(work(&alone), work(&served));
    let found = server
        .request("POST", "/v1/recall", Some(serde_json::json!({ "query": "staging server" })))
        .json(200);
    assert_eq!(found["hits"][0]["content"], "The staging server is called Kiwi.");
}

#[test]
fn hooks_ask_a_server_with_tls_all_the_same() {
    let home = home_with_memories();
    let secured = TlsServer::start(&home, &["memory.example"], &["--host", "0.0.0.0"]);
    let prompt = recorded_event(&home, "codex", "UserPromptSubmit");
    let response = hook(&home, "codex", "UserPromptSubmit", &prompt);
    assert!(response.unwrap().to_string().contains("5433"));
    let metrics = secured.request(&secured.cert, "memory.example", "/metrics").unwrap();
    let requested =
        metrics.lines().find(|line| line.contains("/v1/context") && line.contains("200"));
    assert!(requested.is_some(), "{metrics}");
}
