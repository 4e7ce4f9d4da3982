//! Layout 2: FTS5 as a container. Each word carries its scope in front; lists are read back through `fts5vocab`.
//!
//! The rowid is the memory's number and its length side by side, so a list needs no second lookup. It must grow from insert
//! to insert: FTS5 flushes its buffer whenever a rowid is smaller than the one before, which is why it cannot begin with
//! the scope.

use anyhow::Result;
use rusqlite::{Connection, types::ValueRef};

use super::{Doc, Found, Layout, Posting, figures};
use crate::terms::BaselineTerm;

/// No content and no sizes are kept; positions are, because they are the only way to a term's frequency.
const SCHEMA: &str = "CREATE VIRTUAL TABLE IF NOT EXISTS words
        USING fts5(body, content = '', columnsize = 0, tokenize = 'ascii');
    CREATE VIRTUAL TABLE IF NOT EXISTS lists USING fts5vocab('words', 'instance');";

/// Bits of the rowid that hold the length.
const LENGTH_BITS: u32 = 12;

pub(crate) struct Fts {
    db: Connection,
}

impl Fts {
    pub(crate) fn new(db: Connection) -> Result<Self> {
        db.execute_batch(&format!("{SCHEMA} {}", figures::SCHEMA))?;
        Ok(Self { db })
    }
}

impl Layout for Fts {
    fn insert_batch(&mut self, docs: &[Doc]) -> Result<()> {
        let change = self.db.transaction()?;
        docs.iter().try_for_each(|doc| insert(&change, doc))?;
        Ok(change.commit()?)
    }

    fn save_one(&mut self, doc: &Doc) -> Result<()> {
        self.insert_batch(std::slice::from_ref(doc))
    }

    fn query(&mut self, scope: u32, terms: &[BaselineTerm]) -> Result<Found> {
        let read = self.db.unchecked_transaction()?;
        let mut found = figures::of(&read, scope)?;
        let mut select = read.prepare_cached("SELECT doc FROM lists WHERE term = ?1")?;
        for term in terms {
            let mut list: Vec<Posting> = Vec::new();
            let mut rows = select.query([word(scope, *term)])?;
            while let Some(row) = rows.next()? {
                let ValueRef::Integer(rowid) = row.get_ref(0)? else { continue };
                count(&mut list, rowid);
            }
            found.lists.push(list);
        }
        Ok(found)
    }

    fn connection(&self) -> &Connection {
        &self.db
    }
}

fn insert(db: &Connection, doc: &Doc) -> Result<()> {
    figures::count(db, doc)?;
    let mut body = String::new();
    for (term, frequency) in &doc.terms {
        let word = word(doc.scope, *term);
        (0..*frequency).for_each(|_| body.extend([word.as_str(), " "]));
    }
    let length = doc.length.min((1 << LENGTH_BITS) - 1);
    let rowid = (doc.id << LENGTH_BITS) | i64::from(length);
    let sql = "INSERT INTO words(rowid, body) VALUES (?1, ?2)";
    db.prepare_cached(sql)?.execute((rowid, body))?;
    Ok(())
}

/// A row for each occurrence comes back; those of one memory follow each other.
fn count(list: &mut Vec<Posting>, rowid: i64) {
    let (id, length) = (rowid >> LENGTH_BITS, (rowid & ((1 << LENGTH_BITS) - 1)) as u32);
    match list.last_mut() {
        Some(last) if last.id == id => last.frequency += 1,
        _ => list.push(Posting { id, frequency: 1, length }),
    }
}

/// The scope and the term in 32 letters and digits each; a term of 47 bits needs ten.
fn word(scope: u32, term: BaselineTerm) -> String {
    let mut word = String::with_capacity(16);
    push_digits(&mut word, scope.into());
    word.push('z');
    push_digits(&mut word, term);
    word
}

fn push_digits(word: &mut String, mut number: i64) {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let start = word.len();
    while number > 0 || word.len() == start {
        word.insert(start, DIGITS[(number % 32) as usize] as char);
        number /= 32;
    }
}
