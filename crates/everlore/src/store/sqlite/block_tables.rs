//! Tables of index blocks: a header, pages of records, parts of postings, rows of vectors, deleted documents.
//!
//! `block_gone` holds deleted documents, `block_vectors.slots` packed vectors, `blocks.unmade` the count of missing
//! ones.

use std::{collections::HashMap, sync::Arc};

use rusqlite::{Connection, Row, blob::Blob, params};

use super::{ScopeDb, statements::Statements};
use crate::{
    error::{Error, Result},
    store::{
        Posting,
        index::{
            BlockLayout, Docs, IndexBlock,
            assemble::{BlockHeader, BlockReader, BlockSnapshot, damaged_block, valid_docs},
            block::{MAX_PART_BITS, find_postings, part_of},
            checksum::{verify, with_checksum},
            merge_policy::{BlockSize, level_of},
        },
    },
    text::terms::TermHash,
};

/// Row sizes for pages of 4 KiB: 138 records fill one beside its headers, two parts fit, so that a term costs one page.
pub(super) const LAYOUT: BlockLayout =
    BlockLayout { page_docs: 138, part_bytes: 1_900, vectors_per_row: 64 };

/// Row ids of a block begin at its id times this.
pub(super) const ROW_IDS_PER_BLOCK: i64 = 1 << 20;

/// Bytes that are reserved before a block is read: more than the vectors of any block that is cached.
const MAX_RESERVED_BYTES: usize = 128 * 1024 * 1024;

/// A column of bytes whose rows are numbered from the first of their block without a gap.
#[derive(Clone, Copy)]
struct BlobColumn {
    table: &'static str,
    name: &'static str,
    /// Query for the last row of a block.
    last_row_sql: &'static str,
}

const PAGES: BlobColumn = BlobColumn {
    table: "block_pages",
    name: "docs",
    last_row_sql: "SELECT max(id) FROM block_pages WHERE id BETWEEN ?1 AND ?2",
};

const VECTORS: BlobColumn = BlobColumn {
    table: "block_vectors",
    name: "slots",
    last_row_sql: "SELECT max(id) FROM block_vectors WHERE id BETWEEN ?1 AND ?2",
};

/// Half of the rows of a block: two threads share its vectors.
#[derive(Clone, Copy)]
pub(super) enum BlockHalf {
    First,
    Second,
}

