//! Experience: a problem, what solved it and how that went, in the metadata of a memory of kind `experience`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Kind, Memory, Timestamp};

/// Metadata key of an experience.
pub const EXPERIENCE_KEY: &str = "experience";

/// Problem with its solution, and the record of how often that worked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Experience {
    /// Problem in plain words.
    pub pain: String,
    /// Solution that was tried.
    pub solution: String,
    /// Outcome of the solution in plain words.
    pub outcome: String,
    /// Error as a program printed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tools and commands that took part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Circumstances: project, system, version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Keys of the error's signature, by which the index finds it. Numbers: digests in a text look like secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_keys: Vec<u64>,
    /// Times that the solution worked, the first one included.
    pub worked: u32,
    /// Times that the solution failed.
    pub failed: u32,
    /// Failures since it last worked.
    pub failures_in_a_row: u32,
    /// Times that it was used again after it was recorded.
    pub uses: u32,
    /// Time of the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
}

impl Experience {
    /// Returns the experience of a memory, if it has one.
    pub fn of_memory(memory: &Memory) -> Option<Self> {
        let value = memory.metadata.get(EXPERIENCE_KEY).filter(|_| memory.kind == Kind::Experience);
        serde_json::from_value(value?.clone()).ok()
    }

    /// Writes the experience into metadata.
    pub(crate) fn store_in(&self, metadata: &mut Map<String, Value>) {
        let value = serde_json::to_value(self).unwrap_or_default();
        metadata.insert(EXPERIENCE_KEY.to_owned(), value);
    }
}

/// Returns the keys of the error signature in metadata.
pub(crate) fn error_keys(metadata: &Map<String, Value>) -> impl Iterator<Item = u64> {
    let keys = metadata.get(EXPERIENCE_KEY).and_then(|it| it.get("error_keys")?.as_array());
    keys.into_iter().flatten().filter_map(Value::as_u64)
}
