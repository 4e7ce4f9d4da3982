//! Memory: one stored statement, or one turn of a conversation, with its metadata.

use std::{fmt, str::FromStr, sync::Mutex};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::{ContextV7, Uuid};

use super::{Check, Kind, Scope, to_millisecond};
use crate::error::{Error, Result};

/// Most characters of a title; a longer one is a text.
pub const MAX_NAME_CHARS: usize = 200;

/// Most bytes of a memory: far above any message, low enough that one save never stalls the writer.
pub const MAX_CONTENT_BYTES: usize = 4 * 1024 * 1024;

/// Metadata key of a turn: text that its message only passed on, such as a file or the output of a tool.
pub const QUOTED_KEY: &str = "quoted";

/// Metadata key of the short forms of a memory's text: `line`, `text`, and `of`, the digest of the text they summarize.
pub const OVERVIEW_KEY: &str = "overview";

/// Metadata key of a schedule: its rule, its next run and the last one that was told.
pub(crate) const SCHEDULE_KEY: &str = "schedule";

/// Metadata key of the end of a superseded memory's validity.
pub(crate) const VALID_UNTIL_KEY: &str = "valid_until";

/// Metadata key of the memory that another may have replaced: that is not sure, so both stand.
pub(crate) const MAY_REPLACE_KEY: &str = "may_replace";

/// Permanent id of a memory; ids sort by the time they were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct MemoryId(Uuid);

impl MemoryId {
    /// Creates a new id at `now`.
    pub fn new(now: Timestamp) -> Self {
        let seconds = now.as_second().try_into().unwrap_or(0);
        let nanos = now.subsec_nanosecond().unsigned_abs();
        Self(Uuid::new_v7(uuid::Timestamp::from_unix(&CONTEXT, seconds, nanos)))
    }

    /// Returns the id of something that happened at `at`, always the same for the same `parts`.
    pub(crate) fn derived(at: Timestamp, parts: &[&str]) -> Self {
        let mut digest = Sha256::new().chain_update(b"everlore/id\0");
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut random = [0; 10];
        random.copy_from_slice(&digest.finalize()[..10]);
        let milliseconds = u64::try_from(at.as_millisecond()).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid())
    }

    /// Returns the id as 16 bytes, in sort order.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Returns the twelve digits of the last group. Ids of one moment differ there; in what comes before, the time is.
    pub fn random_digits(&self) -> String {
        self.0.simple().to_string().split_off(20)
    }

    /// Creates an id from its 16 bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Returns the id right before this one in sort order; `None` for the first.
    pub(crate) fn predecessor(&self) -> Option<Self> {
        self.0.as_u128().checked_sub(1).map(|bits| Self(Uuid::from_u128(bits)))
    }
}

/// Keeps ids of one millisecond in the order they were created.
static CONTEXT: Mutex<ContextV7> = Mutex::new(ContextV7::new());

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MemoryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self).map_err(|_| {
            Error::invalid(
                format!("`{text}` is not an id"),
                "an id looks like 0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04",
            )
        })
    }
}

/// Part that a memory takes in recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Holds now.
    Active,
    /// Replaced by a newer memory.
    Superseded,
    /// Archived; can be restored.
    Archived,
}

crate::types::variant_names! { pub Status: Active = "active", Superseded = "superseded", Archived = "archived" }

impl FromStr for Status {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            Error::invalid(format!("unknown status `{text}`"), "use active, superseded or archived")
        })
    }
}

/// Speaker of a turn, in the terms of chat models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Person.
    User,
    /// Agent.
    Assistant,
    /// Instructions of the host.
    System,
    /// Output of a tool.
    Tool,
}

/// Origin of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Request to remember it.
    Remember,
    /// Observed turn.
    Observe,
    /// Extraction from turns.
    Extract,
    /// File or other system.
    Import,
}

/// Source of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemorySource {
    /// Origin.
    pub via: Origin,
    /// Conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Speaker's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Speaker's role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Turns it was derived from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<MemoryId>,
}

