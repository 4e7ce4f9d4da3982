//! Decisions on proposals: approve and reject; [`super::take_back`] takes them back. Only the owner decides.

use std::collections::BTreeMap;

use serde_json::json;

use super::{ProposalView, StoredProposal, memory_changes::base, with_proposal};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::{Layer, LayerChange, LayerEdit},
    growth::reflection::{
        AppliedProposal, LayerLineEdit, MemoryAction, Proposal, ProposalState, ProposedChange,
        section_base,
    },
    sync::boxed,
    text::suspect::is_suspect,
    types::{
        APPROVAL_CAUSE, Actor, Change, Memory, MemoryId, Scope, Status, Timestamp, VALID_UNTIL_KEY,
        WriteBatch, run_name,
    },
    upkeep::archived,
};

impl Engine {
    /// Approves a proposal and applies its change. Fails if the caller is not the owner, if it is not open, or if what it
    /// was made against has changed.
    pub async fn approve_proposal(&self, scope: &Scope, id: MemoryId) -> Result<ProposalView> {
        self.approve_proposal_as(scope, id, None).await
    }

    /// Approves a proposal like [`Engine::approve_proposal`], with another text in the place of the proposed one: a line of an
    /// identity file, or a whole skill. Fails too if the proposal has no text, or if this one is not fit.
    #[boxed]
    pub async fn approve_proposal_as(
        &self,
        scope: &Scope,
        id: MemoryId,
        text: Option<String>,
    ) -> Result<ProposalView> {
        let mut stored = self.open_proposal(scope, id, "approved", ProposalState::Open).await?;
        let now = self.now().timestamp();
        let replaced = match text {
            Some(text) => Some(stored.proposal.replace_text(text)?),
            None => None,
        };
        let change = stored.proposal.change.clone();
        let (applied, changes) = self.apply_proposed(scope, &stored, &change, now).await?;
        stored.proposal.applied = Some(AppliedProposal { proposed: replaced, ..applied });
        let view =
            self.store_decision(scope, stored, ProposalState::Approved, changes, now).await?;
        if matches!(change, ProposedChange::Skill(_)) {
            self.sync_skill_files(scope).await?;
        }
        Ok(view)
    }

    /// Edits the file of a proposed line; returns the record of what is applied, and the changes to store with the decision.
    async fn apply_proposed(
        &self,
        scope: &Scope,
        stored: &StoredProposal,
        change: &ProposedChange,
        now: Timestamp,
    ) -> Result<(AppliedProposal, Vec<Change>)> {
        let run = Some(run_name("approve", now));
        Ok(match change {
            ProposedChange::Layer(edit) => {
                let changed = self.apply_line(scope, edit).await?;
                let (id, text) = (stored.memory.id, &changed.layer.text);
                let rebased = self.rebased(scope, id, edit, &edit.base, text, now).await?;
                let revision = changed.change;
                (AppliedProposal { revision, ..AppliedProposal::default() }, updates(rebased))
            }
            ProposedChange::Memories { action, ids, base } => {
                let after = self.changed_memories(scope, *action, ids, base, now).await?;
                (AppliedProposal { run, ..AppliedProposal::default() }, updates(after))
            }
            ProposedChange::Skill(proposed) => {
                let (change, id) = self.skill_change(scope, stored, proposed, now).await?;
                let skill = Some(id);
                (AppliedProposal { run, skill, ..AppliedProposal::default() }, vec![change])
            }
        })
    }

    /// Rejects a proposal: the same is never proposed again. Fails if the caller is not the owner, or if it is not open.
    pub async fn reject_proposal(&self, scope: &Scope, id: MemoryId) -> Result<ProposalView> {
        let stored = self.open_proposal(scope, id, "rejected", ProposalState::Open).await?;
        let now = self.now().timestamp();
        self.store_decision(scope, stored, ProposalState::Rejected, Vec::new(), now).await
    }

    /// Returns a proposal. Fails if the scope has none with this id.
    pub async fn proposal(&self, scope: &Scope, id: MemoryId) -> Result<ProposalView> {
        Ok(ProposalView::of(&self.stored_proposal(scope, id).await?))
    }

    pub(super) async fn stored_proposal(
        &self,
        scope: &Scope,
        id: MemoryId,
    ) -> Result<StoredProposal> {
        let memory = self.store.memories().get(scope, &[id]).await?.pop().flatten();
        let found = memory.and_then(|memory| Some((Proposal::of(&memory)?, memory)));
        let (proposal, memory) = found.ok_or_else(|| Error::not_found("proposal", id))?;
        Ok(StoredProposal { memory, proposal })
    }

    /// Returns a proposal that the owner may decide on now.
    pub(super) async fn open_proposal(
        &self,
        scope: &Scope,
        id: MemoryId,
        decision: &str,
        state: ProposalState,
    ) -> Result<StoredProposal> {
        self.check_owner("a decision on a proposal")?;
        if self.author.actor != Actor::Person {
            return Err(Error::OwnerOnly { what: "a decision on a proposal".to_owned() });
        }
        let stored = self.stored_proposal(scope, id).await?;
        let is_state = stored.proposal.state;
        if is_state == state {
            return Ok(stored);
        }
        Err(Error::invalid(
            format!("the proposal is {}, so it cannot be {decision}", is_state.in_words()),
            "see `everlore proposals list` for those that wait",
        ))
    }

