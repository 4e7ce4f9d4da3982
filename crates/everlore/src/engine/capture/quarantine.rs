//! Quarantine: extracted drafts that the gate did not accept, for review, approval or removal.

use std::collections::BTreeSet;

use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{self, MemoryEdit},
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
        self.approve_draft(scope, id, None).await
    }

    /// Stores a quarantined draft as a memory, with another text if the person gave one: the text before is never stored.
    /// Fails like [`Engine::restore_quarantined`], or if the text is invalid.
    pub async fn approve_draft(
        &self,
        scope: &Scope,
        id: MemoryId,
        content: Option<String>,
    ) -> Result<Memory> {
        self.check_enabled(scope)?;
        let draft = self.quarantined_draft(scope, id).await?;
        let mut memory = ingest::approved_memory(*draft.memory, self.now().timestamp());
        if content.is_some() {
            let mut edit = MemoryEdit { content, ..MemoryEdit::default() };
            edit.check_sizes()?;
            if self.masks_secrets(scope) {
                edit.mask_secrets();
            }
            edit.apply_to(&mut memory)?;
        }
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

    /// Takes back the decision on a draft: its memory is gone, and it waits in the quarantine again. Fails if the memory was
    /// changed since, or if a turn that the draft came from was forgotten.
    pub async fn reopen_draft(&self, scope: &Scope, draft: &QuarantinedDraft) -> Result<()> {
        let sources = self.store.memories().get(scope, &draft.memory.source.turns).await?;
        if sources.iter().any(Option::is_none) {
            return Err(Error::not_found("draft", draft.id()));
        }
        let stored = self.store.memories().get(scope, &[draft.id()]).await?.pop().flatten();
        if let Some(stored) = stored {
            if stored.version != draft.memory.version {
                return Err(Error::invalid(
                    "the memory was changed since it was approved",
                    "edit or delete the memory itself",
                ));
            }
            let write = WriteBatch::new(
                scope,
                self.author.actor,
                self.author.reason_for("back to quarantine"),
                self.now().timestamp(),
                vec![Change::Delete(draft.id())],
            );
            self.store.apply(write).await?;
        }
        self.store.queue().put_back(scope, draft).await
    }

    /// Removes drafts from the quarantine for good and returns how many it removed.
    pub async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store.queue().drop_quarantined(scope, ids).await
    }
}
