//! Commits of turns and statements: stored once, and acknowledged only after reading them back.

use serde::Serialize;

use super::{
    naming,
    request::{RememberRequest, Turn},
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store},
    sync::BoxFuture,
    text::secrets::SecretKind,
    types::{
        CHECK_KEY, Change, ChangeAuthor, Kind, Memory, MemoryId, Scope, Status, Timestamp,
        WriteBatch,
    },
};

/// Retries of a save after a conflict with a concurrent save of the same statement. Each conflict means that one of
/// them succeeded, so this exceeds any real concurrency.
const MAX_ATTEMPTS: u32 = 1_000;

/// Stored memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SavedMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Uri of the memory.
    pub uri: String,
    /// Kind of the memory.
    pub kind: Kind,
    /// Status of the memory.
    pub status: Status,
    /// Proof that it is stored.
    pub receipt: SaveReceipt,
    /// Secrets masked before anything was written, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub masked: Vec<SecretKind>,
}

/// Receipt of a save: durable, with row and index entry read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SaveReceipt {
    /// Sequence number of the change in the journal.
    pub seq: u64,
    /// Time of the save.
    pub at: Timestamp,
    /// Set when the same statement existed and only its time was renewed.
    pub known: bool,
    /// Set when it was read back and found through the index. A save that cannot be verified is an error instead.
    pub verified: bool,
}

/// Stores a statement, or renews an equal one.
pub(crate) fn remember<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    request: RememberRequest,
    author: &'a ChangeAuthor,
    now: Timestamp,
) -> BoxFuture<'a, Result<SavedMemory>> {
    Box::pin(async move {
        let mut memory = request.into_memory(scope, now)?;
        for attempt in 1..=MAX_ATTEMPTS {
            let change = match find_same_memory(store, &memory).await? {
                Some(existing) => Change::Update(Box::new(renewed(existing, &memory, now))),
                None => Change::Add(Box::new(memory.clone())),
            };
            match commit(store, scope, "remember", vec![change], author, now).await {
                Err(Error::Conflict { .. }) if attempt < MAX_ATTEMPTS => {
                    // A memory with other content took the uri, or the same was saved concurrently.
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
    })
}

/// Stores turns verbatim, all or none.
pub(crate) fn observe<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    turns: Vec<Turn>,
    author: &'a ChangeAuthor,
    now: Timestamp,
) -> BoxFuture<'a, Result<Vec<SavedMemory>>> {
    Box::pin(async move {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let changes =
            turns.into_iter().map(|turn| Ok(Change::Add(Box::new(turn.into_memory(scope, now)?))));
        commit(store, scope, "observe", changes.collect::<Result<_>>()?, author, now).await
    })
}

/// Finds the memory with the same text and either the same uri, whatever its name, or the same kind and name.
async fn find_same_memory(store: &dyn Store, memory: &Memory) -> Result<Option<Memory>> {
    // Memories that share one text differ by their names, which few callers give.
    let key = MemoryKey::Text(memory.fingerprint());
    let equal_texts = store.memories().find(&memory.scope, &[key], 100).await?;
    let is_same = |other: &Memory| {
        other.uri == memory.uri || (other.kind, &other.name) == (memory.kind, &memory.name)
    };
    Ok(equal_texts.into_iter().flatten().find(is_same))
}

/// Renews a memory that was stated again; a check of the new statement replaces its own.
fn renewed(mut memory: Memory, again: &Memory, now: Timestamp) -> Memory {
    if again.check().is_some() {
        let check = again.metadata.get(CHECK_KEY).cloned();
        memory.metadata.extend(check.map(|check| (CHECK_KEY.to_owned(), check)));
    }
    memory.updated_at = now;
    memory.status = Status::Active;
    memory.superseded_by = None;
    memory.version += 1;
    memory
}

/// Applies additions and updates, and reads them back.
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
    let verified = store.memories().read_back(scope, &ids).await?;
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
