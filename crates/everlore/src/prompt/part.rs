//! One part of a prompt, fenced by a tag that its content can neither close nor forge.

use serde::Serialize;

use crate::text::{sanitize::sanitize_unindented, tokens::estimate_tokens};

/// The blank line that parts two parts may cost a token of its own.
const SEPARATOR_TOKENS: usize = 1;

/// Which part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptPartName {
    /// SOUL: who the agent is.
    Identity,
    /// USER: who the user is.
    User,
    /// MEMORY: the agent's notes.
    Notes,
    /// DAILY: the latest days.
    Activity,
    /// How to use the memory.
    Guide,
    /// The index of the vault.
    Index,
    /// The caller's own prompt.
    Base,
}

/// A part with what it costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptPart {
    /// Which one.
    pub name: PromptPartName,
    /// What a model gets, the tag included.
    pub text: String,
    /// Its characters.
    pub chars: usize,
    /// The most tokens a model counts for it.
    pub tokens: usize,
    /// How many characters of the file were left out.
    pub cut_chars: usize,
}

impl PromptPartName {
    /// The tag around it; the base has none.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Self::Identity => Some("agent-identity"),
            Self::User => Some("user-profile"),
            Self::Notes => Some("agent-notes"),
            Self::Activity => Some("recent-activity"),
            Self::Guide => Some("memory-guide"),
            Self::Index => Some("memory-index"),
            Self::Base => None,
        }
    }

    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::User => "user",
            Self::Notes => "notes",
            Self::Activity => "activity",
            Self::Guide => "guide",
            Self::Index => "index",
            Self::Base => "base",
        }
    }
}

impl PromptPart {
    /// The content between its tags, made harmless; nothing if it says nothing.
    pub(super) fn fenced(name: PromptPartName, content: &str, cut_chars: usize) -> Option<Self> {
        let content = content.trim();
        let tag = name.tag()?;
        let text = || format!("<{tag}>\n{}\n</{tag}>", sanitize_unindented(content));
        (!content.is_empty()).then(|| Self::new(name, text(), cut_chars))
    }

    /// The content as it is; nothing if it says nothing.
    pub(super) fn plain(name: PromptPartName, content: &str) -> Option<Self> {
        (!content.trim().is_empty()).then(|| Self::new(name, content.to_owned(), 0))
    }

    fn new(name: PromptPartName, text: String, cut_chars: usize) -> Self {
        let tokens = estimate_tokens(&text) + SEPARATOR_TOKENS;
        Self { name, chars: text.chars().count(), tokens, text, cut_chars }
    }
}
