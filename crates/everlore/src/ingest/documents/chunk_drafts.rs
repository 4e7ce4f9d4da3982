//! Conversion of a document's chunks into memories.

use std::collections::HashMap;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Document, hex, short_path};
use crate::{
    error::Result,
    files::documents::{Chunk, ParsedDocument, programming_language},
    ingest::{
        naming,
        request::{checked_tags, one_line},
    },
    text::{keywords::KeywordExtractor, tiers::refresh_overview},
    types::{Kind, Memory, MemorySource, Origin, Scope, Timestamp, to_millisecond},
};

/// Keywords of a chunk, stored as tags: enough to tell it apart, few enough to read.
const MAX_KEYWORDS: usize = 8;

/// Chunk converted into a memory.
pub(super) struct ChunkDraft {
    /// Digest by which the chunk is recognized when the document is ingested again.
    pub(super) hash: String,
    pub(super) memory: Memory,
    /// First and last line in the document.
    pub(super) lines: [usize; 2],
}

/// Converts each chunk into a memory.
pub(super) fn chunk_drafts(
    scope: &Scope,
    document: &Document,
    parsed: &ParsedDocument,
    tags: &[String],
    now: Timestamp,
) -> Result<Vec<ChunkDraft>> {
    let keyword_extractor =
        KeywordExtractor::from_parts(parsed.chunks.iter().map(|chunk| chunk.text.as_str()));
    let mut occurrences: HashMap<(&[String], &str), usize> = HashMap::new();
    let mut drafts = Vec::with_capacity(parsed.chunks.len());
    for (index, chunk) in parsed.chunks.iter().enumerate() {
        let before = occurrences.entry((&chunk.heading_path, &chunk.text)).or_default();
        let hash = chunk_digest(&document.path, chunk, *before);
        *before += 1;
        let source = MemorySource {
            via: Origin::Import,
            session: None,
            speaker: None,
            role: None,
            turns: Vec::new(),
        };
        let at = to_millisecond(document.modified_at.unwrap_or(now).min(now));
        let mut memory =
            Memory::with_content(scope, Kind::Knowledge, chunk.text.clone(), source, at, now);
        let keywords = keyword_extractor.keywords(&chunk.text, MAX_KEYWORDS);
        memory.tags = checked_tags([&keywords, tags].concat())?;
        memory.name = chunk_name(document, chunk);
        memory.description = chunk_description(document, chunk);
        memory.uri = naming::chunk_uri(scope, short_path(&document.path), &memory.name, &hash);
        let lines = [chunk.start_line, chunk.end_line];
        memory.metadata =
            chunk_metadata(document, &memory, [index + 1, parsed.chunks.len()], lines);
        refresh_overview(&mut memory);
        drafts.push(ChunkDraft { hash, memory, lines });
    }
    Ok(drafts)
}

/// Computes the digest of a chunk's path, headings and text, and of the number of equal chunks before it.
fn chunk_digest(path: &str, chunk: &Chunk, before: usize) -> String {
    let mut digest = Sha256::new().chain_update(path);
    for heading in &chunk.heading_path {
        digest.update(b"\0#");
        digest.update(heading);
    }
    digest.update(format!("\0{before}\0"));
    digest.update(&chunk.text);
    hex(&digest.finalize()[..16])
}

/// Returns the last heading, or the file name.
fn chunk_name(document: &Document, chunk: &Chunk) -> String {
    let file = || naming::title_of(document.path.rsplit('/').next().unwrap_or(&document.path));
    chunk.heading_path.last().cloned().unwrap_or_else(file)
}

/// Returns the file and the headings, outermost first.
fn chunk_description(document: &Document, chunk: &Chunk) -> String {
    let file = std::iter::once(short_path(&document.path));
    let parts: Vec<&str> = file.chain(chunk.heading_path.iter().map(String::as_str)).collect();
    one_line(&parts.join(" › "))
}

fn chunk_metadata(
    document: &Document,
    memory: &Memory,
    [chunk, chunks]: [usize; 2],
    lines: [usize; 2],
) -> serde_json::Map<String, serde_json::Value> {
    let mut metadata = serde_json::Map::new();
    let mut insert =
        |key: &str, value: serde_json::Value| drop(metadata.insert(key.to_owned(), value));
    insert("path", json!(document.path));
    insert("format", json!(document.format));
    if let Some(language) = programming_language(&document.path) {
        insert("language", json!(language));
    }
    insert("chunk", json!(chunk));
    insert("chunks", json!(chunks));
    insert("lines", json!(lines));
    insert("hash", json!(hex(memory.fingerprint().as_bytes())));
    metadata
}
