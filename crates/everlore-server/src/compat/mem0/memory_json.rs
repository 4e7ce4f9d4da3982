//! JSON of a memory in mem0's shape, and mem0's own fields in a memory's metadata.

use everlore::{
    Kind, Memory, Scope, Status,
    internal::text::tiers::without_generated_overview,
    types::{PINNED_KEY, Role, SLOT_KEY, TRUST_KEY, Timestamp},
};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::filter::Mem0Filter;
use crate::token::hex;

/// Metadata key of mem0's own fields.
const METADATA_KEY: &str = "mem0";

/// Prefix of generated session names, which are not shown to clients.
const GENERATED_SESSION: &str = "mem0:";

/// Verbs by which a speaker tells something about itself; an offer ("I can", "I suggest") is something else.
const OWN_VERBS: [&str; 12] = [
    "am", "was", "live", "lived", "have", "like", "love", "hate", "work", "come", "prefer", "moved",
];

/// Chinese words behind 我 by which a speaker offers, confirms or thinks something, and tells nothing of itself.
#[rustfmt::skip]
const OFFERS: [&str; 46] = [
    "会", "可以", "来", "帮", "建议", "已", "记", "能", "将", "推荐", "觉得", "认为", "想", "明白", "知道", "了解", "理解", "很高兴", "很乐意", "很抱歉", "很遗憾", "需要",
    "再", "先", "给", "为", "把", "有一个建议", "有个建议", "有几个建议", "有一个想法", "有个想法", "有个问题", "查", "看", "找", "听", "收到", "同意", "支持", "猜", "的建议", "的理解", "们", "刚", "说",
];

/// Chinese adverbs between 我 and its verb.
const ADVERBS: [&str; 10] = ["也", "就", "还", "都", "一定", "马上", "现在", "这就", "可", "真"];

/// Metadata keys of the engine, which survive new metadata of a caller.
const RESERVED_KEYS: [&str; 6] =
    [METADATA_KEY, SLOT_KEY, TRUST_KEY, PINNED_KEY, "valid_from", "valid_until"];

/// Fields of a memory that only mem0 has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mem0Metadata {
    /// Application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) app_id: Option<String>,
    /// Last day on which the memory is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expiration_date: Option<Date>,
    /// Feedback of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback: Option<String>,
    /// Reason of the feedback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) feedback_reason: Option<String>,
    /// Set on a turn whose content was all known before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) was_known: bool,
}

impl Mem0Metadata {
    /// Reads the fields of a memory.
    pub(super) fn from_memory(memory: &Memory) -> Self {
        let stored = memory.metadata.get(METADATA_KEY).cloned().unwrap_or_default();
        serde_json::from_value(stored).unwrap_or_default()
    }

    /// Writes the fields into metadata.
    pub(super) fn write_to(&self, metadata: &mut Map<String, Value>) {
        if *self == Self::default() {
            metadata.remove(METADATA_KEY);
        } else {
            metadata.insert(METADATA_KEY.to_owned(), json!(self));
        }
    }
}

