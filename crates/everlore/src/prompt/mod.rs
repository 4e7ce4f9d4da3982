//! System prompt: a stable part built once per session, and the context that each turn appends.
//!
//! The stable part is built when a session begins and stays byte-identical, so that a provider's prompt cache holds; it
//! contains no time. Recalled memories come after it.

mod part;
mod prefix_digest;

use serde::Serialize;

pub use part::{PromptPart, PromptPartName};
pub use prefix_digest::PrefixDigest;

use crate::{
    files::{layers::LayerSnapshot, vault::VaultIndexView},
    recall::MemoryBlock,
    text::language::Language,
};

/// Separator between two parts.
const PART_SEPARATOR: &str = "\n\n";

/// Sources of a prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptSources {
    /// Layers at the beginning of the session.
    pub layers: LayerSnapshot,
    /// Instructions for using the memory; `None` if the agent has no memory tools.
    pub guide: Option<String>,
    /// Index of the vault, if there is one.
    pub index: Option<VaultIndexView>,
    /// Index of skills and workflows; empty without any.
    pub skills: String,
    /// Caller's own prompt.
    pub base: String,
}

/// Stable part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Prompt {
    /// Non-empty parts, in order.
    pub parts: Vec<PromptPart>,
}

/// Prompt of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnPrompt {
    /// Complete text as the model gets it.
    pub text: String,
    /// Length of the prefix that is the same in every turn.
    pub stable_bytes: usize,
    /// Digest of the prefix: as long as it is the same, a provider's cache holds.
    pub stable_fingerprint: String,
    /// Bytes that this turn adds.
    pub turn_bytes: usize,
}

impl TurnPrompt {
    /// Returns the prefix that is the same in every turn.
    pub fn stable(&self) -> &str {
        &self.text[..self.stable_bytes]
    }
}

impl Prompt {
    /// Assembles the non-empty parts: identity, user, notes, latest days, guide, index, skills, base.
    pub(crate) fn assemble(sources: &PromptSources) -> Self {
        let layers = &sources.layers;
        let index = sources.index.as_ref();
        let parts = [
            PromptPart::fenced(PromptPartName::Identity, &layers.soul.text, layers.soul.cut_chars),
            PromptPart::fenced(PromptPartName::User, &layers.user.text, layers.user.cut_chars),
            PromptPart::fenced(PromptPartName::Notes, &layers.memory.text, layers.memory.cut_chars),
            PromptPart::fenced(
                PromptPartName::Activity,
                &layers.daily.text,
                layers.daily.cut_chars,
            ),
            PromptPart::fenced(
                PromptPartName::Guide,
                sources.guide.as_deref().unwrap_or_default(),
                0,
            ),
            PromptPart::fenced(PromptPartName::Index, index.map_or("", |index| &index.text), 0),
            PromptPart::fenced(PromptPartName::Skills, &sources.skills, 0),
            PromptPart::plain(PromptPartName::Base, &sources.base),
        ];
        Self { parts: parts.into_iter().flatten().collect() }
    }

    /// Returns all parts joined; empty if there are none.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        texts.join(PART_SEPARATOR)
    }

    /// Returns an upper estimate of the tokens.
    pub fn tokens(&self) -> usize {
        self.parts.iter().map(|part| part.tokens).sum()
    }

    /// Returns the prompt of one turn: the stable part, then the recalled block if it is not empty.
    pub fn for_turn(&self, block: &MemoryBlock) -> TurnPrompt {
        let stable = self.text();
        let stable_bytes = stable.len();
        let stable_fingerprint = PrefixDigest::of(stable.as_bytes()).fingerprint().to_owned();
        let text = match (stable.is_empty(), block.text.is_empty()) {
            (_, true) => stable,
            (true, false) => block.text.clone(),
            (false, false) => format!("{stable}{PART_SEPARATOR}{}", block.text),
        };
        let turn_bytes = text.len() - stable_bytes;
        TurnPrompt { stable_bytes, stable_fingerprint, turn_bytes, text }
    }
}

/// Returns the engine's own instructions for using the memory.
pub(crate) fn guide(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../prompts/guide_zh.md"),
        _ => include_str!("../../prompts/guide_en.md"),
    }
}

#[cfg(test)]
mod tests;
