//! Documents in and out.

use crate::{
    engine::Engine,
    error::Result,
    ingest::{self, Document, IngestOptions, IngestReport},
    types::Scope,
};

impl Engine {
    /// Makes a document knowledge: what is new in it is stored, what is no longer in it is taken out, all in one write.
    ///
    /// Ingesting it again unchanged costs one lookup and changes nothing.
    pub async fn ingest_document(
        &self,
        scope: &Scope,
        document: &Document,
        options: &IngestOptions,
    ) -> Result<IngestReport> {
        self.check_enabled(scope)?;
        let keep_secrets = options.keep_secrets || !self.masks_secrets(scope);
        let options = &IngestOptions { keep_secrets, ..options.clone() };
        ingest::ingest_document(&*self.store, scope, document, options, self.now().timestamp())
            .await
    }

    /// Takes out everything that is known of a document.
    pub async fn remove_document(
        &self,
        scope: &Scope,
        path: &str,
        options: &IngestOptions,
    ) -> Result<IngestReport> {
        ingest::remove_document(&*self.store, scope, path, options, self.now().timestamp()).await
    }

    /// The paths of all documents that were ingested and not taken out.
    pub async fn documents(&self, scope: &Scope) -> Result<Vec<String>> {
        ingest::document_paths(&*self.store, scope).await
    }

    /// The name of a run that begins now, under which many documents can be undone together.
    pub fn ingest_run(&self) -> String {
        ingest::new_ingest_run(self.now().timestamp())
    }
}
