//! Copy of the changes of a scope into another store, in their order, from a journal line on.

use crate::{
    error::Result,
    ingest::{ReplaySource, replay_journal},
    store::{JournalQuery, Store},
    types::{Actor, Change, ChangeOp, JournalEntry, MemoryId, Scope, Timestamp, WriteBatch},
};

/// Lines of a page: a copy that was interrupted repeats at most so many.
pub(super) const PAGE: u64 = 512;

/// Reads the lines after `done`, up to `newest`, at most a page.
pub(super) async fn next_page(
    from: &dyn Store,
    scope: &Scope,
    done: u64,
    newest: u64,
) -> Result<Vec<JournalEntry>> {
    let end = newest.min(done + PAGE);
    let limit = Some((end - done) as usize);
    let query = JournalQuery { before: Some(end + 1), limit, ..JournalQuery::default() };
    let mut entries = from.journal().entries(scope, &query).await?;
    entries.reverse();
    Ok(entries)
}

/// Repeats lines in another store. An erasure has no text that could be repeated: what the store has of the memory is
/// erased there too.
pub(super) async fn copy_lines(
    to: &dyn Store,
    scope: &Scope,
    entries: Vec<JournalEntry>,
    source: ReplaySource,
    now: Timestamp,
) -> Result<()> {
    let mut lines = Vec::new();
    for entry in entries {
        if entry.op != ChangeOp::Erase {
            lines.push(entry);
            continue;
        }
        replay_journal(to, scope, std::mem::take(&mut lines), source, now).await?;
        erase(to, scope, &entry).await?;
    }
    replay_journal(to, scope, lines, source, now).await
}

async fn erase(to: &dyn Store, scope: &Scope, entry: &JournalEntry) -> Result<()> {
    if !has_traces(to, scope, entry.id).await? {
        return Ok(());
    }
    let changes = vec![Change::Erase(entry.id)];
    let write = WriteBatch::new(scope, entry.actor, entry.cause.clone(), entry.at, changes);
    to.apply(WriteBatch { run: entry.run.clone(), ..write }).await.map(drop)
}

/// Returns `true` if a memory is or was there and has not been erased.
async fn has_traces(to: &dyn Store, scope: &Scope, id: MemoryId) -> Result<bool> {
    let newest = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
    let found = to.journal().entries(scope, &newest).await?;
    Ok(found.first().is_some_and(|entry| entry.op != ChangeOp::Erase))
}

/// Copies the digests of erased texts, some of which have no line in the journal.
pub(super) async fn copy_tombstones(
    from: &dyn Store,
    to: &dyn Store,
    scope: &Scope,
    now: Timestamp,
) -> Result<()> {
    let mut missing = from.memories().tombstones(scope).await?;
    let known = to.memories().tombstones(scope).await?;
    missing.retain(|text| !known.contains(text));
    if missing.is_empty() {
        return Ok(());
    }
    let write = WriteBatch::new(scope, Actor::Engine, "move", now, Vec::new());
    to.apply(WriteBatch { erased_texts: missing, ..write }).await.map(drop)
}
