//! The memory that lists the chunks of a document, by which the document is found again.

use serde::{Deserialize, Serialize};

use super::short_path;
use crate::{
    error::{Error, Result},
    files::documents::DocFormat,
    ingest::naming,
    store::{ListOrder, ListQuery, MemoryFilter, MemoryKey, Store},
    types::{Change, Kind, Memory, MemoryId, MemorySource, Origin, Scope, Status, Timestamp},
};

/// The tag of the memories that list a document's chunks.
const DOCUMENT_TAG: &str = "document";

/// Lists read at a time when all documents are looked for.
const PAGE_SIZE: usize = 1_000;

/// What the list of a document keeps in its metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DocumentManifest {
    pub(super) path: String,
    pub(super) format: DocFormat,
    /// The digest of the file.
    pub(super) hash: String,
    /// How it was cut.
    pub(super) chunks_version: u32,
    pub(super) chunks: Vec<ManifestChunk>,
}

/// One chunk of a document, where it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestChunk {
    pub(super) id: MemoryId,
    pub(super) hash: String,
    pub(super) lines: [usize; 2],
}

/// The paths of all documents that were ingested and not taken out, in the order they came.
pub async fn document_paths(store: &dyn Store, scope: &Scope) -> Result<Vec<String>> {
    let filter = MemoryFilter {
        kinds: vec![Kind::Knowledge],
        tags: vec![DOCUMENT_TAG.to_owned()],
        ..MemoryFilter::default()
    };
    let mut page =
        ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: PAGE_SIZE };
    let mut paths = Vec::new();
    loop {
        let memories = store.memories().list(scope, &page).await?;
        let Some(last) = memories.last() else { return Ok(paths) };
        page.after = Some(last.id);
        paths.extend(memories.iter().filter_map(parse_manifest).map(|manifest| manifest.path));
    }
}

/// The memory that lists the chunks of a document, if it was ingested.
pub(super) async fn find_manifest(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
) -> Result<Option<Memory>> {
    let uri = naming::document_uri(scope, short_path(path), path);
    Ok(store.memories().find(scope, &MemoryKey::Uri(uri), 1).await?.pop())
}

/// What is known of a document: the memory that lists its chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestedDocument {
    /// Where it is.
    pub path: String,
    /// Its chunks, in order; those that were deleted or forgotten included.
    pub chunks: Vec<MemoryId>,
    /// The memory that lists them.
    pub manifest_memory: Memory,
}

/// The document that a memory lists, if it is such a list.
pub fn ingested_document(list: Memory) -> Option<IngestedDocument> {
    let manifest = parse_manifest(&list)?;
    let chunks = manifest.chunks.iter().map(|chunk| chunk.id).collect();
    Some(IngestedDocument { path: manifest.path, chunks, manifest_memory: list })
}

/// The document at a path, if it was ingested.
pub async fn find_document(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
) -> Result<Option<IngestedDocument>> {
    Ok(find_manifest(store, scope, path).await?.and_then(ingested_document))
}

/// The path of the document that a memory is a chunk of, and the line where it began when it was stored.
pub fn chunk_origin(memory: &Memory) -> Option<(&str, usize)> {
    memory.metadata.get("chunk").filter(|_| memory.source.via == Origin::Import)?;
    let line = memory.metadata.get("lines").and_then(|lines| lines[0].as_u64()).unwrap_or(1);
    Some((memory.metadata.get("path")?.as_str()?, line as usize))
}

/// What a list says; nothing if it is none, or someone changed it beyond reading.
pub(super) fn parse_manifest(list: &Memory) -> Option<DocumentManifest> {
    serde_json::from_value(serde_json::Value::Object(list.metadata.clone())).ok()
}

/// The change that makes the list of a document say what the manifest says.
pub(super) fn manifest_change(
    scope: &Scope,
    list: Option<Memory>,
    manifest: &DocumentManifest,
    tags: &[String],
    now: Timestamp,
) -> Result<Change> {
    let is_new = list.is_none();
    let mut memory = list.unwrap_or_else(|| new_manifest_memory(scope, &manifest.path, now));
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

/// It holds no text of the document, and is put away so that recall does not offer it.
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
