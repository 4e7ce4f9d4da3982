//! Table of the hosts that call hooks: their events, limits and response formats.

use std::time::Duration;

use serde_json::{Value, json};

/// Coding agent that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookHost {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
    QwenCode,
    Opencode,
}

/// Kind of a hook event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookEventKind {
    /// A conversation begins: injects the layers and the reminders that are due.
    Start,
    /// The user sent a message: spools it and injects relevant memories.
    Prompt,
    /// A tool was used: spools the call for the trajectory; a failed one, and what follows it until it succeeds, as a
    /// turn. A failure gets its cures.
    Tool,
    /// The agent answered: spools the answer and drains the spool.
    Stop,
    /// The conversation is about to be compacted: extracts memories from it.
    Compact,
    /// The conversation is over: extracts memories and writes the daily log.
    End,
}

/// Most characters of context; hosts move a longer one into a file that the model has to open.
pub(crate) const MAX_CONTEXT_CHARS: usize = 10_000;

/// Most tokens of context in Codex. Its default is 2,500, so `everlore connect` asks for more.
pub(crate) const CODEX_MAX_TOKENS: usize = 6_000;

/// Events of Claude Code, in the order in which they come. Qwen Code has the same.
const CLAUDE_CODE_EVENTS: [(&str, HookEventKind); 7] = [
    ("SessionStart", HookEventKind::Start),
    ("UserPromptSubmit", HookEventKind::Prompt),
    ("PostToolUse", HookEventKind::Tool),
    ("PostToolUseFailure", HookEventKind::Tool),
    ("Stop", HookEventKind::Stop),
    ("PreCompact", HookEventKind::Compact),
    ("SessionEnd", HookEventKind::End),
];
const CODEX_EVENTS: [(&str, HookEventKind); 6] = [
    ("SessionStart", HookEventKind::Start),
    ("UserPromptSubmit", HookEventKind::Prompt),
    ("PostToolUse", HookEventKind::Tool),
    ("Stop", HookEventKind::Stop),
    ("PreCompact", HookEventKind::Compact),
    ("SessionEnd", HookEventKind::End),
];
const GEMINI_EVENTS: [(&str, HookEventKind); 6] = [
    ("SessionStart", HookEventKind::Start),
    ("BeforeAgent", HookEventKind::Prompt),
    ("AfterTool", HookEventKind::Tool),
    ("AfterAgent", HookEventKind::Stop),
    ("PreCompress", HookEventKind::Compact),
    ("SessionEnd", HookEventKind::End),
];
const CURSOR_EVENTS: [(&str, HookEventKind); 7] = [
    ("sessionStart", HookEventKind::Start),
    ("beforeSubmitPrompt", HookEventKind::Prompt),
    ("postToolUse", HookEventKind::Tool),
    ("postToolUseFailure", HookEventKind::Tool),
    ("afterAgentResponse", HookEventKind::Stop),
    ("preCompact", HookEventKind::Compact),
    ("sessionEnd", HookEventKind::End),
];

/// Events of the plugin that `everlore connect opencode` writes; named as OpenCode names them, where it has a name.
const OPENCODE_EVENTS: [(&str, HookEventKind); 6] = [
    ("session.created", HookEventKind::Start),
    ("chat.message", HookEventKind::Prompt),
    ("tool.execute.after", HookEventKind::Tool),
    ("session.idle", HookEventKind::Stop),
    ("session.compacting", HookEventKind::Compact),
    ("session.end", HookEventKind::End),
];

everlore::types::variant_names! { pub(crate) HookHost:
    ClaudeCode = "claude-code", Codex = "codex", Gemini = "gemini", Cursor = "cursor",
    QwenCode = "qwen-code", Opencode = "opencode",
}

impl HookHost {
    /// Parses a name, in any case.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns the events with the host's names for them. Tool calls that succeed are among them: after a failure they tell
    /// what solved it.
    pub(crate) fn events(self) -> &'static [(&'static str, HookEventKind)] {
        match self {
            Self::ClaudeCode | Self::QwenCode => &CLAUDE_CODE_EVENTS,
            Self::Codex => &CODEX_EVENTS,
            Self::Gemini => &GEMINI_EVENTS,
            Self::Cursor => &CURSOR_EVENTS,
            Self::Opencode => &OPENCODE_EVENTS,
        }
    }

    /// Finds an event by its name in any spelling: `user-prompt-submit`, `UserPromptSubmit`.
    pub(crate) fn find_event(self, name: &str) -> Option<(&'static str, HookEventKind)> {
        let normalize = |name: &str| name.replace(['-', '_'], "").to_lowercase();
        self.events().iter().copied().find(|(event, _)| normalize(event) == normalize(name))
    }

    /// Returns the most tokens of context that the host passes to the model unchanged.
    pub(crate) fn max_context_tokens(self) -> usize {
        if self == Self::Codex { CODEX_MAX_TOKENS } else { usize::MAX }
    }

    /// Returns the environment variable that names the project folder, if the host sets one.
    pub(crate) fn project_variable(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
            Self::Gemini => Some("GEMINI_PROJECT_DIR"),
            Self::QwenCode => Some("QWEN_PROJECT_DIR"),
            Self::Codex | Self::Cursor | Self::Opencode => None,
        }
    }

    /// Returns the response that gives the model a context, in the host's format.
    pub(crate) fn context_response(self, event: &str, context: &str) -> Value {
        match self {
            Self::Cursor if event == "beforeSubmitPrompt" => {
                json!({ "continue": true, "additional_context": context })
            }
            Self::Cursor => json!({ "additional_context": context }),
            _ => json!({
                "hookSpecificOutput": { "hookEventName": event, "additionalContext": context },
            }),
        }
    }
}

impl HookEventKind {
    /// Returns `true` if the response may give the model a context.
    pub(crate) fn injects(self) -> bool {
        matches!(self, Self::Start | Self::Prompt | Self::Tool)
    }

    /// Returns the time after which a hook ends, whatever it is doing. The model waits for hooks that inject something;
    /// at the end of a session, a host gives all hooks together 1.5 seconds.
    pub(crate) fn time_limit(self) -> Duration {
        match self {
            Self::Start | Self::Prompt | Self::Tool => Duration::from_secs(2),
            Self::Stop | Self::Compact | Self::End => Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_however_they_are_spelled() {
        let find = |name| HookHost::ClaudeCode.find_event(name);
        assert_eq!(find("user-prompt-submit"), Some(("UserPromptSubmit", HookEventKind::Prompt)));
        assert_eq!(find("userpromptsubmit"), find("UserPromptSubmit"));
        assert_eq!(find("SubagentStop"), None);
        assert_eq!(HookHost::from_name("Claude-Code"), Some(HookHost::ClaudeCode));
    }

    #[test]
    fn every_host_has_an_event_of_each_kind() {
        for host in HookHost::ALL {
            for kind in [
                HookEventKind::Start,
                HookEventKind::Prompt,
                HookEventKind::Tool,
                HookEventKind::Stop,
                HookEventKind::Compact,
                HookEventKind::End,
            ] {
                assert!(host.events().iter().any(|(_, other)| *other == kind), "{host:?} {kind:?}");
            }
        }
    }
}
