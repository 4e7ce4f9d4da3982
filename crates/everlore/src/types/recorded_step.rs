//! Steps of a conversation that are no message: a tool call with its arguments, and what is known of how an answer came
//! about. Both are kept in the metadata of the turn or record that they belong to.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::Memory;

/// Metadata key of a tool call.
pub const CALL_KEY: &str = "call";

/// Metadata key of the result of a tool call that is a record.
pub(crate) const CALL_RESULT_KEY: &str = "result";

/// Metadata key of how an answer came about.
pub const ANSWER_KEY: &str = "answer";

/// Metadata key of the session that a recorded tool call belongs to.
pub(crate) const CALL_SESSION_KEY: &str = "session";

/// Tool call of an agent, without its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// Id that the model or the host gave the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the tool.
    #[cfg_attr(feature = "schema", schema(min_length = 1, max_length = 200))]
    pub name: String,
    /// Arguments, usually a JSON object.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub arguments: Value,
    /// Set when the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Set when the text of its turn is a tool event, which capture reads: it is stored as a turn, any other call as a
    /// record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schema(ignore))]
    pub is_event: bool,
    /// Result of a call whose text is a tool event: the event of a success tells only that it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(ignore))]
    pub result: Option<String>,
}

/// Tokens that a model read and wrote for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "an object with the numbers `read`, `cached` and `written`"
)]
pub struct StepTokens {
    /// Input tokens, cached ones included.
    pub read: u64,
    /// Input tokens served from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub written: u64,
}

impl StepTokens {
    /// Adds two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            read: self.read.saturating_add(other.read),
            cached: self.cached.saturating_add(other.cached),
            written: self.written.saturating_add(other.written),
        }
    }
}

/// Circumstances of an answer, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RecordedAnswer {
    /// Model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<StepTokens>,
    /// Way in which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<AnswerEnd>,
}

/// Way in which an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum AnswerEnd {
    /// The answer is complete.
    Done,
    /// The answer reached its token limit.
    Length,
    /// The provider refused or cut off the answer.
    Refused,
    /// The user interrupted it.
    Interrupted,
    /// The model kept calling tools.
    Rounds,
    /// The model failed after it had begun.
    Failed,
}

crate::types::variant_names! { pub AnswerEnd:
    Done = "done", Length = "length", Refused = "refused", Interrupted = "interrupted", Rounds = "rounds",
    Failed = "failed",
}

impl RecordedCall {
    /// Returns the call of a turn or record, if it has one.
    pub fn of_memory(memory: &Memory) -> Option<Self> {
        read(&memory.metadata, CALL_KEY)
    }

    /// Writes the call into metadata.
    pub(crate) fn store_in(&self, metadata: &mut Map<String, Value>) {
        metadata.insert(CALL_KEY.to_owned(), serde_json::to_value(self).unwrap_or_default());
    }
}

impl RecordedAnswer {
    /// Returns what is known of how a turn came about.
    pub fn of_memory(memory: &Memory) -> Option<Self> {
        read(&memory.metadata, ANSWER_KEY)
    }

    /// Returns `true` if nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes it into metadata.
    pub(crate) fn store_in(&self, metadata: &mut Map<String, Value>) {
        metadata.insert(ANSWER_KEY.to_owned(), serde_json::to_value(self).unwrap_or_default());
    }
}

fn read<T: DeserializeOwned>(metadata: &Map<String, Value>, key: &str) -> Option<T> {
    serde_json::from_value(metadata.get(key)?.clone()).ok()
}
