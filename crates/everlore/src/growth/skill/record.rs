//! Skill or workflow as it is stored: the memory's text is the file, its metadata the rest.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    growth::{
        RETIRING_FAILURES,
        patterns::{PatternOccasions, WorkflowStep},
        reflection::{ProposalReason, Topic},
        success_share,
    },
    text::error_signature::{is_same, signature},
    types::{Kind, Memory, MemoryId, SKILL_EFFECT_KEY, Timestamp},
};

/// Metadata key of a skill or workflow.
const SKILL_KEY: &str = "skill";

/// Form of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SkillForm {
    /// Folder with a SKILL.md: it says when to use it.
    Skill,
    /// List of steps.
    Workflow,
}

crate::types::variant_names! { pub SkillForm: Skill = "skill", Workflow = "workflow" }

/// Pattern that led to a skill, by which a later one is known to be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SkillPattern {
    /// Keys of recurring steps.
    Steps(Vec<String>),
    /// Error of a failure, as it was printed.
    Failure(String),
    /// Topic of a complaint.
    Complaint(Topic),
}

impl SkillPattern {
    /// Returns `true` if both are about the same: one has all steps of the other in a row, the same failure, or the same
    /// complaint.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Steps(one), Self::Steps(other)) => is_part(one, other) || is_part(other, one),
            (Self::Failure(one), Self::Failure(other)) => {
                one == other || is_same(&signature(one), &signature(other))
            }
            (Self::Complaint(one), Self::Complaint(other)) => one.is_same(other),
            _ => false,
        }
    }
}

fn is_part(short: &[String], long: &[String]) -> bool {
    !short.is_empty() && long.windows(short.len()).any(|part| part == short)
}

/// Number of times that a procedure would have applied before it was suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExpectedUse {
    /// Times.
    pub times: u32,
    /// Conversations.
    pub sessions: u32,
    /// Days from the first time to the last.
    pub days: u32,
}

impl ExpectedUse {
    /// Counts the occasions of a pattern.
    pub(crate) fn of(occasions: &PatternOccasions) -> Self {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            times: count(occasions.times),
            sessions: count(occasions.sessions.len()),
            days: occasions.days(),
        }
    }
}

/// Skill or workflow, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SkillRecord {
    /// Form.
    pub form: SkillForm,
    /// Name, unique among those of its form.
    pub name: String,
    /// Number of the text, from 1.
    pub version: u32,
    /// Highest number that a text had.
    pub latest: u32,
    /// Kind of pattern that led to it.
    pub reason: ProposalReason,
    /// Evidence in plain words.
    pub why: String,
    /// Expected use.
    pub expected: ExpectedUse,
    /// Pattern that led to it.
    pub pattern: SkillPattern,
    /// Steps of a workflow, or of a skill that has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WorkflowStep>,
}

impl SkillRecord {
    /// Returns the record of a memory, if it keeps one.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        let value = memory.metadata.get(SKILL_KEY).filter(|_| memory.kind == Kind::Skill)?;
        serde_json::from_value(value.clone()).ok()
    }

    /// Writes the record into the metadata of a memory.
    pub(crate) fn store_in(&self, memory: &mut Memory) {
        memory.metadata.insert(SKILL_KEY.to_owned(), json!(self));
    }
}

/// Outcomes of an experience that a skill has counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CureCounts {
    /// Experience.
    pub id: MemoryId,
    /// Successes counted so far.
    pub worked: u32,
    /// Failures counted so far.
    pub failed: u32,
}

/// Measured effect of a skill as it is stored. It is no part of the procedure: to count a use is no step that undo walks
/// back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SkillEffectRecord {
    /// Times that it was read or followed.
    pub uses: u32,
    /// Times that it worked.
    pub worked: u32,
    /// Times that it failed.
    pub failed: u32,
    /// Failures since it last worked.
    pub failures_in_a_row: u32,
    /// Time of the last outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
    /// Time up to which tool calls are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_at: Option<Timestamp>,
    /// Experiences whose outcomes count for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cures: Vec<CureCounts>,
}