impl MemorySource {
    /// Creates a source outside any conversation.
    pub fn new(via: Origin) -> Self {
        Self { via, session: None, speaker: None, role: None, turns: Vec::new() }
    }
}

/// Short, keyed digest of a text: equal texts have equal fingerprints, and the text cannot be read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Digests `content` without the blanks around it.
    pub fn of(content: &str) -> Self {
        let digest = Sha256::new()
            .chain_update(b"everlore/content\0")
            .chain_update(content.trim())
            .finalize();
        let mut short = [0; 16];
        short.copy_from_slice(&digest[..16]);
        Self(short)
    }

    /// Creates a fingerprint from its bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Stored statement or turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Memory {
    /// Permanent id.
    pub id: MemoryId,
    /// Position in the tree of memories: `agent://{agent}/{kind}/{category}/{slug}`; kept across edits.
    pub uri: String,
    /// Owner.
    pub scope: Scope,
    /// Kind of statement.
    pub kind: Kind,
    /// Title; empty for turns.
    #[serde(default)]
    pub name: String,
    /// Line by which a reader decides whether the memory matters.
    #[serde(default)]
    pub description: String,
    /// Text.
    pub content: String,
    /// Keywords as given.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Importance from 0 to 1.
    pub importance: f64,
    /// Confidence of its writer from 0 to 1.
    pub confidence: f64,
    /// Stored worth: rises with use, falls with time; starts at 1.
    pub weight: f64,
    /// Part that it takes in recall.
    pub status: Status,
    /// Free data of the caller.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Source.
    pub source: MemorySource,
    /// Time at which it was said or became true.
    pub at: Timestamp,
    /// Time at which it was stored.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which it was last put into a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Memory that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// Number of its changes, from 1; a change made against an older version is refused.
    pub version: u32,
}

impl Memory {
    /// Returns the older memory that it may have replaced, though that is not sure.
    pub fn may_replace(&self) -> Option<MemoryId> {
        self.metadata.get(MAY_REPLACE_KEY)?.as_str()?.parse().ok()
    }

    /// Returns the end of its validity, if one is known: as its check says, or as supersession noted it.
    pub(crate) fn valid_until(&self) -> Option<Timestamp> {
        let noted = self.metadata.get(VALID_UNTIL_KEY).and_then(serde_json::Value::as_str);
        let noted = noted.and_then(|until| until.parse().ok());
        let checked = match self.check().map(|stored| stored.check) {
            Some(Check::Until { until }) => Some(until),
            _ => None,
        };
        noted.into_iter().chain(checked).min()
    }

    /// Returns `true` if its validity is over.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.valid_until().is_some_and(|until| until <= now)
    }

    /// Creates a memory with nothing but its text.
    pub fn with_content(
        scope: &Scope,
        kind: Kind,
        content: String,
        source: MemorySource,
        at: Timestamp,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MemoryId::new(now),
            uri: String::new(),
            scope: scope.clone(),
            kind,
            name: String::new(),
            description: String::new(),
            content,
            tags: Vec::new(),
            importance: 0.5,
            confidence: 1.0,
            weight: 1.0,
            status: Status::Active,
            metadata: serde_json::Map::new(),
            source,
            at: to_millisecond(at),
            created_at: now,
            updated_at: now,
            last_used_at: None,
            superseded_by: None,
            version: 1,
        }
    }

    /// Returns the fingerprint of its content.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_they_were_made_even_within_a_millisecond() {
        let now = Timestamp::from_millisecond(1_790_000_000_000).unwrap();
        let ids: Vec<_> = (0..100).map(|_| MemoryId::new(now)).collect();
        assert!(ids.is_sorted());
    }

    #[test]
    fn fingerprints_ignore_blanks_around_the_text_only() {
        assert_eq!(Fingerprint::of(" 喜欢茶\n"), Fingerprint::of("喜欢茶"));
        assert_ne!(Fingerprint::of("likes tea"), Fingerprint::of("likes  tea"));
    }
}
