//! Documents become knowledge: each chunk a memory, and one memory more that lists them.
//!
//! The list is how a document is found again without looking at all memories: its uri follows from the path, it tells
//! the digest of the file and the chunks in their order. It is archived from the beginning, so recall does not offer it,
//! and holds no text of the document, so that forgetting a chunk leaves nothing behind in it.
//!
//! What a chunk says is its name: a chunk that is still in the file stays as it is, one that is not is deleted, which the
//! journal can take back. A chunk that someone edited is archived instead. What was forgotten or deleted by hand stays
//! away as long as its text does not change.

mod chunk_drafts;
mod manifest;

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::request::checked_tags;
use crate::{
    error::{Error, Result},
    files::documents::{CHUNKER_VERSION, Chunk, DocFormat, ParsedDocument, parse},
    store::{MemoryKey, Store},
    text::secrets::mask_all,
    types::{Actor, Change, Memory, MemoryId, Scope, Status, Timestamp, WriteBatch},
};
use chunk_drafts::{ChunkDraft, chunk_drafts};
use manifest::{DocumentManifest, ManifestChunk, find_manifest, manifest_change, parse_manifest};
pub use manifest::{
    IngestedDocument, chunk_origin, document_paths, find_document, ingested_document,
};

/// Another process may ingest the same file at the same moment; it will not do so many times.
const MAX_ATTEMPTS: usize = 5;

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Where it is: what it is known by when it comes again.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// How it is written.
    pub format: DocFormat,
    /// When it was last changed; now if not known.
    pub modified_at: Option<Timestamp>,
}

impl Document {
    /// A document whose format is told by its name.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let path = path.into();
        let format = DocFormat::from_path(&path);
        Self { path, bytes: bytes.into(), format, modified_at: None }
    }
}

/// How to ingest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IngestOptions {
    /// The run all changes belong to, so that many files can be undone together; one of its own if left out.
    pub run: Option<String>,
    /// Tags for every chunk, beside its keywords.
    pub tags: Vec<String>,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Take secrets in as they are, instead of masking them.
    pub keep_secrets: bool,
}

/// What became of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IngestReport {
    /// Where it is.
    pub path: String,
    /// How it is written.
    pub format: DocFormat,
    /// How many chunks it has.
    pub chunks: usize,
    /// Chunks stored.
    pub added: usize,
    /// Chunks that were there already.
    pub unchanged: usize,
    /// Chunks of an earlier version that were taken out.
    pub removed: usize,
    /// Chunks left out because they were forgotten or deleted here.
    pub left_out: usize,
    /// Memories stored, changed or taken out, with the one that lists the chunks.
    pub changes: usize,
    /// What was not as it should be, and was put up with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The run, to undo it.
    pub run: String,
}

/// Brings what is known of a document to what the document says now.
pub async fn ingest_document(
    store: &dyn Store,
    scope: &Scope,
    document: &Document,
    options: &IngestOptions,
    now: Timestamp,
) -> Result<IngestReport> {
    let run = options.run.clone().unwrap_or_else(|| new_ingest_run(now));
    let tags = checked_tags(options.tags.clone())?;
    let ingesting = DocumentIngest { store, scope, path: &document.path, run, options, now };
    for _ in 1..MAX_ATTEMPTS {
        match ingesting.ingest(document, &tags).await {
            Err(Error::Conflict { .. }) => {}
            done => return done,
        }
    }
    ingesting.ingest(document, &tags).await
}

/// Takes out everything that is known of a document.
pub async fn remove_document(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
    options: &IngestOptions,
    now: Timestamp,
) -> Result<IngestReport> {
    let run = options.run.clone().unwrap_or_else(|| new_ingest_run(now));
    let ingesting = DocumentIngest { store, scope, path, run, options, now };
    ingesting.remove().await
}

/// A run begun at `now`; the end of an id tells it from others of the same moment.
pub fn new_ingest_run(now: Timestamp) -> String {
    let id = MemoryId::new(now);
    let [.., a, b] = id.as_bytes();
    format!("ingest-{}-{a:02x}{b:02x}", now.as_millisecond())
}

