//! Complete conversations of each host, in English and Chinese.

use std::fs;

use serde_json::{Value, json};

use super::{HOSTS, drain_spool, hook, recorded_event, turns};
use crate::home::TestHome;

const EVENTS: [(&str, &[&str]); 6] = [
    (
        "claude-code",
        &[
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "PreCompact",
            "SessionEnd",
        ],
    ),
    (
        "codex",
        &["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd"],
    ),
    (
        "gemini",
        &["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"],
    ),
    (
        "cursor",
        &[
            "sessionStart",
            "beforeSubmitPrompt",
            "postToolUse",
            "postToolUseFailure",
            "afterAgentResponse",
            "preCompact",
            "sessionEnd",
        ],
    ),
    (
        "qwen-code",
        &[
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "PreCompact",
            "SessionEnd",
        ],
    ),
    (
        "opencode",
        &[
            "session.created",
            "chat.message",
            "tool.execute.after",
            "session.idle",
            "session.compacting",
            "session.end",
        ],
    ),
];

/// Returns a home with memories about the work, and a user profile.
pub(super) fn home_with_memories() -> TestHome {
    let home = TestHome::new();
    for text in [
        "The billing service uses PostgreSQL 16 on port 5433, not the default port.",
        "计费服务用 PostgreSQL 16 数据库，端口是 5433，不是默认端口。",
        "When linking fails with `cannot find -lssl`, install libssl-dev; the error comes back after every clean image.",
        "链接报错“找不到 -lssl”时，要安装 libssl-dev。",
        "Anna prefers green tea in the morning.",
    ] {
        home.remember(text);
    }
    layer(&home, "USER.md", "## Profile\n\nAnna, backend engineer. 回答要简短。\n");
    fs::write(home.path().join("config.toml"), "[prompt]\nguide = false\n").unwrap();
    home
}

fn layer(home: &TestHome, name: &str, text: &str) {
    let folder = home.path().join("memories");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

#[test]
fn every_event_of_every_host_is_answered_in_its_shape() {
    for (host, events) in EVENTS {
        let (mut responses, mut stored) = (Vec::new(), Vec::new());
        // A home for each language, so that one conversation does not affect the other.
        for ending in ["", ".zh"] {
            let home = home_with_memories();
            for event in events {
                let name = format!("{event}{ending}");
                let answer = hook(&home, host, event, &recorded_event(&home, host, &name));
                responses.push(json!({ "event": name, "answer": answer }));
            }
            drain_spool(&home);
            stored.extend(turns(&home));
        }
        let shown =
            serde_json::to_string_pretty(&json!({ "told": responses, "stored": stored })).unwrap();
        insta::assert_snapshot!(host, shown);
        assert_whole(host, &responses, &stored);
    }
}

/// Checks what must hold whatever the snapshot says.
fn assert_whole(host: &str, responses: &[Value], stored: &[Value]) {
    assert!(HOSTS.contains(&host));
    let of = |event: &str| {
        let found = responses.iter().find(|responses| responses["event"] == event);
        found.unwrap()["answer"].to_string()
    };
    let [_, prompt, ..] = EVENTS.iter().find(|(known, _)| *known == host).unwrap().1 else {
        unreachable!()
    };
    for event in [(*prompt).to_owned(), format!("{prompt}.zh")] {
        assert!(
            of(&event).contains("5433") && of(&event).contains("<memory-context>"),
            "{host} {event}"
        );
        assert!(!of(&event).contains("green tea"), "{host} {event}");
    }
    let (tools, said): (Vec<_>, Vec<_>) = stored.iter().partition(|turn| turn[1] == "tool");
    assert_eq!(said.len(), 4, "{host}: {stored:?}");
    let is_failure = |turn: &&Value| turn[2].as_str().unwrap().contains(" failed] ");
    assert!(tools.iter().all(is_failure), "{host}: {stored:?}");
    assert!(
        stored
            .iter()
            .all(|turn| turn[0].as_str().unwrap().starts_with(&format!("{host}/tea/billing/")))
    );
}

#[test]
fn every_recorded_event_is_replayed() {
    for (host, events) in EVENTS {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks").join(host);
        assert_eq!(fs::read_dir(folder).unwrap().count(), events.len() * 2, "{host}");
    }
}

#[test]
fn nothing_is_told_where_nothing_is_relevant_or_asked() {
    let home = home_with_memories();
    for prompt in ["ok", "好的", "/clear", "Write a haiku about the sea.", "谢谢", ""] {
        let mut event: Value =
            serde_json::from_str(&recorded_event(&home, "claude-code", "UserPromptSubmit"))
                .unwrap();
        event["prompt"] = json!(prompt);
        assert_eq!(
            hook(&home, "claude-code", "UserPromptSubmit", &event.to_string()),
            None,
            "{prompt}"
        );
    }
}

#[test]
fn a_block_is_told_once_until_the_conversation_is_shortened() {
    let home = home_with_memories();
    let ask = |words: &str| {
        let mut event: Value =
            serde_json::from_str(&recorded_event(&home, "codex", "UserPromptSubmit")).unwrap();
        event["prompt"] = json!(words);
        hook(&home, "codex", "UserPromptSubmit", &event.to_string())
    };
    let question = "Which database does our billing service use?";
    assert!(ask(question).is_some());
    assert_eq!(ask(question), None);
    hook(&home, "codex", "PreCompact", &recorded_event(&home, "codex", "PreCompact"));
    assert!(ask(question).is_some());
}

#[test]
fn the_beginning_is_told_within_what_hosts_take() {
    let home = home_with_memories();
    layer(&home, "USER.md", &format!("## 简介\n\n{}\n", "回答要简短。".repeat(200)));
    let long = "- a note that is worth keeping for a long time\n".repeat(250);
    layer(&home, "MEMORY.md", &format!("## Notes\n\n{long}"));
    for host in ["claude-code", "codex"] {
        let responses =
            hook(&home, host, "SessionStart", &recorded_event(&home, host, "SessionStart"))
                .unwrap();
        let context = responses["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(context.contains("回答要简短") && context.chars().count() <= 10_000, "{context}");
    }
}
