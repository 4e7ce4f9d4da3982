//! Hook event as a host writes it to standard input; hosts use different names for the same fields.

use std::path::PathBuf;

use everlore::{
    internal::text::{elision::keep_ends, tool_event::main_argument},
    types::{RecordedAnswer, RecordedCall},
};
use serde_json::Value;

use super::host::{HookEventKind, HookHost};

/// Characters of a tool's error that are recalled for: beginning and end say what went wrong.
const MAX_ERROR_CHARS: usize = 600;

/// One event of a host.
#[derive(Debug)]
pub(super) struct HookEvent {
    pub(super) host: HookHost,
    /// Host's name for the event.
    pub(super) name: &'static str,
    pub(super) kind: HookEventKind,
    payload: Value,
}

impl HookEvent {
    /// Parses standard input; `None` if it is not a JSON object.
    pub(super) fn parse(
        host: HookHost,
        (name, kind): (&'static str, HookEventKind),
        input: &[u8],
    ) -> Option<Self> {
        let payload: Value = serde_json::from_slice(input).ok()?;
        payload.is_object().then_some(Self { host, name, kind, payload })
    }

    /// Returns the host's id of the conversation.
    pub(super) fn conversation_id(&self) -> Option<&str> {
        self.first_text(&["session_id", "conversation_id"])
    }

    /// Returns `true` if a subagent sent it: its messages are not the user's.
    pub(super) fn is_from_subagent(&self) -> bool {
        self.first_text(&["agent_id", "parent_session_id", "parent_conversation_id"]).is_some()
    }

    /// Returns the user's message. Qwen Code sends the typed text beside a prompt to which other hooks have added theirs.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.first_text(&["submitted_prompt", "prompt"])
    }

    /// Returns the agent's last answer.
    pub(super) fn answer(&self) -> Option<&str> {
        match self.host {
            HookHost::ClaudeCode | HookHost::Codex | HookHost::QwenCode | HookHost::Opencode => {
                self.first_text(&["last_assistant_message"])
            }
            HookHost::Gemini => self.first_text(&["prompt_response"]),
            HookHost::Cursor => self.first_text(&["text"]),
        }
    }

    /// Returns the host's id of this exchange, which tells two prompts with the same words apart.
    pub(super) fn exchange_id(&self) -> Option<&str> {
        self.first_text(&["prompt_id", "turn_id", "generation_id"])
    }

    /// Returns the host's transcript file.
    pub(super) fn transcript_path(&self) -> Option<PathBuf> {
        self.first_text(&["transcript_path"]).map(PathBuf::from)
    }

    /// Returns the agent's working folder.
    pub(super) fn working_folder(&self) -> Option<PathBuf> {
        let root = self.payload.get("workspace_roots").and_then(|roots| roots.get(0)?.as_str());
        self.first_text(&["cwd"]).or(root).map(PathBuf::from)
    }

    /// Returns `true` if a conversation is resumed, so that its context was injected before.
    pub(super) fn is_resumed(&self) -> bool {
        self.first_text(&["source", "trigger"]) == Some("resume")
    }

    /// Returns the error of a failed tool; `None` if it succeeded or the user interrupted it.
    pub(super) fn tool_error(&self) -> Option<String> {
        if self.payload.get("is_interrupt").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        let failed_by_name = self.name.to_lowercase().ends_with("failure");
        let response =
            ["tool_response", "tool_output"].iter().find_map(|name| self.payload.get(name));
        let error = if failed_by_name {
            let named = self.first_text(&["error", "error_message"]).map(str::to_owned);
            named.or_else(|| response.map(collect_text))
        } else {
            response.and_then(response_error)
        };
        error
            .map(|text| shorten_query(text.trim(), MAX_ERROR_CHARS))
            .filter(|text| !text.is_empty())
    }

    /// Returns the name and the main argument of the tool that was called.
    pub(super) fn tool_call(&self) -> Option<(&str, String)> {
        let tool = self.first_text(&["tool_name", "tool"])?;
        let input = ["tool_input", "input"].iter().find_map(|name| self.payload.get(name))?;
        Some((tool, main_argument(input)))
    }

    /// Returns the tool call as it is recorded, and the text of its result.
    pub(super) fn recorded_call(&self, failed: bool) -> Option<(RecordedCall, String)> {
        let name = self.first_text(&["tool_name", "tool"])?.to_owned();
        let input = ["tool_input", "input"].iter().find_map(|name| self.payload.get(name));
        let result =
            ["tool_response", "tool_output"].iter().find_map(|name| self.payload.get(name));
        let error = self.first_text(&["error", "error_message"]).filter(|_| failed);
        let text = error.map(str::to_owned).or_else(|| result.map(collect_text));
        let id = self.tool_use_id().map(str::to_owned);
        let arguments = input.cloned().unwrap_or_default();
        let call = RecordedCall { id, name, arguments, failed, ..RecordedCall::default() };
        Some((call, text.unwrap_or_default()))
    }

    /// Returns what the event tells of how an answer came about.
    pub(super) fn recorded_answer(&self) -> RecordedAnswer {
        let model = self.first_text(&["model"]).map(str::to_owned);
        RecordedAnswer { model, ..RecordedAnswer::default() }
    }