/// Masks the secrets of every chunk and notes how many there were.
fn mask_chunks(parsed: &mut ParsedDocument) {
    let texts =
        |chunk: &mut Chunk| mask_all(chunk.heading_path.iter_mut().chain([&mut chunk.text])).len();
    let masked: usize = parsed.chunks.iter_mut().map(texts).sum();
    if masked > 0 {
        let told = format!("masked {masked} {}", if masked == 1 { "secret" } else { "secrets" });
        parsed.note =
            Some(parsed.note.take().map_or(told.clone(), |note| format!("{note}; {told}")));
    }
}

/// What is stored of a document.
struct StoredDocument {
    manifest_memory: Option<Memory>,
    /// By digest: its id and, unless it was deleted or forgotten, the chunk.
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
        let list = find_manifest(self.store, self.scope, self.path).await?;
        let manifest = list.as_ref().and_then(parse_manifest);
        if let (Some(list), Some(manifest)) = (&list, &manifest)
            && manifest.hash == hash
            && manifest.chunks_version == CHUNKER_VERSION
            && tags.iter().all(|tag| list.tags.contains(tag))
        {
            let chunks = manifest.chunks.len();
            return Ok(IngestReport { chunks, unchanged: chunks, ..self.report(manifest.format) });
        }
        let mut parsed = parse(&document.bytes, document.format)?;
        if !self.options.keep_secrets {
            mask_chunks(&mut parsed);
        }
        let known = self.load_stored(list, manifest).await?;
        let drafts = chunk_drafts(self.scope, document, &parsed, tags, self.now)?;
        let report = IngestReport { note: parsed.note, ..self.report(document.format) };
        let (changes, listed, report) = self.plan_changes(drafts, &known, tags, report).await?;
        let manifest = DocumentManifest {
            path: document.path.clone(),
            format: document.format,
            hash,
            chunks_version: CHUNKER_VERSION,
            chunks: listed,
        };
        let changes = self.apply(changes, known.manifest_memory, Some((manifest, tags))).await?;
        Ok(IngestReport { changes, ..report })
    }

    async fn remove(&self) -> Result<IngestReport> {
        let list = find_manifest(self.store, self.scope, self.path).await?;
        let manifest = list.as_ref().and_then(parse_manifest);
        let (Some(list), Some(manifest)) = (list, manifest) else {
            return Err(Error::not_found("document", self.path));
        };
        let report = self.report(manifest.format);
        let known = self.load_stored(Some(list), Some(manifest)).await?;
        let changes = self.chunk_removals(&known, &[]);
        let report = IngestReport { removed: changes.len(), ..report };
        let changes = self.apply(changes, known.manifest_memory, None).await?;
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
        list: Option<Memory>,
        manifest: Option<DocumentManifest>,
    ) -> Result<StoredDocument> {
        let listed = manifest.map(|manifest| manifest.chunks).unwrap_or_default();
        let ids: Vec<_> = listed.iter().map(|chunk| chunk.id).collect();
        let memories = self.store.get(self.scope, &ids).await?;
        let chunks = listed.into_iter().zip(memories);
        Ok(StoredDocument {
            manifest_memory: list,
            chunks: chunks.map(|(chunk, memory)| (chunk.hash, (chunk.id, memory))).collect(),
        })
    }

    /// What has to change, where each chunk of the document is then to be found, and what that amounts to.
    async fn plan_changes(
        &self,
        drafts: Vec<ChunkDraft>,
        known: &StoredDocument,
        tags: &[String],
        mut report: IngestReport,
    ) -> Result<(Vec<Change>, Vec<ManifestChunk>, IngestReport)> {
        let prints: Vec<_> = drafts.iter().map(|draft| draft.memory.fingerprint()).collect();
        let erased = self.store.are_erased(self.scope, &prints).await?;
        let (mut changes, mut listed) = (Vec::new(), Vec::new());
        report.chunks = drafts.len();
        for (draft, erased) in drafts.into_iter().zip(erased) {
            let mut id = draft.memory.id;
            match known.chunks.get(&draft.hash) {
                Some((known, stored)) => {
                    id = *known;
                    // Deleted or forgotten by hand: the list goes on telling so.
                    let count =
                        if stored.is_some() { &mut report.unchanged } else { &mut report.left_out };
                    *count += 1;
                    changes.extend(stored.as_ref().and_then(|chunk| self.tag_change(chunk, tags)));
                }
                None if erased => report.left_out += 1,
                None => {
                    report.added += 1;
                    let change = self.chunk_addition(draft.memory).await?;
                    id = change.id();
                    changes.push(change);
                }
            }
            listed.push(ManifestChunk { id, hash: draft.hash, lines: draft.lines });
        }
        let removals = self.chunk_removals(known, &listed);
        report.removed = removals.len();
        changes.extend(removals);
        Ok((changes, listed, report))
    }

    /// Stores a chunk, or brings back the same one if it is stored but not listed: put away, or its list was deleted.
    async fn chunk_addition(&self, draft: Memory) -> Result<Change> {
        let stray = self.store.find(self.scope, &MemoryKey::Uri(draft.uri.clone()), 1).await?.pop();
        let Some(mut stray) = stray else { return Ok(Change::Add(Box::new(draft))) };
        stray.status = Status::Active;
        stray.superseded_by = None;
        stray.updated_at = self.now;
        stray.version += 1;
        Ok(Change::Update(Box::new(stray)))
    }

    /// Takes out the chunks that are no longer in the document.
    fn chunk_removals(&self, known: &StoredDocument, listed: &[ManifestChunk]) -> Vec<Change> {
        let kept: HashSet<&str> = listed.iter().map(|chunk| chunk.hash.as_str()).collect();
        let gone = known.chunks.iter().filter(|(hash, _)| !kept.contains(hash.as_str()));
        let mut gone: Vec<&Memory> = gone.filter_map(|(_, (_, chunk))| chunk.as_ref()).collect();
        gone.sort_by_key(|chunk| chunk.id);
        gone.into_iter().map(|chunk| self.chunk_removal(chunk.clone())).collect()
    }

    /// The change that gives a chunk the tags it lacks.
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

    /// Takes a chunk out; what someone wrote into it is put away instead.
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

    /// Applies everything together with the list, all or nothing, reads it back and returns how many changes there are.
    async fn apply(
        &self,
        mut changes: Vec<Change>,
        list: Option<Memory>,
        manifest: Option<(DocumentManifest, &[String])>,
    ) -> Result<usize> {
        match (list, manifest) {
            (None, None) => {}
            (Some(list), None) => changes.push(Change::Delete(list.id)),
            (None, Some((manifest, _))) if manifest.chunks.is_empty() => {}
            (list, Some((manifest, tags))) => {
                changes.push(manifest_change(self.scope, list, &manifest, tags, self.now)?)
            }
        }
        let count = changes.len();
        if self.options.dry_run || changes.is_empty() {
            return Ok(count);
        }
        let stays = |change: &&Change| matches!(change, Change::Add(_) | Change::Update(_));
        let ids: Vec<_> = changes.iter().filter(stays).map(Change::id).collect();
        let write = WriteBatch::new(self.scope, Actor::Engine, "ingest", self.now, changes);
        self.store.apply(WriteBatch { run: Some(self.run.clone()), ..write }).await?;
        match self.store.verify(self.scope, &ids).await?.iter().position(|verified| !verified) {
            None => Ok(count),
            Some(index) => Err(Error::damaged(format!(
                "memory `{}` was stored but cannot be read back",
                ids[index]
            ))),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder and the name of a file: enough to know it by, and the same wherever it is ingested from.
fn short_path(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    path[start..].trim_start_matches('/')
}
