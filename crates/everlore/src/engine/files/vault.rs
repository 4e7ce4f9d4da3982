//! A folder of markdown files kept equal to the memories of a scope, and the notes that an agent keeps in it.

use crate::{
    engine::Engine,
    error::Result,
    files::memory_folder::FileChange,
    ingest,
    store::directory::{SyncReport, SyncRequest, sync},
    types::Scope,
};

impl Engine {
    /// Brings a vault and the memories of its scope together: changes of either side travel to the other (D8). Secrets are
    /// masked in memory and left in files that people wrote; the report names them.
    pub async fn sync_vault(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.check_enabled(&request.scope)?;
        let request =
            &SyncRequest { mask_secrets: self.masks_secrets(&request.scope), ..request.clone() };
        sync(&*self.store, request, self.now().timestamp()).await
    }

    /// Keeps what files of an agent's own folder said and will say, before they are changed.
    pub async fn record_notes(
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
