//! Blocks of the index as rows: a header, pages of documents, parts of postings.

use std::sync::Arc;

use rusqlite::{Connection, blob::Blob, params};

use super::{failed, index::SEAL_AT};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, Posting,
        index_block::{self, IndexBlock, PAGE_DOCS, part_of},
        segment::{Docs, PackedDocs},
    },
    text::terms::TermHash,
};

/// Blocks of one level that are merged into one.
pub(super) const MERGE_FACTOR: usize = 4;

/// The highest level: merging larger blocks would hold the write lock for long and save little.
pub(super) const MAX_LEVEL: u32 = 4;

/// Rows of a block are numbered from its id times this.
pub(super) const ROW_IDS_PER_BLOCK: i64 = 1 << 20;

/// A column of bytes whose rows are numbered from the first of their block without a gap.
#[derive(Clone, Copy)]
struct BlobColumn {
    table: &'static str,
    name: &'static str,
    /// Asks for the last of a block's rows.
    last_row_sql: &'static str,
}

/// Where records are.
const PAGES: BlobColumn = BlobColumn {
    table: "block_pages",
    name: "docs",
    last_row_sql: "SELECT max(id) FROM block_pages WHERE id BETWEEN ?1 AND ?2",
};

/// Where vectors are.
const VECTORS: BlobColumn = BlobColumn {
    table: "block_vectors",
    name: "slots",
    last_row_sql: "SELECT max(id) FROM block_vectors WHERE id BETWEEN ?1 AND ?2",
};

/// Which rows of a block are meant.
#[derive(Clone, Copy)]
pub(super) enum BlockHalf {
    First,
    Second,
}

/// What the file tells of a block.
#[derive(Clone)]
pub(super) struct BlockHeader {
    pub(super) id: i64,
    pub(super) part_bits: u32,
    pub(super) model: u32,
    pub(super) missing_vectors: u32,
    pub(super) docs: usize,
}

