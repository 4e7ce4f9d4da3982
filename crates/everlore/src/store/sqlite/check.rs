//! Whether rows, index and journal agree, and mending the index when they do not.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::{
    failed,
    index::{self, EntryLocation},
    rows, token_vectors,
};
use crate::{
    error::{Error, Result},
    store::{DocAddress, index_entry::IndexEntry},
    types::{Memory, MemoryId, Scope},
};

/// Terms looked up to see whether a sealed memory can be found: its postings were written together, so a few tell.
const VERIFIED_TERMS: usize = 4;

/// Memories indexed at a time when an index is built again: enough for a large block, little enough for RAM.
const REINDEX_BATCH: usize = 4_096;

/// What SQLite itself finds wrong.
pub(super) fn integrity(db: &Connection) -> Result<Vec<String>> {
    let mut statement = db.prepare("PRAGMA integrity_check").map_err(failed)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    let mut found: Vec<_> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// Whether each memory has its row and is found through the index.
pub(super) fn verify(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    ids: &[MemoryId],
) -> Result<Vec<bool>> {
    ids.iter()
        .map(|id| match rows::by_id(db, owner, scope, *id)? {
            Some(stored) => is_indexed(db, scope, &stored.memory, stored.address),
            None => Ok(false),
        })
        .collect()
}

fn is_indexed(db: &Connection, scope: i64, memory: &Memory, place: DocAddress) -> Result<bool> {
    let expected = IndexEntry::from_memory(memory, place);
    match index::locate_entry(db, scope, place)? {
        None => Ok(false),
        Some(EntryLocation::Tail(entry)) => Ok(entry.encode() == expected.encode()),
        Some(EntryLocation::Sealed { block, doc }) => {
            for (term, _) in expected.terms.iter().take(VERIFIED_TERMS) {
                if !index::has_term(db, block, doc, *term)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Compares every row with its index entry and its journal line.
pub(super) fn check(db: &Connection, owner: &Scope, scope: i64) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut indexed: BTreeMap<DocAddress, Vec<u8>> = BTreeMap::new();
    for entry in index::entries(db, scope)? {
        if indexed.insert(entry.record.address, entry.encode()).is_some() {
            problems.push(format!("place {} is indexed twice", entry.record.address.to_bits()));
        }
    }
    rows::for_each(db, owner, scope, |stored| {
        let id = stored.memory.id;
        match indexed.remove(&stored.address) {
            None => problems.push(format!("memory {id} is not in the index")),
            Some(found)
                if found != IndexEntry::from_memory(&stored.memory, stored.address).encode() =>
            {
                problems.push(format!("the index entry of memory {id} is not what its text says"));
            }
            Some(_) => {}
        }
        if !is_journaled(db, scope, stored.seq, id)? {
            problems.push(format!("memory {id} has no line {} in the journal", stored.seq));
        }
        Ok(())
    })?;
    let orphans = token_vectors::orphans(db, scope)?;
    if orphans > 0 {
        problems.push(format!("vectors of words are kept of {orphans} texts that are gone"));
    }
    problems.extend(
        indexed
            .keys()
            .map(|place| format!("the index names place {} that has no memory", place.to_bits())),
    );
    Ok(problems)
}

fn is_journaled(db: &Connection, scope: i64, seq: i64, id: MemoryId) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM changes WHERE scope = ?1 AND seq = ?2 AND id = ?3")
        .and_then(|mut statement| statement.exists(rusqlite::params![scope, seq, id.as_bytes()]))
        .map_err(failed)
}

/// Builds the index of a scope again; returns how many memories it holds.
pub(super) fn reindex(db: &Connection, owner: &Scope, scope: i64) -> Result<usize> {
    index::clear(db, scope)?;
    let (mut batch, mut count) = (Vec::new(), 0);
    rows::for_each(db, owner, scope, |stored| {
        batch.push(IndexEntry::from_memory(&stored.memory, stored.address));
        count += 1;
        if batch.len() == REINDEX_BATCH {
            index::add(db, scope, std::mem::take(&mut batch))?;
        }
        Ok(())
    })?;
    index::add(db, scope, batch)?;
    Ok(count)
}

/// Builds every index again, after the analysis of texts changed.
pub(super) fn reindex_all(db: &Connection) -> Result<()> {
    for owner in rows::scopes(db)? {
        let scope = super::scope_number(db, &owner)?
            .ok_or_else(|| Error::damaged(format!("scope {owner}")))?;
        reindex(db, &owner, scope)?;
    }
    Ok(())
}
