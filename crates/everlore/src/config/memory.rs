//! Settings of `[memory]`: what is remembered and how much of it reaches the prompt.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// Storage of memories, and how much of them reaches the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryConfig {
    /// `true` stores and recalls memories. With `false` nothing is stored and nothing is injected.
    pub enabled: bool,
    /// `true` masks keys, tokens, passwords, card and identity numbers before anything is written. Masked text cannot
    /// be restored.
    pub mask_secrets: bool,
    /// Latest messages of a conversation that are sent to the model again, in whole exchanges. From 0 to 10000.
    pub max_history: usize,
    /// Latest exchanges.
    pub short_term: ShortTermConfig,
    /// Memories beyond a conversation.
    pub long_term: LongTermConfig,
    /// Injection into the prompt.
    pub inject: InjectConfig,
}

/// Short-term memory: the latest exchanges of a conversation, one item each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShortTermConfig {
    /// Most items; the oldest is dropped first. From 1 to 10000.
    pub max_items: usize,
    /// Tokens above which an item is compressed. From 16 to 1000000.
    pub compression_threshold: usize,
}

/// Long-term memory: memories beyond a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LongTermConfig {
    /// `true` stores and recalls memories beyond the conversation they come from.
    pub enabled: bool,
    /// `true` also finds memories by meaning, where no word matches. After a change, `everlore embed rebuild` computes
    /// missing vectors.
    pub vector_index: bool,
    /// Most memories of one recall, whatever it asks for. From 1 to 1000.
    pub max_return: usize,
    /// Weight below which `upkeep` and `memory clean` archive a memory: stored, but left out of recall. A fresh memory
    /// weighs 1. From 0 to 1; 0 archives nothing.
    pub archive_threshold: f64,
    /// Weight from which a memory belongs to the core: `memory list --core` lists it. Use raises a weight from 1
    /// towards 2. From 0 to 10.
    pub core_threshold: f64,
}

/// Memories in the prompt before the model answers: when and how many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InjectConfig {
    /// `true` gives the first message of a conversation no memories: in chats and hooks, through MCP and the proxy, and
    /// wherever a request names its session.
    pub first_round_empty: bool,
    /// Short-term items that are injected, from exchanges that the model no longer sees. From 0 to 1000.
    pub short_term_count: usize,
    /// Messages that long-term memories are injected for: "always", "keywords" (only messages that ask about the past
    /// or name something technical) or "never".
    pub long_term_trigger: InjectTrigger,
    /// Characters below which a message gets no memories. From 0 to 1000.
    pub min_query_length: usize,
    /// Token budget of injected memories. From 50 to 1000000.
    pub token_budget: usize,
    /// Most long-term memories that are injected; three times as many if a message asks for the whole profile ("who am
    /// I?"). From 0 to 1000.
    pub limit: usize,
    /// Holdout: share of memories left out of prompts at random, a conversation at a time, to measure their use;
    /// `memory stats` compares. From 0, for none, to 0.5.
    pub holdout: f64,
}

/// Messages that long-term memories are injected for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectTrigger {
    /// Every message.
    #[default]
    Always,
    /// Messages that ask about the past or name something technical.
    Keywords,
    /// No message.
    Never,
}

impl MemoryConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let Self { short_term, long_term, inject, .. } = self;
        let checks = [
            check_range("memory.max_history", self.max_history, 0..=10_000),
            check_range("memory.short_term.max_items", short_term.max_items, 1..=10_000),
            check_range(
                "memory.short_term.compression_threshold",
                short_term.compression_threshold,
                16..=1_000_000,
            ),
            check_range("memory.long_term.max_return", long_term.max_return, 1..=1_000),
            check_range(
                "memory.long_term.archive_threshold",
                long_term.archive_threshold,
                0.0..=1.0,
            ),
            check_range("memory.inject.short_term_count", inject.short_term_count, 0..=1_000),
            check_range("memory.inject.min_query_length", inject.min_query_length, 0..=1_000),
            check_range("memory.inject.token_budget", inject.token_budget, 50..=1_000_000),
            check_range("memory.inject.limit", inject.limit, 0..=1_000),
            check_range("memory.inject.holdout", inject.holdout, 0.0..=0.5),
            check_range("memory.long_term.core_threshold", long_term.core_threshold, 0.0..=10.0),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            mask_secrets: true,
            max_history: 50,
            short_term: ShortTermConfig::default(),
            long_term: LongTermConfig::default(),
            inject: InjectConfig::default(),
        }
    }
}

impl Default for ShortTermConfig {
    fn default() -> Self {
        Self { max_items: 20, compression_threshold: 500 }
    }
}

impl Default for LongTermConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            vector_index: true,
            max_return: 100,
            archive_threshold: 0.1,
            core_threshold: 1.5,
        }
    }
}

impl Default for InjectConfig {
    /// A message of one character is searched for too: in Chinese it may be a word.
    fn default() -> Self {
        Self {
            first_round_empty: false,
            short_term_count: 5,
            long_term_trigger: InjectTrigger::Always,
            min_query_length: 1,
            token_budget: 2_000,
            limit: 4,
            holdout: 0.0,
        }
    }
}
