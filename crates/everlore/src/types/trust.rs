//! Trust in a memory, by its source.

use serde::{Deserialize, Serialize};

use super::{Memory, Origin};

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
    /// Returns the trust in its metadata, or else by its origin.
    pub fn trust(&self) -> Trust {
        let by_way = match self.source.via {
            Origin::Remember | Origin::Observe => Trust::Said,
            Origin::Extract => Trust::Inferred,
            Origin::Import => Trust::Imported,
        };
        Trust::from_metadata(&self.metadata).unwrap_or(by_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_derived_has_the_lowest_trust_of_its_sources() {
        assert_eq!(Trust::lowest_of([Trust::Said, Trust::Tool, Trust::Approved]), Trust::Tool);
        assert_eq!(Trust::lowest_of([]), Trust::Inferred);
    }
}
