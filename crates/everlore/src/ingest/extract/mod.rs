//! What was said becomes drafts: statements worth remembering, each with its evidence, for the gate to judge.

mod rules;
mod model_request;
mod model_response;

use jiff::Timestamp;
use serde::Serialize;

use super::naming;
use crate::{
    text::{keywords::KeywordExtractor, language::Language},
    types::{Kind, Memory, MemoryId, Role, Slot, Trust},
};

pub(super) use model_request::escape_angle_brackets;
pub use model_request::{ExtractionInput, extract_prompt, extraction_request};
pub(super) use model_response::first_json_object;
pub use model_response::parse_extraction;
pub use rules::extract_by_rules;

/// Keywords that a draft gets: a statement is a sentence and has few.
const MAX_KEYWORDS: usize = 6;

/// A turn as an extractor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnText {
    /// The turn, as evidence.
    pub id: MemoryId,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
    /// When, by which "last week" is told.
    pub at: Timestamp,
}

impl TurnText {
    /// A stored turn; one without a role is taken for the user's.
    pub fn from_turn(turn: &Memory) -> Self {
        let role = turn.source.role.unwrap_or(Role::User);
        Self { id: turn.id, role, text: turn.content.clone(), at: turn.at }
    }
}

/// A statement that an extractor proposes to remember.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    /// What sort of statement it is.
    pub kind: Kind,
    /// A title.
    pub name: String,
    /// One line that tells whether it matters.
    pub description: String,
    /// The statement, which needs nothing else to be understood.
    pub content: String,
    /// How sure the extractor is, from 0 to 1.
    pub confidence: f64,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// What it is about; none if the extractor cannot tell.
    pub slot: Option<Slot>,
    /// The turns it was taken from.
    pub evidence: Vec<MemoryId>,
    /// How far it is trusted.
    pub trust: Trust,
    /// The older fact that it names as replaced.
    pub replaces: Option<String>,
    /// Its language, which is that of the conversation.
    pub language: Language,
    /// When it was said.
    pub at: Timestamp,
}

impl Draft {
    /// A draft of a statement about a slot, said at `at`; what follows from these is filled in.
    pub fn new(slot: Slot, content: String, language: Language, at: Timestamp) -> Self {
        let keywords =
            KeywordExtractor::from_parts([content.as_str()]).keywords(&content, MAX_KEYWORDS);
        Self {
            kind: slot.attribute.kind(),
            name: naming::title_of(&content),
            description: format!("{}: {}", slot.attribute, slot.subject),
            content,
            confidence: 1.0,
            keywords,
            slot: Some(slot),
            evidence: Vec::new(),
            trust: Trust::Said,
            replaces: None,
            language,
            at,
        }
    }
}
