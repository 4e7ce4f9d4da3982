//! Document ingestion: each chunk becomes a knowledge memory, and one more memory is the manifest that lists them.
//!
//! One document:
//!
//! 1. `everlore ingest` walks folders and passes each file's bytes to `Engine::ingest_document`, which calls
//!    `ingest::ingest_document`; `DocumentIngest::ingest` does the work.
//! 2. `find_manifest` finds the manifest without a search: its uri follows from the path. If the file's digest is the
//!    same, nothing else is done. The manifest is archived (recall never offers it) and holds no text of the document.
//! 3. `files::documents::parse` decodes the bytes, finds blocks by the format, and merges and splits them into chunks
//!    of about 300 tokens. Lists, tables and fences stay whole up to 2,000 tokens: no prompt has room for more.
//! 4. `plan_changes` compares chunks by digest. A new one is added, one no longer in the file is deleted (undo restores
//!    it) or, if it was edited by hand, archived; the others stay. One write of one run stores all changes and the
//!    manifest.
//! 5. A chunk that was erased or deleted by hand stays listed without a memory, and so stays away.

mod chunk_drafts;
mod manifest;
mod masked_parse;

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::request::checked_tags;
use crate::{
    error::{Error, Result},
    files::documents::{CHUNKER_VERSION, DocFormat, parse},
    store::{MemoryKey, Store, confirm_readable},
    sync::BoxFuture,
    types::{Actor, Change, Memory, MemoryId, Scope, Status, Timestamp, WriteBatch, run_name},
};
use chunk_drafts::{ChunkDraft, chunk_drafts};
use manifest::{DocumentManifest, ManifestChunk, find_manifest, manifest_change, parse_manifest};
pub(crate) use manifest::{
    IngestedDocument, chunk_origin, document_paths, find_document, ingested_document,
};

use masked_parse::parse_masked;

/// Attempts when another process ingests the same file at the same time.
const MAX_ATTEMPTS: usize = 5;

/// File to ingest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Path, which identifies the document when it is ingested again.
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Format of the file.
    pub format: DocFormat,
    /// Time of the last change; now if unknown.
    pub modified_at: Option<Timestamp>,
}

impl Document {
    /// Creates a document whose format follows from its name.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let path = path.into();
        let format = DocFormat::from_path(&path);
        Self { path, bytes: bytes.into(), format, modified_at: None }
    }
}

/// Options of an ingestion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IngestOptions {
    /// Journal run of all changes, so that many files can be undone together; a run of its own if left out.
    pub run: Option<String>,
    /// Tags for every chunk, beside its keywords.
    pub tags: Vec<String>,
    /// Report only, without writing.
    pub dry_run: bool,
    /// Store secrets as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// Result of ingesting one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IngestReport {
    /// Path of the document.
    pub path: String,
    /// Format of the document.
    pub format: DocFormat,
    /// Number of chunks.
    pub chunks: usize,
    /// Chunks added.
    pub added: usize,
    /// Chunks that were stored already.
    pub unchanged: usize,
    /// Chunks of an earlier version that were removed.
    pub removed: usize,
    /// Chunks left out because they were erased or deleted here.
    pub left_out: usize,
    /// Memories added, changed or removed, the manifest included.
    pub changes: usize,
    /// Tolerated problem of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Journal run, to undo the ingestion.
    pub run: String,
}

/// Brings the stored chunks of a document up to its current content.
pub(crate) fn ingest_document<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    document: &'a Document,
    options: &'a IngestOptions,
    now: Timestamp,
) -> BoxFuture<'a, Result<IngestReport>> {
    Box::pin(async move {
        let run = options.run.clone().unwrap_or_else(|| run_name("ingest", now));
        let tags = checked_tags(options.tags.clone())?;
        let ingest = DocumentIngest { store, scope, path: &document.path, run, options, now };
        for _ in 1..MAX_ATTEMPTS {
            match ingest.ingest(document, &tags).await {
                Err(Error::Conflict { .. }) => {}
                done => return done,
            }
        }
        ingest.ingest(document, &tags).await
    })
}

/// Removes all stored chunks of a document.
pub(crate) async fn remove_document(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
    options: &IngestOptions,
    now: Timestamp,
) -> Result<IngestReport> {
    let run = options.run.clone().unwrap_or_else(|| run_name("ingest", now));
    DocumentIngest { store, scope, path, run, options, now }.remove().await
}

/// Stored state of a document.
struct StoredDocument {
    manifest_memory: Option<Memory>,
    /// Chunks by digest: the id and, unless it was deleted or erased, the memory.
    chunks: HashMap<String, (MemoryId, Option<Memory>)>,
}

