//! Extraction: turns become drafts, statements worth remembering with their evidence, for the gate to judge.

mod judge;
mod slots;
mod describe;
mod fragments;
mod correction;
mod withdrawal;
mod statements;
mod attribute;
mod evidence;
mod model_request;
mod model_response;

use jiff::Timestamp;
use serde::Serialize;

use super::naming;
use crate::{
    llm::SentenceKind,
    text::{
        attribution::{is_user_name, speaker_role},
        dialogue::{Dialogue, Speakers},
        keywords::KeywordExtractor,
        language::{Language, detect_language},
        quoted_text::SpokenText,
    },
    types::{Attribute, Experience, Kind, Memory, MemoryId, Role, Slot, Trust},
};

pub(crate) use attribute::attribute_to_speakers;
pub use correction::Correction;
pub(super) use correction::StatementTraits;
pub use judge::SentenceJudge;
pub(crate) use model_request::{ExtractionInput, extract_prompt, extraction_request};
pub(super) use model_response::first_json_object;
pub(crate) use model_response::parse_extraction;
pub use statements::{SessionTurns, extract_statements};

/// Keywords of a draft: a statement is a sentence and has few.
const MAX_KEYWORDS: usize = 6;

/// Longest statement that another sentence is put behind.
const MAX_JOINED_CHARS: usize = 400;

/// Turn as an extractor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnText {
    /// Id of the turn, as evidence.
    pub id: MemoryId,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the speaker; `None` for the user and for roles without a name.
    pub speaker: Option<String>,
    /// Own words of the speaker.
    pub text: String,
    /// Time of the turn, to which "last week" is relative.
    pub at: Timestamp,
}

impl TurnText {
    /// Converts a stored turn; one without a role counts as the user's. What its message only quotes is left out, and
    /// a message that is nothing but quotes or a transcript counts as a tool's. A message that names its speaker is
    /// theirs.
    pub fn from_turn(turn: &Memory) -> Self {
        let speaker = turn.source.speaker.as_deref();
        let role = speaker_role(turn.source.role, speaker).unwrap_or(Role::User);
        let other = |name: &str| Some(name.to_owned()).filter(|_| !is_user_name(name, &turn.scope));
        let speaker = speaker.and_then(other);
        let turn_text =
            Self { id: turn.id, role, speaker, text: turn.content.clone(), at: turn.at };
        if role != Role::User {
            return turn_text;
        }
        let own = SpokenText::parse(&turn.content).own;
        let quoted = |turn_text| Self { role: Role::Tool, ..turn_text };
        if own.is_empty() {
            return quoted(turn_text);
        }
        match Dialogue::parse(&own).map(|dialogue| dialogue.speakers()) {
            None => Self { text: own.into_owned(), ..turn_text },
            Some(Speakers::One { name, text }) if speaker_role(None, Some(name)).is_none() => {
                Self { speaker: other(name).or(turn_text.speaker), text, ..turn_text }
            }
            Some(Speakers::One { .. } | Speakers::Several) => quoted(turn_text),
        }
    }
}

/// Statement that an extractor proposes to remember.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    /// Kind of the statement.
    pub kind: Kind,
    /// Title.
    pub name: String,
    /// One line that helps to judge relevance.
    pub description: String,
    /// Self-contained statement.
    pub content: String,
    /// Confidence of the extractor, from 0 to 1.
    pub confidence: f64,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Subject, attribute and value; `None` if the extractor cannot tell.
    pub slot: Option<Slot>,
    /// Subject matter, such as `family`; `None` if the extractor does not tell.
    pub category: Option<&'static str>,
    /// Turns that it was extracted from.
    pub evidence: Vec<MemoryId>,
    /// Trust in the statement.
    pub trust: Trust,
    /// Role of its speaker, if all evidence is of one that is not the user.
    pub role: Option<Role>,
    /// Name of the person who said it, if it is not the user.
    pub speaker: Option<String>,
    /// `false` if the turns that a model cites do not say it.
    pub is_supported: bool,
    /// Older fact that it explicitly replaces.
    pub replaces: Option<String>,
    /// Correction of an earlier statement that is still to be found among the stored ones.
    pub correction: Option<Correction>,
    /// Statements of the same conversation that it takes back, oldest first: stored as superseded, so that recall marks
    /// the turns that made them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Self>,
    /// Parts of an experience; `None` for other kinds.
    pub experience: Option<Experience>,
    /// Language, which is that of the session.
    pub language: Language,
    /// Time when it was said.
    pub at: Timestamp,
}

impl Draft {
    /// Returns `true` if it stores nothing and only ends what it means.
    pub fn is_withdrawal(&self) -> bool {
        self.correction.is_some_and(|correction| correction.is_withdrawal)
    }

    /// Puts the statement that it corrects in front of it: "it's the 16th" says nothing without it.
    pub(super) fn put_behind(
        &mut self,
        corrected: &str,
        evidence: &[MemoryId],
        category: Option<&str>,
    ) {
        let content = format!("{corrected} — {}", self.content);
        if content.chars().count() > MAX_JOINED_CHARS {
            return;
        }
        let category = SentenceKind::ALL.into_iter().find(|kind| Some(kind.as_str()) == category);
        let joined = Self::said(content, category, None, self.language, self.at);
        let own = self.evidence.iter().filter(|turn| !evidence.contains(turn));
        self.evidence = evidence.iter().chain(own).copied().collect();
        self.slot = None;
        self.kind = if category.is_some() { joined.kind } else { self.kind };
        self.category = joined.category.or(self.category);
        (self.name, self.description) = (joined.name, joined.description);
        (self.content, self.keywords) = (joined.content, joined.keywords);
        self.correction = self.correction.map(|it| Correction { lacks_subject: false, ..it });
    }

    /// Creates the draft of an experience that rules found in turns.
    pub(crate) fn of_experience(
        content: String,
        experience: Experience,
        trust: Trust,
        evidence: Vec<MemoryId>,
        at: Timestamp,
    ) -> Self {
        let language = detect_language(&experience.pain);
        Self {
            kind: Kind::Experience,
            name: naming::title_of(&experience.pain),
            trust,
            evidence,
            experience: Some(experience),
            ..Self::said(content, None, None, language, at)
        }
    }

    /// Creates a draft of a statement as it was said at `at`, with everything that follows from these.
    pub(super) fn said(
        content: String,
        category: Option<SentenceKind>,
        slot: Option<Slot>,
        language: Language,
        at: Timestamp,
    ) -> Self {
        let keywords =
            KeywordExtractor::from_parts([content.as_str()]).keywords(&content, MAX_KEYWORDS);
        let category = category.map(SentenceKind::as_str);
        let description = match &slot {
            Some(slot) => describe::describe(slot, language),
            None => category.unwrap_or_default().to_owned(),
        };
        Self {
            kind: said_kind(category, slot.as_ref()),
            name: naming::title_of(&content),
            description,
            content,
            confidence: 1.0,
            keywords,
            slot,
            category,
            evidence: Vec::new(),
            trust: Trust::Said,
            role: None,
            speaker: None,
            is_supported: true,
            replaces: None,
            correction: None,
            earlier: Vec::new(),
            experience: None,
            language,
            at,
        }
    }
}

/// Returns the kind of memory that a statement becomes.
fn said_kind(category: Option<&str>, slot: Option<&Slot>) -> Kind {
    match (category, slot) {
        (_, Some(slot)) if slot.attribute == Attribute::Link => Kind::Reference,
        (Some("feedback"), _) => Kind::Feedback,
        (Some("project" | "decision"), _) => Kind::Project,
        _ => Kind::User,
    }
}
