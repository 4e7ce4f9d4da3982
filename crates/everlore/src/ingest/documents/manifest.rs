//! Manifest of an ingested document: the memory that lists its chunks.

use serde::{Deserialize, Serialize};

use super::short_path;
use crate::{
    error::{Error, Result},
    files::documents::DocFormat,
    ingest::naming,
    store::{MemoryFilter, MemoryKey, MemoryPages, Store},
    types::{Change, Kind, Memory, MemoryId, MemorySource, Origin, Scope, Status, Timestamp},
};

/// Tag of manifest memories.
const DOCUMENT_TAG: &str = "document";

/// Manifests per page when all documents are listed.
const PAGE_SIZE: usize = 1_000;

/// Metadata of a manifest memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DocumentManifest {
    pub(super) path: String,
    pub(super) format: DocFormat,
    /// Digest of the file.
    pub(super) hash: String,
    /// Version of the chunker.
    pub(super) chunks_version: u32,
    pub(super) chunks: Vec<ManifestChunk>,
}

/// Chunk of a document with its current lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestChunk {
    pub(super) id: MemoryId,
    pub(super) hash: String,
    pub(super) lines: [usize; 2],
}

/// Returns the paths of all ingested documents, in the order of ingestion.
pub(crate) async fn document_paths(store: &dyn Store, scope: &Scope) -> Result<Vec<String>> {
    let filter = MemoryFilter {
        kinds: vec![Kind::Knowledge],
        tags: vec![DOCUMENT_TAG.to_owned()],
        ..MemoryFilter::default()
    };
    let mut pages = MemoryPages::new(store, scope, filter, PAGE_SIZE);
    let mut paths = Vec::new();
    while let Some(memories) = pages.next().await? {
        paths.extend(memories.iter().filter_map(parse_manifest).map(|manifest| manifest.path));
    }
    Ok(paths)
}

/// Finds the manifest memory of a document.
pub(super) async fn find_manifest(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
) -> Result<Option<Memory>> {
    let uri = naming::document_uri(scope, short_path(path), path);
    store.memories().find_one(scope, MemoryKey::Uri(uri)).await
}

/// Ingested document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IngestedDocument {
    /// Path of the document.
    pub path: String,
    /// Chunks in order, deleted and erased ones included.
    pub chunks: Vec<MemoryId>,
    /// Manifest memory.
    pub manifest_memory: Memory,
}

/// Returns the document that a manifest memory lists; `None` for other memories.
pub(crate) fn ingested_document(manifest_memory: Memory) -> Option<IngestedDocument> {
    let manifest = parse_manifest(&manifest_memory)?;
    let chunks = manifest.chunks.iter().map(|chunk| chunk.id).collect();
    Some(IngestedDocument { path: manifest.path, chunks, manifest_memory })
}

/// Finds the ingested document at a path.
pub(crate) async fn find_document(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
) -> Result<Option<IngestedDocument>> {
    Ok(find_manifest(store, scope, path).await?.and_then(ingested_document))
}

/// Returns the path of the document that a memory is a chunk of, and its first line when it was stored.
pub(crate) fn chunk_origin(memory: &Memory) -> Option<(&str, usize)> {
    memory.metadata.get("chunk").filter(|_| memory.source.via == Origin::Import)?;
    let line = memory.metadata.get("lines").and_then(|lines| lines[0].as_u64()).unwrap_or(1);
    Some((memory.metadata.get("path")?.as_str()?, line as usize))
}

/// Parses a manifest; `None` for other memories and for manifests edited beyond recognition.
pub(super) fn parse_manifest(memory: &Memory) -> Option<DocumentManifest> {
    serde_json::from_value(serde_json::Value::Object(memory.metadata.clone())).ok()
}

/// Returns the change that stores a manifest.
pub(super) fn manifest_change(
    scope: &Scope,
    stored: Option<Memory>,
    manifest: &DocumentManifest,
    tags: &[String],
    now: Timestamp,
) -> Result<Change> {
    let is_new = stored.is_none();
    let mut memory = stored.unwrap_or_else(|| new_manifest_memory(scope, &manifest.path, now));
    let chunks = manifest.chunks.len();
    let of = if chunks == 1 { "1 chunk".to_owned() } else { format!("{chunks} chunks") };
    memory.description = format!("A document of {of}, {}", manifest.format.as_str());
    let missing: Vec<_> = tags.iter().filter(|tag| !memory.tags.contains(tag)).cloned().collect();
    memory.tags.extend(missing);
    let value = serde_json::to_value(manifest).map_err(Error::store)?;
    memory.metadata = value.as_object().cloned().unwrap_or_default();
    if is_new {
        return Ok(Change::Add(Box::new(memory)));
    }
    memory.updated_at = now;
    memory.version += 1;
    Ok(Change::Update(Box::new(memory)))
}

/// Creates a manifest memory: archived, so that recall does not offer it, and without text of the document.
fn new_manifest_memory(scope: &Scope, path: &str, now: Timestamp) -> Memory {
    let source = MemorySource::new(Origin::Import);
    Memory {
        uri: naming::document_uri(scope, short_path(path), path),
        name: naming::title_of(short_path(path)),
        status: Status::Archived,
        tags: vec![DOCUMENT_TAG.to_owned()],
        ..Memory::with_content(scope, Kind::Knowledge, path.to_owned(), source, now, now)
    }
}
