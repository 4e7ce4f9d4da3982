//! The hosts that call hooks: what their events mean to us, and how they want to be answered.

use std::time::Duration;

use serde_json::{Value, json};

/// A coding agent that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookHost {
    ClaudeCode,
    Codex,
    Gemini,
    Cursor,
}

/// What an event means to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookEventKind {
    /// A conversation begins: the part of the prompt that stays the same is told.
    Start,
    /// The user said something: what is worth knowing is told.
    Prompt,
    /// A tool was used: if it failed, what is known about the failure is told.
    Tool,
    /// The agent answered: the exchange is stored.
    Stop,
    /// The conversation is about to be shortened: memories are drawn from it.
    Compact,
    /// The conversation is over.
    End,
}

/// Characters of context beyond which hosts put it into a file that the model has to open.
pub(crate) const MAX_CONTEXT_CHARS: usize = 10_000;

/// What Codex takes before it does the same; by itself 2,500, so `everlore connect` asks for more.
pub(crate) const CODEX_MAX_TOKENS: usize = 6_000;

/// Events in the order in which they come, as each host calls them.
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

impl HookHost {
    /// Every host.
    pub(crate) const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Cursor];

    /// Its name in commands.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }

    /// The host of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.as_str().eq_ignore_ascii_case(name))
    }

    /// Its events, as it calls them.
    pub(crate) fn events(self) -> &'static [(&'static str, HookEventKind)] {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE_EVENTS,
            Self::Codex => &CODEX_EVENTS,
            Self::Gemini => &GEMINI_EVENTS,
            Self::Cursor => &CURSOR_EVENTS,
        }
    }

    /// The events for which it should call: where failures of tools come by themselves, nothing is asked after each tool.
    pub(crate) fn subscribed_events(self) -> impl Iterator<Item = &'static str> {
        let apart = self.events().iter().any(|(name, _)| name.ends_with("UseFailure"));
        let events = self.events().iter().map(|(name, _)| *name);
        events.filter(move |name| !(apart && name.to_lowercase().ends_with("tooluse")))
    }

    /// An event by the host's name for it, however it is spelled, as the host spells it.
    pub(crate) fn find_event(self, name: &str) -> Option<(&'static str, HookEventKind)> {
        let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
        self.events().iter().copied().find(|(event, _)| plain(event) == plain(name))
    }

    /// The most tokens of context that it gives to the model as they are.
    pub(crate) fn max_context_tokens(self) -> usize {
        if self == Self::Codex { CODEX_MAX_TOKENS } else { usize::MAX }
    }

    /// The variable in which it tells the folder of the project, where it does.
    pub(crate) fn project_variable(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
            Self::Gemini => Some("GEMINI_PROJECT_DIR"),
            Self::Codex | Self::Cursor => None,
        }
    }

    /// The answer that gives the model a context, in the shape the host reads.
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
    /// How long a hook may take; then it ends, whatever it was doing. A model waits for those that tell something; the end
    /// of a session has 1.5 seconds for all hooks of a host together.
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
        let known = |name| HookHost::ClaudeCode.find_event(name);
        assert_eq!(known("user-prompt-submit"), Some(("UserPromptSubmit", HookEventKind::Prompt)));
        assert_eq!(known("userpromptsubmit"), known("UserPromptSubmit"));
        assert_eq!(known("SubagentStop"), None);
        assert_eq!(HookHost::from_name("Claude-Code"), Some(HookHost::ClaudeCode));
    }

    #[test]
    fn every_host_tells_all_moments() {
        for host in HookHost::ALL {
            for moment in [
                HookEventKind::Start,
                HookEventKind::Prompt,
                HookEventKind::Tool,
                HookEventKind::Stop,
                HookEventKind::Compact,
                HookEventKind::End,
            ] {
                assert!(
                    host.events().iter().any(|(_, known)| *known == moment),
                    "{host:?} {moment:?}"
                );
            }
        }
    }
}
