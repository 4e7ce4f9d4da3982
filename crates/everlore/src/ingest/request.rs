//! Save requests of callers, and the validation that turns them into memories.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{naming, records::call_record};
use crate::{
    error::{Error, Result},
    text::{
        attribution::{is_user_name, speaker_role},
        injected_blocks::strip_injected_blocks,
        quoted_text::SpokenText,
        tiers::refresh_overview,
    },
    types::{
        Actor, CHECK_KEY, Kind, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, MemoryId, MemorySource,
        NewCheck, Origin, QUOTED_KEY, RecordedAnswer, RecordedCall, Role, Scope, StoredCheck,
        Timestamp,
    },
};

/// Most tags of a memory: more are a text, not keywords.
const MAX_TAGS: usize = 64;

/// Most tags that are looked at, repeated ones included.
const MAX_GIVEN_TAGS: usize = 16 * MAX_TAGS;

/// Longest tag, session or speaker: more is a text, not a name.
const MAX_LABEL_CHARS: usize = 200;

/// Statement to remember. Only the content is required.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RememberRequest {
    /// Text of the statement.
    pub content: String,
    /// Kind; guessed from the text if left out.
    pub kind: Option<Kind>,
    /// Title; the beginning of the text if left out.
    pub name: Option<String>,
    /// One line that helps to judge relevance.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Importance, from 0 to 1.
    pub importance: Option<f64>,
    /// Confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Time when it was said or became true; now if left out.
    pub at: Option<Timestamp>,
    /// Session that it came from.
    pub session: Option<String>,
    /// Name of the person who said it, if it is not the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Role of who said it; the user's if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Caller's own data.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Check by which a machine verifies that it still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<NewCheck>,
    /// Older memory that it replaces, beside those that it contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<MemoryId>,
}

/// One message of a session. Only the text is required.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// Text of the message.
    pub text: String,
    /// Session.
    pub session: Option<String>,
    /// Speaker's name.
    pub speaker: Option<String>,
    /// Speaker's role.
    pub role: Option<Role>,
    /// Time of the message; now if left out.
    pub time: Option<Timestamp>,
    /// Tool call of an agent, of which the text is the result. It needs a session and the role `tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<RecordedCall>,
    /// Circumstances of an answer, as far as they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<RecordedAnswer>,
}

/// Returns the error of a request that would make or rewrite a record without its feature.
pub(crate) fn record_refusal(kind: Kind) -> Error {
    let command = match kind {
        Kind::Schedule => "schedule",
        Kind::Trajectory => "trajectory",
        Kind::Skill => "skill",
        _ => "memory",
    };
    Error::invalid(
        format!("a {kind} cannot be written as a memory"),
        format!("save it as another kind, or see `everlore {command} --help`"),
    )
}

impl RememberRequest {
    /// Creates a request to remember a text; everything else is judged by it.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Refuses texts and lists that are too long to be looked at. It comes before masking, which reads them all.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        check_content(&self.content)?;
        check_tag_count(&self.tags)
    }

    /// Validates the request and converts it into a memory of `scope`.
    pub(super) fn into_memory(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        check_content(&self.content)?;
        let tags = checked_tags(self.tags)?;
        let content = self.content.trim().to_owned();
        let kind = self.kind.unwrap_or_else(|| naming::guess_kind(&content));
        if kind == Kind::Turn {
            return Err(Error::invalid(
                "a turn cannot be saved as a memory",
                "use `observe` for the turns of a conversation",
            ));
        }
        if kind.is_record() {
            return Err(record_refusal(kind));
        }
        let name = match self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => checked_name(name)?,
            None => naming::title_of(&content),
        };
        let session = checked_label("session", self.session)?;
        let speaker = checked_label("speaker", self.speaker)?;
        let speaker = speaker.filter(|name| !is_user_name(name, scope));
        // The user's own role says nothing more.
        let role = speaker_role(self.role, speaker.as_deref()).filter(|role| *role != Role::User);
        let (via, turns) = (Origin::Remember, Vec::new());
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
            // Imported: this home has not verified it, so it stays unsigned. `Engine::remember` has already moved its
            // own checks into the metadata.
            let check = new.validate(&now.to_zoned(TimeZone::UTC))?;
            let stored = serde_json::to_value(StoredCheck::unsigned(check, Actor::Engine, now));
            memory.metadata.insert(CHECK_KEY.to_owned(), stored.unwrap_or_default());
        }
        refresh_overview(&mut memory);
        Ok(memory)
    }
}

impl Turn {
    /// Converts an imported turn, with an id derived from it, so that importing it again finds it. Without a time, an
    /// equal text could be another turn.
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

