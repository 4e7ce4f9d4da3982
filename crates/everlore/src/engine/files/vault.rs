//! Vault sync, which keeps a folder of Markdown files equal to a scope's memories, and the agent's notes.

use crate::{
    engine::Engine,
    error::Result,
    files::memory_folder::FileChange,
    ingest,
    store::directory::{SyncReport, SyncRequest, sync},
    types::Scope,
};

impl Engine {
    /// Syncs a vault with the memories of its scope, both ways, and returns a report. Masks secrets in memories and
    /// leaves them in files that people wrote; the report names them. Fails if memory is disabled for the agent, or if
    /// a file or the store fails.
    pub async fn sync_vault(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.check_enabled(&request.scope)?;
        let request =
            &SyncRequest { mask_secrets: self.masks_secrets(&request.scope), ..request.clone() };
        sync(&*self.store, request, self.now().timestamp()).await
    }

    /// Stores the old and new content of files in the agent's own folder, before they change. Fails if memory is
    /// disabled for the agent or the store fails.
    pub(crate) async fn record_notes(
        &self,
        scope: &Scope,
        changes: &[FileChange],
        session: Option<&str>,
    ) -> Result<()> {
        self.check_enabled(scope)?;
        let mut changes = changes.to_vec();
        if self.masks_secrets(scope) {
            changes.iter_mut().for_each(|change| drop(change.mask_secrets()));
        }
        let now = self.now().timestamp();
        ingest::store_notes(&*self.store, scope, &changes, session, &self.author, now).await
    }
}
