//! The prompt: what a model is told once for a whole conversation, and what each turn adds at its end.
//!
//! The first part is made when a conversation begins and stays the same to the byte, so that a provider's cache of it
//! holds; it names no time. What a turn recalls comes after it.

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

/// What stands between two parts.
const PART_SEPARATOR: &str = "\n\n";

/// What a prompt is made from.
#[derive(Debug, Clone, Default)]
pub struct PromptSources {
    /// The layers as they were when the conversation began.
    pub layers: LayerSnapshot,
    /// How to use the memory; none if the agent has no tools for it.
    pub guide: Option<String>,
    /// The index of the vault, if there is one.
    pub index: Option<VaultIndexView>,
    /// What the caller's own prompt says.
    pub base: String,
}

/// The part of a prompt that stays the same for a conversation (F4, A8).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Prompt {
    /// Its parts, in their order; none is empty.
    pub parts: Vec<PromptPart>,
}

/// A prompt with what one turn adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnPrompt {
    /// All of it, as a model gets it.
    pub text: String,
    /// The bytes at its beginning that are the same in every turn.
    pub stable_bytes: usize,
    /// A digest of them: as long as it is the same, a provider's cache of them holds.
    pub stable_fingerprint: String,
    /// The bytes that this turn adds.
    pub turn_bytes: usize,
}

impl TurnPrompt {
    /// The part that is the same in every turn.
    pub fn stable(&self) -> &str {
        &self.text[..self.stable_bytes]
    }
}

impl Prompt {
    /// The identity, the user, the notes, the latest days, the guide, the index, the base: those that say something.
    pub fn assemble(sources: &PromptSources) -> Self {
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
            PromptPart::plain(PromptPartName::Base, &sources.base),
        ];
        Self { parts: parts.into_iter().flatten().collect() }
    }

    /// All parts as a model gets them; empty if there is none.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        texts.join(PART_SEPARATOR)
    }

    /// The most tokens a model counts for it.
    pub fn tokens(&self) -> usize {
        self.parts.iter().map(|part| part.tokens).sum()
    }

    /// The prompt of one turn: this, then what was recalled for it. Nothing recalled adds nothing.
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

/// How to use the memory, as it comes with the engine (D7).
pub fn guide(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../prompts/guide_zh.md"),
        _ => include_str!("../../prompts/guide_en.md"),
    }
}

#[cfg(test)]
mod tests;
