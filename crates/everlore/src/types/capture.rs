//! Results of an extraction beside memories: the checkpoint of a session and the quarantined drafts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Memory, MemoryId};

/// Checkpoint of a capture: the turns of a session that were captured, and the drafts that did not become memories.
/// Stored in one transaction with the memories extracted from those turns, so that each turn is captured once.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureCheckpoint {
    /// Session; `None` for turns outside of one.
    pub session: Option<String>,
    /// Holder of the session lease.
    pub owner: String,
    /// First position that was captured; the store refuses if it is no longer the first unread one.
    pub from: u32,
    /// First position that was not captured.
    pub to: u32,
    /// Drafts that did not become memories.
    pub quarantined: Vec<QuarantinedDraft>,
    /// Limits of the quarantine.
    pub limits: QuarantineLimits,
}

/// Limits of the quarantine of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantineLimits {
    /// Most drafts in a scope; the oldest rejected ones are deleted first.
    pub max_drafts: usize,
    /// Time before which drafts are deleted.
    pub keep_since: Timestamp,
}

impl QuarantineLimits {
    /// Limits that keep every draft.
    pub(crate) const NONE: Self =
        Self { max_drafts: usize::MAX >> 1, keep_since: Timestamp::UNIX_EPOCH };
}

/// Draft that the gate rejected or wants reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuarantinedDraft {
    /// Memory that the draft would have become; its id names the draft.
    pub memory: Box<Memory>,
    /// Outcome at the gate.
    pub verdict: GateOutcome,
    /// Reason in words.
    pub reason: String,
    /// Time of the outcome.
    pub at: Timestamp,
    /// Run that produced the draft.
    pub run: String,
    /// Session that the draft came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Outcome of a draft that did not become a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateOutcome {
    /// Not worth remembering.
    Rejected,
    /// Waiting for a person's review.
    Quarantined,
}

crate::types::variant_names! { pub GateOutcome: Rejected = "rejected", Quarantined = "quarantined" }

impl QuarantinedDraft {
    /// Returns the id of the draft.
    pub fn id(&self) -> MemoryId {
        self.memory.id
    }

    /// Returns `true` if the draft was taken from this turn.
    pub(crate) fn derives_from(&self, turn: MemoryId) -> bool {
        self.memory.source.turns.contains(&turn)
    }
}
