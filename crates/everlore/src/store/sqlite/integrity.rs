//! Integrity: reading saved memories back, agreement of rows, index and journal, and rebuilding the index of a scope.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{
    ScopeDb, block_tables,
    index::{self, EntryLocation},
    rows,
    statements::Statements,
    token_vectors,
};
use crate::{
    error::Result,
    store::{
        DocAddress,
        index::{IndexEntry, READ_BACK_TERMS, REINDEX_BATCH},
        seal::SEAL,
    },
    text::terms::TERMS_VERSION,
    types::{Memory, MemoryId, Scope},
};

/// Asks SQLite itself if the file is sound.
pub(super) fn file_problems(db: &Connection) -> Result<Vec<String>> {
    let mut found = db.all("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// Reads memories back and looks them up in the index; `true` for each that is found both ways.
pub(super) fn read_back(db: ScopeDb<'_>, ids: &[MemoryId]) -> Result<Vec<bool>> {
    let read_back = |id: &MemoryId| match rows::by_id(db, *id)? {
        Some(row) => is_indexed(db, &row.memory, row.address),
        None => Ok(false),
    };
    ids.iter().map(read_back).collect()
}

fn is_indexed(db: ScopeDb<'_>, memory: &Memory, address: DocAddress) -> Result<bool> {
    let expected = IndexEntry::from_memory(memory, address);
    match index::find(db, address)? {
        None => Ok(false),
        Some(EntryLocation::Tail(entry)) => Ok(entry.encode() == expected.encode()),
        Some(EntryLocation::Sealed { block, doc }) => {
            for (term, _) in expected.terms.iter().take(READ_BACK_TERMS) {
                if !index::has_term(&db, block, doc, *term)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Compares every row with its index entry and its journal line.
pub(super) fn inconsistencies(db: ScopeDb<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut indexed: BTreeMap<DocAddress, Vec<u8>> = BTreeMap::new();
    for entry in index::entries(db)? {
        let address = entry.record.address;
        if indexed.insert(address, entry.encode()).is_some() {
            problems.push(format!("address {} is indexed twice", address.to_bits()));
        }
    }
    rows::for_each(db, |row| {
        let id = row.memory.id;
        match indexed.remove(&row.address) {
            None => problems.push(format!("memory {id} is not in the index")),
            Some(found) if found != IndexEntry::from_memory(&row.memory, row.address).encode() => {
                problems.push(format!("the index entry of memory {id} does not match its text"));
            }
            Some(_) => {}
        }
        if !is_journaled(db, row.seq, id)? {
            problems.push(format!("memory {id} has no line {} in the journal", row.seq));
        }
        Ok(())
    })?;
    let orphans = token_vectors::orphans(db)?;
    if orphans > 0 {
        problems.push(format!("token vectors of {orphans} deleted texts are still there"));
    }
    let unknown = indexed.keys().map(|address| address.to_bits());
    problems
        .extend(unknown.map(|bits| format!("the index names address {bits}, which has no memory")));
    Ok(problems)
}

fn is_journaled(db: ScopeDb<'_>, seq: i64, id: MemoryId) -> Result<bool> {
    let sql = "SELECT 1 FROM changes WHERE scope = ?1 AND seq = ?2 AND id = ?3";
    db.finds(sql, params![db.id, seq, id.as_bytes()])
}

/// Returns the scopes whose index was built by an older text analysis.
pub(super) fn stale_scopes(db: &Connection) -> Result<Vec<Scope>> {
    let sql = "SELECT agent, user FROM scopes WHERE index_version < ?1";
    let mut names: Vec<(String, String)> = db.all(sql, [TERMS_VERSION], |row| row.try_into())?;
    names.sort_unstable();
    names.iter().map(|(agent, user)| Scope::new(agent, user)).collect()
}

/// Rebuilds the index of a scope and returns how many memories it holds.
pub(super) fn reindex(db: ScopeDb<'_>) -> Result<usize> {
    block_tables::drop_orphans(&db)?;
    index::clear(db)?;
    let (mut batch, mut count) = (Vec::new(), 0);
    rows::for_each(db, |row| {
        batch.push(IndexEntry::from_memory(&row.memory, row.address));
        count += 1;
        if batch.len() == REINDEX_BATCH {
            index::add(db, std::mem::take(&mut batch))?;
        }
        Ok(())
    })?;
    index::add(db, batch)?;
    let sql = "UPDATE scopes SET index_version = ?2 WHERE id = ?1 AND index_version < ?3";
    db.run(sql, (db.id, TERMS_VERSION, SEAL))?;
    Ok(count)
}