impl SkillEffectRecord {
    /// Returns the effect of a memory's skill.
    pub(crate) fn of(memory: &Memory) -> Self {
        let stored = memory.metadata.get(SKILL_EFFECT_KEY).cloned().unwrap_or_default();
        serde_json::from_value(stored).unwrap_or_default()
    }

    /// Writes the effect into the metadata of a memory.
    pub(crate) fn store_in(&self, memory: &mut Memory) {
        memory.metadata.insert(SKILL_EFFECT_KEY.to_owned(), json!(self));
    }

    /// Counts outcomes, the failures last.
    pub(crate) fn count(&mut self, worked: u32, failed: u32, now: Timestamp) {
        if worked + failed == 0 {
            return;
        }
        self.worked = self.worked.saturating_add(worked);
        self.failed = self.failed.saturating_add(failed);
        let before = if worked > 0 { 0 } else { self.failures_in_a_row };
        self.failures_in_a_row = before.saturating_add(failed);
        self.reported_at = Some(now);
    }

    /// Returns `true` if it stopped working, as an experience does: see [`RETIRING_FAILURES`].
    pub(crate) fn is_failing(&self) -> bool {
        self.failures_in_a_row >= RETIRING_FAILURES
    }

    /// Returns the effect as callers see it.
    pub(crate) fn view(&self) -> SkillEffect {
        let success = success_share(self.worked, self.failed);
        SkillEffect {
            uses: self.uses,
            worked: self.worked,
            failed: self.failed,
            success: (success * 1_000.0).round() / 1_000.0,
            reported_at: self.reported_at,
        }
    }
}

/// Measured effect of a skill or workflow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillEffect {
    /// Times that it was read or followed.
    pub uses: u32,
    /// Times that it worked.
    pub worked: u32,
    /// Times that it failed.
    pub failed: u32,
    /// Probability that it works, from 0 to 1, by its outcomes and one of each kind as a prior.
    pub success: f64,
    /// Time of the last outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(keys: &[&str]) -> SkillPattern {
        SkillPattern::Steps(keys.iter().map(|key| (*key).to_owned()).collect())
    }

    #[test]
    fn a_part_of_a_sequence_is_the_same_pattern_and_another_order_is_not() {
        let whole = steps(&["cargo fmt", "cargo test", "git push"]);
        assert!(whole.is_same(&steps(&["cargo test", "git push"])));
        assert!(steps(&["cargo fmt", "cargo test"]).is_same(&whole));
        assert!(!whole.is_same(&steps(&["git push", "cargo test"])));
        let failure = |text: &str| SkillPattern::Failure(text.to_owned());
        assert!(
            failure("error: linker `cc` not found").is_same(&failure("cargo can't find linker cc"))
        );
        assert!(!failure("error: linker `cc` not found").is_same(&whole));
        let complaint = |text: &str| SkillPattern::Complaint(Topic::of(text));
        assert!(complaint("部署总是失败").is_same(&complaint("又来了，部署总是失败")));
    }

    #[test]
    fn three_failures_in_a_row_retire_and_a_success_starts_again() {
        let mut effect = SkillEffectRecord::default();
        effect.count(1, 2, Timestamp::UNIX_EPOCH);
        assert!(!effect.is_failing());
        effect.count(0, 1, Timestamp::UNIX_EPOCH);
        assert!(effect.is_failing());
        effect.count(1, 0, Timestamp::UNIX_EPOCH);
        assert!(!effect.is_failing());
        assert_eq!((effect.view().worked, effect.view().failed), (2, 3));
        effect.count(0, 0, Timestamp::MAX);
        assert_eq!(effect.reported_at, Some(Timestamp::UNIX_EPOCH));
    }
}