struct DocumentIngest<'a> {
    store: &'a dyn Store,
    scope: &'a Scope,
    path: &'a str,
    run: String,
    options: &'a IngestOptions,
    now: Timestamp,
}

impl DocumentIngest<'_> {
    async fn ingest(&self, document: &Document, tags: &[String]) -> Result<IngestReport> {
        let hash = hex(&Sha256::digest(&document.bytes));
        let manifest_memory = find_manifest(self.store, self.scope, self.path).await?;
        let manifest = manifest_memory.as_ref().and_then(parse_manifest);
        if let (Some(manifest_memory), Some(manifest)) = (&manifest_memory, &manifest)
            && manifest.hash == hash
            && manifest.chunks_version == CHUNKER_VERSION
            && tags.iter().all(|tag| manifest_memory.tags.contains(tag))
        {
            let chunks = manifest.chunks.len();
            return Ok(IngestReport { chunks, unchanged: chunks, ..self.report(manifest.format) });
        }
        let parsed = if self.options.keep_secrets {
            parse(&document.bytes, document.format)?
        } else {
            parse_masked(&document.bytes, document.format)?
        };
        let stored = self.load_stored(manifest_memory, manifest).await?;
        let drafts = chunk_drafts(self.scope, document, &parsed, tags, self.now)?;
        let report = IngestReport { note: parsed.note, ..self.report(document.format) };
        let (changes, listed, report) = self.plan_changes(drafts, &stored, tags, report).await?;
        let manifest = DocumentManifest {
            path: document.path.clone(),
            format: document.format,
            hash,
            chunks_version: CHUNKER_VERSION,
            chunks: listed,
        };
        let changes = self.apply(changes, stored.manifest_memory, Some((manifest, tags))).await?;
        Ok(IngestReport { changes, ..report })
    }

    async fn remove(&self) -> Result<IngestReport> {
        let manifest_memory = find_manifest(self.store, self.scope, self.path).await?;
        let manifest = manifest_memory.as_ref().and_then(parse_manifest);
        let (Some(manifest_memory), Some(manifest)) = (manifest_memory, manifest) else {
            return Err(Error::not_found("document", self.path));
        };
        let report = self.report(manifest.format);
        let stored = self.load_stored(Some(manifest_memory), Some(manifest)).await?;
        let changes = self.chunk_removals(&stored, &[]);
        let report = IngestReport { removed: changes.len(), ..report };
        let changes = self.apply(changes, stored.manifest_memory, None).await?;
        Ok(IngestReport { changes, ..report })
    }

    fn report(&self, format: DocFormat) -> IngestReport {
        IngestReport {
            path: self.path.to_owned(),
            format,
            chunks: 0,
            added: 0,
            unchanged: 0,
            removed: 0,
            left_out: 0,
            changes: 0,
            note: None,
            run: self.run.clone(),
        }
    }

    async fn load_stored(
        &self,
        manifest_memory: Option<Memory>,
        manifest: Option<DocumentManifest>,
    ) -> Result<StoredDocument> {
        let listed = manifest.map(|manifest| manifest.chunks).unwrap_or_default();
        let ids: Vec<_> = listed.iter().map(|chunk| chunk.id).collect();
        let memories = self.store.memories().get(self.scope, &ids).await?;
        let chunks = listed.into_iter().zip(memories);
        Ok(StoredDocument {
            manifest_memory,
            chunks: chunks.map(|(chunk, memory)| (chunk.hash, (chunk.id, memory))).collect(),
        })
    }

    /// Plans the changes, the new manifest entries and the report.
    async fn plan_changes(
        &self,
        drafts: Vec<ChunkDraft>,
        stored: &StoredDocument,
        tags: &[String],
        mut report: IngestReport,
    ) -> Result<(Vec<Change>, Vec<ManifestChunk>, IngestReport)> {
        let prints: Vec<_> = drafts.iter().map(|draft| draft.memory.fingerprint()).collect();
        let erased = self.store.memories().are_erased(self.scope, &prints).await?;
        let strays = self.stray_chunks(&drafts, stored).await?;
        let (mut changes, mut listed) = (Vec::new(), Vec::new());
        report.chunks = drafts.len();
        for (draft, erased) in drafts.into_iter().zip(erased) {
            let mut id = draft.memory.id;
            match stored.chunks.get(&draft.hash) {
                Some((stored_id, chunk)) => {
                    id = *stored_id;
                    // Deleted or erased by hand: the manifest keeps recording that.
                    let count =
                        if chunk.is_some() { &mut report.unchanged } else { &mut report.left_out };
                    *count += 1;
                    changes.extend(chunk.as_ref().and_then(|chunk| self.tag_change(chunk, tags)));
                }
                None if erased => report.left_out += 1,
                None => {
                    report.added += 1;
                    let stray = strays.get(&draft.memory.uri).cloned();
                    let change = self.chunk_addition(draft.memory, stray);
                    id = change.id();
                    changes.push(change);
                }
            }
            listed.push(ManifestChunk { id, hash: draft.hash, lines: draft.lines });
        }
        let removals = self.chunk_removals(stored, &listed);
        report.removed = removals.len();
        changes.extend(removals);
        Ok((changes, listed, report))
    }

    /// Returns stored chunks that the manifest does not list, by uri: archived, or left behind by a deleted manifest.
    async fn stray_chunks(
        &self,
        drafts: &[ChunkDraft],
        stored: &StoredDocument,
    ) -> Result<HashMap<String, Memory>> {
        let new = drafts.iter().filter(|draft| !stored.chunks.contains_key(&draft.hash));
        let keys: Vec<_> = new.map(|draft| MemoryKey::Uri(draft.memory.uri.clone())).collect();
        let found = self.store.memories().find(self.scope, &keys, 1).await?;
        Ok(found.into_iter().flatten().map(|stray| (stray.uri.clone(), stray)).collect())
    }

    /// Adds a chunk, or restores the stray one.
    fn chunk_addition(&self, draft: Memory, stray: Option<Memory>) -> Change {
        let Some(mut stray) = stray else { return Change::Add(Box::new(draft)) };
        stray.status = Status::Active;
        stray.superseded_by = None;
        stray.updated_at = self.now;
        stray.version += 1;
        Change::Update(Box::new(stray))
    }

    /// Returns the removals of chunks that are no longer in the document.
    fn chunk_removals(&self, stored: &StoredDocument, listed: &[ManifestChunk]) -> Vec<Change> {
        let current: HashSet<&str> = listed.iter().map(|chunk| chunk.hash.as_str()).collect();
        let missing = stored.chunks.iter().filter(|(hash, _)| !current.contains(hash.as_str()));
        let mut missing: Vec<&Memory> =
            missing.filter_map(|(_, (_, chunk))| chunk.as_ref()).collect();
        missing.sort_by_key(|chunk| chunk.id);
        missing.into_iter().map(|chunk| self.chunk_removal(chunk.clone())).collect()
    }

    /// Returns the change that adds the tags that a chunk lacks.
    fn tag_change(&self, chunk: &Memory, tags: &[String]) -> Option<Change> {
        let missing = tags.iter().filter(|tag| !chunk.tags.contains(tag));
        let missing: Vec<_> = missing.cloned().collect();
        if missing.is_empty() {
            return None;
        }
        let mut chunk = chunk.clone();
        chunk.tags.extend(missing);
        chunk.updated_at = self.now;
        chunk.version += 1;
        Some(Change::Update(Box::new(chunk)))
    }

    /// Deletes a chunk, or archives it if it was edited by hand.
    fn chunk_removal(&self, mut chunk: Memory) -> Change {
        let text = chunk.metadata.get("hash").and_then(serde_json::Value::as_str);
        if text == Some(&hex(chunk.fingerprint().as_bytes())) {
            return Change::Delete(chunk.id);
        }
        chunk.status = Status::Archived;
        chunk.updated_at = self.now;
        chunk.version += 1;
        Change::Update(Box::new(chunk))
    }

    /// Applies all changes with the manifest, all or none, reads them back and returns their number.
    async fn apply(
        &self,
        mut changes: Vec<Change>,
        manifest_memory: Option<Memory>,
        manifest: Option<(DocumentManifest, &[String])>,
    ) -> Result<usize> {
        match (manifest_memory, manifest) {
            (None, None) => {}
            (Some(manifest_memory), None) => changes.push(Change::Delete(manifest_memory.id)),
            (None, Some((manifest, _))) if manifest.chunks.is_empty() => {}
            (manifest_memory, Some((manifest, tags))) => changes.push(manifest_change(
                self.scope,
                manifest_memory,
                &manifest,
                tags,
                self.now,
            )?),
        }
        let count = changes.len();
        if self.options.dry_run || changes.is_empty() {
            return Ok(count);
        }
        let stays = |change: &&Change| matches!(change, Change::Add(_) | Change::Update(_));
        let ids: Vec<_> = changes.iter().filter(stays).map(Change::id).collect();
        let write = WriteBatch::new(self.scope, Actor::Engine, "ingest", self.now, changes);
        self.store.apply(WriteBatch { run: Some(self.run.clone()), ..write }).await?;
        confirm_readable(self.store, self.scope, &ids).await?;
        Ok(count)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the folder and the name of a file: enough to recognize it, and independent of where it is ingested from.
fn short_path(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    path[start..].trim_start_matches('/')
}
