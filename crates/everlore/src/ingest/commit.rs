//! Commits of turns and statements: stored once, and acknowledged only after reading them back. A statement supersedes
//! its rivals (`rivals.rs`) in the same write.

use jiff::SignedDuration;
use serde::Serialize;

use super::{
    naming,
    reconcile::supersede_change,
    request::{RememberRequest, Turn},
    rivals,
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store},
    sync::BoxFuture,
    text::secrets::SecretKind,
    types::{
        CHECK_KEY, Change, ChangeAuthor, Kind, Memory, MemoryId, SINGLE_WRITE_RUN, Scope, Status,
        Timestamp, Trust, VALID_UNTIL_KEY, WriteBatch,
    },
};

/// Retries of a save after a conflict with a concurrent save of the same statement. Each conflict means that one of
/// them succeeded, so this exceeds any real concurrency.
const MAX_ATTEMPTS: u32 = 1_000;

/// Most time between the beginning of two saves of which the later one is stored first: what is stored counts as said
/// before what is being saved.
const SAVE_SKEW: SignedDuration = SignedDuration::from_mins(1);

/// Weight of a memory that starts anew.
const FRESH_WEIGHT: f64 = 1.0;

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
    /// Older memories that it superseded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SupersededMemory>,
    /// Run that undoes the save with all that it superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<UndoRun>,
}

/// Memory that a newer one superseded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SupersededMemory {
    /// Id of the memory.
    pub id: MemoryId,
    /// Its text.
    pub content: String,
    /// Memory that took its place.
    pub by: MemoryId,
}

impl SupersededMemory {
    /// Describes a memory that was superseded by another.
    pub fn new(older: &Memory, by: MemoryId) -> Self {
        Self { id: older.id, content: older.content.clone(), by }
    }
}

/// Run of the journal that can be undone: `everlore memory undo --run RUN`, or the body of `POST /v1/undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UndoRun {
    /// Name of the run.
    pub run: String,
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

/// Stores a statement, or renews an equal one, and supersedes what cannot hold beside it.
pub(crate) fn remember<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    mut request: RememberRequest,
    author: &'a ChangeAuthor,
    now: Timestamp,
) -> BoxFuture<'a, Result<SavedMemory>> {
    Box::pin(async move {
        let replaced = request.replaces.take();
        let mut memory = request.into_memory(scope, now)?;
        for attempt in 1..=MAX_ATTEMPTS {
            let seen = match rivals::may_have_rivals(&memory) {
                true => Some(store.journal().newest_seq(scope).await?),
                false => None,
            };
            let (changes, older) = plan_statement(store, &memory, replaced, now).await?;
            let run = author.run.clone().or_else(|| new_run("remember", older.len(), now));
            let author = ChangeAuthor { run: run.clone(), ..author.clone() };
            match commit(store, scope, "remember", changes, seen, &author, now).await {
                // Another write came in between: what it stored may be a rival.
                Err(Error::Conflict { .. })
                    if attempt < MAX_ATTEMPTS && has_moved(store, scope, seen).await? => {}
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
                Ok(mut saved) => return Ok(with_superseded(saved.remove(0), &older, run)),
            }
        }
        Err(Error::Conflict { what: format!("`{}`", memory.uri) })
    })
}

/// Returns the changes that store a statement, its own first, and the memories that it supersedes.
async fn plan_statement(
    store: &dyn Store,
    memory: &Memory,
    replaced: Option<MemoryId>,
    now: Timestamp,
) -> Result<(Vec<Change>, Vec<Memory>)> {
    let (statement, change) = match find_same_memory(store, memory).await? {
        Some(existing) => {
            let renewed = renewed(existing, memory, now);
            (renewed.clone(), Change::Update(Box::new(renewed)))
        }
        None => (memory.clone(), Change::Add(Box::new(memory.clone()))),
    };
    // A statement that is made again holds from now on.
    let at = memory.at.max(statement.at);
    let compared_at = if memory.at >= now { at + SAVE_SKEW } else { at };
    let said = Memory { at: compared_at, ..statement.clone() };
    let mut older = rivals::find_rivals(store, &said, said.trust()).await?;
    if let Some(id) = replaced {
        older.retain(|rival| rival.id != id);
        older.push(replaced_memory(store, &statement, id).await?);
    }
    let mut changes = vec![change];
    for rival in &older {
        let rival = with_evidence(store, rival.clone()).await?;
        changes.push(supersede_change(&rival, Some(statement.id), at.max(rival.at), now));
    }
    Ok((changes, older))
}

/// Returns `true` if the journal has lines that a plan did not see.
async fn has_moved(store: &dyn Store, scope: &Scope, seen: Option<u64>) -> Result<bool> {
    let Some(seen) = seen else { return Ok(false) };
    Ok(store.journal().newest_seq(scope).await? != seen)
}