    /// Returns the host's id of the tool call.
    pub(super) fn tool_use_id(&self) -> Option<&str> {
        self.first_text(&["tool_use_id", "tool_call_id", "call_id"])
    }

    fn first_text(&self, names: &[&str]) -> Option<&str> {
        let texts = names.iter().filter_map(|name| self.payload.get(name)?.as_str());
        texts.map(str::trim).find(|text| !text.is_empty())
    }
}

/// Returns the error in a tool's response. Hosts agree on no shape: an error field, an exit code, a flag, or a first
/// line.
fn response_error(response: &Value) -> Option<String> {
    let Value::Object(fields) = response else {
        let text = collect_text(response);
        return exit_code(&text).is_some_and(|code| code != 0).then_some(text);
    };
    if let Some(error) = fields.get("error").filter(|error| !error.is_null() && **error != false) {
        return Some(error.get("message").map_or_else(|| collect_text(error), collect_text));
    }
    let flag = |name: &str| fields.get(name).and_then(Value::as_bool);
    let code =
        ["exit_code", "exitCode", "returnCode"].iter().find_map(|name| fields.get(*name)?.as_i64());
    let failed = flag("is_error") == Some(true)
        || flag("isError") == Some(true)
        || flag("success") == Some(false)
        || code.is_some_and(|code| code != 0);
    failed.then(|| collect_text(response))
}

/// Returns the code of a line such as `Exit code: 1` among the first four.
fn exit_code(text: &str) -> Option<i64> {
    let line = text.lines().take(4).map(str::to_lowercase).find_map(|line| {
        let (_, rest) =
            line.split_once("exit code").or_else(|| line.split_once("exited with code"))?;
        Some(rest.trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
    })?;
    line.parse().ok()
}

/// Joins all texts of a value, one per line.
fn collect_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(collect_text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            // The error stream says best what went wrong.
            let (first, rest): (Vec<_>, Vec<_>) =
                fields.iter().partition(|(name, _)| *name == "stderr");
            let texts = first.into_iter().chain(rest).map(|(_, value)| collect_text(value));
            texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Shortens a text that is recalled for to its beginning and its end, on lines of their own.
pub(super) fn shorten_query(text: &str, max_chars: usize) -> String {
    keep_ends(text, max_chars, "\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(host: HookHost, name: &str, payload: &Value) -> HookEvent {
        let payload = payload.to_string();
        HookEvent::parse(host, host.find_event(name).unwrap(), payload.as_bytes()).unwrap()
    }

    #[test]
    fn a_tool_that_failed_is_told_from_one_that_did_not() {
        let failure =
            |host: HookHost, name: &str, payload: Value| event(host, name, &payload).tool_error();
        let claude = HookHost::ClaudeCode;
        let error = failure(claude, "PostToolUseFailure", json!({ "error": "no such file" }));
        assert_eq!(error.as_deref(), Some("no such file"));
        let stopped = json!({ "error": "stopped by the user", "is_interrupt": true });
        assert_eq!(failure(claude, "PostToolUseFailure", stopped), None);
        let fine = json!({ "tool_response": { "stdout": "error: 0 found", "stderr": "" } });
        assert_eq!(failure(claude, "PostToolUse", fine), None);
        let codex = json!({ "tool_response": "Exit code: 101\nOutput:\nlinker failed" });
        assert!(failure(HookHost::Codex, "PostToolUse", codex).unwrap().contains("linker failed"));
        let fine = json!({ "tool_response": "Exit code: 0\nOutput:\nok" });
        assert_eq!(failure(HookHost::Codex, "PostToolUse", fine), None);
        let gemini =
            json!({ "tool_response": { "llmContent": "x", "error": { "message": "权限不足" } } });
        assert_eq!(failure(HookHost::Gemini, "AfterTool", gemini).as_deref(), Some("权限不足"));
    }

    #[test]
    fn a_call_is_known_by_its_command_or_file() {
        let call = |payload: Value| {
            event(HookHost::ClaudeCode, "PostToolUse", &payload).tool_call().unwrap().1
        };
        let bash =
            json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test", "timeout": 5 } });
        assert_eq!(call(bash), "cargo test");
        let shell = json!({ "tool_name": "shell", "tool_input": { "command": ["ls", "-l"] } });
        assert_eq!(call(shell), "ls -l");
        let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": "/a.rs", "old_string": "x" } });
        assert_eq!(call(edit), "/a.rs");
    }

    #[test]
    fn subagents_are_known() {
        let is_subagent =
            |payload: Value| event(HookHost::ClaudeCode, "Stop", &payload).is_from_subagent();
        assert!(is_subagent(json!({ "agent_id": "a1", "agent_type": "Explore" })));
        assert!(!is_subagent(json!({ "agent_id": null, "agent_type": "main" })));
    }

    #[test]
    fn what_is_no_object_is_no_event() {
        let known = HookHost::Codex.find_event("Stop").unwrap();
        for input in ["", "[]", "3", "{", "{}x", "\u{0}"] {
            assert!(
                HookEvent::parse(HookHost::Codex, known, input.as_bytes()).is_none(),
                "{input}"
            );
        }
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text = format!("begin{}结束", "x".repeat(2_000));
        let cut = shorten_query(&text, 100);
        assert!(cut.starts_with("begin") && cut.ends_with("结束") && cut.chars().count() <= 100);
    }
}
