//! Tables of the search index: statements that store and load the tail and blocks, and their decoding.
//!
//! A block never changes once it is stored and its id is never used again in its scope, so servers may cache it. Only
//! its deleted documents grow, in a table of their own. Erasing a document replaces the block by one without it.

use std::{collections::HashMap, sync::Arc};

use super::{
    scope_row::ScopeKey,
    sql::{OnConflict, SqlRow, Statement, insert, list, sql, sql_row},
    tables::{BLOCK_DELETIONS, BLOCK_DOCS, BLOCK_PARTS, BLOCK_VECTORS, BLOCKS, TAIL, Table},
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, Posting,
        index::{
            BlockLayout, Docs, IndexBlock, IndexEntry,
            assemble::{BlockHeader, BlockSnapshot, damaged_block, valid_docs},
            block::{MAX_PART_BITS, find_postings, part_of},
            checksum::{checksum, verify, with_checksum},
            merge_policy::{BlockSize, level_of},
        },
    },
    text::terms::TermHash,
};

/// Row sizes for databases that keep large values apart: records and vectors are read whole, so few rows of about
/// 100 KB serve best. A part of postings stays below 2 KB, so that PostgreSQL keeps it in its page.
pub(super) const LAYOUT: BlockLayout =
    BlockLayout { page_docs: 4_096, part_bytes: 1_900, vectors_per_row: 256 };

/// Tables that hold the bytes of blocks.
pub(super) const ROW_TABLES: [&Table; 3] = [&BLOCK_DOCS, &BLOCK_PARTS, &BLOCK_VECTORS];

/// Stored block with its deleted documents.
#[derive(Debug, Clone)]
pub(super) struct ScopeBlock {
    pub(super) snapshot: BlockSnapshot,
    pub(super) level: u32,
    pub(super) first: DocAddress,
    pub(super) last: DocAddress,
}

impl ScopeBlock {
    pub(super) fn id(&self) -> i64 {
        self.snapshot.header.id
    }

    /// Returns `true` if the block may have a document at an address.
    pub(super) fn may_hold(&self, address: DocAddress) -> bool {
        (self.first..=self.last).contains(&address)
    }

    /// Returns its size, for the merge policy.
    pub(super) fn size(&self) -> BlockSize {
        let BlockSnapshot { header, deleted } = &self.snapshot;
        BlockSize { id: header.id, level: self.level, docs: header.docs, deleted: deleted.len() }
    }
}

/// Creates the queries for the blocks of a scope and for their deleted documents.
pub(super) fn select_blocks(key: ScopeKey) -> [Statement; 2] {
    [
        sql!(
            "SELECT block, part_bits, model, missing, docs, level, first_address, last_address \
             FROM blocks WHERE scope = ? ORDER BY first_address",
            key
        ),
        sql!("SELECT block, doc FROM block_deletions WHERE scope = ? ORDER BY block, doc", key),
    ]
}

/// Decodes the rows of [`select_blocks`].
pub(super) fn read_blocks(blocks: Vec<SqlRow>, deletions: Vec<SqlRow>) -> Result<Vec<ScopeBlock>> {
    let mut deleted: HashMap<i64, Vec<u32>> = HashMap::new();
    for mut row in deletions {
        deleted.entry(row.int(0)?).or_default().push(row.int(1)?);
    }
    let read = |mut row: SqlRow| {
        let header = valid_header(BlockHeader {
            id: row.int(0)?,
            part_bits: row.int(1)?,
            model: row.int(2)?,
            missing: row.int(3)?,
            docs: row.int(4)?,
        })?;
        let deleted = deleted.remove(&header.id).unwrap_or_default();
        Ok(ScopeBlock {
            snapshot: BlockSnapshot { header, deleted },
            level: row.int(5)?,
            first: row.address(6)?,
            last: row.address(7)?,
        })
    };
    blocks.into_iter().map(read).collect()
}

/// Refuses a header that no block can have: readers compute positions by it.
fn valid_header(header: BlockHeader) -> Result<BlockHeader> {
    if header.part_bits <= MAX_PART_BITS && header.docs > 0 {
        Ok(header)
    } else {
        Err(damaged_block(header.id))
    }
}

