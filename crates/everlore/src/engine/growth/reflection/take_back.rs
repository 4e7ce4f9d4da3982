//! The way back from decisions on proposals: roll back, or open again.

use super::{ProposalView, StoredProposal, decide::updates};
use crate::{
    engine::Engine,
    error::{Error, Result},
    files::layers::{EditContext, Layer, LayerEdit},
    growth::reflection::{LayerLineEdit, ProposalState, ProposedChange, section_base},
    ingest::UndoTarget,
    sync::{boxed, run_blocking},
    types::{Actor, Change, MemoryId, Scope},
};

impl Engine {
    /// Takes back an approved proposal: an identity file is again what it was, byte for byte if nothing else changed it
    /// since, and a skill is gone or has its text before. Fails if the caller is not the owner, if it is not approved, or if a later change stands in the way.
    pub async fn roll_back_proposal(&self, scope: &Scope, id: MemoryId) -> Result<ProposalView> {
        let stored = self.open_proposal(scope, id, "rolled back", ProposalState::Approved).await?;
        self.take_back(scope, stored, ProposalState::RolledBack).await
    }

    /// Takes back the decision on a proposal, so that it waits again, as it was proposed: an approved one is rolled back
    /// first. Fails if the caller is not the owner, if there is no decision, or if a later change stands in the way.
    pub async fn reopen_proposal(&self, scope: &Scope, id: MemoryId) -> Result<ProposalView> {
        let state = self.stored_proposal(scope, id).await?.proposal.state;
        let decided = match state {
            ProposalState::Rejected | ProposalState::RolledBack => state,
            _ => ProposalState::Approved,
        };
        let stored = self.open_proposal(scope, id, "opened again", decided).await?;
        if state == ProposalState::Approved {
            return self.take_back(scope, stored, ProposalState::Open).await;
        }
        let now = self.now().timestamp();
        let ProposedChange::Layer(edit) = &stored.proposal.change else {
            return self.store_decision(scope, stored, ProposalState::Open, Vec::new(), now).await;
        };
        let edit = edit.clone();
        self.open_line_again(scope, stored, &edit, Vec::new()).await
    }

    /// Takes back what an approved proposal changed; it is then in `state`.
    #[boxed]
    async fn take_back(
        &self,
        scope: &Scope,
        stored: StoredProposal,
        state: ProposalState,
    ) -> Result<ProposalView> {
        let (id, now) = (stored.memory.id, self.now().timestamp());
        let applied = stored.proposal.applied.clone().unwrap_or_default();
        match stored.proposal.change.clone() {
            ProposedChange::Layer(edit) => {
                let after = section_base(&self.layer_text(scope, edit.layer).await?, &edit.section);
                // Without a revision, the file had the line already: there is nothing to take back.
                if let Some(number) = applied.revision {
                    self.restore_line(scope, &edit, number).await?;
                }
                let text = self.layer_text(scope, edit.layer).await?;
                let rebased = updates(self.rebased(scope, id, &edit, &after, &text, now).await?);
                match state {
                    ProposalState::Open => {
                        self.open_line_again(scope, stored, &edit, rebased).await
                    }
                    _ => self.store_decision(scope, stored, state, rebased, now).await,
                }
            }
            ProposedChange::Memories { .. } => {
                if let Some(run) = applied.run {
                    // The undo opens the proposal again.
                    self.undo(scope, &UndoTarget::Run(run)).await?;
                }
                let stored = self.stored_proposal(scope, id).await?;
                self.store_decision(scope, stored, state, Vec::new(), now).await
            }
            ProposedChange::Skill(proposed) => {
                let changes = match applied.skill {
                    Some(id) => self.skill_way_back(scope, &proposed, id, now).await?,
                    None => Vec::new(),
                };
                let view = self.store_decision(scope, stored, state, changes, now).await?;
                self.sync_skill_files(scope).await?;
                Ok(view)
            }
        }
    }

    /// Stores a proposal for an identity file as one that waits, made against the file as it is now.
    async fn open_line_again(
        &self,
        scope: &Scope,
        mut stored: StoredProposal,
        edit: &LayerLineEdit,
        changes: Vec<Change>,
    ) -> Result<ProposalView> {
        let base = section_base(&self.layer_text(scope, edit.layer).await?, &edit.section);
        stored.proposal.change = ProposedChange::Layer(LayerLineEdit { base, ..edit.clone() });
        let now = self.now().timestamp();
        self.store_decision(scope, stored, ProposalState::Open, changes, now).await
    }

    async fn layer_text(&self, scope: &Scope, layer: Layer) -> Result<String> {
        Ok(self.read_layer(scope, layer).await?.text)
    }

    /// Takes back the change of an identity file.
    async fn restore_line(&self, scope: &Scope, edit: &LayerLineEdit, number: u64) -> Result<()> {
        let (layers, layer) = (self.layers(scope)?, edit.layer);
        let by = EditContext { actor: Actor::Person, now: self.now() };
        let undone = run_blocking(move || layers.undo(layer, by.now.date(), Some(number), &by));
        match self.write_files(undone).await {
            // The file was changed again since: only the line itself is taken back.
            Err(Error::Invalid { .. }) => self.take_line_back(scope, edit).await,
            other => other.map(drop),
        }
    }

    async fn take_line_back(&self, scope: &Scope, edit: &LayerLineEdit) -> Result<()> {
        let (old, new) = match &edit.old {
            Some(old) => (edit.new.clone(), old.clone()),
            None => (format!("\n{}", edit.new), String::new()),
        };
        let section = edit.section.clone();
        let change = LayerEdit::Replace { section, old, new };
        self.edit_layer(scope, edit.layer, change, Actor::Person).await.map(drop)
    }
}
