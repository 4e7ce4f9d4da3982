//! How far a memory is trusted, by where it comes from.

use serde::{Deserialize, Serialize};

use super::{Memory, Origin};

/// Under this key a memory's metadata holds its trust.
pub const TRUST_KEY: &str = "trust";

/// Where a statement comes from, the least trusted first: what is derived from several has the lowest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It reads like an order to the model, wherever it came from.
    Suspect,
    /// From a page, a message or a file of someone else.
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

impl Trust {
    /// The name used in metadata and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suspect => "suspect",
            Self::Outside => "outside",
            Self::Tool => "tool",
            Self::Imported => "imported",
            Self::Inferred => "inferred",
            Self::Said => "said",
            Self::Approved => "approved",
        }
    }

    /// The trust in what is derived from all of these; nothing is known of what has no source.
    pub fn lowest_of(sources: impl IntoIterator<Item = Self>) -> Self {
        sources.into_iter().min().unwrap_or(Self::Inferred)
    }

    /// The trust that a memory's metadata tells, if any.
    pub fn from_metadata(metadata: &serde_json::Map<String, serde_json::Value>) -> Option<Self> {
        serde_json::from_value(metadata.get(TRUST_KEY)?.clone()).ok()
    }
}

impl Memory {
    /// How far it is trusted: as its metadata says, or by the way it came in.
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
