//! What an extraction leaves beside memories: how far it read, and the drafts that were not remembered.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Memory, MemoryId};

/// The turns of a session that were read, and what was not remembered of them. Stored together with the memories that
/// were drawn from them, so that each turn is read once.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureCheckpoint {
    /// The session; none for turns outside of one.
    pub session: Option<String>,
    /// Who holds the lease.
    pub owner: String,
    /// The first position that was read; the store refuses if it is not the first unread one any more.
    pub from: u32,
    /// The first position that was not.
    pub to: u32,
    /// What was not remembered.
    pub quarantined: Vec<QuarantinedDraft>,
    /// How long and how many of those are kept.
    pub limits: QuarantineLimits,
}

/// How long and how many drafts are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantineLimits {
    /// The most in a scope; the oldest rejected ones go first.
    pub max_drafts: usize,
    /// Older ones go.
    pub keep_since: Timestamp,
}

/// A draft that was not remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuarantinedDraft {
    /// The memory that it would have become; its id names the draft.
    pub memory: Box<Memory>,
    /// What the gate said.
    pub verdict: GateOutcome,
    /// Why, in words.
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// The run that it came from.
    pub run: String,
    /// The session that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// What the gate said of a draft that was not remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateOutcome {
    /// It is not worth remembering.
    Rejected,
    /// A person should look at it.
    Quarantined,
}

impl GateOutcome {
    /// The name used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Quarantined => "quarantined",
        }
    }
}

impl QuarantinedDraft {
    /// The draft's id.
    pub fn id(&self) -> MemoryId {
        self.memory.id
    }

    /// Whether it was taken from this turn.
    pub fn derives_from(&self, turn: MemoryId) -> bool {
        self.memory.source.turns.contains(&turn)
    }
}
