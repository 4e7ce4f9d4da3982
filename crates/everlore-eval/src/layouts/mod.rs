//! Prototypes of three ways to lay out a lexical index by scope in SQLite, behind one trait, so that they can be measured
//! alike and checked against each other. The engine has its own code; this is what its layout was chosen by.

pub(crate) mod rows;
pub(crate) mod fts;
mod blocks;
pub(crate) mod segments;
pub(crate) mod rank;
pub(crate) mod measure;

use std::{path::Path, str::FromStr};

use anyhow::{Result, bail};
use rusqlite::Connection;

use crate::terms::{BaselineTerm, hashed_terms};

/// What an index is told about a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) id: i64,
    pub(crate) scope: u32,
    /// All terms counted, repeats included.
    pub(crate) length: u32,
    /// Each term once, in order, with how often it occurs.
    pub(crate) terms: Vec<(BaselineTerm, u32)>,
}

impl Doc {
    pub(crate) fn new(id: i64, scope: u32, text: &str) -> Self {
        let mut all = hashed_terms(text);
        all.sort_unstable();
        let counted = all.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32));
        Self { id, scope, length: all.len() as u32, terms: counted.collect() }
    }
}

/// One memory in the list of a term, with all that BM25 needs to know about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    pub(crate) id: i64,
    pub(crate) frequency: u32,
    pub(crate) length: u32,
}

/// The answer of an index: enough to rank by BM25 within the scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Memories in the scope.
    pub(crate) docs: i64,
    /// Sum of their lengths.
    pub(crate) total_length: i64,
    /// A list for each term asked for, in the same order.
    pub(crate) lists: Vec<Vec<Posting>>,
}

/// A physical layout of the index. Every call is confined to the scopes it names.
pub(crate) trait Layout {
    /// Adds many memories of any scopes in one transaction.
    fn insert_batch(&mut self, docs: &[Doc]) -> Result<()>;
    /// Adds one memory in a transaction of its own.
    fn save_one(&mut self, doc: &Doc) -> Result<()>;
    /// Returns the lists of the terms in the scope, all read in one transaction: a lock for each statement costs more than
    /// most statements do.
    fn query(&mut self, scope: u32, terms: &[BaselineTerm]) -> Result<Found>;
    /// The connection beneath, for settings and measurements.
    fn connection(&self) -> &Connection;
}

/// Which prototype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Rows,
    Fts,
    Segments,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Rows, Self::Fts, Self::Segments];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Fts => "fts",
            Self::Segments => "segments",
        }
    }

    /// Opens or creates the index in the file at `path`.
    pub(crate) fn open(self, path: &Path) -> Result<Box<dyn Layout>> {
        let db = connect(path)?;
        Ok(match self {
            Self::Rows => Box::new(rows::Rows::new(db)?),
            Self::Fts => Box::new(fts::Fts::new(db)?),
            Self::Segments => Box::new(segments::Segments::new(db)?),
        })
    }
}

impl FromStr for Kind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        let Some(kind) = found else { bail!("use rows, fts or segments") };
        Ok(kind)
    }
}

/// The same settings for every layout: WAL and 64 MB of cache; how durable is up to the measurement.
fn connect(path: &Path) -> Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "normal")?;
    db.pragma_update(None, "cache_size", -65_536)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// The figures of each scope for the layouts that do not find them on the way.
mod figures {
    use anyhow::Result;
    use rusqlite::{Connection, OptionalExtension};

    use super::{Doc, Found};

    pub(super) const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS scopes(
        scope INTEGER PRIMARY KEY, docs INTEGER NOT NULL, length INTEGER NOT NULL);";

    pub(super) fn count(db: &Connection, doc: &Doc) -> Result<()> {
        let sql = "INSERT INTO scopes VALUES (?1, 1, ?2)
            ON CONFLICT DO UPDATE SET docs = docs + 1, length = length + ?2";
        db.prepare_cached(sql)?.execute((doc.scope, doc.length))?;
        Ok(())
    }

    pub(super) fn of(db: &Connection, scope: u32) -> Result<Found> {
        let sql = "SELECT docs, length FROM scopes WHERE scope = ?1";
        let figures = db
            .prepare_cached(sql)?
            .query_row([scope], |row| {
                Ok(Found { docs: row.get(0)?, total_length: row.get(1)?, lists: vec![] })
            })
            .optional()?;
        Ok(figures.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::corpus::Corpus;

    fn docs(total: u32) -> (Corpus, Vec<Doc>) {
        let corpus = Corpus::new(total, 3);
        let docs =
            corpus.stream().map(|memory| Doc::new(memory.id, memory.scope, &memory.text)).collect();
        (corpus, docs)
    }

    fn fill(kind: Kind, folder: &Path, docs: &[Doc]) -> Box<dyn Layout> {
        let mut layout = kind.open(&folder.join(kind.name())).unwrap();
        let (bulk, single) = docs.split_at(docs.len() * 9 / 10);
        bulk.chunks(700).for_each(|batch| layout.insert_batch(batch).unwrap());
        single.iter().for_each(|doc| layout.save_one(doc).unwrap());
        layout
    }

    /// What any layout must answer, found by looking at every memory.
    fn naive(docs: &[Doc], scope: u32, terms: &[BaselineTerm]) -> Found {
        let mut found = Found { lists: vec![vec![]; terms.len()], ..Found::default() };
        for doc in docs.iter().filter(|doc| doc.scope == scope) {
            found.docs += 1;
            found.total_length += i64::from(doc.length);
            let counts: HashMap<_, _> = doc.terms.iter().copied().collect();
            for (list, term) in found.lists.iter_mut().zip(terms) {
                if let Some(&frequency) = counts.get(term) {
                    list.push(Posting { id: doc.id, frequency, length: doc.length });
                }
            }
        }
        found
    }

    fn sorted(mut found: Found) -> Found {
        found.lists.iter_mut().for_each(|list| list.sort());
        found
    }

    #[test]
    fn every_layout_returns_the_postings_of_a_naive_scan_and_ranks_alike() {
        let (corpus, docs) = docs(12_000);
        let folder = tempfile::tempdir().unwrap();
        for kind in Kind::ALL {
            let mut layout = fill(kind, folder.path(), &docs);
            for scope in [0, 1, 5, 12, 17, 40] {
                let queries = (0..10).map(|number| corpus.query(scope, number));
                for query in queries {
                    let mut asked = hashed_terms(&query);
                    asked.sort_unstable();
                    asked.dedup();
                    let expected = naive(&docs, scope, &asked);
                    let found = sorted(layout.query(scope, &asked).unwrap());
                    assert_eq!(found, expected, "{} in scope {scope}: {query}", kind.name());
                    assert_eq!(rank::top(&found, 10), rank::top(&expected, 10));
                }
            }
        }
    }

    #[test]
    fn a_scope_without_memories_has_none() {
        let folder = tempfile::tempdir().unwrap();
        for kind in Kind::ALL {
            let mut layout = kind.open(&folder.path().join(kind.name())).unwrap();
            let found = layout.query(4, &[1, 2]).unwrap();
            assert_eq!((found.docs, found.lists), (0, vec![vec![], vec![]]), "{}", kind.name());
        }
    }
}