    /// Changes the line of an identity file, if its section is what the proposal was made against.
    async fn apply_line(&self, scope: &Scope, edit: &LayerLineEdit) -> Result<LayerChange> {
        if is_suspect(&edit.new) {
            return Err(Error::invalid(
                "the line reads like an instruction to the model",
                "reject the proposal",
            ));
        }
        let (section, base) = (edit.section.clone(), edit.base.clone());
        let is_expected = move |text: &str| section_base(text, &section) == base;
        let change = match &edit.old {
            Some(old) => LayerEdit::Replace {
                section: edit.section.clone(),
                old: old.clone(),
                new: edit.new.clone(),
            },
            None => LayerEdit::Add { section: edit.section.clone(), content: edit.new.clone() },
        };
        let changed = self.edit_layer_if(scope, edit.layer, change, Actor::Person, is_expected);
        changed.await.map_err(|error| match error {
            Error::Conflict { .. } => section_changed(edit.layer, &edit.section),
            other => other,
        })
    }

    /// Returns the other open proposals for the same section that were made against `made_against`, now made against `text`.
    pub(super) async fn rebased(
        &self,
        scope: &Scope,
        id: MemoryId,
        edit: &LayerLineEdit,
        made_against: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let base = section_base(text, &edit.section);
        let mut rebased = Vec::new();
        for mut stored in self.stored_proposals(scope).await? {
            let is_open = stored.proposal.state == ProposalState::Open && stored.memory.id != id;
            let ProposedChange::Layer(other) = &mut stored.proposal.change else { continue };
            let is_beside = other.layer == edit.layer && other.section == edit.section;
            if is_open && is_beside && other.base == made_against {
                other.base.clone_from(&base);
                rebased.push(with_proposal(stored, now));
            }
        }
        Ok(rebased)
    }

    /// Returns the states of memories after a change, if they are what the proposal was made against.
    async fn changed_memories(
        &self,
        scope: &Scope,
        action: MemoryAction,
        ids: &[MemoryId],
        made_against: &str,
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let found = self.store.memories().get(scope, ids).await?;
        let memories: Vec<Memory> = found.into_iter().flatten().collect();
        let is_same = memories.iter().all(|memory| memory.status == Status::Active)
            && base(&memories) == made_against;
        if !is_same {
            return Err(Error::invalid(
                "its memories have changed since the proposal was made",
                "reject it, or run `everlore reflect` again",
            ));
        }
        Ok(match action {
            MemoryAction::Archive => memories.iter().map(|it| archived(it, now)).collect(),
            MemoryAction::Supersede => superseded(&memories, true, now),
            MemoryAction::Merge => merged(&memories, now),
        })
    }

    /// Stores a decision and the changes of memories that it makes, as one run.
    #[boxed]
    pub(super) async fn store_decision(
        &self,
        scope: &Scope,
        stored: StoredProposal,
        state: ProposalState,
        mut changes: Vec<Change>,
        now: Timestamp,
    ) -> Result<ProposalView> {
        let mut proposal = Proposal { state, decided_at: Some(now), ..stored.proposal };
        if state == ProposalState::Open {
            proposal.forget_decision();
        }
        let record = with_proposal(StoredProposal { proposal: proposal.clone(), ..stored }, now);
        let run = proposal.applied.as_ref().and_then(|applied| applied.run.clone());
        let run = run.filter(|_| state == ProposalState::Approved);
        changes.push(Change::Update(Box::new(record.clone())));
        let reason = match state {
            ProposalState::Approved => APPROVAL_CAUSE.to_owned(),
            other => format!("proposal: {}", other.as_str()),
        };
        let write = WriteBatch::new(scope, Actor::Person, reason, now, changes);
        self.store.apply(WriteBatch { run, ..write }).await?;
        Ok(ProposalView::of(&StoredProposal { memory: record, proposal }))
    }
}

pub(super) fn updates(memories: Vec<Memory>) -> Vec<Change> {
    memories.into_iter().map(|memory| Change::Update(Box::new(memory))).collect()
}

fn section_changed(layer: Layer, section: &str) -> Error {
    let file = format!("{}.md", layer.as_str().to_uppercase());
    Error::invalid(
        format!("section `{section}` of {file} has changed since the proposal was made"),
        "reject it and run `everlore reflect` again, or edit the file yourself",
    )
}

/// Returns all but the first memory as superseded by it; `has_ended` notes until when they held.
fn superseded(memories: &[Memory], has_ended: bool, now: Timestamp) -> Vec<Memory> {
    let Some((first, others)) = memories.split_first() else { return Vec::new() };
    let end = |memory: &Memory| {
        let mut memory = memory.clone();
        (memory.status, memory.superseded_by) = (Status::Superseded, Some(first.id));
        (memory.updated_at, memory.version) = (now, memory.version + 1);
        if has_ended {
            memory.metadata.insert(VALID_UNTIL_KEY.to_owned(), json!(first.at));
        }
        memory
    };
    others.iter().map(end).collect()
}

/// Returns the first memory with the evidence and tags of all, and the others superseded by it.
fn merged(memories: &[Memory], now: Timestamp) -> Vec<Memory> {
    let mut after = superseded(memories, false, now);
    let Some(first) = memories.first() else { return after };
    let mut survivor = first.clone();
    let turns = memories.iter().flat_map(|memory| &memory.source.turns);
    let turns: BTreeMap<MemoryId, ()> = turns.map(|turn| (*turn, ())).collect();
    survivor.source.turns = turns.into_keys().collect();
    for tag in memories.iter().flat_map(|memory| &memory.tags) {
        if !survivor.tags.contains(tag) {
            survivor.tags.push(tag.clone());
        }
    }
    (survivor.updated_at, survivor.version) = (now, survivor.version + 1);
    after.push(survivor);
    after
}
