//! Values that a person rejected: they stay out of the profile, however often they are said.

use serde::{Deserialize, Serialize};

use super::{ProfileSignal, SignalBasis, merge::plain_value, pains::pain_topic};
use crate::types::{Memory, Timestamp};

/// Metadata key of a rejected value, and tag of its record.
pub(crate) const REJECTED_KEY: &str = "rejected_profile";

/// Value of a field that a person rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RejectedValue {
    /// Name of the field.
    pub name: String,
    /// Value that stays out of the profile.
    pub value: String,
    /// Time of the rejection.
    pub at: Timestamp,
}

impl RejectedValue {
    /// Reads the rejected value of a record.
    pub(crate) fn of_memory(memory: &Memory) -> Option<Self> {
        serde_json::from_value(memory.metadata.get(REJECTED_KEY)?.clone()).ok()
    }

    /// Returns `true` if it is about this value, whatever its case and punctuation; a pain whatever its words.
    pub(crate) fn is_about(&self, name: &str, value: &str) -> bool {
        let is_same_pain = || {
            let topic = pain_topic(&self.value);
            name == "pains" && !topic.is_empty() && topic.is_same(&pain_topic(value))
        };
        self.name == name && (plain_value(&self.value) == plain_value(value) || is_same_pain())
    }

    /// Returns `true` if it keeps a signal out of the profile. What a person sets stands.
    pub(super) fn rejects(&self, signal: &ProfileSignal) -> bool {
        signal.basis != SignalBasis::Set && self.is_about(signal.name(), &signal.value)
    }
}