/// Creates the query for rows of blocks, in order.
pub(super) fn select_rows(table: &Table, key: ScopeKey, blocks: &[i64]) -> Statement {
    let text = format!(
        "SELECT block, bytes FROM {} WHERE scope = ? AND block IN ? ORDER BY block, number",
        table.name
    );
    sql!(text, key, list(blocks.iter().copied()))
}

/// Decodes the rows of [`select_rows`]: the verified rows of each block.
pub(super) fn read_rows(rows: Vec<SqlRow>) -> Result<HashMap<i64, Vec<Vec<u8>>>> {
    let mut found: HashMap<i64, Vec<Vec<u8>>> = HashMap::new();
    for mut row in rows {
        let block = row.int(0)?;
        found.entry(block).or_default().push(verified(row.bytes(1)?, block)?);
    }
    Ok(found)
}

/// Decodes the rows of [`select_rows`] and joins those of each block.
pub(super) fn read_joined(rows: Vec<SqlRow>) -> Result<HashMap<i64, Vec<u8>>> {
    let found = read_rows(rows)?;
    Ok(found.into_iter().map(|(block, rows)| (block, rows.concat())).collect())
}

fn verified(mut bytes: Vec<u8>, block: i64) -> Result<Vec<u8>> {
    let length = verify(&bytes).map(<[u8]>::len).ok_or_else(|| damaged_block(block))?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Creates the query for the parts of a block that hold some terms.
pub(super) fn select_parts(key: ScopeKey, header: &BlockHeader, terms: &[TermHash]) -> Statement {
    let mut parts: Vec<usize> = terms.iter().map(|term| part_of(*term, header.part_bits)).collect();
    parts.sort_unstable();
    parts.dedup();
    let text =
        "SELECT number, bytes FROM block_parts WHERE scope = ? AND block = ? AND number IN ?";
    sql!(text, key, header.id, list(parts))
}

/// Decodes the rows of [`select_parts`]: the postings of each term, deleted documents included.
pub(super) fn read_postings(
    rows: Vec<SqlRow>,
    header: &BlockHeader,
    terms: &[TermHash],
) -> Result<Vec<Vec<Posting>>> {
    let mut parts: HashMap<usize, Vec<u8>> = HashMap::new();
    for mut row in rows {
        parts.insert(row.int(0)?, verified(row.bytes(1)?, header.id)?);
    }
    let postings = |term: &TermHash| {
        let part = parts.get(&part_of(*term, header.part_bits));
        part.map_or_else(Vec::new, |part| find_postings(part, *term))
    };
    Ok(terms.iter().map(postings).collect())
}

/// Creates the queries for whole blocks.
pub(super) fn select_whole(key: ScopeKey, blocks: &[i64]) -> [Statement; 3] {
    ROW_TABLES.map(|table| select_rows(table, key, blocks))
}

/// Decodes the rows of [`select_whole`]: the blocks in the order given, with their deleted documents.
pub(super) fn read_whole(
    [docs, parts, vectors]: [Vec<SqlRow>; 3],
    blocks: &[&BlockSnapshot],
) -> Result<Vec<IndexBlock>> {
    let (mut docs, mut parts) = (read_joined(docs)?, read_rows(parts)?);
    let mut vectors = read_joined(vectors)?;
    let block = |BlockSnapshot { header, deleted }: &BlockSnapshot| {
        let packed = docs.remove(&header.id).unwrap_or_default();
        Ok(IndexBlock {
            docs: Docs::shared(Arc::new(valid_docs(header, packed)?), deleted.clone()),
            part_bits: header.part_bits,
            parts: parts.remove(&header.id).unwrap_or_default(),
            model: header.model,
            vectors: vectors.remove(&header.id).unwrap_or_default(),
        })
    };
    blocks.iter().copied().map(block).collect()
}

/// Creates the statements that store a block under an id; none for an empty one.
pub(super) fn store(key: ScopeKey, id: i64, block: &IndexBlock) -> Vec<Statement> {
    let docs = block.docs.len();
    if docs == 0 {
        return Vec::new();
    }
    let header = sql_row![
        key,
        id,
        level_of(docs),
        docs,
        block.part_bits,
        block.docs.address(0),
        block.docs.address(docs - 1),
        block.model,
        block.missing_vectors(),
    ];
    let row = |(number, bytes): (usize, &[u8])| sql_row![key, id, number, with_checksum(bytes)];
    let parts = block.parts.iter().map(Vec::as_slice).enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    vec![
        insert(&BLOCKS, vec![header], OnConflict::Fail),
        insert(&BLOCK_DOCS, block.pages(&LAYOUT).enumerate().map(row).collect(), OnConflict::Fail),
        insert(&BLOCK_PARTS, parts.map(row).collect(), OnConflict::Fail),
        insert(
            &BLOCK_VECTORS,
            block.vector_rows(&LAYOUT).enumerate().map(row).collect(),
            OnConflict::Fail,
        ),
    ]
}

/// Creates the statements that remove blocks.
pub(super) fn drop_blocks(key: ScopeKey, blocks: &[i64]) -> Vec<Statement> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let tables = ROW_TABLES.iter().copied().chain([&BLOCK_DELETIONS, &BLOCKS]);
    let delete = |table: &Table| {
        let text = format!("DELETE FROM {} WHERE scope = ? AND block IN ?", table.name);
        sql!(text, key, list(blocks.iter().copied()))
    };
    tables.map(delete).collect()
}

