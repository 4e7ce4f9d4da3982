//! The search index in the file: a tail of new entries, blocks of sealed ones.

use rusqlite::{Connection, params};

use super::{
    ScopeDb,
    block_tables::{
        LAYOUT, drop_block, header, headers, load_block, load_parts, mark_deleted, sizes,
        store_block, term_postings, update_part,
    },
    locate::{locate, locate_all},
    statements::Statements,
    vectors,
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        index::{
            IndexBlock, IndexEntry,
            block::without_doc,
            checksum::checksum,
            merge_policy::{MergeLimit, SEAL_AT, next_merge},
        },
    },
    text::terms::TermHash,
};

/// Adds entries. Many at once, and a tail that has grown long, are sealed.
pub(super) fn add(db: ScopeDb<'_>, entries: Vec<IndexEntry>) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    if entries.len() >= SEAL_AT {
        return seal(db, entries);
    }
    let mut insert = db.prepare_cached("INSERT INTO tail VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for entry in entries {
        let address = entry.record.address.to_bits() as i64;
        let (model, vector) =
            entry.vector.as_ref().map_or((0, None), |(model, vector)| (*model, Some(vector)));
        let bytes = entry.encode();
        let sum = checksum(&bytes);
        insert.execute(params![db.id, address, bytes, model, vector, sum])?;
    }
    let count = "SELECT count(*) FROM tail WHERE scope = ?1";
    let count: i64 = db.one(count, [db.id], |row| row.get(0))?.unwrap_or(0);
    if count as usize >= SEAL_AT { seal(db, Vec::new()) } else { Ok(()) }
}

/// Seals the tail, and entries that were never in it, into a block.
fn seal(db: ScopeDb<'_>, fresh: Vec<IndexEntry>) -> Result<()> {
    let mut entries = tail(db)?;
    if !entries.is_empty() {
        db.run("DELETE FROM tail WHERE scope = ?1", [db.id])?;
    }
    entries.extend(fresh);
    store_block(db, &IndexBlock::seal(&entries, vectors::current_model_number(&db)?, &LAYOUT))
}

/// Removes the entry at an address from the index. Its postings in a block stay until the block is merged.
pub(super) fn remove(db: ScopeDb<'_>, address: DocAddress) -> Result<()> {
    if remove_from_tail(db, address)? {
        return Ok(());
    }
    let (block, doc) = locate(db, address)?.ok_or_else(|| {
        Error::damaged(format!("the index has no entry at address {}", address.to_bits()))
    })?;
    mark_deleted(&db, block, doc)
}

/// Removes the entry at an address, if there is one, and the postings and vectors of all that ever stood there; returns
/// how many vectors that were.
pub(super) fn erase(db: ScopeDb<'_>, address: DocAddress) -> Result<usize> {
    let mut removed = usize::from(vectors::tail_has_vector(db, address)?);
    if !remove_from_tail(db, address)?
        && let Some((block, doc)) = locate(db, address)?
    {
        mark_deleted(&db, block, doc)?;
    }
    for (block, doc) in locate_all(db, address)? {
        scrub(&db, block, doc)?;
        removed += usize::from(vectors::clear_vector(&db, block, doc)?);
    }
    Ok(removed)
}

/// Rewrites the parts of a block that name a document.
fn scrub(db: &Connection, block: i64, doc: u32) -> Result<()> {
    for (id, part) in load_parts(db, block)? {
        let (remaining, count) = without_doc(&part, doc);
        if count > 0 {
            update_part(db, block, id, &remaining)?;
        }
    }
    Ok(())
}

/// Returns all entries of the scope's index in the order of addresses.
pub(super) fn entries(db: ScopeDb<'_>) -> Result<Vec<IndexEntry>> {
    let mut all = tail(db)?;
    for header in headers(db)? {
        all.extend(load_block(&db, &header)?.entries());
    }
    all.sort_by_key(|entry| entry.record.address);
    Ok(all)
}

