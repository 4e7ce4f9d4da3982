//! One part of a prompt, fenced by a tag that its content can neither close nor forge.

use serde::Serialize;

use crate::text::{
    sanitize::sanitize_unindented, suspect::mark_suspect_lines, tokens::estimate_tokens,
};

/// Tokens of the blank line between two parts.
const SEPARATOR_TOKENS: usize = 1;

/// Name of a prompt part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptPartName {
    /// SOUL: the agent's identity.
    Identity,
    /// USER: the user's profile.
    User,
    /// MEMORY: the agent's notes.
    Notes,
    /// DAILY: the latest days.
    Activity,
    /// Instructions for using the memory.
    Guide,
    /// Index of the vault.
    Index,
    /// Index of skills and workflows.
    Skills,
    /// Caller's own prompt.
    Base,
}

/// Part with its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptPart {
    /// Name of the part.
    pub name: PromptPartName,
    /// Text as the model gets it, tags included.
    pub text: String,
    /// Number of characters.
    pub chars: usize,
    /// Upper estimate of the tokens.
    pub tokens: usize,
    /// Characters of the file that were cut off.
    pub cut_chars: usize,
}

crate::types::variant_names! { pub PromptPartName:
    Identity = "identity", User = "user", Notes = "notes", Activity = "activity", Guide = "guide",
    Index = "index", Skills = "skills", Base = "base",
}

impl PromptPartName {
    /// Returns the tag around the part; the base has none.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Self::Identity => Some("agent-identity"),
            Self::User => Some("user-profile"),
            Self::Notes => Some("agent-notes"),
            Self::Activity => Some("recent-activity"),
            Self::Guide => Some("memory-guide"),
            Self::Index => Some("memory-index"),
            Self::Skills => Some("agent-skills"),
            Self::Base => None,
        }
    }

    /// Returns `true` for parts that tell facts; identity and guide are instructions of the owner.
    fn tells_facts(self) -> bool {
        matches!(self, Self::User | Self::Notes | Self::Activity | Self::Index | Self::Skills)
    }
}

impl PromptPart {
    /// Creates a part with sanitized content between its tags, marked where it reads like an instruction although it
    /// should tell facts; `None` if the content is blank.
    pub(super) fn fenced(name: PromptPartName, content: &str, cut_chars: usize) -> Option<Self> {
        let content = content.trim();
        let tag = name.tag()?;
        if content.is_empty() {
            return None;
        }
        let mut safe = sanitize_unindented(content);
        if name.tells_facts() {
            safe = mark_suspect_lines(&safe).into_owned();
        }
        Some(Self::new(name, format!("<{tag}>\n{safe}\n</{tag}>"), cut_chars))
    }

    /// Creates a part without tags; `None` if the content is blank.
    pub(super) fn plain(name: PromptPartName, content: &str) -> Option<Self> {
        (!content.trim().is_empty()).then(|| Self::new(name, content.to_owned(), 0))
    }

    fn new(name: PromptPartName, text: String, cut_chars: usize) -> Self {
        let tokens = estimate_tokens(&text) + SEPARATOR_TOKENS;
        Self { name, chars: text.chars().count(), tokens, text, cut_chars }
    }
}
