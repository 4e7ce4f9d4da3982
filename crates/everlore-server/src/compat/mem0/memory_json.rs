//! A memory as mem0 shows it, and what is kept with it that only mem0 knows.

use everlore::{
    Kind, Memory, Scope, Status,
    text::tiers::without_generated_overview,
    types::{PINNED_KEY, SLOT_KEY, TRUST_KEY, Timestamp},
};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::filter::Mem0Filter;
use crate::token::hex;

/// Where a memory's metadata keeps what only mem0 knows.
const METADATA_KEY: &str = "mem0";

/// The beginning of a conversation's name where a request gave none; such a name is not shown.
const GENERATED_SESSION: &str = "mem0:";

/// What the engine keeps in metadata for itself; it outlives new metadata of a caller.
const RESERVED_KEYS: [&str; 6] =
    [METADATA_KEY, SLOT_KEY, TRUST_KEY, PINNED_KEY, "valid_from", "valid_until"];

/// What only mem0 knows of a memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mem0Metadata {
    /// The application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) app_id: Option<String>,
    /// The last day on which it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expiration_date: Option<Date>,
    /// What a user thinks of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback_reason: Option<String>,
    /// Of a turn: all that it says was known before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) was_known: bool,
}

impl Mem0Metadata {
    /// Those of a memory.
    pub(super) fn from_memory(memory: &Memory) -> Self {
        let kept = memory.metadata.get(METADATA_KEY).cloned().unwrap_or_default();
        serde_json::from_value(kept).unwrap_or_default()
    }

    /// Writes them into metadata.
    pub(super) fn write_to(&self, metadata: &mut Map<String, Value>) {
        if *self == Self::default() {
            metadata.remove(METADATA_KEY);
        } else {
            metadata.insert(METADATA_KEY.to_owned(), json!(self));
        }
    }
}

/// What a caller's new metadata makes of a memory's.
pub(super) fn merge_metadata(memory: &Memory, given: &Map<String, Value>) -> Map<String, Value> {
    let kept = memory.metadata.iter().filter(|(name, _)| RESERVED_KEYS.contains(&name.as_str()));
    let given = given.iter().filter(|(name, _)| !RESERVED_KEYS.contains(&name.as_str()));
    given.chain(kept).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The conversation of a request that names none.
pub(super) fn generated_session(event: &str) -> String {
    format!("{GENERATED_SESSION}{event}")
}

/// The conversation that the caller named, if any.
pub(super) fn named_session(memory: &Memory) -> Option<&str> {
    memory.source.session.as_deref().filter(|session| !session.starts_with(GENERATED_SESSION))
}

/// Which memories are looked at.
#[derive(Debug, Clone)]
pub(super) struct MemoryVisibility {
    pub(super) filter: Mem0Filter,
    /// Names that stand for no name.
    pub(super) default_scope: Scope,
    /// Also what is past its day.
    pub(super) show_expired: bool,
    /// Also what was replaced since.
    pub(super) show_superseded: bool,
    pub(super) today: Date,
}

impl MemoryVisibility {
    /// Whether a memory is shown; a turn that memories were drawn from is judged by the caller.
    pub(super) fn shows(&self, memory: &Memory) -> bool {
        let is_held = match memory.status {
            Status::Active => true,
            Status::Superseded => self.show_superseded,
            Status::Archived => false,
        };
        is_held
            && (self.show_expired || !is_expired(memory, self.today))
            && self.filter.matches(memory, &self.default_scope)
    }

    /// The statuses that recall may return.
    pub(super) fn statuses(&self) -> Vec<Status> {
        match self.show_superseded {
            true => vec![Status::Active, Status::Superseded],
            false => vec![Status::Active],
        }
    }
}

fn is_expired(memory: &Memory, today: Date) -> bool {
    Mem0Metadata::from_memory(memory).expiration_date.is_some_and(|last| last < today)
}

/// A memory as mem0 shows it.
pub(super) fn to_json(memory: &Memory, home: &Scope) -> Value {
    let marks = Mem0Metadata::from_memory(memory);
    let named = |name: &str, default: &str| (name != default).then(|| name.to_owned());
    let mut metadata = without_generated_overview(&memory.metadata);
    metadata.remove(METADATA_KEY);
    let mut item = json!({
        "id": memory.id,
        "memory": memory.content,
        "user_id": named(memory.scope.user(), home.user()),
        "agent_id": named(memory.scope.agent(), home.agent()),
        "app_id": marks.app_id,
        "run_id": named_session(memory),
        "session_id": named_session(memory),
        "hash": content_hash(&memory.content),
        "metadata": metadata,
        "categories": memory.tags,
        "created_at": format_time(memory.at),
        "updated_at": format_time(memory.updated_at),
        "expiration_date": marks.expiration_date,
        "feedback": marks.feedback,
    });
    if memory.kind == Kind::Turn {
        item["role"] = json!(memory.source.role);
        item["actor_id"] = json!(memory.source.speaker);
    }
    item
}

/// A moment as every client reads it.
pub(super) fn format_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

/// Tells a text from others, as mem0's `hash` does.
pub(super) fn content_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}
