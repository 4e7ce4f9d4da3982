//! Settings of `[memory]`: what is remembered and how much of it reaches the prompt.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, settings};

settings! {
    /// Storage of memories, and how much of them reaches the prompt.
    pub struct MemoryConfig in "memory" {
        /// `true` stores and recalls memories. With `false` nothing is stored and nothing is injected.
        pub enabled: bool = true;
        /// `true` masks keys, tokens, passwords, card and identity numbers before anything is written. Masked text cannot
        /// be restored.
        pub mask_secrets: bool = true;
        /// Latest messages of a conversation that are sent to the model again, in whole exchanges. From 0 to 10000.
        pub max_history: usize = 50, in 0..=10_000;
        /// Latest exchanges.
        pub short_term: ShortTermConfig = ShortTermConfig::default();
        /// Memories beyond a conversation.
        pub long_term: LongTermConfig = LongTermConfig::default();
        /// Injection into the prompt.
        pub inject: InjectConfig = InjectConfig::default();
    }
}

settings! {
    /// Short-term memory: the latest exchanges of a conversation, one item each.
    pub struct ShortTermConfig in "memory.short_term" {
        /// Most items; the oldest is dropped first. From 1 to 10000.
        pub max_items: usize = 20, in 1..=10_000;
        /// Tokens above which an item is compressed. From 16 to 1000000.
        pub compression_threshold: usize = 500, in 16..=1_000_000;
    }
}

settings! {
    /// Long-term memory: memories beyond a conversation.
    pub struct LongTermConfig in "memory.long_term" {
        /// `true` stores and recalls memories beyond the conversation they come from.
        pub enabled: bool = true;
        /// `true` also finds memories by meaning, where no word matches. After a change, `everlore embed rebuild` computes
        /// missing vectors.
        pub vector_index: bool = true;
        /// Most memories of one recall, whatever it asks for. From 1 to 1000.
        pub max_return: usize = 100, in 1..=1_000;
        /// Weight below which `upkeep` and `memory clean` archive a memory: stored, but left out of recall. A fresh memory
        /// weighs 1. From 0 to 1; 0 archives nothing.
        pub archive_threshold: f64 = 0.1, in 0.0..=1.0;
        /// Weight from which a memory belongs to the core: `memory list --core` lists it. Use raises a weight from 1
        /// towards 2. From 0 to 10.
        pub core_threshold: f64 = 1.5, in 0.0..=10.0;
    }
}

settings! {
    /// Memories in the prompt before the model answers: when and how many.
    pub struct InjectConfig in "memory.inject" {
        /// `true` gives the first message of a conversation no memories: in chats and hooks, through MCP and the proxy, and
        /// wherever a request names its session.
        pub first_round_empty: bool = false;
        /// Short-term items that are injected, from exchanges that the model no longer sees. From 0 to 1000.
        pub short_term_count: usize = 5, in 0..=1_000;
        /// Messages that long-term memories are injected for: "always", "keywords" (only messages that ask about the past
        /// or name something technical) or "never".
        pub long_term_trigger: InjectTrigger = InjectTrigger::Always;
        /// Characters below which a message gets no memories. From 0 to 1000.
        // A message of one character is searched for too: in Chinese it may be a word.
        pub min_query_length: usize = 1, in 0..=1_000;
        /// Token budget of injected memories. From 50 to 1000000.
        pub token_budget: usize = 2_000, in 50..=1_000_000;
        /// Most long-term memories that are injected; three times as many if a message asks for the whole profile ("who am
        /// I?"). From 0 to 1000.
        pub limit: usize = 5, in 0..=1_000;
        /// Holdout: share of memories left out of prompts at random, a conversation at a time, to measure their use;
        /// `memory stats` compares. From 0, for none, to 0.5.
        pub holdout: f64 = 0.0, in 0.0..=0.5;
    }
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
        [
            self.out_of_range(),
            short_term.out_of_range(),
            long_term.out_of_range(),
            inject.out_of_range(),
        ]
        .concat()
    }
}