/// The blocks of the scope, in the order of their first places.
pub(super) fn headers(db: &Connection, scope: i64) -> Result<Vec<BlockHeader>> {
    let mut statement = db
        .prepare_cached(
            "SELECT id, part_bits, model, unmade, docs FROM blocks WHERE scope = ?1 ORDER BY first",
        )
        .map_err(failed)?;
    let rows = statement.query_map([scope], |row| {
        Ok(BlockHeader {
            id: row.get(0)?,
            part_bits: row.get(1)?,
            model: row.get(2)?,
            missing_vectors: row.get(3)?,
            docs: row.get::<_, i64>(4)? as usize,
        })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Whether a block is still there.
pub(super) fn exists(db: &Connection, block: i64) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM blocks WHERE id = ?1")
        .and_then(|mut select| select.exists([block]))
        .map_err(failed)
}

/// The postings of each term in a block, those of memories that are gone included. Each part is read once.
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
    let mut statement =
        db.prepare_cached("SELECT postings FROM block_parts WHERE id = ?1").map_err(failed)?;
    for same in wanted.chunk_by(|a, b| a.0 == b.0) {
        let mut rows =
            statement.query([header.id * ROW_IDS_PER_BLOCK + same[0].0 as i64]).map_err(failed)?;
        let Some(row) = rows.next().map_err(failed)? else { continue };
        let part = row.get_ref(0).map_err(failed)?.as_blob().map_err(Error::store)?;
        for (_, index) in same {
            postings[*index] = index_block::find_postings(part, terms[*index]);
        }
    }
    Ok(postings)
}

/// The records of a block.
pub(super) fn load_docs(db: &Connection, block: i64) -> Result<Docs> {
    Ok(Docs::shared(Arc::new(PackedDocs::new(load_packed(db, block)?)), load_deleted(db, block)?))
}

/// The packed records of a block.
pub(super) fn load_packed(db: &Connection, block: i64) -> Result<Vec<u8>> {
    read_blobs(db, PAGES, block)
}

/// The documents of a block that are gone, in order.
pub(super) fn load_deleted(db: &Connection, block: i64) -> Result<Vec<u32>> {
    let mut statement = db
        .prepare_cached("SELECT doc FROM block_gone WHERE block = ?1 ORDER BY doc")
        .map_err(failed)?;
    let rows = statement.query_map([block], |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// The bytes of a block's rows, one after the other: each is read to where it stays, because a process that asks one
/// question spends most of its time here.
fn read_blobs(db: &Connection, column: BlobColumn, block: i64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for_each_blob(db, column, block, None, |blob, rows| {
        // Rows are equally long, but for the last.
        bytes.reserve(if bytes.is_empty() { blob.len() * rows } else { 0 });
        let start = bytes.len();
        bytes.resize(start + blob.len(), 0);
        blob.read_at_exact(&mut bytes[start..], 0)
    })?;
    Ok(bytes)
}

/// Opens the rows of a block, or half of them, one after the other and has `read` read them; it is told how many rows
/// there are.
fn for_each_blob(
    db: &Connection,
    BlobColumn { table, name, last_row_sql: last }: BlobColumn,
    block: i64,
    half: Option<BlockHalf>,
    mut read: impl FnMut(&Blob<'_>, usize) -> rusqlite::Result<()>,
) -> Result<()> {
    let (first, most) = row_id_range(block);
    let last: Option<i64> = db
        .prepare_cached(last)
        .and_then(|mut select| select.query_row((first, most), |row| row.get(0)))
        .map_err(failed)?;
    let Some(last) = last else { return Ok(()) };
    let mut blob = db.blob_open("main", table, name, first, true).map_err(failed)?;
    let (rows, middle) = (last - first + 1, first + (last - first + 1) / 2);
    let ids = match half {
        None => first..last + 1,
        Some(BlockHalf::First) => first..middle,
        Some(BlockHalf::Second) => middle..last + 1,
    };
    let rows = rows as usize;
    for id in ids {
        blob.reopen(id).and_then(|()| read(&blob, rows)).map_err(failed)?;
    }
    Ok(())
}

/// A whole block.
pub(super) fn load_block(db: &Connection, header: &BlockHeader) -> Result<IndexBlock> {
    let parts = read_rows(
        db,
        "SELECT id, postings FROM block_parts WHERE id BETWEEN ?1 AND ?2",
        header.id,
    )?;
    Ok(IndexBlock {
        docs: load_docs(db, header.id)?,
        part_bits: header.part_bits,
        parts: parts.into_iter().map(|(_, part)| part).collect(),
        model: header.model,
        vectors: load_vectors(db, header.id)?,
    })
}

/// Writes a block; an empty one leaves nothing.
pub(super) fn store_block(db: &Connection, scope: i64, block: &IndexBlock) -> Result<()> {
    let docs = block.docs.len();
    if docs == 0 {
        return Ok(());
    }
    let (first, last) =
        (block.docs.address(0).to_bits() as i64, block.docs.address(docs - 1).to_bits() as i64);
    let number = next_block_id(db)?;
    let header = params![
        number,
        scope,
        level_of(docs),
        docs as i64,
        block.part_bits,
        first,
        last,
        block.model,
        block.missing_vectors() as i64
    ];
    db.prepare_cached("INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .and_then(|mut insert| insert.execute(header))
        .map_err(failed)?;
    let id = number * ROW_IDS_PER_BLOCK;
    let mut insert =
        db.prepare_cached("INSERT INTO block_pages VALUES (?1, ?2)").map_err(failed)?;
    for (index, page) in block.pages().enumerate() {
        insert.execute(params![id + index as i64, page]).map_err(failed)?;
    }
    let mut insert =
        db.prepare_cached("INSERT INTO block_parts VALUES (?1, ?2)").map_err(failed)?;
    for (index, part) in block.parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        insert.execute(params![id + index as i64, part]).map_err(failed)?;
    }
    let mut insert =
        db.prepare_cached("INSERT INTO block_vectors VALUES (?1, ?2)").map_err(failed)?;
    for (index, slots) in block.vector_rows().enumerate() {
        insert.execute(params![id + index as i64, slots]).map_err(failed)?;
    }
    Ok(())
}

/// The slots of a block's vectors; empty if it has none.
pub(super) fn load_vectors(db: &Connection, block: i64) -> Result<Vec<u8>> {
    read_blobs(db, VECTORS, block)
}

/// Shows the slots of half of a block's vectors, some at a time. The room they are read to is used again and stays in the
/// processor's cache; new memory for all of them would cost several times what reading and comparing them does.
pub(super) fn for_each_vector_row(
    db: &Connection,
    block: i64,
    half: BlockHalf,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let mut room = Vec::new();
    for_each_blob(db, VECTORS, block, Some(half), |blob, _| {
        room.resize(blob.len(), 0);
        blob.read_at_exact(&mut room, 0).map(|()| each(&room))
    })
}

/// A number that no block ever had, so that what was read of a block can be kept by it.
fn next_block_id(db: &Connection) -> Result<i64> {
    let sql = "SELECT 1 + max(coalesce((SELECT value FROM meta WHERE key = 'block'), 0), \
               coalesce((SELECT max(id) FROM blocks), 0))";
    let next: i64 = db
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(failed)?;
    db.prepare_cached("INSERT OR REPLACE INTO meta VALUES ('block', ?1)")
        .and_then(|mut insert| insert.execute([next]))
        .map_err(failed)?;
    Ok(next)
}

/// Removes a block.
pub(super) fn drop_block(db: &Connection, block: i64) -> Result<()> {
    let (first, last) = row_id_range(block);
    db.execute("DELETE FROM block_pages WHERE id BETWEEN ?1 AND ?2", (first, last))
        .map_err(failed)?;
    db.execute("DELETE FROM block_parts WHERE id BETWEEN ?1 AND ?2", (first, last))
        .map_err(failed)?;
    db.execute("DELETE FROM block_vectors WHERE id BETWEEN ?1 AND ?2", (first, last))
        .map_err(failed)?;
    db.execute("DELETE FROM block_gone WHERE block = ?1", [block]).map_err(failed)?;
    db.execute("DELETE FROM blocks WHERE id = ?1", [block]).map(drop).map_err(failed)
}

/// The block and number of the living entry at a place.
pub(super) fn locate(db: &Connection, scope: i64, place: DocAddress) -> Result<Option<(i64, u32)>> {
    for (block, doc) in locate_all(db, scope, place)? {
        if !is_deleted(db, block, doc)? {
            return Ok(Some((block, doc)));
        }
    }
    Ok(None)
}

/// The blocks and numbers of all entries that ever stood at a place and were not merged away yet.
pub(super) fn locate_all(
    db: &Connection,
    scope: i64,
    place: DocAddress,
) -> Result<Vec<(i64, u32)>> {
    let mut statement = db
        .prepare_cached(
            "SELECT id, docs FROM blocks WHERE scope = ?1 AND ?2 BETWEEN first AND last",
        )
        .map_err(failed)?;
    let rows = statement
        .query_map((scope, place.to_bits() as i64), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)));
    let blocks: Vec<(i64, i64)> =
        rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)?;
    let mut found = Vec::new();
    for (block, docs) in blocks {
        found.extend(locate_in(db, block, docs as usize, place)?.map(|doc| (block, doc)));
    }
    Ok(found)
}

/// Searches the pages of a block by halving, one page a step.
fn locate_in(db: &Connection, block: i64, docs: usize, place: DocAddress) -> Result<Option<u32>> {
    let (mut low, mut high) = (0, docs.div_ceil(PAGE_DOCS));
    while low < high {
        let middle = low.midpoint(high);
        let page = load_page(db, block, middle)?;
        if page.is_empty() || place < page.address(0) {
            high = middle;
        } else if place > page.address(page.len() - 1) {
            low = middle + 1;
        } else {
            return Ok(page.index_of(place).map(|doc| (middle * PAGE_DOCS + doc) as u32));
        }
    }
    Ok(None)
}

/// Where documents of a block stand, which are in order.
pub(super) fn addresses_of(db: &Connection, block: i64, docs: &[u32]) -> Result<Vec<DocAddress>> {
    let mut places = Vec::with_capacity(docs.len());
    for same in docs.chunk_by(|a, b| *a as usize / PAGE_DOCS == *b as usize / PAGE_DOCS) {
        let page = load_page(db, block, same[0] as usize / PAGE_DOCS)?;
        let within = same.iter().map(|doc| *doc as usize % PAGE_DOCS);
        places.extend(within.filter(|doc| *doc < page.len()).map(|doc| page.address(doc)));
    }
    Ok(places)
}

fn load_page(db: &Connection, block: i64, index: usize) -> Result<Docs> {
    let bytes: Vec<u8> = db
        .prepare_cached("SELECT docs FROM block_pages WHERE id = ?1")
        .and_then(|mut statement| {
            statement.query_row([block * ROW_IDS_PER_BLOCK + index as i64], |row| row.get(0))
        })
        .map_err(failed)?;
    Ok(Docs::from_packed(bytes))
}

fn is_deleted(db: &Connection, block: i64, doc: u32) -> Result<bool> {
    db.prepare_cached("SELECT 1 FROM block_gone WHERE block = ?1 AND doc = ?2")
        .and_then(|mut statement| statement.exists((block, doc)))
        .map_err(failed)
}

/// The rows of a block that `sql` selects between its first and last number.
pub(super) fn read_rows(db: &Connection, sql: &str, block: i64) -> Result<Vec<(i64, Vec<u8>)>> {
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let rows = statement
        .query_map(row_id_range(block), |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// The first and last number a row of a block can have.
fn row_id_range(block: i64) -> (i64, i64) {
    (block * ROW_IDS_PER_BLOCK, block * ROW_IDS_PER_BLOCK + ROW_IDS_PER_BLOCK - 1)
}

/// Levels by size: up to 255 documents, then four times as many each.
fn level_of(docs: usize) -> u32 {
    (docs / SEAL_AT).max(1).ilog(MERGE_FACTOR).min(MAX_LEVEL)
}
