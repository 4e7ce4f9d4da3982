//! The lexical index in the file: a tail of new entries, blocks of sealed ones.

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    block_tables::{
        BlockHeader, MAX_LEVEL, MERGE_FACTOR, ROW_IDS_PER_BLOCK, drop_block, headers, load_block,
        locate, locate_all, read_rows, store_block, term_postings,
    },
    failed, vectors,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        index_block::{self, IndexBlock},
        index_entry::IndexEntry,
    },
    text::terms::TermHash,
};

/// Entries in the tail before it is sealed: reading one costs about as much as looking a term up in a block.
pub(super) const SEAL_AT: usize = 64;

/// The most documents merged at the end of a short process.
const SMALL_MERGE_DOCS: usize = 4_096;

/// How much merging is acceptable now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeLimit {
    /// Only what takes milliseconds.
    Small,
    /// Whatever is due.
    Any,
}

/// Adds entries; many at once, or the tail grown long, are sealed.
pub(super) fn add(db: &Connection, scope: i64, fresh: Vec<IndexEntry>) -> Result<()> {
    if fresh.is_empty() {
        return Ok(());
    }
    if fresh.len() >= SEAL_AT {
        let mut entries = take_tail(db, scope)?;
        entries.extend(fresh);
        return store_block(
            db,
            scope,
            &IndexBlock::seal(&entries, vectors::current_model_number(db)?),
        );
    }
    let mut insert =
        db.prepare_cached("INSERT INTO tail VALUES (?1, ?2, ?3, ?4, ?5)").map_err(failed)?;
    for entry in fresh {
        let place = entry.record.address.to_bits() as i64;
        let (model, slot) =
            entry.vector.as_ref().map_or((0, None), |(model, slot)| (*model, Some(slot)));
        insert.execute(params![scope, place, entry.encode(), model, slot]).map_err(failed)?;
    }
    let count: i64 = db
        .prepare_cached("SELECT count(*) FROM tail WHERE scope = ?1")
        .and_then(|mut statement| statement.query_row([scope], |row| row.get(0)))
        .map_err(failed)?;
    if count as usize >= SEAL_AT {
        let entries = take_tail(db, scope)?;
        store_block(db, scope, &IndexBlock::seal(&entries, vectors::current_model_number(db)?))?;
    }
    Ok(())
}

/// Takes the entry at a place out of the index. Postings in a block stay until it is merged.
pub(super) fn remove(db: &Connection, scope: i64, place: DocAddress) -> Result<()> {
    if remove_from_tail(db, scope, place)? {
        return Ok(());
    }
    let (block, doc) = locate(db, scope, place)?.ok_or_else(|| {
        Error::damaged(format!("the index has no entry for place {}", place.to_bits()))
    })?;
    db.prepare_cached("INSERT INTO block_gone VALUES (?1, ?2)")
        .and_then(|mut statement| statement.execute((block, doc)))
        .map(drop)
        .map_err(failed)
}

/// Takes the entry at a place out of the index, if there still is one, and the postings and vectors of all that ever
/// stood there; returns how many vectors that were.
pub(super) fn erase(db: &Connection, scope: i64, place: DocAddress) -> Result<usize> {
    let in_tail = vectors::tail_has_vector(db, scope, place)?;
    if !remove_from_tail(db, scope, place)?
        && let Some((block, doc)) = locate(db, scope, place)?
    {
        db.execute("INSERT INTO block_gone VALUES (?1, ?2)", (block, doc)).map_err(failed)?;
    }
    let mut removed = usize::from(in_tail);
    for (block, doc) in locate_all(db, scope, place)? {
        scrub_postings(db, block, doc)?;
        removed += usize::from(vectors::clear_vector(db, block, doc)?);
    }
    Ok(removed)
}

/// Rewrites the parts of a block that name a document.
fn scrub_postings(db: &Connection, block: i64, doc: u32) -> Result<()> {
    for (id, part) in
        read_rows(db, "SELECT id, postings FROM block_parts WHERE id BETWEEN ?1 AND ?2", block)?
    {
        let (kept, count) = index_block::without_doc(&part, doc);
        if count > 0 {
            db.execute("UPDATE block_parts SET postings = ?2 WHERE id = ?1", params![id, kept])
                .map_err(failed)?;
        }
    }
    Ok(())
}

/// The whole index of the scope, entry by entry, in the order of places.
pub(super) fn entries(db: &Connection, scope: i64) -> Result<Vec<IndexEntry>> {
    let mut all = tail(db, scope)?;
    for header in headers(db, scope)? {
        all.extend(load_block(db, &header)?.entries());
    }
    all.sort_by_key(|entry| entry.record.address);
    Ok(all)
}

/// The entry at a place: whole if it is in the tail, else its block, its number there and the block's part bits.
pub(super) enum EntryLocation {
    Tail(IndexEntry),
    Sealed { block: i64, doc: u32 },
}

/// Where the entry at a place is.
pub(super) fn locate_entry(
    db: &Connection,
    scope: i64,
    place: DocAddress,
) -> Result<Option<EntryLocation>> {
    let entry: Option<Vec<u8>> = db
        .prepare_cached("SELECT entry FROM tail WHERE scope = ?1 AND place = ?2")
        .and_then(|mut statement| {
            statement.query_row((scope, place.to_bits() as i64), |row| row.get(0)).optional()
        })
        .map_err(failed)?;
    match entry {
        Some(bytes) => decode(&bytes).map(|entry| Some(EntryLocation::Tail(entry))),
        None => {
            Ok(locate(db, scope, place)?.map(|(block, doc)| EntryLocation::Sealed { block, doc }))
        }
    }
}

