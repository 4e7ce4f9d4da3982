//! Lookup of documents in index blocks by address, and of addresses by document, page by page.

use rusqlite::Connection;

use super::{
    ScopeDb,
    block_tables::{LAYOUT, has_checksums, row_id, verified},
    statements::Statements,
};
use crate::{
    error::Result,
    store::{
        DocAddress,
        index::{Docs, assemble::damaged_block},
    },
};

/// Returns the block and document of the live entry at an address.
pub(super) fn locate(db: ScopeDb<'_>, address: DocAddress) -> Result<Option<(i64, u32)>> {
    for (block, doc) in locate_all(db, address)? {
        if !db.finds("SELECT 1 FROM block_gone WHERE block = ?1 AND doc = ?2", (block, doc))? {
            return Ok(Some((block, doc)));
        }
    }
    Ok(None)
}

/// Returns the blocks and documents of all entries at an address that were not merged away yet, deleted ones included.
pub(super) fn locate_all(db: ScopeDb<'_>, address: DocAddress) -> Result<Vec<(i64, u32)>> {
    let sql = "SELECT id, docs FROM blocks WHERE scope = ?1 AND ?2 BETWEEN first AND last";
    let key = (db.id, address.to_bits() as i64);
    let blocks: Vec<(i64, u32)> = db.all(sql, key, |row| row.try_into())?;
    let mut found = Vec::new();
    for (block, docs) in blocks {
        found.extend(locate_in(&db, block, docs as usize, address)?.map(|doc| (block, doc)));
    }
    Ok(found)
}

/// Finds the document at an address by binary search over the pages of a block.
fn locate_in(db: &Connection, block: i64, docs: usize, address: DocAddress) -> Result<Option<u32>> {
    let (mut low, mut high) = (0, docs.div_ceil(LAYOUT.page_docs));
    while low < high {
        let middle = low.midpoint(high);
        let page = load_page(db, block, middle)?;
        if page.is_empty() || address < page.address(0) {
            high = middle;
        } else if address > page.address(page.len() - 1) {
            low = middle + 1;
        } else {
            return Ok(page.index_of(address).map(|doc| (middle * LAYOUT.page_docs + doc) as u32));
        }
    }
    Ok(None)
}

/// Returns the addresses of documents of a block, which are in order.
pub(super) fn addresses_of(db: &Connection, block: i64, docs: &[u32]) -> Result<Vec<DocAddress>> {
    let page_of = |doc: u32| doc as usize / LAYOUT.page_docs;
    let mut addresses = Vec::with_capacity(docs.len());
    for same in docs.chunk_by(|a, b| page_of(*a) == page_of(*b)) {
        let page = load_page(db, block, page_of(same[0]))?;
        let within = same.iter().map(|doc| *doc as usize % LAYOUT.page_docs);
        addresses.extend(within.filter(|doc| *doc < page.len()).map(|doc| page.address(doc)));
    }
    Ok(addresses)
}

fn load_page(db: &Connection, block: i64, index: usize) -> Result<Docs> {
    let sql = "SELECT docs FROM block_pages WHERE id = ?1";
    let bytes: Option<Vec<u8>> = db.one(sql, [row_id(block, index)], |row| row.get(0))?;
    let bytes = bytes.ok_or_else(|| damaged_block(block))?;
    let packed = verified(&bytes, block, has_checksums(db, block)?)?;
    Ok(Docs::from_packed(packed.to_vec()))
}
