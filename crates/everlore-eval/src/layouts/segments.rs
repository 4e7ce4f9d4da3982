//! Layout 3: a scope's newest memories are rows of a tail; every 64 of them are sealed into a block that never changes,
//! and eight blocks of one level are merged into one of the next.
//!
//! A block has pages of fixed records (one for each memory) and parts of postings. Terms are hashes, so the part that may
//! hold a term follows from the term and the number of parts alone. Forgotten memories are listed in `dead` and left out
//! of answers until a merge drops them.

use std::collections::HashMap;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Row};

use super::{Doc, Found, Layout, Posting, blocks};
use crate::terms::BaselineTerm;
use blocks::{Block, Entry, PAGE_DOCS, Part, Record, TailRow};

/// Rows of a tail before it is sealed: few enough that reading it costs little.
const SEAL_ROWS: i64 = 64;
/// Blocks of one level before they are merged.
const MERGE_BLOCKS: usize = 8;
/// Bits of a key for the page or the part within its block.
const INNER_BITS: u32 = 20;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS tail(key INTEGER PRIMARY KEY, doc BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS blocks(scope INTEGER, block INTEGER, level INTEGER NOT NULL, docs INTEGER NOT NULL,
        length INTEGER NOT NULL, parts INTEGER NOT NULL, PRIMARY KEY (scope, block)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pages(key INTEGER PRIMARY KEY, records BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS parts(key INTEGER PRIMARY KEY, postings BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS dead(scope INTEGER, doc INTEGER, length INTEGER NOT NULL,
        PRIMARY KEY (scope, doc)) WITHOUT ROWID;";

pub(crate) struct Segments {
    db: Connection,
}

/// A row of `blocks`.
struct Stored {
    block: i64,
    level: i64,
    docs: i64,
    length: i64,
    parts: i64,
}

type Dead = HashMap<i64, i64>;

impl Segments {
    pub(crate) fn new(db: Connection) -> Result<Self> {
        db.execute_batch(SCHEMA)?;
        Ok(Self { db })
    }

    /// Leaves a memory out of all answers from now on.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, doc: &Doc) -> Result<()> {
        let values = (doc.scope, doc.id, doc.length);
        self.db.execute("INSERT INTO dead VALUES (?1, ?2, ?3)", values)?;
        Ok(())
    }
}

impl Layout for Segments {
    fn insert_batch(&mut self, docs: &[Doc]) -> Result<()> {
        let change = self.db.transaction()?;
        docs.iter().try_for_each(|doc| append(&change, doc))?;
        Ok(change.commit()?)
    }

    fn save_one(&mut self, doc: &Doc) -> Result<()> {
        self.insert_batch(std::slice::from_ref(doc))
    }

    fn query(&mut self, scope: u32, terms: &[BaselineTerm]) -> Result<Found> {
        let mut found = Found { lists: vec![vec![]; terms.len()], ..Found::default() };
        let read = self.db.unchecked_transaction()?;
        let dead = dead(&read, scope)?;
        for stored in stored(&read, scope)? {
            found.docs += stored.docs;
            found.total_length += stored.length;
            search_block(&read, &stored, terms, &mut found.lists)?;
        }
        search_tail(&read, scope, terms, &mut found)?;
        if !dead.is_empty() {
            found.docs -= dead.len() as i64;
            found.total_length -= dead.values().sum::<i64>();
            found.lists.iter_mut().for_each(|l| l.retain(|p| !dead.contains_key(&p.id)));
        }
        Ok(found)
    }

    fn connection(&self) -> &Connection {
        &self.db
    }
}

/// Adds a row to the scope's tail; the one that fills it seals it. Places start again from 0 after each seal.
fn append(db: &Connection, doc: &Doc) -> Result<()> {
    let (first, last) = tail_range(doc.scope);
    let sql = "SELECT key FROM tail WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1";
    let newest: Option<i64> =
        db.prepare_cached(sql)?.query_row((first, last), |row| row.get(0)).optional()?;
    let key = newest.map_or(first, |key| key + 1);
    db.prepare_cached("INSERT INTO tail VALUES (?1, ?2)")?.execute((key, blocks::pack(doc)))?;
    if key - first + 1 == SEAL_ROWS { seal(db, doc.scope) } else { Ok(()) }
}

fn seal(db: &Connection, scope: u32) -> Result<()> {
    let mut block = Block::default();
    each_tail_row(db, scope, |row| block.add(row.record, row.terms()))?;
    let (first, last) = tail_range(scope);
    db.prepare_cached("DELETE FROM tail WHERE key BETWEEN ?1 AND ?2")?.execute((first, last))?;
    write(db, scope, 0, block)?;
    merge(db, scope)
}

/// Merges levels from the lowest up, as long as one of them is full.
fn merge(db: &Connection, scope: u32) -> Result<()> {
    for level in 0.. {
        let full: Vec<_> =
            stored(db, scope)?.into_iter().filter(|stored| stored.level == level).collect();
        if full.len() < MERGE_BLOCKS {
            break;
        }
        let mut merged = Block::default();
        for stored in &full {
            merged.extend(read(db, stored)?);
        }
        let dropped = merged.drop_dead(&dead(db, scope)?);
        for id in dropped {
            db.execute("DELETE FROM dead WHERE scope = ?1 AND doc = ?2", (scope, id))?;
        }
        write(db, scope, level + 1, merged)?;
        full.iter().try_for_each(|stored| remove(db, scope, stored.block))?;
    }
    Ok(())
}

fn write(db: &Connection, scope: u32, level: i64, block: Block) -> Result<()> {
    let newest =
        db.query_row("SELECT ifnull(max(key), 0) FROM pages", [], |row| row.get::<_, i64>(0))?;
    let number = (newest >> INNER_BITS) + 1;
    let (docs, length) = (block.records.len() as i64, block.total_length());
    let mut insert = db.prepare_cached("INSERT INTO pages VALUES (?1, ?2)")?;
    for (page, records) in block.pages().enumerate() {
        insert.execute((key(number, page as i64), records))?;
    }
    let (parts, postings) = block.into_parts();
    let mut insert = db.prepare_cached("INSERT INTO parts VALUES (?1, ?2)")?;
    for (part, bytes) in postings {
        insert.execute((key(number, part), bytes))?;
    }
    let sql = "INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.prepare_cached(sql)?.execute((scope, number, level, docs, length, parts))?;
    Ok(())
}

fn read(db: &Connection, stored: &Stored) -> Result<Block> {
    let mut block = Block::default();
    let range = (key(stored.block, 0), key(stored.block + 1, 0) - 1);
    let mut select =
        db.prepare_cached("SELECT records FROM pages WHERE key BETWEEN ?1 AND ?2 ORDER BY key")?;
    let mut rows = select.query(range)?;
    while let Some(row) = rows.next()? {
        block.records.extend(blocks::records(blob(row)?));
    }
    let mut select =
        db.prepare_cached("SELECT postings FROM parts WHERE key BETWEEN ?1 AND ?2 ORDER BY key")?;
    let mut rows = select.query(range)?;
    while let Some(row) = rows.next()? {
        Part::new(blob(row)?).each_entry(|entry| block.entries.push(entry));
    }
    Ok(block)
}

fn remove(db: &Connection, scope: u32, block: i64) -> Result<()> {
    let range = (key(block, 0), key(block + 1, 0) - 1);
    db.prepare_cached("DELETE FROM pages WHERE key BETWEEN ?1 AND ?2")?.execute(range)?;
    db.prepare_cached("DELETE FROM parts WHERE key BETWEEN ?1 AND ?2")?.execute(range)?;
    let sql = "DELETE FROM blocks WHERE scope = ?1 AND block = ?2";
    db.prepare_cached(sql)?.execute((scope, block))?;
    Ok(())
}

/// Reads each part that may hold a term once, and the pages of the memories found in it.
fn search_block(
    db: &Connection,
    stored: &Stored,
    terms: &[BaselineTerm],
    lists: &mut [Vec<Posting>],
) -> Result<()> {
    let mut wanted: Vec<_> = terms.iter().copied().enumerate().collect();
    let part = |term| blocks::part_of(term, stored.parts);
    wanted.sort_unstable_by_key(|(_, term)| *term);
    let mut select = db.prepare_cached("SELECT postings FROM parts WHERE key = ?1")?;
    let mut pages = Pages::new(db, stored.block);
    let mut hits: Vec<Entry> = Vec::new();
    for together in wanted.chunk_by(|a, b| part(a.1) == part(b.1)) {
        let mut rows = select.query([key(stored.block, part(together[0].1))])?;
        let Some(row) = rows.next()? else { continue };
        let part = Part::new(blob(row)?);
        for (index, term) in together {
            hits.clear();
            part.find(*term, &mut hits);
            for hit in &hits {
                lists[*index].push(pages.posting(hit)?);
            }
        }
    }
    Ok(())
}

/// The pages of one block that a query has read.
struct Pages<'a> {
    db: &'a Connection,
    block: i64,
    read: Vec<Vec<u8>>,
}

impl<'a> Pages<'a> {
    fn new(db: &'a Connection, block: i64) -> Self {
        Self { db, block, read: vec![] }
    }

    fn posting(&mut self, hit: &Entry) -> Result<Posting> {
        let page = (hit.doc / PAGE_DOCS) as usize;
        if self.read.len() <= page {
            self.read.resize(page + 1, vec![]);
        }
        if self.read[page].is_empty() {
            let mut select = self.db.prepare_cached("SELECT records FROM pages WHERE key = ?1")?;
            self.read[page] = select.query_row([key(self.block, page as i64)], |row| row.get(0))?;
        }
        let record = blocks::record_at(&self.read[page], (hit.doc % PAGE_DOCS) as usize);
        Ok(Posting { id: record.id, frequency: hit.frequency, length: record.length })
    }
}

fn search_tail(
    db: &Connection,
    scope: u32,
    terms: &[BaselineTerm],
    found: &mut Found,
) -> Result<()> {
    each_tail_row(db, scope, |row| {
        let Record { id, length } = row.record;
        found.docs += 1;
        found.total_length += i64::from(length);
        for (asked, list) in terms.iter().zip(&mut found.lists) {
            let frequency = row.frequency(*asked);
            list.extend(frequency.map(|frequency| Posting { id, frequency, length }));
        }
    })
}

fn each_tail_row(db: &Connection, scope: u32, mut visit: impl FnMut(&TailRow<'_>)) -> Result<()> {
    let sql = "SELECT doc FROM tail WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(tail_range(scope))?;
    while let Some(row) = rows.next()? {
        visit(&TailRow::new(blob(row)?));
    }
    Ok(())
}

fn stored(db: &Connection, scope: u32) -> Result<Vec<Stored>> {
    let sql =
        "SELECT block, level, docs, length, parts FROM blocks WHERE scope = ?1 ORDER BY block";
    let mut select = db.prepare_cached(sql)?;
    let rows = select.query_map([scope], |row| {
        let (block, level, docs) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Stored { block, level, docs, length: row.get(3)?, parts: row.get(4)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn dead(db: &Connection, scope: u32) -> Result<Dead> {
    let mut select = db.prepare_cached("SELECT doc, length FROM dead WHERE scope = ?1")?;
    let rows = select.query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn tail_range(scope: u32) -> (i64, i64) {
    (i64::from(scope) << 32, (i64::from(scope) << 32) | i64::from(u32::MAX))
}

fn key(block: i64, inner: i64) -> i64 {
    (block << INNER_BITS) | inner
}

fn blob<'a>(row: &'a Row<'_>) -> Result<&'a [u8]> {
    Ok(row.get_ref(0)?.as_blob()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(id: i64) -> Doc {
        Doc { id, scope: 1, length: 3, terms: vec![(7, 1), (100 + id % 50, 2)] }
    }

    fn ids(found: &Found) -> Vec<i64> {
        found.lists[0].iter().map(|posting| posting.id).collect()
    }

    #[test]
    fn forgotten_memories_stay_out_of_answers_before_and_after_a_merge() {
        let mut layout = Segments::new(Connection::open_in_memory().unwrap()).unwrap();
        layout.insert_batch(&(0..200).map(doc).collect::<Vec<_>>()).unwrap();
        (0..200).step_by(3).for_each(|id| layout.forget(&doc(id)).unwrap());
        let expected = |end| (0..end).filter(|id| id % 3 != 0 || *id >= 200).collect::<Vec<i64>>();
        let found = layout.query(1, &[7]).unwrap();
        assert_eq!(ids(&found), expected(200));
        assert_eq!((found.docs, found.total_length), (133, 399));

        layout.insert_batch(&(200..600).map(doc).collect::<Vec<_>>()).unwrap();
        let found = layout.query(1, &[7]).unwrap();
        assert_eq!(ids(&found), expected(600));
        assert_eq!((found.docs, found.total_length), (533, 1_599));
        let left: i64 =
            layout.db.query_row("SELECT count(*) FROM dead", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "the merge took the dead with it");
    }
}