impl BlockReader for Connection {
    fn packed_docs(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>> {
        blocks.iter().map(|block| read_blobs(self, PAGES, *block)).collect()
    }

    fn vectors(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>> {
        blocks.iter().map(|block| read_blobs(self, VECTORS, *block)).collect()
    }

    fn postings(
        &self,
        blocks: &[&BlockHeader],
        terms: &[TermHash],
    ) -> Result<Vec<Vec<Vec<Posting>>>> {
        blocks.iter().map(|header| term_postings(self, header, terms)).collect()
    }
}

/// Returns the blocks of the scope in the order of their first addresses.
pub(super) fn headers(db: ScopeDb<'_>) -> Result<Vec<BlockHeader>> {
    let sql =
        "SELECT id, part_bits, model, unmade, docs FROM blocks WHERE scope = ?1 ORDER BY first";
    let headers = db.all(sql, [db.id], read_header)?;
    headers.into_iter().map(valid_header).collect()
}

/// Returns the header of a block.
pub(super) fn header(db: &Connection, block: i64) -> Result<Option<BlockHeader>> {
    let sql = "SELECT id, part_bits, model, unmade, docs FROM blocks WHERE id = ?1";
    db.one(sql, [block], read_header)?.map(valid_header).transpose()
}

fn read_header(row: &Row<'_>) -> rusqlite::Result<BlockHeader> {
    Ok(BlockHeader {
        id: row.get(0)?,
        part_bits: row.get(1)?,
        model: row.get(2)?,
        missing: row.get(3)?,
        docs: row.get::<_, u32>(4)? as usize,
    })
}

/// Refuses a header that no block can have: readers reserve room and compute positions by it.
fn valid_header(header: BlockHeader) -> Result<BlockHeader> {
    let max_docs = ROW_IDS_PER_BLOCK as usize * LAYOUT.page_docs;
    if header.part_bits <= MAX_PART_BITS && (1..=max_docs).contains(&header.docs) {
        Ok(header)
    } else {
        Err(damaged_block(header.id))
    }
}

/// Returns `true` if the rows of a block end with checksums.
pub(super) fn has_checksums(db: &Connection, block: i64) -> Result<bool> {
    db.finds("SELECT 1 FROM blocks WHERE id = ?1 AND checksums = 1", [block])
}

/// Returns the bytes of a row without its checksum, or an error if that does not match.
pub(super) fn verified(bytes: &[u8], block: i64, checksums: bool) -> Result<&[u8]> {
    if !checksums {
        return Ok(bytes);
    }
    verify(bytes).ok_or_else(|| damaged_block(block))
}

/// Returns the blocks of the scope with their deleted documents.
pub(super) fn snapshots(db: ScopeDb<'_>) -> Result<Vec<BlockSnapshot>> {
    let sql = "SELECT block, doc FROM block_gone WHERE block IN (SELECT id FROM blocks WHERE scope = ?1) \
               ORDER BY block, doc";
    let mut deleted: HashMap<i64, Vec<u32>> = HashMap::new();
    for (block, doc) in db.all(sql, [db.id], |row| <(i64, u32)>::try_from(row))? {
        deleted.entry(block).or_default().push(doc);
    }
    let snapshot = |header: BlockHeader| BlockSnapshot {
        deleted: deleted.remove(&header.id).unwrap_or_default(),
        header,
    };
    Ok(headers(db)?.into_iter().map(snapshot).collect())
}

/// Returns the sizes of the scope's blocks, by level and id.
pub(super) fn sizes(db: ScopeDb<'_>) -> Result<Vec<BlockSize>> {
    let sql = "SELECT id, level, docs, (SELECT count(*) FROM block_gone WHERE block = id) \
               FROM blocks WHERE scope = ?1 ORDER BY level, id";
    db.all(sql, [db.id], |row| {
        let (docs, deleted) = (row.get::<_, i64>(2)? as usize, row.get::<_, i64>(3)? as usize);
        Ok(BlockSize { id: row.get(0)?, level: row.get(1)?, docs, deleted })
    })
}

/// Returns `true` if these blocks are all still there.
pub(super) fn all_exist<'a>(
    db: &Connection,
    blocks: impl IntoIterator<Item = &'a BlockSnapshot>,
) -> Result<bool> {
    for block in blocks {
        if !db.finds("SELECT 1 FROM blocks WHERE id = ?1", [block.header.id])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the postings of each term in a block, deleted documents included. Each part is read once.
pub(super) fn term_postings(
    db: &Connection,
    header: &BlockHeader,
    terms: &[TermHash],
) -> Result<Vec<Vec<Posting>>> {
    let mut wanted: Vec<_> = terms
        .iter()
        .enumerate()
        .map(|(index, term)| (part_of(*term, header.part_bits), index))
        .collect();
    wanted.sort_unstable();
    let mut postings = vec![Vec::new(); terms.len()];
    let checksums = has_checksums(db, header.id)?;
    let mut statement = db.prepare_cached("SELECT postings FROM block_parts WHERE id = ?1")?;
    for same in wanted.chunk_by(|a, b| a.0 == b.0) {
        let mut rows = statement.query([row_id(header.id, same[0].0)])?;
        let Some(row) = rows.next()? else { continue };
        let part = row.get_ref(0)?.as_blob().map_err(Error::store)?;
        let part = verified(part, header.id, checksums)?;
        for (_, index) in same {
            postings[*index] = find_postings(part, terms[*index]);
        }
    }
    Ok(postings)
}

/// Returns the deleted documents of a block, in order.
pub(super) fn load_deleted(db: &Connection, block: i64) -> Result<Vec<u32>> {
    db.all("SELECT doc FROM block_gone WHERE block = ?1 ORDER BY doc", [block], |row| row.get(0))
}

/// Marks a document of a block as deleted.
pub(super) fn mark_deleted(db: &Connection, block: i64, doc: u32) -> Result<()> {
    db.run("INSERT INTO block_gone VALUES (?1, ?2)", (block, doc)).map(drop)
}

/// Concatenates the rows of a block. Each is read to its final position, because a process that answers one query
/// spends most of its time here.
fn read_blobs(db: &Connection, column: BlobColumn, block: i64) -> Result<Vec<u8>> {
    let (mut bytes, checksums) = (Vec::new(), has_checksums(db, block)?);
    for_each_blob(db, column, block, None, &mut |blob, rows| {
        // Rows are equally long, but for the last. A damaged length is no reason to reserve all memory.
        let reserved = blob.len().saturating_mul(rows).min(MAX_RESERVED_BYTES);
        bytes.reserve(if bytes.is_empty() { reserved } else { 0 });
        let start = bytes.len();
        bytes.resize(start + blob.len(), 0);
        blob.read_at_exact(&mut bytes[start..], 0)?;
        let length = verified(&bytes[start..], block, checksums)?.len();
        bytes.truncate(start + length);
        Ok(())
    })?;
    Ok(bytes)
}

/// Calls `read` with each row of a block, or of half of it, and the number of all its rows.
fn for_each_blob(
    db: &Connection,
    BlobColumn { table, name, last_row_sql }: BlobColumn,
    block: i64,
    half: Option<BlockHalf>,
    read: &mut dyn FnMut(&Blob<'_>, usize) -> Result<()>,
) -> Result<()> {
    let (first, most) = row_ids(block);
    let last: Option<i64> = db.one(last_row_sql, (first, most), |row| row.get(0))?.flatten();
    let Some(last) = last else { return Ok(()) };
    let mut blob = db.blob_open("main", table, name, first, true)?;
    let (rows, middle) = (last - first + 1, first + (last - first + 1) / 2);
    let ids = match half {
        None => first..last + 1,
        Some(BlockHalf::First) => first..middle,
        Some(BlockHalf::Second) => middle..last + 1,
    };
    for id in ids {
        blob.reopen(id)?;
        read(&blob, rows as usize)?;
    }
    Ok(())
}

/// Loads a whole block.
pub(super) fn load_block(db: &Connection, header: &BlockHeader) -> Result<IndexBlock> {
    let packed = Arc::new(valid_docs(header, read_blobs(db, PAGES, header.id)?)?);
    Ok(IndexBlock {
        docs: Docs::shared(packed, load_deleted(db, header.id)?),
        part_bits: header.part_bits,
        parts: load_parts(db, header.id)?.into_iter().map(|(_, part)| part).collect(),
        model: header.model,
        vectors: read_blobs(db, VECTORS, header.id)?,
    })
}

/// Returns the row ids and bytes of a block's parts.
pub(super) fn load_parts(db: &Connection, block: i64) -> Result<Vec<(i64, Vec<u8>)>> {
    let sql = "SELECT id, postings FROM block_parts WHERE id BETWEEN ?1 AND ?2";
    let parts: Vec<(i64, Vec<u8>)> = db.all(sql, row_ids(block), |row| row.try_into())?;
    let checksums = has_checksums(db, block)?;
    let part = |(id, bytes): (i64, Vec<u8>)| Ok((id, verified(&bytes, block, checksums)?.to_vec()));
    parts.into_iter().map(part).collect()
}

/// Replaces a part of a block.
pub(super) fn update_part(db: &Connection, block: i64, row: i64, part: &[u8]) -> Result<()> {
    let sealed = sealed(part, has_checksums(db, block)?);
    db.run("UPDATE block_parts SET postings = ?2 WHERE id = ?1", params![row, sealed]).map(drop)
}

/// Returns the vectors of a row of a block; `None` if there is no such row.
pub(super) fn load_vectors(db: &Connection, block: i64, index: usize) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT slots FROM block_vectors WHERE id = ?1";
    let bytes: Option<Vec<u8>> = db.one(sql, [row_id(block, index)], |row| row.get(0))?;
    let checksums = has_checksums(db, block)?;
    bytes.map(|bytes| Ok(verified(&bytes, block, checksums)?.to_vec())).transpose()
}

/// Replaces the vectors of a row of a block.
pub(super) fn update_vectors(
    db: &Connection,
    block: i64,
    index: usize,
    vectors: &[u8],
) -> Result<()> {
    let sealed = sealed(vectors, has_checksums(db, block)?);
    let sql = "UPDATE block_vectors SET slots = ?2 WHERE id = ?1";
    db.run(sql, params![row_id(block, index), sealed]).map(drop)
}

fn sealed(bytes: &[u8], checksums: bool) -> Vec<u8> {
    if checksums { with_checksum(bytes) } else { bytes.to_vec() }
}

/// Stores a block; an empty one leaves nothing.
pub(super) fn store_block(db: ScopeDb<'_>, block: &IndexBlock) -> Result<()> {
    let docs = block.docs.len();
    if docs == 0 {
        return Ok(());
    }
    let bits = |doc: usize| block.docs.address(doc).to_bits() as i64;
    let id = next_block_id(&db)?;
    db.run(
        "INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)",
        params![
            id,
            db.id,
            level_of(docs),
            docs as i64,
            block.part_bits,
            bits(0),
            bits(docs - 1),
            block.model,
            block.missing_vectors() as i64
        ],
    )?;
    let mut insert = db.prepare_cached("INSERT INTO block_pages VALUES (?1, ?2)")?;
    for (index, page) in block.pages(&LAYOUT).enumerate() {
        insert.execute(params![row_id(id, index), with_checksum(page)])?;
    }
    let mut insert = db.prepare_cached("INSERT INTO block_parts VALUES (?1, ?2)")?;
    for (index, part) in block.parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        insert.execute(params![row_id(id, index), with_checksum(part)])?;
    }
    let mut insert = db.prepare_cached("INSERT INTO block_vectors VALUES (?1, ?2)")?;
    for (index, vectors) in block.vector_rows(&LAYOUT).enumerate() {
        insert.execute(params![row_id(id, index), with_checksum(vectors)])?;
    }
    Ok(())
}

/// Calls `each` with the vectors of half of a block, a row at a time. The buffer is used again and stays in the
/// processor's cache; fresh memory for all of them would cost several times what reading and scoring them does.
pub(super) fn for_each_vector_row(
    db: &Connection,
    block: i64,
    half: BlockHalf,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let (mut buffer, checksums) = (Vec::new(), has_checksums(db, block)?);
    for_each_blob(db, VECTORS, block, Some(half), &mut |blob, _| {
        buffer.resize(blob.len(), 0);
        blob.read_at_exact(&mut buffer, 0)?;
        each(verified(&buffer, block, checksums)?);
        Ok(())
    })
}

/// Returns an id that no block ever had, so that the cache can keep blocks by it.
fn next_block_id(db: &Connection) -> Result<i64> {
    let sql = "SELECT 1 + max(coalesce((SELECT value FROM meta WHERE key = 'block'), 0), \
               coalesce((SELECT max(id) FROM blocks), 0))";
    let next: i64 = db.one(sql, [], |row| row.get(0))?.unwrap_or(1);
    db.run("INSERT OR REPLACE INTO meta VALUES ('block', ?1)", [next])?;
    Ok(next)
}

/// Removes a block.
pub(super) fn drop_block(db: &Connection, block: i64) -> Result<()> {
    for table in ["block_pages", "block_parts", "block_vectors"] {
        db.run(&format!("DELETE FROM {table} WHERE id BETWEEN ?1 AND ?2"), row_ids(block))?;
    }
    db.run("DELETE FROM block_gone WHERE block = ?1", [block])?;
    db.run("DELETE FROM blocks WHERE id = ?1", [block]).map(drop)
}

/// Removes rows of blocks that do not exist, which only damage can leave behind.
pub(super) fn drop_orphans(db: &Connection) -> Result<()> {
    for table in ["block_pages", "block_parts", "block_vectors"] {
        let blocks = format!("id / {ROW_IDS_PER_BLOCK} NOT IN (SELECT id FROM blocks)");
        db.run(&format!("DELETE FROM {table} WHERE {blocks}"), [])?;
    }
    db.run("DELETE FROM block_gone WHERE block NOT IN (SELECT id FROM blocks)", []).map(drop)
}

pub(super) fn row_id(block: i64, index: usize) -> i64 {
    block * ROW_IDS_PER_BLOCK + index as i64
}

/// Returns the first and last id that a row of a block can have.
fn row_ids(block: i64) -> (i64, i64) {
    (row_id(block, 0), row_id(block + 1, 0) - 1)
}
