//! The usage facet: memories injected into prompts, and the verdicts on their use in the answers.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    types::{Fingerprint, MemoryId, Scope, Tier, Timestamp},
};

/// Keeps a line for every memory that was injected into a prompt. No line holds a text: queries are digests, memories
/// are sketches of their terms. Erasing a memory removes its lines.
#[async_trait]
pub trait UsageLog: Send + Sync {
    /// Records the memories injected into a prompt. Where there are more than `max_lines` lines, the oldest are removed.
    async fn record(&self, scope: &Scope, prompt: Injection) -> Result<()>;

    /// Returns every memory that was injected in a conversation, with its newest sketch, even if the memory was
    /// deleted.
    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>>;

    /// Returns lines of a conversation, oldest first.
    async fn of_session(
        &self,
        scope: &Scope,
        session: &str,
        lines: UsageLines,
    ) -> Result<Vec<UsageRecord>>;

    /// Returns lines of all conversations, in the order of the selection.
    async fn of_scope(&self, scope: &Scope, lines: UsageSelection) -> Result<Vec<UsageRecord>>;

    /// Stores the verdicts on lines: `true` if the answer used the memory.
    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()>;

    /// Marks lines from which weights were updated.
    async fn mark_weights_updated(&self, scope: &Scope, lines: Vec<u64>) -> Result<()>;

    /// Counts injections and uses.
    async fn counts(&self, scope: &Scope) -> Result<UsageCounts>;

    /// Removes the lines before a moment and returns how many there were.
    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize>;
}

/// Lines of a conversation that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageLines {
    /// All lines.
    All,
    /// Lines that were not compared with an answer yet.
    Unanswered,
}

/// Lines of all conversations that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageSelection {
    /// So many of the newest lines, newest first.
    Newest(usize),
    /// Lines with a verdict from which weights were not updated yet, oldest first.
    AwaitingWeights,
}

/// Memories injected into one prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// Name of the conversation.
    pub session: String,
    /// Digest of the query.
    pub query: Fingerprint,
    /// Time of the injection.
    pub at: Timestamp,
    /// Injected memories.
    pub memories: Vec<InjectedMemory>,
    /// Set when a tool injected the memories in the middle of a turn: they belong to its prompt.
    #[serde(rename = "joins")]
    pub is_same_prompt: bool,
    /// The most lines kept of the scope.
    #[serde(rename = "most")]
    pub max_lines: usize,
}

/// Memory as injected into a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InjectedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Part of the memory that was injected.
    pub shown: InjectedTier,
    /// Digests of the terms that the query has in common with the memory: repeating these is no use of the memory.
    #[serde(rename = "asked")]
    pub query_term_digests: Vec<u8>,
    /// Sketch of the memory's terms, by which an answer that uses it is recognised.
    pub sketch: Vec<u8>,
}

/// Part of a memory that was injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectedTier {
    /// One line.
    Line,
    /// Overview.
    Overview,
    /// Full text.
    Full,
    /// Nothing: the memory was left out on purpose, as a control for the injected ones.
    HeldOut,
}

impl InjectedTier {
    /// All tiers; their positions are their numbers in a file.
    pub const ALL: [Self; 4] = [Self::Line, Self::Overview, Self::Full, Self::HeldOut];
}

impl From<Tier> for InjectedTier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::L0 => Self::Line,
            Tier::L1 => Self::Overview,
            Tier::L2 => Self::Full,
        }
    }
}

/// Line of the usage log.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRecord {
    /// Number of the line; numbers only rise.
    pub seq: u64,
    /// Name of the conversation.
    pub session: String,
    /// Number of the prompt within the conversation, counted from 1.
    pub turn: u32,
    /// Digest of the query.
    pub query: Fingerprint,
    /// Time of the injection.
    pub at: Timestamp,
    /// Injected memory.
    pub injected: InjectedMemory,
    /// Verdict: `true` if the answer used the memory; `None` as long as there is no answer.
    pub used: Option<bool>,
}

/// Counts of injections and uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct UsageCounts {
    /// Lines of injected memories.
    #[serde(rename = "told")]
    pub injected: u64,
    /// Injected lines that were compared with an answer.
    pub answered: u64,
    /// Injected lines that the answer used.
    pub used: u64,
    /// Lines of held-out memories that were compared with an answer.
    pub held_out: u64,
    /// Held-out lines whose answer said the same all the same.
    pub held_out_used: u64,
    /// Different memories that were injected.
    pub memories: u64,
    /// Different memories that were used.
    pub memories_used: u64,
}
