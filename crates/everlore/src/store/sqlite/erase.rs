//! Erasure in the file: index, journal images, drafts, caches and usage of a memory, and tombstones for its texts.

use rusqlite::params;

use super::{
    ScopeDb, index, quarantine, statements::Statements, token_vectors, usage, vector_cache,
};
use crate::{
    error::Result,
    store::plan::{Erasure, JournalImage},
    store::row::decode_image,
    types::{ErasureReceipt, Fingerprint},
};

/// Removes the traces of a memory beyond its row and adds to the receipt what they were.
pub(super) fn execute(
    db: ScopeDb<'_>,
    erasure: &Erasure,
    receipt: &mut ErasureReceipt,
) -> Result<()> {
    let Erasure { id, address, cleared_lines, texts, .. } = erasure;
    receipt.vectors += index::erase(db, *address)?;
    receipt.vectors += token_vectors::remove(db, *address)?;
    for seq in cleared_lines {
        db.run("UPDATE changes SET before = NULL WHERE scope = ?1 AND seq = ?2", (db.id, seq))?;
    }
    receipt.drafts = quarantine::forget(db, *id, texts)?;
    receipt.cached_vectors = bury(db, texts)?;
    receipt.usage_lines = usage::forget(db, *id)?;
    Ok(())
}

/// Returns the journal lines of a memory with their images, from its newest line back.
pub(super) fn journal_images(db: ScopeDb<'_>, newest: i64) -> Result<Vec<JournalImage>> {
    let sql = "SELECT prev, before FROM changes WHERE scope = ?1 AND seq = ?2";
    let (mut next, mut images) = (Some(newest), Vec::new());
    while let Some(seq) = next {
        let line: Option<(Option<i64>, Option<Vec<u8>>)> =
            db.one(sql, (db.id, seq), |row| row.try_into())?;
        let Some((prev, before)) = line else { break };
        images.push(JournalImage { seq, before: decode_image(before)? });
        next = prev;
    }
    Ok(images)
}

/// Looks up tombstones; `true` for each text that was erased.
pub(super) fn are_erased(db: ScopeDb<'_>, texts: &[Fingerprint]) -> Result<Vec<bool>> {
    let sql = "SELECT 1 FROM tombstones WHERE scope = ?1 AND text = ?2";
    texts.iter().map(|text| db.finds(sql, params![db.id, text.as_bytes()])).collect()
}

/// Leaves a tombstone for each text and returns how many cached vectors went with them.
pub(super) fn bury<'a>(
    db: ScopeDb<'_>,
    texts: impl IntoIterator<Item = &'a Fingerprint>,
) -> Result<usize> {
    let texts: Vec<Fingerprint> = texts.into_iter().copied().collect();
    for text in &texts {
        let sql = "INSERT OR IGNORE INTO tombstones VALUES (?1, ?2)";
        db.run(sql, params![db.id, text.as_bytes()])?;
    }
    vector_cache::forget(db, &texts)
}

/// Returns the digest of every erased text.
pub(super) fn tombstones(db: ScopeDb<'_>) -> Result<Vec<Fingerprint>> {
    let sql = "SELECT text FROM tombstones WHERE scope = ?1 ORDER BY text";
    db.all(sql, [db.id], |row| row.get(0).map(Fingerprint::from_bytes))
}
