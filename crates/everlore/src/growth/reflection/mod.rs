//! Reflection: what the memories of a scope suggest, as proposals that a person approves or rejects. By counting with
//! fixed thresholds; no model decides anything.

mod topic;
mod proposal;
mod preferences;
mod layer_lines;
mod wish_words;

pub(crate) use layer_lines::{LayerLines, section_base};
pub(crate) use preferences::{
    PreferenceScan, RepeatedPreference, StatedPreference, newest_of_each_topic,
};
pub(crate) use proposal::{
    AppliedProposal, LayerLineEdit, MemoryAction, PROPOSAL_KEY, Proposal, ProposedChange,
    ProposedSkill,
};
pub use proposal::{ProposalReason, ProposalState};
pub(crate) use topic::Topic;
pub(crate) use wish_words::plain_wish;