/// Replaces a memory's metadata by a caller's, except the reserved keys.
pub(super) fn merge_metadata(memory: &Memory, given: &Map<String, Value>) -> Map<String, Value> {
    let reserved =
        memory.metadata.iter().filter(|(name, _)| RESERVED_KEYS.contains(&name.as_str()));
    let given = given.iter().filter(|(name, _)| !RESERVED_KEYS.contains(&name.as_str()));
    given.chain(reserved).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns a session name for a request without one.
pub(super) fn generated_session(event: &str) -> String {
    format!("{GENERATED_SESSION}{event}")
}

/// Returns the session that the client named, if any.
pub(super) fn named_session(memory: &Memory) -> Option<&str> {
    memory.source.session.as_deref().filter(|session| !session.starts_with(GENERATED_SESSION))
}

/// Filter and visibility of memories.
#[derive(Debug, Clone)]
pub(super) struct MemoryVisibility {
    pub(super) filter: Mem0Filter,
    /// Scope whose names count as no name.
    pub(super) default_scope: Scope,
    /// Include expired memories.
    pub(super) show_expired: bool,
    /// Include superseded memories.
    pub(super) show_superseded: bool,
    pub(super) today: Date,
}

impl MemoryVisibility {
    /// Returns `true` if a memory is visible; the caller decides about turns that memories were extracted from.
    pub(super) fn shows(&self, memory: &Memory) -> bool {
        let is_visible = match memory.status {
            Status::Active => true,
            Status::Superseded => self.show_superseded,
            Status::Archived => false,
        };
        is_visible
            && !is_about_assistant(memory)
            && (self.show_expired || !is_expired(memory, self.today))
            && self.filter.matches(memory, &self.default_scope)
    }

    /// Returns the statuses that recall may return.
    pub(super) fn statuses(&self) -> Vec<Status> {
        if self.show_superseded {
            return vec![Status::Active, Status::Superseded];
        }
        vec![Status::Active]
    }
}

fn is_expired(memory: &Memory, today: Date) -> bool {
    Mem0Metadata::from_memory(memory).expiration_date.is_some_and(|last| last < today)
}

/// Returns a memory in mem0's shape.
pub(super) fn to_json(memory: &Memory, default_scope: &Scope) -> Value {
    let mem0_metadata = Mem0Metadata::from_memory(memory);
    let named = |name: &str, default: &str| (name != default).then(|| name.to_owned());
    let mut metadata = without_generated_overview(&memory.metadata);
    metadata.remove(METADATA_KEY);
    let mut item = json!({
        "id": memory.id,
        "memory": memory.content,
        "user_id": named(memory.scope.user(), default_scope.user()),
        "agent_id": named(memory.scope.agent(), default_scope.agent()),
        "app_id": mem0_metadata.app_id,
        "run_id": named_session(memory),
        "session_id": named_session(memory),
        "hash": content_hash(&memory.content),
        "metadata": metadata,
        "categories": memory.tags,
        "created_at": format_time(memory.at),
        "updated_at": format_time(memory.updated_at),
        "expiration_date": mem0_metadata.expiration_date,
        "feedback": mem0_metadata.feedback,
    });
    if memory.kind == Kind::Turn {
        item["role"] = json!(memory.source.role);
    }
    if memory.kind == Kind::Turn || memory.source.speaker.is_some() {
        item["actor_id"] = json!(memory.source.speaker);
    }
    item
}

/// Returns `true` for a message in which the assistant speaks of itself alone: no memory of the user.
pub(super) fn is_about_assistant(memory: &Memory) -> bool {
    memory.kind == Kind::Turn
        && memory.source.role == Some(Role::Assistant)
        && speaks_of_itself(&memory.content)
}

/// Returns `true` for a text in the first person that addresses no one.
fn speaks_of_itself(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let addresses =
        words.iter().any(|word| word.starts_with("you")) || lower.contains(['你', '您']);
    let is_own = |pair: &[&str]| match pair {
        ["i", verb] => OWN_VERBS.contains(verb),
        ["i'm" | "i've", _] | ["my", "name" | "favorite" | "favourite" | "home"] => true,
        _ => false,
    };
    (words.windows(2).any(is_own) || words.iter().any(|clause| is_own_chinese(clause)))
        && !addresses
}

/// Returns `true` for a Chinese clause that begins with 我 and is no offer.
fn is_own_chinese(clause: &str) -> bool {
    let Some(mut rest) = clause.strip_prefix('我') else { return false };
    let offers = |rest: &str| OFFERS.iter().any(|offer| rest.starts_with(offer));
    while let Some(bare) = ADVERBS.iter().find_map(|adverb| rest.strip_prefix(adverb)) {
        if offers(rest) {
            return false;
        }
        rest = bare;
    }
    !rest.is_empty() && !offers(rest)
}

/// Formats a time as mem0 does.
pub(super) fn format_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

/// Returns a digest of a text for mem0's `hash` field.
pub(super) fn content_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assistant_speaks_of_itself_only_where_it_addresses_no_one() {
        for text in [
            "I live in the cloud and I am allergic to water.",
            "I'm a language model.",
            "我住在云端，我对水过敏。",
            "我也很喜欢厦门，我养了三只鹦鹉",
            "我从小就怕狗。",
            "厦门真好，我在那里长大。",
            "我没有去过厦门。",
        ] {
            assert!(speaks_of_itself(text), "{text}");
        }
        for text in [
            "I have noted that you live in Oslo.",
            "I suggest the Blue Door, it is near the harbour.",
            "The train leaves at nine.",
            "Nice, I like that you chose tea.",
            "我有一个建议：你可以试试龙井。",
            "蓝门餐厅离港口很近。",
            "好的，我已经记下了。",
            "我可以推荐几家餐厅。",
            "我也可以订票。",
            "我建议周五出发。",
            "我现在就查一下航班。",
            "我觉得龙井不错。",
            "我们周五开会。",
        ] {
            assert!(!speaks_of_itself(text), "{text}");
        }
    }
}