/// Location of an index entry: whole in the tail, or sealed in a block.
pub(super) enum EntryLocation {
    Tail(IndexEntry),
    Sealed { block: i64, doc: u32 },
}

/// Finds the entry at an address.
pub(super) fn find(db: ScopeDb<'_>, address: DocAddress) -> Result<Option<EntryLocation>> {
    let sql = "SELECT entry, checksum FROM tail WHERE scope = ?1 AND place = ?2";
    let key = (db.id, address.to_bits() as i64);
    let entry: Option<(Vec<u8>, Option<u32>)> = db.one(sql, key, |row| row.try_into())?;
    match entry {
        Some((bytes, sum)) => {
            decode(&bytes, sum, address).map(|entry| Some(EntryLocation::Tail(entry)))
        }
        None => {
            let sealed = |(block, doc)| EntryLocation::Sealed { block, doc };
            Ok(locate(db, address)?.map(sealed))
        }
    }
}

/// Returns `true` if a document of a block has a term.
pub(super) fn has_term(db: &Connection, block: i64, doc: u32, term: TermHash) -> Result<bool> {
    let Some(header) = header(db, block)? else { return Ok(false) };
    let lists = term_postings(db, &header, &[term])?;
    Ok(lists[0].iter().any(|posting| posting.doc == doc))
}

/// Removes the whole index of the scope.
pub(super) fn clear(db: ScopeDb<'_>) -> Result<()> {
    for header in headers(db)? {
        drop_block(&db, header.id)?;
    }
    db.run("DELETE FROM tail WHERE scope = ?1", [db.id]).map(drop)
}

/// Returns the blocks of the scope to merge next.
pub(super) fn due_merge(db: ScopeDb<'_>, limit: MergeLimit) -> Result<Option<Vec<i64>>> {
    Ok(next_merge(&sizes(db)?, limit))
}

/// Replaces blocks by one with their live documents.
pub(super) fn merge(db: ScopeDb<'_>, ids: &[i64]) -> Result<()> {
    let mut sources = Vec::with_capacity(ids.len());
    for header in headers(db)?.iter().filter(|header| ids.contains(&header.id)) {
        sources.push(load_block(&db, header)?);
        drop_block(&db, header.id)?;
    }
    store_block(db, &IndexBlock::merge(&sources, vectors::current_model_number(&db)?, &LAYOUT))
}

fn remove_from_tail(db: ScopeDb<'_>, address: DocAddress) -> Result<bool> {
    let sql = "DELETE FROM tail WHERE scope = ?1 AND place = ?2";
    Ok(db.run(sql, (db.id, address.to_bits() as i64))? > 0)
}

/// Returns the entries that are not sealed yet, in the order of addresses.
pub(super) fn tail(db: ScopeDb<'_>) -> Result<Vec<IndexEntry>> {
    let mut statement = db.prepare_cached(
        "SELECT entry, model, vector, checksum, place FROM tail WHERE scope = ?1 ORDER BY place",
    )?;
    let mut rows = statement.query([db.id])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let address = DocAddress::from_bits(row.get::<_, i64>(4)? as u64);
        let mut entry =
            decode(row.get_ref(0)?.as_blob().map_err(Error::store)?, row.get(3)?, address)?;
        let model: u32 = row.get(1)?;
        let vector: Option<Vec<u8>> = row.get(2)?;
        entry.vector = vector.filter(|_| model != 0).map(|vector| (model, vector));
        entries.push(entry);
    }
    Ok(entries)
}

/// Decodes an entry of the tail, which stands at `address` and has a checksum unless an older program wrote it.
fn decode(bytes: &[u8], sum: Option<u32>, address: DocAddress) -> Result<IndexEntry> {
    let is_intact = sum.is_none_or(|sum| sum == checksum(bytes));
    let entry = if is_intact { IndexEntry::decode(bytes) } else { None };
    entry.filter(|entry| entry.record.address == address).ok_or_else(|| {
        Error::damaged(format!("the index entry at address {} is damaged", address.to_bits()))
    })
}
