//! Report of a reflection, and a proposal as callers see it.

use serde::Serialize;

use super::StoredProposal;
use crate::{
    growth::{
        reflection::{ProposalReason, ProposalState, ProposedChange},
        skill::ExpectedUse,
    },
    types::{MemoryId, Timestamp},
};

/// Options of a reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReflectRequest {
    /// Report what would be proposed, and write nothing.
    pub dry_run: bool,
}

/// Report of a reflection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReflectionReport {
    /// Run of the journal that undoes all of it; `None` if nothing was written.
    pub run: Option<String>,
    /// Set for a dry run.
    pub dry_run: bool,
    /// New proposals.
    pub proposals: Vec<ProposalView>,
    /// Proposals that were too many for one reflection; the next one finds them again.
    pub left_out: usize,
}

/// Proposal as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposalView {
    /// Id, by which it is approved or rejected.
    pub id: MemoryId,
    /// State.
    pub state: ProposalState,
    /// Finding that led to it.
    pub reason: ProposalReason,
    /// Identity file that it changes, `memories`, or a skill or workflow by its name.
    pub target: String,
    /// Evidence in plain words.
    pub why: String,
    /// Change: the lines that go and the lines that come, or what becomes of which memory.
    pub diff: String,
    /// Memories and turns that are the evidence.
    pub evidence: Vec<MemoryId>,
    /// Number of times that a skill or workflow would have applied so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_use: Option<ExpectedUse>,
    /// Time of the proposal.
    pub at: Timestamp,
    /// Time of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
}

impl ProposalView {
    /// Describes a stored proposal.
    pub(super) fn of(stored: &StoredProposal) -> Self {
        let proposal = &stored.proposal;
        let expected_use = match &proposal.change {
            ProposedChange::Skill(skill) => Some(skill.expected),
            _ => None,
        };
        Self {
            id: stored.memory.id,
            state: proposal.state,
            reason: proposal.reason,
            target: proposal.change.target(),
            why: proposal.why.clone(),
            diff: proposal.diff(),
            evidence: proposal.evidence.clone(),
            expected_use,
            at: stored.memory.created_at,
            decided_at: proposal.decided_at,
        }
    }
}
