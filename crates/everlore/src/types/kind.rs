//! Kinds of memories: statements, turns, and records that features keep for themselves.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Kind {
    /// The user: role, preferences, habits.
    User,
    /// Behaviour wanted of the agent, from corrections and confirmations.
    Feedback,
    /// Current work: goals, decisions, constraints, progress.
    Project,
    /// Location of something outside: a link, a tool, a document.
    Reference,
    /// Fact, or chunk of a document.
    Knowledge,
    /// Problem, its solution and the outcome.
    Experience,
    /// Summary of a conversation.
    Session,
    /// Message, word for word.
    Turn,
    /// Reminder or task with its times.
    Schedule,
    /// Proposal that waits for a person's decision.
    Suggestion,
    /// Steps of one task of an agent, with its outcome.
    Trajectory,
    /// Procedure that a person approved: a skill or a workflow.
    Skill,
}

crate::types::variant_names! { pub Kind:
    User = "user", Feedback = "feedback", Project = "project", Reference = "reference",
    Knowledge = "knowledge", Experience = "experience", Session = "session", Turn = "turn",
    Schedule = "schedule", Suggestion = "suggestion", Trajectory = "trajectory",
    Skill = "skill",
}

impl Kind {
    /// Returns `true` for data that a feature keeps for itself: it is no statement, so recall, prompts, capture and
    /// upkeep leave it alone unless a caller names its kind.
    pub const fn is_record(self) -> bool {
        matches!(self, Self::Schedule | Self::Suggestion | Self::Trajectory | Self::Skill)
    }

    /// Returns `true` for statements: neither a turn nor a record.
    pub const fn is_statement(self) -> bool {
        !matches!(self, Self::Turn) && !self.is_record()
    }

    /// Returns all kinds but records.
    pub fn without_records() -> Vec<Self> {
        Self::ALL.into_iter().filter(|kind| !kind.is_record()).collect()
    }

    /// Returns the kinds of statements.
    pub fn statements() -> Vec<Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_statement()).collect()
    }
}

impl FromStr for Kind {
    type Err = Error;

    /// Parses a kind; the names that other systems use for the same thing are accepted too.
    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_lowercase();
        match lower.as_str() {
            "preference" => return Ok(Self::User),
            "fact" => return Ok(Self::Knowledge),
            _ => {}
        }
        Self::ALL.into_iter().find(|kind| kind.as_str() == lower).ok_or_else(|| {
            let valid: Vec<_> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
            Error::invalid(
                format!("unknown kind `{text}`"),
                format!(
                    "use one of {} (preference means user, fact means knowledge)",
                    valid.join(", ")
                ),
            )
        })
    }
}

impl TryFrom<String> for Kind {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_other_systems_are_mapped() {
        assert_eq!("preference".parse::<Kind>().unwrap(), Kind::User);
        assert_eq!("Fact".parse::<Kind>().unwrap(), Kind::Knowledge);
        assert_eq!("feedback".parse::<Kind>().unwrap(), Kind::Feedback);
    }

    #[test]
    fn an_unknown_kind_is_answered_with_the_valid_ones() {
        let error = "colour".parse::<Kind>().unwrap_err();
        assert!(
            error.hint().contains(
                "user, feedback, project, reference, knowledge, experience, session, turn"
            )
        );
    }

    #[test]
    fn records_are_neither_statements_nor_turns() {
        let records: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.is_record()).collect();
        let expected = [Kind::Schedule, Kind::Suggestion, Kind::Trajectory, Kind::Skill];
        assert_eq!(records, expected);
        assert_eq!(Kind::statements().len() + records.len() + 1, Kind::ALL.len());
        assert!(!Kind::without_records().contains(&Kind::Schedule));
        // Stores keep positions: one that moves would turn every stored memory into another kind.
        assert_eq!(Kind::ALL.map(|kind| kind as u8), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }
}