/// Creates the statements that remove the whole index of a scope, rows of lost blocks included.
pub(super) fn clear(key: ScopeKey) -> Vec<Statement> {
    let tables = ROW_TABLES.iter().copied().chain([&BLOCK_DELETIONS, &BLOCKS, &TAIL]);
    let delete = |table: &Table| sql!(format!("DELETE FROM {} WHERE scope = ?", table.name), key);
    tables.map(delete).collect()
}

/// Creates the statement that marks documents of blocks as deleted.
pub(super) fn mark_deleted(key: ScopeKey, docs: &[(i64, u32)]) -> Statement {
    let rows = docs.iter().map(|(block, doc)| sql_row![key, *block, *doc]);
    insert(&BLOCK_DELETIONS, rows.collect(), OnConflict::Keep)
}

/// Creates the query for the entries of the tail.
pub(super) fn select_tail(key: ScopeKey) -> Statement {
    sql!(
        "SELECT address, entry, checksum, model, vector FROM tail WHERE scope = ? ORDER BY address",
        key
    )
}

/// Decodes the rows of [`select_tail`].
pub(super) fn read_tail(rows: Vec<SqlRow>) -> Result<Vec<IndexEntry>> {
    rows.into_iter().map(read_tail_entry).collect()
}

fn read_tail_entry(mut row: SqlRow) -> Result<IndexEntry> {
    let (address, bytes) = (row.address(0)?, row.bytes(1)?);
    let is_intact = row.int::<u32>(2)? == checksum(&bytes);
    let entry = if is_intact { IndexEntry::decode(&bytes) } else { None };
    let mut entry = entry.filter(|entry| entry.record.address == address).ok_or_else(|| {
        Error::damaged(format!("the index entry at address {} is damaged", address.to_bits()))
    })?;
    let model: u32 = row.int(3)?;
    entry.vector = row.opt_bytes(4)?.filter(|_| model != 0).map(|vector| (model, vector));
    Ok(entry)
}

/// Creates the statement that appends entries to the tail.
pub(super) fn append_tail(key: ScopeKey, entries: &[IndexEntry]) -> Statement {
    let row = |entry: &IndexEntry| {
        let (model, vector) = entry.vector.clone().unzip();
        let bytes = entry.encode();
        let sum = checksum(&bytes);
        let address = entry.record.address;
        sql_row![key, address, bytes, sum, model.unwrap_or(0), vector]
    };
    insert(&TAIL, entries.iter().map(row).collect(), OnConflict::Fail)
}

/// Creates the statement that removes entries from the tail.
pub(super) fn delete_tail(key: ScopeKey, addresses: Vec<DocAddress>) -> Statement {
    sql!("DELETE FROM tail WHERE scope = ? AND address IN ?", key, list(addresses))
}

/// Creates the query for the model in use.
pub(super) fn select_model() -> Statement {
    sql!(
        "SELECT models.number, models.name, models.dimensions FROM meta \
         JOIN models ON models.number = meta.value WHERE meta.name = 'model'"
    )
}
