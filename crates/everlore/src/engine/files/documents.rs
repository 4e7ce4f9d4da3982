//! Ingestion and removal of documents.

use std::borrow::Cow;

use crate::{
    engine::Engine,
    error::Result,
    ingest::{self, Document, IngestOptions, IngestReport},
    text::secrets::{mask_all, mask_path},
    types::{Scope, run_name},
};

impl Engine {
    /// Ingests a document as knowledge: one write stores its new chunks and removes those no longer in it.
    ///
    /// Ingesting it again unchanged costs one lookup and changes nothing. Fails if memory is disabled for the agent,
    /// if the document cannot be parsed, or if the store fails.
    pub async fn ingest_document(
        &self,
        scope: &Scope,
        document: &Document,
        options: &IngestOptions,
    ) -> Result<IngestReport> {
        self.check_writable(scope)?;
        let keep_secrets = options.keep_secrets || !self.masks_secrets(scope);
        let mut options = IngestOptions { keep_secrets, ..options.clone() };
        let mut document = Cow::Borrowed(document);
        if !keep_secrets {
            mask_all(&mut options.tags);
            if let Cow::Owned(path) = mask_path(&document.path) {
                document.to_mut().path = path;
            }
        }
        ingest::ingest_document(&*self.store, scope, &document, &options, self.now().timestamp())
            .await
    }

    /// Removes all memories of a document and returns a report. Fails if the store fails.
    pub async fn remove_document(
        &self,
        scope: &Scope,
        path: &str,
        options: &IngestOptions,
    ) -> Result<IngestReport> {
        let keep_secrets = options.keep_secrets || !self.masks_secrets(scope);
        let path = if keep_secrets { Cow::Borrowed(path) } else { mask_path(path) };
        ingest::remove_document(&*self.store, scope, &path, options, self.now().timestamp()).await
    }

    /// Returns the paths of all ingested documents.
    pub async fn documents(&self, scope: &Scope) -> Result<Vec<String>> {
        ingest::document_paths(&*self.store, scope).await
    }

    /// Returns the name of a new run, under which many documents can be undone together.
    pub fn ingest_run(&self) -> String {
        run_name("ingest", self.now().timestamp())
    }
}
