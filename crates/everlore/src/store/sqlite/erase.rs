//! Erasure: nothing of what a memory ever said stays in the file.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::{
    failed, index, journal::decode_image, quarantine, rows, rows::MemoryRow, vector_cache,
};
use crate::{
    error::Result,
    store::{DocAddress, index_entry::IndexEntry},
    types::{ErasureReceipt, Fingerprint, Memory, MemoryId},
};

/// Removes the row (if there still is one), what the index ever had at its place and every image of it in the journal,
/// whose newest line is `seq`, and leaves a tombstone for each text it ever had.
pub(super) fn erase(
    db: &Connection,
    scope: i64,
    id: MemoryId,
    (place, seq): (DocAddress, i64),
    stored: Option<MemoryRow>,
) -> Result<ErasureReceipt> {
    let mut erased = ErasureReceipt::default();
    let mut texts = BTreeSet::new();
    if let Some(MemoryRow { memory, .. }) = stored {
        texts.insert(memory.fingerprint());
        rows::delete(db, scope, place)?;
        erased.rows = 1;
        erased.index_terms = IndexEntry::from_memory(&memory, place).terms.len();
    }
    erased.vectors = index::erase(db, scope, place)?;
    erased.journal_images = scrub_journal(db, scope, seq, &mut texts)?;
    erased.tombstones = texts.len();
    erased.drafts = quarantine::remove_derived(db, scope, id, &texts)?;
    erased.cached_vectors = add_tombstones(db, scope, texts)?;
    Ok(erased)
}

/// Whether each of these texts was erased.
pub(super) fn are_erased(db: &Connection, scope: i64, texts: &[Fingerprint]) -> Result<Vec<bool>> {
    let mut statement = db
        .prepare_cached("SELECT 1 FROM tombstones WHERE scope = ?1 AND text = ?2")
        .map_err(failed)?;
    texts
        .iter()
        .map(|text| statement.exists(params![scope, text.as_bytes()]).map_err(failed))
        .collect()
}

/// Leaves a tombstone for each text and returns how many vectors were kept of them.
pub(super) fn add_tombstones(
    db: &Connection,
    scope: i64,
    texts: impl IntoIterator<Item = Fingerprint>,
) -> Result<usize> {
    let texts: Vec<_> = texts.into_iter().collect();
    for text in &texts {
        db.execute(
            "INSERT OR IGNORE INTO tombstones VALUES (?1, ?2)",
            params![scope, text.as_bytes()],
        )
        .map_err(failed)?;
    }
    vector_cache::remove_texts(db, scope, &texts)
}

/// Every erased text.
pub(super) fn tombstones(db: &Connection, scope: i64) -> Result<Vec<Fingerprint>> {
    let mut statement = db
        .prepare_cached("SELECT text FROM tombstones WHERE scope = ?1 ORDER BY text")
        .map_err(failed)?;
    let rows = statement
        .query_map([scope], |row| row.get(0).map(Fingerprint::from_bytes))
        .map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Walks the memory's lines from the newest and empties their images; collects what they said.
fn scrub_journal(
    db: &Connection,
    scope: i64,
    seq: i64,
    texts: &mut BTreeSet<Fingerprint>,
) -> Result<usize> {
    let mut select = db
        .prepare("SELECT prev, before FROM changes WHERE scope = ?1 AND seq = ?2")
        .map_err(failed)?;
    let mut update = db
        .prepare("UPDATE changes SET before = NULL WHERE scope = ?1 AND seq = ?2")
        .map_err(failed)?;
    let (mut next, mut images) = (Some(seq), 0);
    while let Some(seq) = next {
        let (prev, before) =
            select.query_row((scope, seq), |row| row.try_into()).map_err(failed)?;
        let before: Option<Memory> = decode_image(before)?;
        if let Some(before) = before {
            texts.insert(before.fingerprint());
            update.execute((scope, seq)).map_err(failed)?;
            images += 1;
        }
        next = prev;
    }
    Ok(images)
}
