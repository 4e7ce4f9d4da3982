//! Proposal: a change that reflection suggests, kept as a memory of kind `suggestion`.

use serde::{Deserialize, Serialize};

use super::topic::Topic;
use crate::{
    error::{Error, Result},
    files::{front_matter::FrontMatter, layers::Layer},
    growth::{
        patterns::WorkflowStep,
        skill::{ExpectedUse, SkillForm, SkillPattern},
    },
    types::{Memory, MemoryId, Timestamp},
};

/// Metadata key of a proposal.
pub(crate) const PROPOSAL_KEY: &str = "proposal";

/// Change that reflection suggests, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// Finding that led to it.
    pub reason: ProposalReason,
    /// Evidence in plain words.
    pub why: String,
    /// Memories and turns that are the evidence, the one that it is about first.
    pub evidence: Vec<MemoryId>,
    /// Change.
    pub change: ProposedChange,
    /// State.
    pub state: ProposalState,
    /// Words that tell what it is about: with the evidence, the fingerprint by which a rejected one is recognized.
    pub topic: Topic,
    /// Time of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
    /// Trace of the approved change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedProposal>,
}

/// Finding that led to a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProposalReason {
    /// The user corrected the same thing again.
    Correction,
    /// The user said the same thing again and again.
    Preference,
    /// Two statements cannot both hold.
    Contradiction,
    /// A statement no longer holds.
    Stale,
    /// Two memories say the same.
    Duplicate,
    /// The same tool calls in the same order, again and again.
    Sequence,
    /// A failure or a complaint that came back, with a known cure.
    Pain,
}

crate::types::variant_names! { pub ProposalReason:
    Correction = "correction", Preference = "preference", Contradiction = "contradiction",
    Stale = "stale", Duplicate = "duplicate", Sequence = "sequence", Pain = "pain",
}

/// State of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Waits for a decision.
    Open,
    /// Approved and applied.
    Approved,
    /// Rejected: the same is never proposed again.
    Rejected,
    /// Approved, applied and taken back: the same is never proposed again.
    RolledBack,
    /// Withdrawn, because what it was about has changed.
    Withdrawn,
}

crate::types::variant_names! { pub ProposalState:
    Open = "open", Approved = "approved", Rejected = "rejected", RolledBack = "rolled_back",
    Withdrawn = "withdrawn",
}

impl ProposalState {
    /// Returns its name in words.
    pub fn in_words(self) -> String {
        self.as_str().replace('_', " ")
    }
}

/// Change that is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProposedChange {
    /// Change of one line of an identity file.
    Layer(LayerLineEdit),
    /// Change of memories.
    Memories {
        /// Change.
        action: MemoryAction,
        /// Memories, the one that stays first.
        ids: Vec<MemoryId>,
        /// Digest of their texts.
        base: String,
    },
    /// New skill or workflow, or another version of one.
    Skill(Box<ProposedSkill>),
}

/// Skill or workflow that is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProposedSkill {
    /// Form.
    pub form: SkillForm,
    /// Name.
    pub name: String,
    /// File.
    pub text: String,
    /// File that it replaces; `None` for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WorkflowStep>,
    /// Pattern that led to it.
    pub pattern: SkillPattern,
    /// Experiences that tell the cure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cures: Vec<MemoryId>,
    /// Expected use.
    pub expected: ExpectedUse,
}

/// Line that an identity file gets, alone or in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LayerLineEdit {
    /// Identity file.
    pub layer: Layer,
    /// Title of the section.
    pub section: String,
    /// Line that it replaces; `None` adds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// New line.
    pub new: String,
    /// Digest of the section that the change was made against.
    pub base: String,
}

/// Change of memories that is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MemoryAction {
    /// Merge all into the first.
    Merge,
    /// Supersede the others by the first.
    Supersede,
    /// Archive them.
    Archive,
}

/// Trace of an approved change, by which it is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct AppliedProposal {
    /// Number of the revision of the identity file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Run of the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Skill or workflow that it made or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<MemoryId>,
    /// Text that was proposed, if the owner approved another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
}

impl Proposal {
    /// Puts another text in the place of the proposed one and returns that. Fails if the change has no text, or if the text
    /// of a line is empty or has several.
    pub(crate) fn replace_text(&mut self, text: String) -> Result<String> {
        match &mut self.change {
            ProposedChange::Layer(edit) => {
                let line = text.trim();
                if line.is_empty() || line.contains(['\n', '\r']) {
                    return Err(Error::invalid(
                        "the text of the proposal must be one line",
                        "approve it as it is, and edit the file for more",
                    ));
                }
                Ok(std::mem::replace(&mut edit.new, line.to_owned()))
            }
            ProposedChange::Skill(proposed) => Ok(std::mem::replace(&mut proposed.text, text)),
            ProposedChange::Memories { .. } => Err(Error::invalid(
                "this proposal has no text",
                "approve it as it is, or edit the memories",
            )),
        }
    }

