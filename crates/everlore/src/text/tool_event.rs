//! Tool events: how a turn of role `tool` tells that a call failed or succeeded, written by hooks and read by capture.
//!
//! ```text
//! [tool Bash failed] cargo test
//! error: linker `cc` not found
//! ```

use serde_json::Value;

/// Fields of a tool's input that say what it does, the most telling first.
const MAIN_ARGUMENTS: [&str; 8] =
    ["command", "cmd", "file_path", "path", "notebook_path", "url", "query", "pattern"];

/// Words of the two outcomes.
const FAILED: &str = "failed";
const SUCCEEDED: &str = "succeeded";

/// Most characters of a call: its first line tells which one it is.
const MAX_CALL_CHARS: usize = 300;

/// Outcome of one tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolEvent<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Command or main argument, in one line.
    pub call: &'a str,
    /// Error of a failed call; `None` if it succeeded.
    pub error: Option<&'a str>,
}

impl<'a> ToolEvent<'a> {
    /// Reads the text of a turn; `None` if it is none of a tool event.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (label, call) = head.strip_prefix("[tool ")?.split_once(']')?;
        let (tool, outcome) = label.rsplit_once(' ')?;
        let error = match outcome {
            FAILED => Some(rest.trim()),
            SUCCEEDED => None,
            _ => return None,
        };
        Some(Self { tool, call: call.trim(), error })
    }

    /// Renders the text of a turn.
    pub fn render(&self) -> String {
        let tool = self.tool.replace([']', '\n'], " ");
        let call = first_line(self.call);
        match self.error {
            Some(error) => format!("[tool {tool} {FAILED}] {call}\n{error}"),
            None => format!("[tool {tool} {SUCCEEDED}] {call}"),
        }
    }
}

/// Returns the argument that tells one call of a tool from another: its command, its file, or all of it; empty without any.
pub fn main_argument(arguments: &Value) -> String {
    let main = MAIN_ARGUMENTS.iter().find_map(|name| arguments.get(name)?.as_str());
    let words = || {
        let words = arguments.get("command")?.as_array()?.iter().filter_map(Value::as_str);
        Some(words.collect::<Vec<_>>().join(" "))
    };
    match (main, arguments) {
        (Some(text), _) => text.to_owned(),
        (None, Value::Null) => String::new(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => words().unwrap_or_else(|| other.to_string()),
    }
}

/// Parts of the names of tools that change nothing.
const READING_TOOLS: [&str; 9] =
    ["read", "grep", "glob", "search", "fetch", "list", "todo", "view", "ls"];

/// Returns `true` for tools that only read, which solve nothing.
pub fn only_reads(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    READING_TOOLS
        .iter()
        .any(|part| if part.len() > 2 { tool.contains(part) } else { tool == *part })
}

/// Returns the first line of a call, cut to its limit.
fn first_line(call: &str) -> String {
    let line = call.trim().lines().next().unwrap_or_default();
    line.chars().take(MAX_CALL_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{ToolEvent, only_reads};

    #[test]
    fn tools_that_read_are_known() {
        assert!(only_reads("Read") && only_reads("LS") && only_reads("web_search"));
        assert!(!only_reads("Bash") && !only_reads("Edit") && !only_reads("run_shell_command"));
    }

    #[test]
    fn what_is_written_is_read() {
        let failed =
            ToolEvent { tool: "Bash", call: "cargo test", error: Some("linker\nnot found") };
        assert_eq!(ToolEvent::parse(&failed.render()), Some(failed));
        let fine = ToolEvent { tool: "Bash", call: "cargo test", error: None };
        assert_eq!(ToolEvent::parse(&fine.render()), Some(fine));
        assert_eq!(ToolEvent::parse("[tool Bash] x"), None);
        assert_eq!(ToolEvent::parse("错误"), None);
    }
}
