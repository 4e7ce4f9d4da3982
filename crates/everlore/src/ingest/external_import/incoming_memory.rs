//! Conversion of an imported draft into a memory, with its origin in the metadata.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ExternalImportOptions;
use crate::{
    error::{Error, Result},
    files::importers::ExternalDraft,
    ingest::{gate::trust_in_text, naming, request::RememberRequest},
    text::{secrets::mask_all, tiers::without_generated_overview},
    types::{
        Fingerprint, Memory, MemoryId, Origin, Scope, TRUST_KEY, Timestamp, Trust, to_millisecond,
    },
};

/// Metadata key of a memory's origin.
const IMPORT_KEY: &str = "import";

/// Timestamp in the ids of imported memories, which must not depend on the time of the import. It lies before any
/// memory made here, so that imported memories come first in lists.
const ID_TIMESTAMP_SECONDS: i64 = 1_577_836_800;

/// Draft converted into a memory.
pub(super) struct IncomingMemory {
    pub(super) location: String,
    /// Digest of the source file.
    pub(super) source_digest: String,
    /// Set when the entry has no key, so that only its text identifies it.
    pub(super) is_unkeyed: bool,
    pub(super) memory: Memory,
    /// Digest of the whole content.
    pub(super) content_digest: String,
    pub(super) masked: usize,
}

impl IncomingMemory {
    /// Validates and masks a draft and converts it into a memory.
    pub(super) fn from_draft(
        draft: ExternalDraft,
        scope: &Scope,
        options: &ExternalImportOptions,
        now: Timestamp,
    ) -> Result<Self> {
        if let Some(end) = draft.expires_at.filter(|end| *end <= now) {
            let day = end.strftime("%Y-%m-%d");
            return Err(Error::invalid(format!("it expired on {day}"), "nothing needs to be done"));
        }
        let format = options.format.as_str();
        let source = digest(&[format, &draft.source]);
        let is_unkeyed = draft.key.is_none();
        let key = draft.key.clone().unwrap_or_else(|| draft.content.clone());
        let (mut location, at) = (draft.location.clone(), draft.at);
        let mut request = remember_request(draft, format);
        let mut masked = 0;
        if !options.keep_secrets {
            masked = request.mask_secrets().len();
            // A location may hold a heading.
            mask_all([&mut location]);
        }
        let mut memory = request.into_memory(scope, now)?;
        let identity = [scope.agent(), scope.user(), format, &source, &key];
        let ids_at = Timestamp::from_second(ID_TIMESTAMP_SECONDS).unwrap_or(Timestamp::UNIX_EPOCH);
        memory.id = MemoryId::derived(ids_at, &identity);
        memory.uri = imported_uri(&memory, format);
        memory.source.via = Origin::Import;
        memory.at = to_millisecond(at.unwrap_or(now));
        let trust = trust_in_text(&memory.content, Trust::Imported);
        memory.metadata.insert(TRUST_KEY.to_owned(), json!(trust.as_str()));
        let content_digest = digest_memory(&memory);
        let origin = json!({
            "format": format, "place": location, "source": source, "said": content_digest, "loose": is_unkeyed,
        });
        memory.metadata.insert(IMPORT_KEY.to_owned(), origin);
        Ok(Self { location, source_digest: source, is_unkeyed, memory, content_digest, masked })
    }

    /// Returns the same memory under a new id.
    pub(super) fn with_new_id(mut self, now: Timestamp) -> Self {
        self.memory.id = MemoryId::new(now);
        let format = self.memory.tags.first().cloned().unwrap_or_default();
        self.memory.uri = imported_uri(&self.memory, &format);
        self
    }
}

fn imported_uri(memory: &Memory, format: &str) -> String {
    let print = Fingerprint::of(&memory.id.to_string());
    naming::memory_uri(&memory.scope, memory.kind, Some(format), &memory.name, print, 0)
}

/// Converts a draft into a request; the format is its first tag, by which all imported memories can be listed.
fn remember_request(draft: ExternalDraft, format: &str) -> RememberRequest {
    let mut tags = vec![format.to_owned()];
    tags.extend(draft.tags);
    RememberRequest {
        content: draft.content,
        kind: draft.kind,
        name: draft.name,
        description: draft.description,
        tags,
        at: draft.at,
        speaker: draft.speaker,
        role: draft.role,
        metadata: draft.metadata,
        ..RememberRequest::default()
    }
}

/// Returns the stored memory with the content of the new one.
pub(super) fn updated_memory(stored: Memory, new: Memory, now: Timestamp) -> Memory {
    Memory {
        id: stored.id,
        uri: stored.uri,
        importance: stored.importance,
        confidence: stored.confidence,
        weight: stored.weight,
        status: stored.status,
        superseded_by: stored.superseded_by,
        source: stored.source,
        created_at: stored.created_at,
        last_used_at: stored.last_used_at,
        version: stored.version + 1,
        updated_at: now,
        ..new
    }
}

/// Returns the digest of a memory's content when it was last imported.
pub(super) fn imported_digest(memory: &Memory) -> Option<String> {
    Some(memory.metadata.get(IMPORT_KEY)?["said"].as_str()?.to_owned())
}

/// Returns `true` if a memory was edited after its import.
pub(super) fn is_edited(memory: &Memory) -> bool {
    imported_digest(memory) != Some(digest_memory(memory))
}

/// Returns the digest of the source file of a memory without a key.
pub(super) fn unkeyed_source(memory: &Memory) -> Option<&str> {
    let origin = memory.metadata.get(IMPORT_KEY)?;
    origin["source"].as_str().filter(|_| origin["loose"] == Value::Bool(true))
}

/// Computes the digest of a memory's content, without its time: other systems change that without an edit.
fn digest_memory(memory: &Memory) -> String {
    let mut metadata = without_generated_overview(&memory.metadata);
    metadata.remove(IMPORT_KEY);
    let (tags, metadata) = (json!(memory.tags).to_string(), json!(metadata).to_string());
    digest(&[
        memory.kind.as_str(),
        &memory.name,
        &memory.description,
        &memory.content,
        &tags,
        &metadata,
    ])
}

fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new().chain_update(b"everlore/import\0");
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
