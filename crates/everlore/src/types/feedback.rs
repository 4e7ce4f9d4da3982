//! Feedback that a memory got: counts of verdicts, kept in its metadata, where every undo restores them.

use serde::{Deserialize, Serialize};

use super::{Memory, Timestamp};

/// Metadata key of the feedback that a memory got.
pub const FEEDBACK_KEY: &str = "feedback";

/// Feedback that a memory got so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryFeedback {
    /// Good verdicts.
    pub good: u32,
    /// Bad verdicts.
    pub bad: u32,
    /// Reason of the last verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Set if feedback archived it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Time of the last verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl MemoryFeedback {
    /// Returns the feedback of a memory, if it got any.
    pub fn of_memory(memory: &Memory) -> Option<Self> {
        serde_json::from_value(memory.metadata.get(FEEDBACK_KEY)?.clone()).ok()
    }

    /// Returns the good verdicts beyond the bad ones.
    pub fn balance(&self) -> f64 {
        f64::from(self.good) - f64::from(self.bad)
    }
}
