//! Slot: subject, attribute and value of a statement, by which rival statements are found.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::error::{Error, Result};

/// Subject of most statements: the user.
pub(crate) const USER_SUBJECT: &str = "user";

/// Metadata key of a memory's slot.
pub const SLOT_KEY: &str = "slot";

/// Attribute of a subject that a statement gives a value to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
#[expect(missing_docs, reason = "each name is its own explanation, and `ATTRIBUTES` says the rest")]
pub enum Attribute {
    Name,
    Age,
    Birthday,
    Occupation,
    Employer,
    Home,
    Origin,
    Family,
    Pet,
    Language,
    Education,
    Health,
    Diet,
    Likes,
    Dislikes,
    Prefers,
    Habit,
    Hobby,
    Learning,
    Uses,
    Owns,
    Rule,
    Decision,
    Deadline,
    Fact,
    Link,
    Note,
}

/// All attributes: name, kind of memory, and `true` if a subject has only one value at a time.
const ATTRIBUTES: [(Attribute, &str, Kind, bool); 27] = [
    (Attribute::Name, "name", Kind::User, true),
    (Attribute::Age, "age", Kind::User, true),
    (Attribute::Birthday, "birthday", Kind::User, true),
    (Attribute::Occupation, "occupation", Kind::User, true),
    (Attribute::Employer, "employer", Kind::User, true),
    (Attribute::Home, "home", Kind::User, true),
    (Attribute::Origin, "origin", Kind::User, true),
    (Attribute::Family, "family", Kind::User, false),
    (Attribute::Pet, "pet", Kind::User, false),
    (Attribute::Language, "language", Kind::User, false),
    (Attribute::Education, "education", Kind::User, false),
    (Attribute::Health, "health", Kind::User, false),
    (Attribute::Diet, "diet", Kind::User, false),
    (Attribute::Likes, "likes", Kind::User, false),
    (Attribute::Dislikes, "dislikes", Kind::User, false),
    (Attribute::Prefers, "prefers", Kind::User, false),
    (Attribute::Habit, "habit", Kind::User, false),
    (Attribute::Hobby, "hobby", Kind::User, false),
    (Attribute::Learning, "learning", Kind::User, false),
    (Attribute::Uses, "uses", Kind::User, false),
    (Attribute::Owns, "owns", Kind::User, false),
    (Attribute::Rule, "rule", Kind::Feedback, false),
    (Attribute::Decision, "decision", Kind::Project, false),
    // One subject, as in "the grant proposal", has one deadline.
    (Attribute::Deadline, "deadline", Kind::Project, true),
    (Attribute::Fact, "fact", Kind::Project, false),
    (Attribute::Link, "link", Kind::Reference, false),
    (Attribute::Note, "note", Kind::User, false),
];

impl Attribute {
    /// Iterates over all attributes in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        ATTRIBUTES.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, Kind, bool) {
        &ATTRIBUTES[self as usize]
    }

    /// Returns the name used in metadata and answers.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// Returns the kind of memory that a statement about it becomes.
    pub fn kind(self) -> Kind {
        self.row().2
    }

    /// Returns `true` if a subject has only one value at a time, so that a new one replaces the old.
    pub fn is_single_valued(self) -> bool {
        self.row().3
    }

    /// Returns the attribute that says the opposite of the same value.
    pub fn opposite(self) -> Option<Self> {
        match self {
            Self::Likes => Some(Self::Dislikes),
            Self::Dislikes => Some(Self::Likes),
            _ => None,
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Attribute {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_lowercase();
        Self::all().find(|attribute| attribute.as_str() == lower).ok_or_else(|| {
            let valid: Vec<_> = Self::all().map(Self::as_str).collect();
            Error::invalid(
                format!("unknown attribute `{text}`"),
                format!("use one of {}", valid.join(", ")),
            )
        })
    }
}

impl TryFrom<String> for Attribute {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

/// Subject, attribute and value of a statement: two with the same subject and attribute may contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// Person or thing that the statement is about: `user`, `user's sister`, `grant proposal`.
    pub subject: String,
    /// Attribute.
    pub attribute: Attribute,
    /// Value: `Lisbon`.
    pub value: String,
    /// Set if the statement says that this is over: "no longer works at Nokia".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

impl Slot {
    /// Returns the slot in a memory's metadata, if any.
    pub fn from_metadata(metadata: &serde_json::Map<String, serde_json::Value>) -> Option<Self> {
        serde_json::from_value(metadata.get(SLOT_KEY)?.clone()).ok()
    }

    /// Returns subject and attribute as one text, the same for all rivals.
    pub fn key(&self) -> String {
        format!("{} {}", self.attribute, normalize(&self.subject))
    }

    /// Returns `true` if both are about the same attribute of the same subject.
    pub fn same_attribute(&self, other: &Self) -> bool {
        self.attribute == other.attribute && normalize(&self.subject) == normalize(&other.subject)
    }

    /// Returns `true` if both have the same value, letter case and blanks aside.
    pub fn same_value(&self, other: &Self) -> bool {
        normalize(&self.value) == normalize(&other.value)
    }
}

/// Returns the letters and digits of a text in lower case.
fn normalize(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_names() {
        for (index, attribute) in Attribute::all().enumerate() {
            assert_eq!(attribute as usize, index);
            assert_eq!(attribute.as_str().parse::<Attribute>().unwrap(), attribute);
        }
    }

    #[test]
    fn a_slot_is_read_back_from_metadata() {
        let slot = Slot {
            subject: USER_SUBJECT.into(),
            attribute: Attribute::Home,
            value: "里斯本".into(),
            ended: false,
        };
        let mut metadata = serde_json::Map::new();
        metadata.insert(SLOT_KEY.into(), serde_json::to_value(&slot).unwrap());
        assert_eq!(Slot::from_metadata(&metadata), Some(slot));
        assert_eq!(Slot::from_metadata(&serde_json::Map::new()), None);
    }

    #[test]
    fn an_unknown_attribute_is_answered_with_the_valid_ones() {
        let error = "shoe size".parse::<Attribute>().unwrap_err();
        assert!(error.hint().contains("name, age, birthday"));
    }
}
