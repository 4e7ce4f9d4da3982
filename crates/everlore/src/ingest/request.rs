//! What a caller hands in, and the checks it must pass before it becomes a memory.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::naming;
use crate::{
    error::{Error, Result},
    text::tiers::refresh_overview,
    types::{
        Actor, CHECK_KEY, Kind, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, MemoryId, MemorySource,
        NewCheck, Origin, Role, Scope, StoredCheck, Timestamp,
    },
};

/// More tags than this are a text, not keywords.
const MAX_TAGS: usize = 64;

/// A tag, a session or a speaker longer than this is a text, not a name.
const MAX_LABEL_CHARS: usize = 200;

/// Something to remember. Only the content is needed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RememberRequest {
    /// The text.
    pub content: String,
    /// What sort of statement it is; judged by the text if left out.
    pub kind: Option<Kind>,
    /// A title; the beginning of the text if left out.
    pub name: Option<String>,
    /// One line that tells whether it matters.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// How much it matters, from 0 to 1.
    pub importance: Option<f64>,
    /// How sure it is, from 0 to 1.
    pub confidence: Option<f64>,
    /// When it was said or became true; now if left out.
    pub at: Option<Timestamp>,
    /// The conversation it came from.
    pub session: Option<String>,
    /// Free data of the caller.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// How a machine can tell whether it still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<NewCheck>,
}

/// One message of a conversation. Only the text is needed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// What was said.
    pub text: String,
    /// The conversation.
    pub session: Option<String>,
    /// Who said it, by name.
    pub speaker: Option<String>,
    /// Who said it, by role.
    pub role: Option<Role>,
    /// When; now if left out.
    pub time: Option<Timestamp>,
}

impl RememberRequest {
    /// Checks the draft and makes it a memory of `scope`.
    pub(super) fn into_memory(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        check_content(&self.content)?;
        let tags = checked_tags(self.tags)?;
        let content = self.content.trim().to_owned();
        let kind = self.kind.unwrap_or_else(|| naming::guess_kind(&content));
        if kind == Kind::Turn {
            return Err(Error::invalid(
                "a turn cannot be remembered by hand",
                "use `observe` for what was said in a conversation",
            ));
        }
        let name = match self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => checked_name(name)?,
            None => naming::title_of(&content),
        };
        let session = checked_label("session", self.session)?;
        let (via, speaker, role, turns) = (Origin::Remember, None, None, Vec::new());
        let source = MemorySource { via, session, speaker, role, turns };
        let mut memory =
            Memory::with_content(scope, kind, content, source, self.at.unwrap_or(now), now);
        let (first, print) = (tags.first().map(String::as_str), memory.fingerprint());
        memory.uri = naming::memory_uri(scope, kind, first, &name, print, 0);
        memory.name = name;
        memory.description = one_line(&self.description);
        memory.tags = tags;
        memory.importance = checked_fraction("importance", self.importance, memory.importance)?;
        memory.confidence = checked_fraction("confidence", self.confidence, memory.confidence)?;
        memory.metadata = self.metadata;
        if let Some(new) = self.check {
            // Nobody looked at what it names, so nothing proves it until a person sets it again.
            let check = new.validate(&now.to_zoned(TimeZone::UTC))?;
            let kept = serde_json::to_value(StoredCheck::unsigned(check, Actor::Engine, now));
            memory.metadata.insert(CHECK_KEY.to_owned(), kept.unwrap_or_default());
        }
        refresh_overview(&mut memory);
        Ok(memory)
    }
}

impl Turn {
    /// The same as [`Turn::into_memory`], with an id that tells the turn again when it is imported again. Without a
    /// time it could be another turn that says the same.
    pub(super) fn into_imported_memory(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        let time = self.time;
        let mut memory = self.into_memory(scope, now)?;
        memory.source.via = Origin::Import;
        if let Some(time) = time {
            let label = |label: &Option<String>| label.clone().unwrap_or_default();
            let (session, speaker) = (label(&memory.source.session), label(&memory.source.speaker));
            memory.id = MemoryId::derived(
                time,
                &[scope.agent(), scope.user(), &session, &speaker, &memory.content],
            );
            memory.uri = naming::turn_uri(scope, memory.source.session.as_deref(), memory.id);
        }
        Ok(memory)
    }

    /// Checks the turn and makes it a memory of `scope`.
    pub(super) fn into_memory(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        check_content(&self.text)?;
        let source = MemorySource {
            via: Origin::Observe,
            session: checked_label("session", self.session)?,
            speaker: checked_label("speaker", self.speaker)?,
            role: self.role,
            turns: Vec::new(),
        };
        let mut memory = Memory::with_content(
            scope,
            Kind::Turn,
            self.text,
            source,
            self.time.unwrap_or(now),
            now,
        );
        memory.uri = naming::turn_uri(scope, memory.source.session.as_deref(), memory.id);
        Ok(memory)
    }
}

/// A text must say something and fit.
pub(super) fn check_content(content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid(
            "there is no text",
            "give the text to remember as an argument or on standard input",
        ));
    }
    if content.len() > MAX_CONTENT_BYTES {
        return Err(Error::invalid(
            format!(
                "the text has {} bytes, {MAX_CONTENT_BYTES} at most can be stored as one memory",
                content.len()
            ),
            "split it into parts",
        ));
    }
    Ok(())
}

pub(super) fn checked_name(name: &str) -> Result<String> {
    let name = one_line(name);
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(Error::invalid(
            format!("the name is longer than {MAX_NAME_CHARS} characters"),
            "give a short title and put the rest into the text",
        ));
    }
    Ok(name)
}

pub(super) fn checked_tags(tags: Vec<String>) -> Result<Vec<String>> {
    let mut checked: Vec<String> = Vec::new();
    for tag in tags {
        if let Some(tag) = checked_label("tag", Some(tag))?
            && !checked.contains(&tag)
        {
            checked.push(tag);
        }
    }
    if checked.len() > MAX_TAGS {
        return Err(Error::invalid(
            format!("there are {} tags, {MAX_TAGS} at most", checked.len()),
            "keep the telling ones",
        ));
    }
    Ok(checked)
}

pub(super) fn checked_fraction(what: &str, value: Option<f64>, default: f64) -> Result<f64> {
    match value {
        None => Ok(default),
        Some(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Some(value) => {
            Err(Error::invalid(format!("{what} is {value}"), format!("{what} goes from 0 to 1")))
        }
    }
}

/// Blank labels count as none.
fn checked_label(what: &str, label: Option<String>) -> Result<Option<String>> {
    let label = label.map(|label| one_line(&label)).filter(|label| !label.is_empty());
    if label.as_ref().is_some_and(|label| label.chars().count() > MAX_LABEL_CHARS) {
        return Err(Error::invalid(
            format!("a {what} is longer than {MAX_LABEL_CHARS} characters"),
            "use a short name",
        ));
    }
    Ok(label)
}

/// The text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
