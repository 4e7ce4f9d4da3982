//! Storing what was told, once, and answering only after it was read back.

use serde::Serialize;

use super::{
    naming,
    request::{RememberRequest, Turn},
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store},
    text::secrets::SecretKind,
    types::{
        CHECK_KEY, Change, ChangeAuthor, Kind, Memory, MemoryId, Scope, Status, Timestamp,
        WriteBatch,
    },
};

/// How often a save starts over because someone else saved the same at the same moment. Each new beginning means that one
/// of them got through, so this is more than there can be at once.
const MAX_ATTEMPTS: u32 = 1_000;

/// What was stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SavedMemory {
    /// The memory's id.
    pub id: MemoryId,
    /// Its uri.
    pub uri: String,
    /// Its kind.
    pub kind: Kind,
    /// Its status.
    pub status: Status,
    /// The proof that it is there.
    pub receipt: SaveReceipt,
    /// Secrets that were masked before anything was written, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub masked: Vec<SecretKind>,
}

/// The proof of a save: it is durable, and both its row and its index entry were read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SaveReceipt {
    /// The journal's number of the save.
    pub seq: u64,
    /// When it was saved.
    pub at: Timestamp,
    /// Whether the same was known already, so that only its time was renewed.
    pub known: bool,
    /// Whether it was read back and found through the index. A save that cannot be verified is an error instead.
    pub verified: bool,
}

/// Stores a statement, or renews it if the same is known.
pub async fn remember(
    store: &dyn Store,
    scope: &Scope,
    request: RememberRequest,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<SavedMemory> {
    let mut memory = request.into_memory(scope, now)?;
    for attempt in 1..=MAX_ATTEMPTS {
        let change = match find_same_memory(store, &memory).await? {
            Some(known) => Change::Update(Box::new(renewed(known, &memory, now))),
            None => Change::Add(Box::new(memory.clone())),
        };
        match commit(store, scope, "remember", vec![change], author, now).await {
            Err(Error::Conflict { .. }) if attempt < MAX_ATTEMPTS => {
                // The uri is taken by a memory that says something else by now, or someone saved the same just now.
                let category = memory.tags.first().map(String::as_str);
                memory.uri = naming::memory_uri(
                    scope,
                    memory.kind,
                    category,
                    &memory.name,
                    memory.fingerprint(),
                    attempt,
                );
            }
            Err(error) => return Err(error),
            Ok(mut saved) => return Ok(saved.remove(0)),
        }
    }
    Err(Error::Conflict { what: format!("`{}`", memory.uri) })
}

/// Stores what was said, word for word, all or nothing.
pub async fn observe(
    store: &dyn Store,
    scope: &Scope,
    turns: Vec<Turn>,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Vec<SavedMemory>> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    let changes =
        turns.into_iter().map(|turn| Ok(Change::Add(Box::new(turn.into_memory(scope, now)?))));
    commit(store, scope, "observe", changes.collect::<Result<_>>()?, author, now).await
}

/// The memory that says the same under the same uri, whatever it was renamed to, or under the same name.
async fn find_same_memory(store: &dyn Store, memory: &Memory) -> Result<Option<Memory>> {
    // More than a few memories with one text are told apart by their names, which few callers give.
    let same = store.find(&memory.scope, &MemoryKey::Text(memory.fingerprint()), 100).await?;
    let is_same = |other: &Memory| {
        other.uri == memory.uri || (other.kind, &other.name) == (memory.kind, &memory.name)
    };
    Ok(same.into_iter().find(is_same))
}

/// The memory that is known, said again; a check that comes with it takes the place of its own.
fn renewed(mut known: Memory, again: &Memory, now: Timestamp) -> Memory {
    if again.check().is_some() {
        let check = again.metadata.get(CHECK_KEY).cloned();
        known.metadata.extend(check.map(|check| (CHECK_KEY.to_owned(), check)));
    }
    known.updated_at = now;
    known.status = Status::Active;
    known.superseded_by = None;
    known.version += 1;
    known
}

/// Applies additions and updates and reads them back.
async fn commit(
    store: &dyn Store,
    scope: &Scope,
    what: &str,
    changes: Vec<Change>,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Vec<SavedMemory>> {
    let named: Vec<_> = changes
        .iter()
        .filter_map(written_memory)
        .map(|(memory, known)| (memory.id, memory.uri.clone(), memory.kind, memory.status, known))
        .collect();
    let write = WriteBatch::new(scope, author.actor, author.reason_for(what), now, changes);
    let write = WriteBatch { run: author.run.clone(), ..write };
    let applied = store.apply(write).await?;
    let ids: Vec<_> = applied.iter().map(|applied| applied.id).collect();
    let verified = store.verify(scope, &ids).await?;
    if let Some((_, id)) = verified.iter().zip(&ids).find(|(verified, _)| !**verified) {
        return Err(Error::damaged(format!("memory `{id}` was stored but cannot be read back")));
    }
    let saved = |((id, uri, kind, status, known), applied): (_, &crate::types::AppliedChange)| {
        SavedMemory {
            id,
            uri,
            kind,
            status,
            receipt: SaveReceipt { seq: applied.seq, at: now, known, verified: true },
            masked: Vec::new(),
        }
    };
    Ok(named.into_iter().zip(&applied).map(saved).collect())
}

fn written_memory(change: &Change) -> Option<(&Memory, bool)> {
    match change {
        Change::Add(memory) => Some((memory, false)),
        Change::Update(memory) => Some((memory, true)),
        Change::Delete(_) | Change::Erase(_) => None,
    }
}
