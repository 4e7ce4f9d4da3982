//! What was put into prompts and whether the answers used it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    types::{Fingerprint, MemoryId, Scope, Tier, Timestamp},
};

/// Keeps a line for every memory that was put into a prompt. No line holds a text: queries are digests, memories are
/// sketches of their terms. Erasing a memory takes its lines out.
#[async_trait]
pub trait UsageLog: Send + Sync {
    /// Writes down what a prompt was given. Where there are more than `most` lines, the oldest go.
    async fn record(&self, scope: &Scope, prompt: Injection) -> Result<()>;

    /// Every memory that was told in a conversation, with the newest sketch of it, even if the memory is gone.
    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>>;

    /// The lines of a conversation that no answer was compared with yet, oldest first.
    async fn unanswered(&self, scope: &Scope, session: &str) -> Result<Vec<UsageRecord>>;

    /// Says of lines whether the answer used them.
    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()>;

    /// Lines with an answer that weights have not followed yet, oldest first.
    async fn awaiting_weight_update(&self, scope: &Scope) -> Result<Vec<UsageRecord>>;

    /// Says that weights have followed these lines.
    async fn mark_weights_updated(&self, scope: &Scope, lines: Vec<u64>) -> Result<()>;

    /// How often what was used.
    async fn counts(&self, scope: &Scope) -> Result<UsageCounts>;

    /// Removes lines from before a moment and returns how many they were.
    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize>;
}

/// What one prompt was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// The conversation.
    pub session: String,
    /// A digest of what was asked.
    pub query: Fingerprint,
    /// When.
    pub at: Timestamp,
    /// The memories.
    pub memories: Vec<InjectedMemory>,
    /// Whether this was told in the middle of a turn, by a tool, and belongs to its prompt.
    pub joins: bool,
    /// The most lines that are kept of the scope.
    pub most: usize,
}

/// A memory as a prompt was given it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InjectedMemory {
    /// The memory.
    pub id: MemoryId,
    /// How much of it was told.
    pub shown: InjectedTier,
    /// Digests of what the question had in common with it: repeating that is no use of the memory.
    pub asked: Vec<u8>,
    /// By which an echo of it is told.
    pub sketch: Vec<u8>,
}

/// How much of a memory was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectedTier {
    /// One line.
    Line,
    /// An overview.
    Overview,
    /// All of it.
    Full,
    /// Nothing: it was left out on purpose, to be compared with what was told.
    HeldOut,
}

impl InjectedTier {
    /// Every one of them; their positions are their numbers in a file.
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

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRecord {
    /// Its number; numbers only rise.
    pub seq: u64,
    /// The conversation.
    pub session: String,
    /// The prompt within the conversation, counted from 1.
    pub turn: u32,
    /// A digest of what was asked.
    pub query: Fingerprint,
    /// When.
    pub at: Timestamp,
    /// What was told.
    pub injected: InjectedMemory,
    /// Whether the answer used it; none as long as there is no answer.
    pub used: Option<bool>,
}

/// How often memories were told and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct UsageCounts {
    /// Lines of memories that were told.
    pub told: u64,
    /// Of these, how many were compared with an answer.
    pub answered: u64,
    /// Of these, how many the answer used.
    pub used: u64,
    /// Memories that were held out and compared with an answer.
    pub held_out: u64,
    /// Of these, how many answers said the same all the same.
    pub held_out_used: u64,
    /// Different memories that were told.
    pub memories: u64,
    /// Different memories that were used.
    pub memories_used: u64,
}