    /// Refuses a text that is too long to be looked at. It comes before masking, which reads all of it.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        match &self.call {
            Some(call) => check_call(call, &self.text),
            None => check_content(&self.text),
        }
    }

    /// Returns `true` for a tool call that is stored as a record. One that its host reports as a tool event is a turn, whatever
    /// results look like: they are not trusted.
    pub fn is_call_record(&self) -> bool {
        self.call.as_ref().is_some_and(|call| !call.is_event)
    }

    /// Validates the turn and converts it into a memory of `scope`.
    pub(super) fn into_memory(mut self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        self.check_sizes()?;
        if self.is_call_record() {
            return self.into_call_record(scope, now);
        }
        let (call, answer) = (self.call.take(), self.answer.take());
        let mut memory = self.into_message(scope, now)?;
        if let Some(call) = call {
            RecordedCall { is_event: false, ..call }.store_in(&mut memory.metadata);
        }
        if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
            answer.store_in(&mut memory.metadata);
        }
        Ok(memory)
    }

    /// Converts a tool call into a record of its session.
    fn into_call_record(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        let call = self.call.unwrap_or_default();
        if self.role.is_some_and(|role| role != Role::Tool) {
            return Err(Error::invalid(
                "only a turn with the role `tool` can have a tool call",
                "give it the role `tool`, with the result of the call as its text",
            ));
        }
        let session = checked_label("session", self.session)?.ok_or_else(|| {
            Error::invalid("a tool call needs a session", "name the session that it belongs to")
        })?;
        Ok(call_record(scope, &session, &call, self.text, self.time.unwrap_or(now), now))
    }

    fn into_message(self, scope: &Scope, now: Timestamp) -> Result<Memory> {
        let speaker = checked_label("speaker", self.speaker)?;
        let role = speaker_role(self.role, speaker.as_deref());
        let SeparatedTurn { role, text, quoted } = separate_quotes(role, self.text);
        let source = MemorySource {
            via: Origin::Observe,
            session: checked_label("session", self.session)?,
            speaker,
            role,
            turns: Vec::new(),
        };
        let at = self.time.unwrap_or(now);
        let mut memory = Memory::with_content(scope, Kind::Turn, text, source, at, now);
        if !quoted.is_empty() {
            memory.metadata.insert(QUOTED_KEY.to_owned(), quoted.into());
        }
        memory.uri = naming::turn_uri(scope, memory.source.session.as_deref(), memory.id);
        Ok(memory)
    }
}

/// Turn without what its speaker did not say.
struct SeparatedTurn {
    role: Option<Role>,
    text: String,
    quoted: String,
}

/// Separates the speaker's own words from what a host or a tool put into the message. A message that is nothing else
/// keeps its text and gets the role of who wrote it.
fn separate_quotes(role: Option<Role>, text: String) -> SeparatedTurn {
    let SpokenText { own, quoted } = match role {
        None | Some(Role::User) => SpokenText::parse(&text),
        Some(Role::Assistant) => {
            SpokenText { own: strip_injected_blocks(&text), quoted: String::new() }
        }
        Some(Role::System | Role::Tool) => {
            return SeparatedTurn { role, text, quoted: String::new() };
        }
    };
    // Where nothing was taken out, the text stays as it is, blanks included.
    let is_whole = own.len() == text.trim().len();
    match own.into_owned() {
        own if own.is_empty() && role != Some(Role::Assistant) => {
            let source = if quoted.is_empty() { Role::System } else { Role::Tool };
            SeparatedTurn { role: Some(source), text, quoted: String::new() }
        }
        own if own.is_empty() || is_whole => SeparatedTurn { role, text, quoted: String::new() },
        own => SeparatedTurn { role, text: own, quoted },
    }
}

/// Checks a tool call: its name says what it is, and its size fits into one record.
fn check_call(call: &RecordedCall, result: &str) -> Result<()> {
    if call.name.trim().is_empty() || call.name.chars().count() > MAX_LABEL_CHARS {
        return Err(Error::invalid(
            "a tool call without a short name",
            format!("name the tool in 1 to {MAX_LABEL_CHARS} characters"),
        ));
    }
    let own = call.result.as_ref().map_or(0, String::len);
    let size = result.len() + own + call.arguments.to_string().len();
    if size > MAX_CONTENT_BYTES {
        return Err(Error::invalid(
            format!("the tool call has {size} bytes, {MAX_CONTENT_BYTES} at most"),
            "shorten its arguments or its result",
        ));
    }
    Ok(())
}

/// Checks that a text is neither blank nor too long.
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

/// Refuses more tags than are looked at.
pub(super) fn check_tag_count(tags: &[String]) -> Result<()> {
    if tags.len() > MAX_GIVEN_TAGS { Err(too_many_tags(tags.len())) } else { Ok(()) }
}

fn too_many_tags(count: usize) -> Error {
    Error::invalid(
        format!("there are {count} tags, {MAX_TAGS} at most"),
        "keep the most specific ones",
    )
}

pub(super) fn checked_tags(tags: Vec<String>) -> Result<Vec<String>> {
    check_tag_count(&tags)?;
    let mut checked: Vec<String> = Vec::new();
    for tag in tags {
        if let Some(tag) = checked_label("tag", Some(tag))?
            && !checked.contains(&tag)
        {
            checked.push(tag);
        }
    }
    if checked.len() > MAX_TAGS { Err(too_many_tags(checked.len())) } else { Ok(checked) }
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

/// Normalizes a label; blank ones count as none.
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

/// Replaces line breaks and control characters by single spaces.
pub(super) fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
