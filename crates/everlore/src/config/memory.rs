//! Settings of `[memory]`: what is remembered and how much of it reaches the prompt.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// What is remembered and how much of it reaches the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryConfig {
    /// Whether anything is remembered and recalled at all. When false, nothing is stored and nothing is injected.
    pub enabled: bool,
    /// Whether keys, tokens, passwords, card and identity numbers are masked before anything is written. What is masked cannot
    /// be brought back.
    pub mask_secrets: bool,
    /// How many of the latest messages of a conversation are sent to the model again, in whole exchanges. From 0 to 10000.
    pub max_history: usize,
    /// The latest exchanges.
    pub short_term: ShortTermConfig,
    /// What lasts.
    pub long_term: LongTermConfig,
    /// What is put into the prompt.
    pub inject: InjectConfig,
}

/// Short-term memory: the latest exchanges of a conversation, one item each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShortTermConfig {
    /// How many items are kept; the oldest goes first. From 1 to 10000.
    pub max_items: usize,
    /// An item of more tokens than this is kept in a compressed form. From 16 to 1000000.
    pub compression_threshold: usize,
}

/// Long-term memory: what lasts beyond a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LongTermConfig {
    /// Whether memories are kept and recalled beyond the conversation they come from.
    pub enabled: bool,
    /// Whether memories are also found by their meaning, where no word matches. After a change, `everlore embed rebuild`
    /// makes what is missing.
    pub vector_index: bool,
    /// The most memories one recall returns, however many are asked for. From 1 to 1000.
    pub max_return: usize,
    /// `upkeep` and `memory clean` archive memories whose weight is below this: kept, but left out of recall. A fresh memory weighs
    /// 1. From 0 to 1; 0 archives nothing.
    pub archive_threshold: f64,
    /// From this weight on a memory is one of the core: listed by `memory list --core`. Use leads from 1 towards 2. From 0
    /// to 10.
    pub core_threshold: f64,
}

/// What is put into the prompt before the model answers, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InjectConfig {
    /// Whether the first message of a conversation gets no memories.
    pub first_round_empty: bool,
    /// How many short-term items are injected, of exchanges that the model no longer sees. From 0 to 1000.
    pub short_term_count: usize,
    /// When long-term memories are injected: "always", "keywords" (only for messages that ask about the past or name
    /// something technical) or "never".
    pub long_term_trigger: InjectTrigger,
    /// A message of fewer characters gets no memories. From 0 to 1000.
    pub min_query_length: usize,
    /// The most tokens that injected memories may take. From 50 to 1000000.
    pub token_budget: usize,
    /// The most long-term memories that are injected. From 0 to 1000.
    pub limit: usize,
    /// The share of memories that are left out of prompts at random, a conversation at a time, to measure whether they are
    /// of use: `memory stats` compares. From 0, for none, to 0.5.
    pub holdout: f64,
}

/// When long-term memories are injected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectTrigger {
    /// For every message.
    #[default]
    Always,
    /// For messages that ask about the past or name something technical.
    Keywords,
    /// For no message.
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
    /// Two characters are the shortest message worth a search: in Chinese they are a word.
    fn default() -> Self {
        Self {
            first_round_empty: false,
            short_term_count: 5,
            long_term_trigger: InjectTrigger::Always,
            min_query_length: 1,
            token_budget: 2_000,
            limit: 5,
            holdout: 0.0,
        }
    }
}