    /// Makes it a proposal without a decision, with the text that was proposed.
    pub(crate) fn forget_decision(&mut self) {
        self.decided_at = None;
        let proposed = self.applied.take().and_then(|applied| applied.proposed);
        if let Some(text) = proposed {
            match &mut self.change {
                ProposedChange::Layer(edit) => edit.new = text,
                ProposedChange::Skill(skill) => skill.text = text,
                ProposedChange::Memories { .. } => {}
            }
        }
    }

    /// Returns the proposal that a memory keeps, if it keeps one.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        serde_json::from_value(memory.metadata.get(PROPOSAL_KEY)?.clone()).ok()
    }

    /// Returns `true` if an earlier proposal stands in the way of this one: it waits, or a person said no, and both have
    /// evidence in common or are about the same, whatever their words.
    pub(crate) fn is_blocked_by(&self, earlier: &Self) -> bool {
        use ProposalState::{Approved, Open, Rejected, RolledBack};
        if let (ProposedChange::Skill(new), ProposedChange::Skill(old)) =
            (&self.change, &earlier.change)
        {
            return match earlier.state {
                Open | Rejected | RolledBack => new.pattern.is_same(&old.pattern),
                // A better cure is another version.
                Approved => new.pattern.is_same(&old.pattern) && new.says_the_same(old),
                ProposalState::Withdrawn => false,
            };
        }
        matches!(earlier.state, Open | Rejected | RolledBack)
            && self.change.is_same_question(&earlier.change)
            && (self.shares_evidence(earlier) || self.topic.is_same(&earlier.topic))
    }

    fn shares_evidence(&self, earlier: &Self) -> bool {
        match (&self.change, &earlier.change) {
            // A memory may be in several pairs.
            (ProposedChange::Memories { ids, .. }, ProposedChange::Memories { ids: other, .. }) => {
                ids.iter().all(|id| other.contains(id)) || other.iter().all(|id| ids.contains(id))
            }
            _ => self.evidence.iter().any(|id| earlier.evidence.contains(id)),
        }
    }

    /// Returns what a person sees of the change: the lines that go and the lines that come.
    pub(crate) fn diff(&self) -> String {
        match &self.change {
            ProposedChange::Layer(edit) => edit.diff(),
            ProposedChange::Skill(skill) => skill.diff(),
            ProposedChange::Memories { action, ids, .. } => {
                let (verb, rest) = match action {
                    MemoryAction::Merge => ("merge", &ids[1..]),
                    MemoryAction::Supersede => ("supersede", &ids[1..]),
                    MemoryAction::Archive => ("archive", &ids[..]),
                };
                let into = match action {
                    MemoryAction::Merge => format!(" into {}", ids[0]),
                    MemoryAction::Supersede => format!(" by {}", ids[0]),
                    MemoryAction::Archive => String::new(),
                };
                let lines = rest.iter().map(|id| format!("{verb} {id}{into}"));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl ProposedChange {
    /// Returns `true` if a decision on one may be one on the other: a new line is the same in every identity file, an
    /// outdated one is a matter of its own in each.
    fn is_same_question(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Layer(one), Self::Layer(other)) => {
                one.layer == other.layer || one.old.is_none() && other.old.is_none()
            }
            (Self::Memories { .. }, Self::Memories { .. }) => true,
            _ => false,
        }
    }

    /// Returns the name of what is changed: an identity file, or the memories.
    pub(crate) fn target(&self) -> String {
        match self {
            Self::Layer(edit) => file_name(edit.layer),
            Self::Memories { .. } => "memories".to_owned(),
            Self::Skill(skill) => format!("{} {}", skill.form, skill.name),
        }
    }
}

impl ProposedSkill {
    /// Returns `true` if both tell the same procedure, whatever version they are.
    fn says_the_same(&self, other: &Self) -> bool {
        self.steps == other.steps && body_of(&self.text) == body_of(&other.text)
    }

    fn diff(&self) -> String {
        let file = match self.form {
            SkillForm::Skill => format!("skills/{}/SKILL.md", self.name),
            SkillForm::Workflow => format!("workflows/{}.md", self.name),
        };
        let lines = |text: &str, mark: char| -> String {
            text.lines().map(|line| format!("{mark}{line}\n")).collect()
        };
        let old = self.base.as_deref().map_or_else(String::new, |base| lines(base, '-'));
        let diff = format!("--- {file}\n+++ {file}\n{old}{}", lines(&self.text, '+'));
        diff.trim_end().to_owned()
    }
}

fn body_of(text: &str) -> &str {
    FrontMatter::parse(text).ok().flatten().map_or(text, |front| front.body())
}

impl LayerLineEdit {
    fn diff(&self) -> String {
        let file = file_name(self.layer);
        let old = self.old.as_ref().map_or_else(String::new, |old| format!("-{old}\n"));
        format!("--- {file}\n+++ {file}\n@@ {} @@\n{old}+{}", self.section, self.new)
    }
}

fn file_name(layer: Layer) -> String {
    format!("{}.md", layer.as_str().to_uppercase())
}
