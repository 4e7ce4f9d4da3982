//! Failed tools: what solved a failure becomes an experience, and the hook offers it when the failure comes back.

use serde_json::{Value, json};

use super::{capture::changed_event, drain_spool, hook};
use crate::home::TestHome;

/// Reports a tool call of a conversation; `error` says how it failed.
pub(crate) fn tool(
    home: &TestHome,
    session: &str,
    command: &str,
    error: Option<&str>,
) -> Option<Value> {
    let name = if error.is_some() { "PostToolUseFailure" } else { "PostToolUse" };
    let fields = json!({
        "session_id": session,
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "tool_response": { "stdout": "ok", "stderr": "" },
        "tool_use_id": format!("{session}-{command}-{}", error.is_some()),
        "error": error,
    });
    hook(home, "claude-code", name, &changed_event(home, "claude-code", name, &fields))
}

#[test]
fn every_call_is_a_step_of_the_trajectory_and_none_is_a_turn_without_a_failure() {
    let home = TestHome::new();
    tool(&home, "one", "ls", None);
    tool(&home, "one", "cargo build", Some("error: 找不到链接器 cc"));
    tool(&home, "one", "cargo build", None);
    drain_spool(&home);
    let session = home.json(&["trajectory", "list"])["trajectories"][0]["session"].clone();
    let shown = home.json(&["trajectory", "show", session.as_str().unwrap()]);
    let step = |step: &Value| json!([step["call"]["arguments"]["command"], step["call"]["failed"]]);
    let steps: Vec<Value> = shown["steps"].as_array().unwrap().iter().map(step).collect();
    assert_eq!(
        steps,
        [json!(["ls", null]), json!(["cargo build", true]), json!(["cargo build", null])],
        "{shown}"
    );
    assert_eq!(shown["outcome"]["kind"], "succeeded");
    assert_eq!(shown["steps"][2]["text"], "ok", "what a call printed stays after a failure too");
    assert!(shown["steps"][2]["call"]["result"].is_null(), "{shown}");
    assert_eq!(super::turns(&home).len(), 2, "the call before the failure is no turn");
}

#[test]
fn a_failure_that_was_solved_is_offered_with_its_cure() {
    let home = TestHome::new();
    let error = "Traceback (most recent call last):\n  File \"/srv/a.py\", line 1, in <module>\nModuleNotFoundError: No module named 'yaml'";
    assert_eq!(tool(&home, "one", "python a.py", None), None);
    tool(&home, "one", "python a.py", Some(error));
    tool(&home, "one", "pip install pyyaml", None);
    tool(&home, "one", "python a.py", None);
    tool(&home, "one", "ls", None);
    drain_spool(&home);
    home.json(&["extract"]);
    let known = home.json(&["experience", "list"]);
    let session = home.json(&["trajectory", "list"])["trajectories"][0]["session"].clone();
    let shown = home.json(&["trajectory", "show", session.as_str().unwrap()]);
    assert_eq!(shown, home.json(&["trajectory", "show", "one"]), "the last part names it");
    assert_eq!(shown["experiences"][0]["id"], known["experiences"][0]["id"], "{shown}");
    let solution = known["experiences"][0]["solution"].as_str().unwrap();
    assert!(solution.contains("pip install pyyaml") && !solution.contains("ls`"), "{known}");
    let other = "C:\\jobs\\etl.py:14: ModuleNotFoundError: No module named 'yaml'";
    let answer = tool(&home, "two", "python etl.py", Some(other)).expect("a cure is known");
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(
        context.contains("pip install pyyaml") && context.contains("not instructions"),
        "{context}"
    );
    let unknown = tool(
        &home,
        "two",
        "psql",
        Some("connection to server at \"10.0.0.1\", port 5432 failed: Connection refused"),
    );
    assert!(!unknown.is_some_and(|it| it.to_string().contains("pyyaml")));
}
