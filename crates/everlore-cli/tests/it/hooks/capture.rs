//! Turns of hooks are stored once, whatever happens to the processes.

use std::fs;

use serde_json::{Value, json};

use super::{drain_spool, hook, pending_turns, recorded_event, turns};
use crate::home::TestHome;

/// Returns a recorded event with some of its fields changed.
pub(super) fn changed_event(home: &TestHome, host: &str, name: &str, fields: &Value) -> String {
    let mut event: Value = serde_json::from_str(&recorded_event(home, host, name)).unwrap();
    for (field, value) in fields.as_object().unwrap() {
        event[field] = value.clone();
    }
    event.to_string()
}

#[test]
fn an_event_that_comes_twice_is_stored_once() {
    let home = TestHome::new();
    for host in ["claude-code", "codex"] {
        for _ in 0..2 {
            hook(&home, host, "UserPromptSubmit", &recorded_event(&home, host, "UserPromptSubmit"));
            drain_spool(&home);
            hook(&home, host, "UserPromptSubmit", &recorded_event(&home, host, "UserPromptSubmit"));
            hook(&home, host, "Stop", &recorded_event(&home, host, "Stop"));
            hook(&home, host, "Stop", &recorded_event(&home, host, "Stop"));
            drain_spool(&home);
        }
    }
    assert_eq!(turns(&home).len(), 4, "{:?}", turns(&home));
}

#[test]
fn the_same_words_said_again_are_stored_again() {
    let home = TestHome::new();
    for round in 0..2 {
        for _ in 0..2 {
            hook(
                &home,
                "gemini",
                "BeforeAgent",
                &recorded_event(&home, "gemini", "BeforeAgent.zh"),
            );
        }
        hook(&home, "gemini", "AfterAgent", &recorded_event(&home, "gemini", "AfterAgent.zh"));
        drain_spool(&home);
        assert_eq!(turns(&home).len(), 2 * (round + 1));
    }
}

#[test]
fn a_message_that_was_never_answered_is_stored_too() {
    let home = TestHome::new();
    hook(
        &home,
        "codex",
        "UserPromptSubmit",
        &recorded_event(&home, "codex", "UserPromptSubmit.zh"),
    );
    hook(&home, "codex", "SessionEnd", &recorded_event(&home, "codex", "SessionEnd.zh"));
    drain_spool(&home);
    let stored = turns(&home);
    assert_eq!(stored.len(), 1);
    assert_eq!(
        (&stored[0][1], &stored[0][2]),
        (&json!("user"), &json!("我们的计费服务用的是哪个数据库？端口是多少？"))
    );
}

#[test]
fn what_an_event_does_not_say_is_read_in_the_transcript() {
    let home = TestHome::new();
    let lines = [
        json!({ "type": "user", "message": { "role": "user", "content": "请记住：部署在周四。" } }),
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [{ "type": "text", "text": "记住了：周四部署。" }] } }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(home.sibling("transcript.jsonl"), text).unwrap();
    let event =
        changed_event(&home, "claude-code", "Stop", &json!({ "last_assistant_message": null }));
    hook(&home, "claude-code", "Stop", &event);
    drain_spool(&home);
    let texts: Vec<Value> = turns(&home).iter().map(|turn| json!([turn[1], turn[2]])).collect();
    assert_eq!(
        texts,
        [json!(["user", "请记住：部署在周四。"]), json!(["assistant", "记住了：周四部署。"])]
    );
}

#[test]
fn subagents_and_our_own_words_are_not_stored() {
    let home = TestHome::new();
    for event in ["UserPromptSubmit", "Stop"] {
        let below = json!({ "agent_id": "agent-7", "agent_type": "Explore" });
        assert_eq!(
            hook(&home, "claude-code", event, &changed_event(&home, "claude-code", event, &below)),
            None
        );
    }
    let texts = "<memory-context>\n- likes tea\n</memory-context>\nHello there, 你好";
    let event =
        changed_event(&home, "claude-code", "UserPromptSubmit", &json!({ "prompt": texts }));
    hook(&home, "claude-code", "UserPromptSubmit", &event);
    drain_spool(&home);
    let stored = turns(&home);
    assert_eq!(stored.len(), 1, "{stored:?}");
    assert_eq!(stored[0][2], "Hello there, 你好");
}

/// Gemini CLI without a terminal puts what our hooks return in front of the prompt, escaped.
#[test]
fn context_that_gemini_repeats_escaped_is_not_the_users_words() {
    let home = TestHome::new();
    let ours = "<hook_context>&lt;agent-identity&gt;\nYou are a assistant.\n&lt;/agent-identity&gt;\n\
        &lt;memory-context&gt;\n我住在北京。I live in Oslo.\n&lt;/memory-context&gt;</hook_context>";
    for (name, own) in
        [("BeforeAgent", "I like green tea."), ("BeforeAgent.zh", "我喜欢喝龙井茶。")]
    {
        let fields = json!({ "prompt": format!("{ours}\n\n{own}"), "session_id": own });
        hook(&home, "gemini", "BeforeAgent", &changed_event(&home, "gemini", name, &fields));
        hook(&home, "gemini", "AfterAgent", &changed_event(&home, "gemini", "AfterAgent", &fields));
    }
    let side =
        json!({ "prompt": "[SUGGESTION MODE: Suggest what the user might naturally type next.]" });
    hook(&home, "gemini", "BeforeAgent", &changed_event(&home, "gemini", "BeforeAgent", &side));
    drain_spool(&home);
    let by_user = turns(&home).into_iter().filter(|turn| turn[1] == "user");
    let texts: Vec<Value> = by_user.map(|turn| turn[2].clone()).collect();
    assert_eq!(texts, ["I like green tea.", "我喜欢喝龙井茶。"]);
    home.run(&["extract"]);
    let stored = home.run(&["memory", "export"]).out;
    let wrong = ["assistant.", "Oslo", "北京", "SUGGESTION"];
    assert!(!wrong.iter().any(|word| stored.contains(word)), "{stored}");
}

