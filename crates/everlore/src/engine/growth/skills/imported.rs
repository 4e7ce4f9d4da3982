//! Skills and proposals of an import: they wait for the owner, as nobody approved them here.

use std::collections::HashSet;

use super::change::bump;
use crate::{
    engine::Engine,
    error::Result,
    growth::reflection::ProposalState,
    types::{Actor, Change, MemoryId, Scope, Status, WriteBatch},
};

/// Reason of the changes in the journal.
const DISARM_CAUSE: &str = "import: waits for the owner";

impl Engine {
    /// Returns the active skills and open proposals of a scope, before an import.
    pub(in crate::engine) async fn approved_here(
        &self,
        scope: &Scope,
    ) -> Result<HashSet<MemoryId>> {
        let skills = self.stored_skills(scope, false).await?;
        let proposals = self.proposals(scope, Some(ProposalState::Open)).await?;
        let proposals = proposals.into_iter().map(|proposal| proposal.id);
        Ok(skills.into_iter().map(|stored| stored.memory.id).chain(proposals).collect())
    }

    /// Retires skills and withdraws open proposals that an import brought, as part of its run.
    pub(in crate::engine) async fn disarm_imported(
        &self,
        scope: &Scope,
        before: &HashSet<MemoryId>,
        run: &str,
    ) -> Result<()> {
        let now = self.now().timestamp();
        let mut changes = Vec::new();
        for mut stored in self.stored_skills(scope, false).await? {
            if !before.contains(&stored.memory.id) {
                stored.memory.status = Status::Archived;
                bump(&mut stored, now);
                changes.push(Change::Update(Box::new(stored.memory)));
            }
        }
        let withdrawn = self.withdrawn_imports(scope, before, now).await?;
        changes.extend(withdrawn.into_iter().map(|memory| Change::Update(Box::new(memory))));
        if changes.is_empty() {
            return Ok(());
        }
        let write = WriteBatch::new(scope, Actor::Engine, DISARM_CAUSE, now, changes);
        self.store.apply(WriteBatch { run: Some(run.to_owned()), ..write }).await?;
        self.sync_skills_after(scope).await;
        Ok(())
    }
}