/// Whether a document of a block has a term.
pub(super) fn has_term(db: &Connection, block: i64, doc: u32, term: TermHash) -> Result<bool> {
    let part_bits = db
        .query_row("SELECT part_bits FROM blocks WHERE id = ?1", [block], |row| row.get(0))
        .map_err(failed)?;
    let lists = term_postings(
        db,
        &BlockHeader { id: block, part_bits, model: 0, missing_vectors: 0, docs: 0 },
        &[term],
    )?;
    Ok(lists[0].iter().any(|posting| posting.doc == doc))
}

/// Removes the whole index of the scope.
pub(super) fn clear(db: &Connection, scope: i64) -> Result<()> {
    for header in headers(db, scope)? {
        drop_block(db, header.id)?;
    }
    db.execute("DELETE FROM tail WHERE scope = ?1", [scope]).map(drop).map_err(failed)
}

/// Removes pages and parts of blocks that are not there, which only damage can leave behind.
pub(super) fn drop_orphans(db: &Connection) -> Result<()> {
    let sql = format!(
        "DELETE FROM block_pages WHERE id / {ROW_IDS_PER_BLOCK} NOT IN (SELECT id FROM blocks); \
         DELETE FROM block_parts WHERE id / {ROW_IDS_PER_BLOCK} NOT IN (SELECT id FROM blocks); \
         DELETE FROM block_vectors WHERE id / {ROW_IDS_PER_BLOCK} NOT IN (SELECT id FROM blocks); \
         DELETE FROM block_gone WHERE block NOT IN (SELECT id FROM blocks);"
    );
    db.execute_batch(&sql).map_err(failed)
}

/// The blocks to merge next, if any: four of one level, or one of which more than half is gone.
pub(super) fn due_merge(
    db: &Connection,
    scope: i64,
    patience: MergeLimit,
) -> Result<Option<Vec<i64>>> {
    let mut statement = db
        .prepare_cached(
            "SELECT level, id, docs, (SELECT count(*) FROM block_gone WHERE block = id) \
             FROM blocks WHERE scope = ?1 ORDER BY level, id",
        )
        .map_err(failed)?;
    let mut rows = statement.query([scope]).map_err(failed)?;
    let mut blocks: Vec<(u32, i64, usize)> = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (level, id, docs, gone): (u32, i64, i64, i64) = row.try_into().map_err(failed)?;
        if gone * 2 > docs && (docs as usize <= SMALL_MERGE_DOCS || patience == MergeLimit::Any) {
            return Ok(Some(vec![id]));
        }
        blocks.push((level, id, docs as usize));
    }
    let full = blocks
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|level| level.len() >= MERGE_FACTOR && level[0].0 < MAX_LEVEL)
        .map(|level| &level[..MERGE_FACTOR]);
    let acceptable = |level: &&[(u32, i64, usize)]| {
        patience == MergeLimit::Any
            || level.iter().map(|(_, _, docs)| docs).sum::<usize>() <= SMALL_MERGE_DOCS
    };
    Ok(full.into_iter().find(acceptable).map(|level| level.iter().map(|(_, id, _)| *id).collect()))
}

/// Replaces blocks by one that holds what is left of them.
pub(super) fn merge(db: &Connection, scope: i64, ids: &[i64]) -> Result<()> {
    let mut sources = Vec::with_capacity(ids.len());
    for header in headers(db, scope)?.iter().filter(|header| ids.contains(&header.id)) {
        sources.push(load_block(db, header)?);
        drop_block(db, header.id)?;
    }
    store_block(db, scope, &IndexBlock::merge(&sources, vectors::current_model_number(db)?))
}

fn remove_from_tail(db: &Connection, scope: i64, place: DocAddress) -> Result<bool> {
    db.prepare_cached("DELETE FROM tail WHERE scope = ?1 AND place = ?2")
        .and_then(|mut statement| statement.execute((scope, place.to_bits() as i64)))
        .map(|removed| removed > 0)
        .map_err(failed)
}

/// The entries that are not in a block yet, in the order of places.
pub(super) fn tail(db: &Connection, scope: i64) -> Result<Vec<IndexEntry>> {
    let mut statement = db
        .prepare_cached("SELECT entry, model, vector FROM tail WHERE scope = ?1 ORDER BY place")
        .map_err(failed)?;
    let mut rows = statement.query([scope]).map_err(failed)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut entry = decode(row.get_ref(0).map_err(failed)?.as_blob().map_err(Error::store)?)?;
        let model: u32 = row.get(1).map_err(failed)?;
        let slot: Option<Vec<u8>> = row.get(2).map_err(failed)?;
        entry.vector = slot.filter(|_| model != 0).map(|slot| (model, slot));
        entries.push(entry);
    }
    Ok(entries)
}

fn take_tail(db: &Connection, scope: i64) -> Result<Vec<IndexEntry>> {
    let entries = tail(db, scope)?;
    if !entries.is_empty() {
        db.execute("DELETE FROM tail WHERE scope = ?1", [scope]).map_err(failed)?;
    }
    Ok(entries)
}

fn decode(bytes: &[u8]) -> Result<IndexEntry> {
    IndexEntry::decode(bytes).ok_or_else(|| Error::damaged("an entry of the index cannot be read"))
}
