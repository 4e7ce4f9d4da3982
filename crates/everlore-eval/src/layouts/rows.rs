//! Layout 1: one row for each term of each memory, clustered by scope and term.

use anyhow::Result;
use rusqlite::Connection;

use super::{Doc, Found, Layout, Posting, figures};
use crate::terms::BaselineTerm;

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS postings(
    scope INTEGER, term INTEGER, doc INTEGER, frequency INTEGER NOT NULL, length INTEGER NOT NULL,
    PRIMARY KEY (scope, term, doc)) WITHOUT ROWID;";

pub(crate) struct Rows {
    db: Connection,
}

impl Rows {
    pub(crate) fn new(db: Connection) -> Result<Self> {
        db.execute_batch(&format!("{SCHEMA} {}", figures::SCHEMA))?;
        Ok(Self { db })
    }
}

impl Layout for Rows {
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
        let sql = "SELECT doc, frequency, length FROM postings WHERE scope = ?1 AND term = ?2";
        let mut select = read.prepare_cached(sql)?;
        for term in terms {
            let list = select.query_map((scope, term), |row| {
                Ok(Posting { id: row.get(0)?, frequency: row.get(1)?, length: row.get(2)? })
            })?;
            found.lists.push(list.collect::<Result<_, _>>()?);
        }
        Ok(found)
    }

    fn connection(&self) -> &Connection {
        &self.db
    }
}

fn insert(db: &Connection, doc: &Doc) -> Result<()> {
    figures::count(db, doc)?;
    let mut insert = db.prepare_cached("INSERT INTO postings VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (term, frequency) in &doc.terms {
        insert.execute((doc.scope, term, doc.id, frequency, doc.length))?;
    }
    Ok(())
}
