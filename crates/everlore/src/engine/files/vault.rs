//! Vault sync, which keeps a folder of Markdown files equal to a scope's memories, and the agent's notes.

use crate::{
    engine::Engine,
    error::Result,
    files::memory_folder::FileChange,
    ingest,
    store::directory::{SyncAction, SyncReport, SyncRequest, SyncStep, sync},
    sync::boxed,
    types::{Actor, ChangeAuthor, MemoryId, Scope, Trust},
};

impl Engine {
    /// Syncs a vault with the memories of its scope, both ways, and returns a report. Masks secrets in memories and
    /// leaves them in files that people wrote; the report names them. Fails if memory is disabled for the agent, or if
    /// a file or the store fails.
    #[boxed]
    pub async fn sync_vault(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.check_writable(&request.scope)?;
        let request =
            &SyncRequest { mask_secrets: self.masks_secrets(&request.scope), ..request.clone() };
        let now = self.now().timestamp();
        let report = sync(&*self.store, request, now).await?;
        if request.dry_run { Ok(report) } else { self.supersede_by_files(request, report).await }
    }

    /// Supersedes what new and edited files contradict, under the run of the sync, and syncs that to the files.
    async fn supersede_by_files(
        &self,
        request: &SyncRequest,
        mut report: SyncReport,
    ) -> Result<SyncReport> {
        let is_statement =
            |step: &&SyncStep| matches!(step.what, SyncAction::Stored | SyncAction::Updated);
        let stored = report.done.iter().filter(is_statement);
        let stored: Vec<MemoryId> = stored.filter_map(|step| step.id).collect();
        let (reason, run) = (Some("vault sync".to_owned()), report.run.clone());
        let author = ChangeAuthor { actor: Actor::Engine, reason, run };
        let now = self.now().timestamp();
        // Who writes a file of the vault says what is in it.
        let deps = ingest::SaveDeps { store: &*self.store, judge: None, author: &author, now };
        let superseded =
            ingest::supersede_rivals(deps, &request.scope, &stored, Trust::Said).await?;
        if !superseded.is_empty() {
            report.superseded = superseded.iter().map(|older| older.id).collect();
            report.done.extend(sync(&*self.store, request, now).await?.done);
        }
        Ok(report)
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
