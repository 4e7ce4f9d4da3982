//! Trust in a memory, by its source.

use serde::{Deserialize, Serialize};

use super::{Memory, Origin, Role};

/// Metadata key of a memory's trust.
pub const TRUST_KEY: &str = "trust";

/// Trust in a statement by its source, the least trusted first: a statement derived from several has the lowest of
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Reads like an instruction to the model, whatever its source.
    Suspect,
    /// From a page, a message or a file of another person.
    Outside,
    /// From the output of a tool.
    Tool,
    /// From an export of another system.
    Imported,
    /// Concluded by a model.
    Inferred,
    /// Said by the user.
    Said,
    /// Approved by the user.
    Approved,
}

crate::types::variant_names! { pub Trust:
    Suspect = "suspect", Outside = "outside", Tool = "tool", Imported = "imported",
    Inferred = "inferred", Said = "said", Approved = "approved",
}

impl Trust {
    /// Returns the trust in a statement derived from all of these; nothing is known of one without a source.
    pub(crate) fn lowest_of(sources: impl IntoIterator<Item = Self>) -> Self {
        sources.into_iter().min().unwrap_or(Self::Inferred)
    }

    /// Returns the trust in a memory's metadata, if any.
    pub(crate) fn from_metadata(
        metadata: &serde_json::Map<String, serde_json::Value>,
    ) -> Option<Self> {
        serde_json::from_value(metadata.get(TRUST_KEY)?.clone()).ok()
    }
}

impl Memory {
    /// Returns the trust in its metadata, or else the lower of those by its origin and by its role.
    pub fn trust(&self) -> Trust {
        let by_way = match self.source.via {
            Origin::Remember | Origin::Observe => Trust::Said,
            Origin::Extract => Trust::Inferred,
            Origin::Import => Trust::Imported,
        };
        let by_role = if self.source.role == Some(Role::Tool) { Trust::Tool } else { by_way };
        Trust::from_metadata(&self.metadata).unwrap_or(by_way.min(by_role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, MemorySource, Scope, Timestamp};

    #[test]
    fn what_is_derived_has_the_lowest_trust_of_its_sources() {
        assert_eq!(Trust::lowest_of([Trust::Said, Trust::Tool, Trust::Approved]), Trust::Tool);
        assert_eq!(Trust::lowest_of([]), Trust::Inferred);
    }

    #[test]
    fn a_turn_of_a_tool_is_not_what_the_user_said() {
        let at = Timestamp::UNIX_EPOCH;
        let scope = Scope::new("agent", "ann").unwrap();
        let source = MemorySource { role: Some(Role::Tool), ..MemorySource::new(Origin::Observe) };
        let mut turn = Memory::with_content(&scope, Kind::Turn, "ok".into(), source, at, at);
        assert_eq!(turn.trust(), Trust::Tool);
        turn.metadata.insert(TRUST_KEY.into(), "approved".into());
        assert_eq!(turn.trust(), Trust::Approved);
        turn.source.role = Some(Role::User);
        turn.metadata.clear();
        assert_eq!(turn.trust(), Trust::Said);
    }
}
