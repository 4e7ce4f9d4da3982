//! The quarantine: drafts that were found and not remembered, to be looked at, remembered all the same, or dropped.

use std::collections::BTreeSet;

use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest,
    types::{Change, Memory, MemoryId, QuarantinedDraft, Scope, WriteBatch},
};

impl Engine {
    /// A draft that was not remembered.
    pub async fn quarantined_draft(&self, scope: &Scope, id: MemoryId) -> Result<QuarantinedDraft> {
        let held = self.store.queue().quarantined(scope).await?;
        let found = held.into_iter().find(|held| held.id() == id);
        found.ok_or_else(|| Error::not_found("draft", id))
    }

    /// Remembers a draft all the same: a person approved it.
    pub async fn restore_quarantined(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.check_enabled(scope)?;
        let held = self.quarantined_draft(scope, id).await?;
        let mut memory = ingest::approved_memory(*held.memory, self.now().timestamp());
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

    /// Removes drafts from the quarantine for good and returns how many there were.
    pub async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store.queue().drop_quarantined(scope, ids).await
    }
}
