//! Agent notes: files of an agent's memory folder as memories, recalled, journaled and erased like any other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::naming;
use crate::{
    error::{Error, Result},
    files::memory_folder::FileChange,
    store::{MemoryKey, Store},
    sync::BoxFuture,
    text::tiers::refresh_overview,
    types::{
        Actor, Change, ChangeAuthor, Fingerprint, Kind, MAX_NAME_CHARS, Memory, MemoryId,
        MemorySource, Origin, Scope, Status, Timestamp, WriteBatch,
    },
};

/// Retries after a conflict with another writer; each conflict means that one of them succeeded.
const MAX_ATTEMPTS: usize = 1_000;

/// Metadata of a note's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentNote {
    /// Path of the file, beginning with `/memories`.
    pub file: String,
    /// Memories of the file under its earlier paths, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<MemoryId>,
}

/// Returns the note that a memory stands for, if it is one.
pub fn agent_note(memory: &Memory) -> Option<AgentNote> {
    let note: AgentNote = serde_json::from_value(Value::Object(memory.metadata.clone())).ok()?;
    (memory.uri == naming::note_uri(&memory.scope, &note.file)).then_some(note)
}

/// Journals the current and the new content of files, all or none, before the files are changed.
///
/// If a file was changed outside since, its current content is journaled first, so that every text that a tool replaces
/// or removes is in the journal.
pub(crate) fn store_notes<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    changes: &'a [FileChange],
    session: Option<&'a str>,
    author: &'a ChangeAuthor,
    now: Timestamp,
) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        for _ in 0..MAX_ATTEMPTS {
            let caught_up = catch_up_changes(store, scope, changes, session, now).await?;
            let outside =
                WriteBatch::new(scope, Actor::Engine, "a file was changed outside", now, caught_up);
            let stored = match apply(store, outside).await {
                Ok(()) => {
                    let changes = pending_changes(store, scope, changes, session, now).await?;
                    // One command may change many files; a run undoes them together.
                    let run =
                        (changes.len() > 1).then(|| format!("memory-{}", now.as_millisecond()));
                    let reason = author.reason_for("memory");
                    let write = WriteBatch::new(scope, author.actor, reason, now, changes);
                    apply(store, WriteBatch { run, ..write }).await
                }
                conflict => conflict,
            };
            match stored {
                Err(Error::Conflict { .. }) => {}
                stored => return stored,
            }
        }
        Err(Error::Conflict { what: "a file of the memory folder".to_owned() })
    })
}

async fn apply(store: &dyn Store, write: WriteBatch) -> Result<()> {
    if !write.changes.is_empty() {
        store.apply(write).await?;
    }
    Ok(())
}

/// Returns the changes that bring memories up to the files' current content, except for erased texts.
async fn catch_up_changes(
    store: &dyn Store,
    scope: &Scope,
    changes: &[FileChange],
    session: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let current = |change: &'_ FileChange| {
        let text = change.before.clone().filter(|text| !text.trim().is_empty())?;
        Some((change.path.clone(), text))
    };
    let files: Vec<(String, String)> = changes.iter().filter_map(current).collect();
    let existing = find_by_paths(store, scope, files.iter().map(|(path, _)| path)).await?;
    let texts: Vec<_> = files.iter().map(|(_, text)| Fingerprint::of(text)).collect();
    let erased = store.memories().are_erased(scope, &texts).await?;
    let mut missing = Vec::new();
    for (((path, text), existing), erased) in files.iter().zip(existing).zip(erased) {
        let is_stored = existing.as_ref().is_some_and(|existing| existing.content == *text);
        if !is_stored && !erased {
            let new = || new_note(scope, path, text, session, now);
            missing.push(add_or_update(existing, new, text, now));
        }
    }
    Ok(missing)
}

/// Returns the changes that bring memories to the files' new content; a blank file has no memory.
async fn pending_changes(
    store: &dyn Store,
    scope: &Scope,
    changes: &[FileChange],
    session: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Change>> {
    let existing = find_by_paths(store, scope, changes.iter().map(|it| &it.path)).await?;
    let old_paths = changes.iter().filter_map(|change| change.moved_from.as_ref());
    let mut moved = find_by_paths(store, scope, old_paths).await?.into_iter();
    let mut pending = Vec::new();
    for (FileChange { path, after, moved_from, .. }, existing) in changes.iter().zip(existing) {
        let earlier = moved_from.as_ref().and_then(|_| moved.next().flatten());
        let earlier = id_history(earlier);
        match after.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                let new = || with_id_history(new_note(scope, path, text, session, now), &earlier);
                pending.push(add_or_update(existing, new, text, now));
            }
            None => pending.extend(existing.map(|existing| Change::Delete(existing.id))),
        }
    }
    Ok(pending)
}

/// Finds the memories of the files at these paths, in this order.
async fn find_by_paths(
    store: &dyn Store,
    scope: &Scope,
    paths: impl Iterator<Item = &String>,
) -> Result<Vec<Option<Memory>>> {
    let keys: Vec<_> = paths.map(|path| MemoryKey::Uri(naming::note_uri(scope, path))).collect();
    let found = store.memories().find(scope, &keys, 1).await?;
    Ok(found.into_iter().map(|mut found| found.pop()).collect())
}

/// Finds the memory of the file at a path, which begins with `/memories`.
pub(crate) async fn find_note(
    store: &dyn Store,
    scope: &Scope,
    path: &str,
) -> Result<Option<Memory>> {
    store.memories().find_one(scope, MemoryKey::Uri(naming::note_uri(scope, path))).await
}

/// Returns the ids of a note so far, the current one first.
fn id_history(memory: Option<Memory>) -> Vec<MemoryId> {
    let Some(memory) = memory else { return Vec::new() };
    let earlier = agent_note(&memory).map(|note| note.earlier).unwrap_or_default();
    std::iter::once(memory.id).chain(earlier).collect()
}

fn with_id_history(mut memory: Memory, earlier: &[MemoryId]) -> Memory {
    let ids: Vec<Value> = earlier.iter().map(|id| id.to_string().into()).collect();
    if !ids.is_empty() {
        memory.metadata.insert("earlier".to_owned(), ids.into());
    }
    memory
}

fn add_or_update(
    existing: Option<Memory>,
    new: impl FnOnce() -> Memory,
    text: &str,
    now: Timestamp,
) -> Change {
    let Some(mut memory) = existing else {
        let mut memory = new();
        refresh_overview(&mut memory);
        return Change::Add(Box::new(memory));
    };
    text.clone_into(&mut memory.content);
    (memory.status, memory.superseded_by) = (Status::Active, None);
    (memory.at, memory.updated_at, memory.version) = (now, now, memory.version + 1);
    refresh_overview(&mut memory);
    Change::Update(Box::new(memory))
}

fn new_note(
    scope: &Scope,
    path: &str,
    text: &str,
    session: Option<&str>,
    now: Timestamp,
) -> Memory {
    let source = MemorySource {
        via: Origin::Remember,
        session: session.map(str::to_owned),
        speaker: None,
        role: None,
        turns: Vec::new(),
    };
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = if path.chars().count() <= MAX_NAME_CHARS { path } else { file };
    let metadata = [("file".to_owned(), path.into())].into_iter().collect();
    Memory {
        uri: naming::note_uri(scope, path),
        name: name.chars().take(MAX_NAME_CHARS).collect(),
        tags: vec!["memories".to_owned()],
        metadata,
        ..Memory::with_content(scope, Kind::Knowledge, text.to_owned(), source, now, now)
    }
}