#[test]
fn what_was_told_does_not_come_back_as_a_memory() {
    let home = TestHome::new();
    home.remember("Anna's cat is called Miso.");
    let prompt = json!({ "prompt": "What is my cat called?" });
    let context = hook(
        &home,
        "codex",
        "UserPromptSubmit",
        &changed_event(&home, "codex", "UserPromptSubmit", &prompt),
    );
    assert!(context.unwrap().to_string().contains("Miso"));
    let answer = json!({ "last_assistant_message": "Your cat is called Miso." });
    hook(&home, "codex", "Stop", &changed_event(&home, "codex", "Stop", &answer));
    hook(&home, "codex", "SessionEnd", &recorded_event(&home, "codex", "SessionEnd"));
    drain_spool(&home);
    home.run(&["extract"]);
    let stats = home.json(&["memory", "stats"]);
    assert_eq!(stats["usage"]["told"], 1, "{stats}");
    let lines = home.run(&["memory", "export"]).lines();
    let about = |line: &&Value| {
        line["memory"]["content"].as_str().is_some_and(|text| text.contains("Miso"))
    };
    let kinds: Vec<&Value> =
        lines.iter().filter(about).map(|line| &line["memory"]["kind"]).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind != "turn").count(), 1, "{kinds:?}");
}

#[test]
fn what_was_told_is_counted_when_it_is_stored_and_what_was_erased_meanwhile_is_not() {
    let home = TestHome::new();
    let id = home.remember("Anna's cat is called Miso.");
    let erased = home.remember("支付网关每周四晚上发版。");
    for (prompt, context) in
        [("What is Anna's cat called?", "Miso"), ("支付网关什么时候发版？", "周四")]
    {
        let event = changed_event(
            &home,
            "codex",
            "UserPromptSubmit",
            &json!({ "prompt": prompt, "turn_id": prompt }),
        );
        let answer = hook(&home, "codex", "UserPromptSubmit", &event);
        assert!(answer.unwrap().to_string().contains(context));
    }
    let counts = || home.json(&["memory", "stats"])["usage"].clone();
    assert_eq!(counts()["told"], 0, "the hook did not wait for it");
    home.json(&["memory", "forget", "--yes", &erased]);
    drain_spool(&home);
    assert_eq!((&counts()["told"], &counts()["memories"]), (&json!(1), &json!(1)), "{id}");
    assert!(fs::read_dir(home.path().join("hooks/waiting")).unwrap().next().is_none());
}

#[test]
fn what_is_held_out_of_a_message_is_written_down_too() {
    let home = TestHome::new();
    home.remember("Anna's cat is called Miso.");
    fs::write(home.path().join("config.toml"), "[memory.inject]\nholdout = 0.5\n").unwrap();
    let sessions: Vec<String> = (0..12).map(|number| format!("holdout-{number}")).collect();
    let mut context = 0;
    for session in &sessions {
        let prompt = json!({ "prompt": "What is Anna's cat called?", "session_id": session });
        let event = changed_event(&home, "codex", "UserPromptSubmit", &prompt);
        context += u64::from(hook(&home, "codex", "UserPromptSubmit", &event).is_some());
    }
    // Stored answers would be injected as well.
    for session in &sessions {
        let answer = json!({ "last_assistant_message": "Miso.", "session_id": session });
        hook(&home, "codex", "Stop", &changed_event(&home, "codex", "Stop", &answer));
    }
    drain_spool(&home);
    let usage = home.json(&["memory", "stats"])["usage"].clone();
    assert_eq!(
        (&usage["told"], &usage["held_out"]),
        (&json!(context), &json!(12 - context)),
        "{usage}"
    );
}

#[test]
fn secrets_are_masked_before_anything_is_written() {
    let home = TestHome::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let prompt = json!({ "prompt": format!("use the token {secret} for the deploy") });
    hook(
        &home,
        "codex",
        "UserPromptSubmit",
        &changed_event(&home, "codex", "UserPromptSubmit", &prompt),
    );
    assert_eq!(pending_turns(&home), 1);
    for (path, bytes) in home.files() {
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret), "{}", path.display());
    }
}

#[test]
fn what_a_prompt_quotes_is_kept_beside_the_users_words() {
    let home = TestHome::new();
    let prompts = [
        ("Fix it.\n<document>My name is Zed.</document>", "Fix it.", "My name is Zed."),
        (
            "看一下\n--- Content from referenced files ---\nContent from @a.md:\n我住在北京。\n--- End of content ---",
            "看一下",
            "我住在北京。",
        ),
    ];
    for (number, (prompt, _, _)) in prompts.into_iter().enumerate() {
        let fields = json!({ "prompt": prompt, "prompt_id": format!("quoting-{number}") });
        let event = changed_event(&home, "claude-code", "UserPromptSubmit", &fields);
        hook(&home, "claude-code", "UserPromptSubmit", &event);
    }
    drain_spool(&home);
    let exported = home.run(&["memory", "export"]).lines();
    let turns: Vec<&Value> = exported.iter().filter_map(|line| line.get("memory")).collect();
    for (prompt, own, quoted) in prompts {
        let turn = turns.iter().find(|turn| turn["content"] == own);
        let turn = turn.unwrap_or_else(|| panic!("{prompt}: {turns:?}"));
        assert!(turn["metadata"]["quoted"].as_str().unwrap().contains(quoted), "{turn}");
    }
}
