//! Quarantine: extracted drafts that the gate did not accept, for review, approval or removal.

use std::collections::BTreeSet;

use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest,
    types::{Change, Memory, MemoryId, QuarantinedDraft, Scope, WriteBatch},
};

impl Engine {
    /// Returns a draft from the quarantine. Fails if there is none with this id.
    pub async fn quarantined_draft(&self, scope: &Scope, id: MemoryId) -> Result<QuarantinedDraft> {
        let drafts = self.store.queue().quarantined(scope).await?;
        let found = drafts.into_iter().find(|draft| draft.id() == id);
        found.ok_or_else(|| Error::not_found("draft", id))
    }

    /// Stores a quarantined draft as a memory, because a person approved it, and returns the memory. Fails if memory
    /// is disabled for the agent or the quarantine has no such draft.
    pub async fn restore_quarantined(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.check_enabled(scope)?;
        let draft = self.quarantined_draft(scope, id).await?;
        let mut memory = ingest::approved_memory(*draft.memory, self.now().timestamp());
        ingest::assign_free_uri(&*self.store, &mut memory, &BTreeSet::new()).await?;
        let write = WriteBatch::new(
            scope,
            self.author.actor,
            self.author.reason_for("restore from quarantine"),
            self.now().timestamp(),
            vec![Change::Add(Box::new(memory.clone()))],
        );
        self.store.apply(write).await?;
        Ok(memory)
    }

    /// Removes drafts from the quarantine for good and returns how many it removed.
    pub async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store.queue().drop_quarantined(scope, ids).await
    }
}