async fn replaced_memory(store: &dyn Store, by: &Memory, id: MemoryId) -> Result<Memory> {
    if by.id == id {
        return Err(Error::invalid(
            "a memory cannot replace itself",
            "name the older memory that it replaces",
        ));
    }
    let older = store.memories().get(&by.scope, &[id]).await?.pop().flatten();
    older.ok_or_else(|| Error::not_found("memory", id))
}

/// Returns a memory with the turns that it may have been drawn from, so that recall marks them too.
async fn with_evidence(store: &dyn Store, mut memory: Memory) -> Result<Memory> {
    if memory.source.turns.is_empty() {
        memory.source.turns = rivals::turns_that_say(store, &memory).await?;
    }
    Ok(memory)
}

fn with_superseded(saved: SavedMemory, older: &[Memory], run: Option<String>) -> SavedMemory {
    if older.is_empty() {
        return saved;
    }
    let superseded = older.iter().map(|older| SupersededMemory::new(older, saved.id)).collect();
    SavedMemory { superseded, undo: run.map(|run| UndoRun { run }), ..saved }
}

/// Names a run if a write has more than its own change.
fn new_run(what: &str, others: usize, now: Timestamp) -> Option<String> {
    (others > 0).then(|| run_name(what, now))
}

/// Names a run by its operation and its time; the end of an id tells it from others of the same moment.
pub(crate) fn run_name(what: &str, now: Timestamp) -> String {
    let id = MemoryId::new(now);
    let [.., a, b] = *id.as_bytes();
    format!("{what}-{}{:05}", now.as_millisecond(), u16::from_be_bytes([a, b]))
}

/// Supersedes the rivals of memories that were stored just now, under the run that stored them. They have at least the
/// trust `trust`. Two of these with the same time leave each other alone: their order says nothing.
pub(crate) fn supersede_rivals<'a>(
    store: &'a dyn Store,
    scope: &'a Scope,
    stored: &'a [MemoryId],
    trust: Trust,
    author: &'a ChangeAuthor,
    now: Timestamp,
) -> BoxFuture<'a, Result<Vec<SupersededMemory>>> {
    Box::pin(async move {
        let mut superseded = Vec::new();
        for id in stored {
            let memory = store.memories().get(scope, &[*id]).await?.pop().flatten();
            let Some(memory) = memory.filter(|memory| memory.status == Status::Active) else {
                continue;
            };
            let trust = memory.trust().max(trust);
            let mut older = rivals::find_rivals(store, &memory, trust).await?;
            older.retain(|rival| rival.at < memory.at || !stored.contains(&rival.id));
            let mut changes = Vec::new();
            for rival in &older {
                let rival = with_evidence(store, rival.clone()).await?;
                changes.push(supersede_change(&rival, Some(memory.id), memory.at, now));
            }
            if !changes.is_empty() {
                commit(store, scope, "supersede", changes, None, author, now).await?;
            }
            superseded.extend(older.iter().map(|older| SupersededMemory::new(older, memory.id)));
        }
        Ok(superseded)
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
        commit(store, scope, "observe", changes.collect::<Result<_>>()?, None, author, now).await
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
    revive(&mut memory, now);
    memory.version += 1;
    memory
}

/// Makes a memory active again: its successor, an end that has passed and a weight that would archive it are gone.
pub(super) fn revive(memory: &mut Memory, now: Timestamp) {
    memory.superseded_by = None;
    if memory.status == Status::Active {
        return;
    }
    memory.status = Status::Active;
    if memory.has_expired(now) {
        memory.metadata.remove(VALID_UNTIL_KEY);
    }
    if memory.has_expired(now) {
        memory.metadata.remove(CHECK_KEY);
    }
    if !memory.is_pinned() {
        memory.weight = memory.weight.max(FRESH_WEIGHT);
    }
}

/// Applies additions and updates, and reads them back. `planned_after` as in [`WriteBatch`].
async fn commit(
    store: &dyn Store,
    scope: &Scope,
    what: &str,
    changes: Vec<Change>,
    planned_after: Option<u64>,
    author: &ChangeAuthor,
    now: Timestamp,
) -> Result<Vec<SavedMemory>> {
    let named: Vec<_> = changes
        .iter()
        .filter_map(written_memory)
        .map(|(memory, known)| (memory.id, memory.uri.clone(), memory.kind, memory.status, known))
        .collect();
    let run = author.run.clone().or_else(|| new_run(what, changes.len() - 1, now));
    let write = WriteBatch::new(scope, author.actor, author.reason_for(what), now, changes);
    let is_single = run.as_ref().is_some_and(|run| run.starts_with(SINGLE_WRITE_RUN));
    let applied = store.apply(WriteBatch { run, is_single, planned_after, ..write }).await?;
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
            superseded: Vec::new(),
            undo: None,
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
