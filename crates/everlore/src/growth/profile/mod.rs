//! Profile of a user: what they said of themselves, what their messages show, and what a person set, as fields.
//!
//! A profile is a view: [`build_profile`] reads memories into signals (`stated.rs`), messages too
//! (`spoken.rs`, `observed.rs`), and merges them (`merge.rs`). Nothing is stored but the fields that a person sets, which are memories like any other, and the values that a person
//! rejects (`rejected.rs`); so a signal is never lost, and forgetting a memory forgets what it told.

mod clauses;
mod industry;
mod merge;
mod observed;
mod pains;
mod patterns;
#[cfg(test)]
mod phrases_tests;
mod rejected;
mod spoken;
mod stated;

pub(crate) use pains::{is_complaint, pain_topic};
pub(crate) use rejected::REJECTED_KEY;
pub use rejected::RejectedValue;

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    types::{Memory, MemoryId, Timestamp},
};
pub(crate) use merge::has_many_values;
use merge::{merge_signals, plain_value};

/// Metadata key of a field that a person set.
pub(crate) const PROFILE_KEY: &str = "profile";

/// Most characters of a field's name and of its value.
const MAX_NAME_CHARS: usize = 40;
const MAX_VALUE_CHARS: usize = 500;

/// Field of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProfileField {
    /// Name, such as `role`, `industry`, `expertise`, `communication_style`, `language`, `topics`, `pains`, `tools` or
    /// `active_hours`; others are possible.
    pub name: String,
    /// Value, in the user's own words where they said it.
    pub value: String,
    /// Confidence from 0 to 1; every further signal raises it.
    pub confidence: f64,
    /// Time from which it is known to hold.
    pub since: Timestamp,
    /// Time until which it held; `null` if it still does.
    pub until: Option<Timestamp>,
    /// Turns that say it, or the memories if none is known; the newest first.
    pub evidence: Vec<MemoryId>,
    /// Origin of the value.
    pub basis: SignalBasis,
}

/// Origin of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SignalBasis {
    /// Counted over the user's messages.
    Observed,
    /// Said by the user, or concluded from what they said.
    Stated,
    /// Set by a person.
    Set,
}

/// Field and value that a person sets, as kept in the metadata of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetField {
    pub(crate) field: String,
    pub(crate) value: String,
    /// Value that it corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) instead_of: Option<String>,
}

impl SetField {
    /// Refuses names and values that are empty or too long.
    pub(crate) fn new(name: &str, value: &str) -> Result<Self> {
        let field = field_name(name)?;
        let value = value.trim().to_owned();
        if value.is_empty() || value.chars().count() > MAX_VALUE_CHARS {
            return Err(Error::invalid(
                format!("a value of {} characters for `{field}`", value.chars().count()),
                format!("use 1 to {MAX_VALUE_CHARS} characters; save longer texts with `remember`"),
            ));
        }
        Ok(Self { field, value, instead_of: None })
    }

    /// Returns `true` if it takes the place of an earlier field: of the value that it corrects, or of the only value.
    pub(crate) fn replaces(&self, earlier: &Memory) -> bool {
        let Some(earlier) = Self::of_memory(earlier) else { return false };
        let is_corrected = |old: &String| plain_value(old) == plain_value(&earlier.value);
        self.field == earlier.field
            && (!has_many_values(&self.field) || self.instead_of.as_ref().is_some_and(is_corrected))
    }

    /// Reads the field of a memory that a person set.
    pub(crate) fn of_memory(memory: &Memory) -> Option<Self> {
        serde_json::from_value(memory.metadata.get(PROFILE_KEY)?.clone()).ok()
    }
}

/// Returns a name of a field in its one spelling: small letters, digits and `_`, or Chinese characters.
pub(crate) fn field_name(name: &str) -> Result<String> {
    let spelled = name.trim().to_lowercase().replace([' ', '-'], "_");
    let is_allowed = |c: char| c.is_alphanumeric() || c == '_';
    let length = spelled.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || !spelled.chars().all(is_allowed) {
        return Err(Error::invalid(
            format!("`{name}` is no name of a profile field"),
            format!("use letters, digits and _, at most {MAX_NAME_CHARS}: role, industry, tools"),
        ));
    }
    Ok(spelled)
}

/// Signal about one field, from one memory or one count.
#[derive(Debug, Clone, PartialEq)]
struct ProfileSignal {
    name: &'static str,
    /// Name of a field that a person set, in place of `name`.
    set_name: Option<String>,
    value: String,
    confidence: f64,
    since: Timestamp,
    until: Option<Timestamp>,
    evidence: Vec<MemoryId>,
    basis: SignalBasis,
    effect: SignalEffect,
}

/// Effect of a signal on a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SignalEffect {
    /// The value holds.
    Holds,
    /// The value held once.
    Past,
    /// The values that its words name have ended; if they name none and `any` is set, all have.
    Ends { any: bool },
    /// The value takes the place of another, if that one is known.
    Replaces(String),
    /// The value holds and corrects another.
    Corrects(String),
}

impl ProfileSignal {
    fn name(&self) -> &str {
        self.set_name.as_deref().unwrap_or(self.name)
    }
}

/// Memories that a profile is read from.
pub(crate) struct ProfileSources<'a> {
    /// Memories about the user and experiences, superseded ones too.
    pub(crate) memories: &'a [Memory],
    /// The user's newest messages.
    pub(crate) turns: &'a [Memory],
    /// Values that a person rejected.
    pub(crate) rejected: &'a [RejectedValue],
    /// The user's time zone.
    pub(crate) zone: &'a jiff::tz::TimeZone,
    /// Moment of the profile.
    pub(crate) now: Timestamp,
}

/// Builds the profile: fields in the order of their names, what holds before what held.
pub(crate) fn build_profile(sources: &ProfileSources<'_>) -> Vec<ProfileField> {
    let stated = sources.memories.iter().flat_map(stated::signals_of);
    let spoken = sources.turns.iter().flat_map(spoken::signals_of);
    let signals = stated.chain(spoken).chain(observed::signals(sources));
    let is_rejected =
        |signal: &ProfileSignal| sources.rejected.iter().any(|value| value.rejects(signal));
    merge_signals(signals.filter(|signal| !is_rejected(signal)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_spelling_and_values_a_size() {
        assert_eq!(field_name(" Active Hours ").unwrap(), "active_hours");
        assert_eq!(field_name("口头禅").unwrap(), "口头禅");
        for bad in ["", "  ", "a/b", "<b>", &"x".repeat(41)] {
            assert!(field_name(bad).is_err(), "{bad}");
        }
        assert!(SetField::new("role", " ").is_err());
        assert!(SetField::new("role", &"长".repeat(501)).is_err());
        assert_eq!(SetField::new("Role", " nurse ").unwrap().value, "nurse");
    }
}
