//! Saves of statements: stored or renewed once, and in the same write whatever cannot hold beside it (`rivals.rs`) is
//! superseded.

use jiff::SignedDuration;

use super::{
    commit::{SaveDeps, commit, new_run},
    naming,
    reconcile::supersede_change,
    request::RememberRequest,
    rivals::{self, Rivals},
    saved::{DoubtedMemory, SavedMemory, SupersededMemory, UndoRun},
};
use crate::{
    error::{Error, Result},
    store::{MemoryKey, Store},
    sync::BoxFuture,
    types::{
        CHECK_KEY, Change, ChangeAuthor, MAY_REPLACE_KEY, Memory, MemoryId, Scope, Status,
        Timestamp, Trust, VALID_UNTIL_KEY,
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

/// Stores a statement, or renews an equal one, and supersedes what cannot hold beside it.
pub(crate) fn remember<'a>(
    deps: SaveDeps<'a>,
    scope: &'a Scope,
    mut request: RememberRequest,
) -> BoxFuture<'a, Result<SavedMemory>> {
    let SaveDeps { store, author, now, .. } = deps;
    Box::pin(async move {
        let replaced = request.replaces.take();
        let mut memory = request.into_memory(scope, now)?;
        for attempt in 1..=MAX_ATTEMPTS {
            let seen = if rivals::may_have_rivals(&memory) {
                Some(store.journal().newest_seq(scope).await?)
            } else {
                None
            };
            let StatementPlan { changes, rivals } = plan_statement(deps, &memory, replaced).await?;
            let others = rivals.superseded.len();
            let run = author.run.clone().or_else(|| new_run("remember", others, now));
            let author = ChangeAuthor { run: run.clone(), ..author.clone() };
            let deps = SaveDeps { author: &author, ..deps };
            match commit(deps, scope, "remember", changes, seen).await {
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
                Ok(mut saved) => return Ok(with_rivals(saved.remove(0), &rivals, run)),
            }
        }
        Err(Error::Conflict { what: format!("`{}`", memory.uri) })
    })
}

/// Changes that store a statement, its own first, and the memories that it affects.
struct StatementPlan {
    changes: Vec<Change>,
    rivals: Rivals,
}

/// Plans the changes that store a statement.
async fn plan_statement(
    SaveDeps { store, judge, now, .. }: SaveDeps<'_>,
    memory: &Memory,
    replaced: Option<MemoryId>,
) -> Result<StatementPlan> {
    let known = find_same_memory(store, memory).await?;
    let mut is_known = known.is_some();
    let mut statement = known.map_or_else(|| memory.clone(), |it| renewed(it, memory, now));
    // A statement that is made again holds from now on.
    let at = memory.at.max(statement.at);
    let compared_at = if memory.at >= now { at + SAVE_SKEW } else { at };
    let said = Memory { at: compared_at, ..statement.clone() };
    // Whoever names what is replaced leaves nothing to doubt.
    let judge = judge.filter(|_| replaced.is_none());
    let mut rivals = rivals::find_rivals(store, judge, &said, said.trust()).await?;
    if let Some(known) = rivals.restated.take_if(|_| !is_known && replaced.is_none()) {
        (statement, is_known) = (renewed(known, memory, now), true);
    }
    if let Some(id) = replaced {
        rivals.superseded.retain(|rival| rival.id != id);
        rivals.superseded.push(replaced_memory(store, &statement, id).await?);
        rivals.doubted = None;
    }
    note_doubted(&mut statement, rivals.doubted.as_ref());
    let (id, statement) = (statement.id, Box::new(statement));
    let mut changes =
        vec![if is_known { Change::Update(statement) } else { Change::Add(statement) }];
    for rival in &rivals.superseded {
        let rival = with_evidence(store, rival.clone()).await?;
        changes.push(supersede_change(&rival, Some(id), at.max(rival.at), now));
    }
    Ok(StatementPlan { changes, rivals })
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

/// Notes in a statement's metadata which older one it may replace, in place of an earlier note.
pub(super) fn note_doubted(statement: &mut Memory, doubted: Option<&Memory>) {
    statement.metadata.remove(MAY_REPLACE_KEY);
    if let Some(older) = doubted {
        statement.metadata.insert(MAY_REPLACE_KEY.to_owned(), older.id.to_string().into());
    }
}

fn with_rivals(saved: SavedMemory, rivals: &Rivals, run: Option<String>) -> SavedMemory {
    let doubted = rivals.doubted.as_ref();
    let may_replace =
        doubted.map(|older| DoubtedMemory { id: older.id, content: older.content.clone() });
    let older = rivals.superseded.iter();
    let superseded: Vec<_> = older.map(|older| SupersededMemory::new(older, saved.id)).collect();
    let undo = run.filter(|_| !superseded.is_empty()).map(|run| UndoRun { run });
    SavedMemory { superseded, may_replace, undo, ..saved }
}

/// Supersedes the rivals of memories that were stored just now, under the run that stored them. They have at least the
/// trust `trust`. Two of these with the same time leave each other alone: their order says nothing.
pub(crate) fn supersede_rivals<'a>(
    deps: SaveDeps<'a>,
    scope: &'a Scope,
    stored: &'a [MemoryId],
    trust: Trust,
) -> BoxFuture<'a, Result<Vec<SupersededMemory>>> {
    let SaveDeps { store, judge, now, .. } = deps;
    Box::pin(async move {
        let mut superseded = Vec::new();
        for id in stored {
            let memory = store.memories().get(scope, &[*id]).await?.pop().flatten();
            let Some(memory) = memory.filter(|memory| memory.status == Status::Active) else {
                continue;
            };
            let trust = memory.trust().max(trust);
            let mut older = rivals::find_rivals(store, judge, &memory, trust).await?.superseded;
            older.retain(|rival| rival.at < memory.at || !stored.contains(&rival.id));
            let mut changes = Vec::new();
            for rival in &older {
                let rival = with_evidence(store, rival.clone()).await?;
                changes.push(supersede_change(&rival, Some(memory.id), memory.at, now));
            }
            if !changes.is_empty() {
                commit(deps, scope, "supersede", changes, None).await?;
            }
            superseded.extend(older.iter().map(|older| SupersededMemory::new(older, memory.id)));
        }
        Ok(superseded)
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
