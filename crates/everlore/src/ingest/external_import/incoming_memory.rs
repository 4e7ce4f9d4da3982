//! A draft of another system as a memory, and what the memory remembers of where it came from.

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

/// Under this key a memory's metadata tells where it came from.
const IMPORT_KEY: &str = "import";

/// Ids must not depend on when something is imported. This lies before any memory made here, so what was brought along
/// comes before it in lists.
const ID_TIMESTAMP_SECONDS: i64 = 1_577_836_800;

/// A draft that can be stored.
pub(super) struct IncomingMemory {
    pub(super) location: String,
    /// Digest of the file it came from.
    pub(super) source_digest: String,
    /// Whether only its text tells it.
    pub(super) is_unkeyed: bool,
    pub(super) memory: Memory,
    /// Digest of all that it says.
    pub(super) content_digest: String,
    pub(super) masked: usize,
}

impl IncomingMemory {
    /// Checks and masks a draft and makes it a memory.
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
        let is_loose = draft.key.is_none();
        let name_there = draft.key.clone().unwrap_or_else(|| draft.content.clone());
        let (mut place, at) = (draft.location.clone(), draft.at);
        let mut request = remember_request(draft, format);
        let mut masked = 0;
        if !options.keep_secrets {
            masked = request.mask_secrets().len();
            // A place may hold a heading.
            mask_all([&mut place]);
        }
        let mut memory = request.into_memory(scope, now)?;
        let what = [scope.agent(), scope.user(), format, &source, &name_there];
        let ids_at = Timestamp::from_second(ID_TIMESTAMP_SECONDS).unwrap_or(Timestamp::UNIX_EPOCH);
        memory.id = MemoryId::derived(ids_at, &what);
        memory.uri = imported_uri(&memory, format);
        memory.source.via = Origin::Import;
        memory.at = to_millisecond(at.unwrap_or(now));
        let trust = trust_in_text(&memory.content, Trust::Imported);
        memory.metadata.insert(TRUST_KEY.to_owned(), json!(trust.as_str()));
        let said = digest_memory(&memory);
        let origin = json!({
            "format": format, "place": place, "source": source, "said": said, "loose": is_loose,
        });
        memory.metadata.insert(IMPORT_KEY.to_owned(), origin);
        Ok(Self {
            location: place,
            source_digest: source,
            is_unkeyed: is_loose,
            memory,
            content_digest: said,
            masked,
        })
    }

    /// The same under an id that nothing else can have.
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

/// The draft as a request; the format is its first tag, by which all that was imported can be listed.
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
        metadata: draft.metadata,
        ..RememberRequest::default()
    }
}

/// A memory that says what the source says now, and is otherwise the one that it was.
pub(super) fn updated_memory(known: Memory, new: Memory, now: Timestamp) -> Memory {
    Memory {
        id: known.id,
        uri: known.uri,
        importance: known.importance,
        confidence: known.confidence,
        weight: known.weight,
        status: known.status,
        superseded_by: known.superseded_by,
        source: known.source,
        created_at: known.created_at,
        last_used_at: known.last_used_at,
        version: known.version + 1,
        updated_at: now,
        ..new
    }
}

/// What a memory said when it was last imported, as a digest.
pub(super) fn imported_digest(memory: &Memory) -> Option<String> {
    Some(memory.metadata.get(IMPORT_KEY)?["said"].as_str()?.to_owned())
}

/// Whether a memory no longer says what was imported.
pub(super) fn is_edited(memory: &Memory) -> bool {
    imported_digest(memory) != Some(digest_memory(memory))
}

/// The file that a memory without a name came from, as a digest.
pub(super) fn unkeyed_source(memory: &Memory) -> Option<&str> {
    let origin = memory.metadata.get(IMPORT_KEY)?;
    origin["source"].as_str().filter(|_| origin["loose"] == Value::Bool(true))
}

/// A digest of all that a memory says. When it was said is left out: other systems touch that without a change.
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
