//! Shared documents in SQLite: one row a document, replaced by compare-and-swap on its version.

use async_trait::async_trait;
use rusqlite::Connection;

use super::{SqliteStore, statements::Statements};
use crate::{
    error::Result,
    store::{SharedDocument, SharedDocuments},
};

#[async_trait]
impl SharedDocuments for SqliteStore {
    async fn get(&self, name: &str) -> Result<Option<SharedDocument>> {
        let sql = "SELECT text, version FROM documents WHERE name = ?1";
        let name = name.to_owned();
        self.pool
            .read(move |db| {
                db.one(sql, [name], |row| {
                    Ok(SharedDocument { text: row.get(0)?, version: row.get::<_, i64>(1)? as u64 })
                })
            })
            .await
    }

    async fn put(&self, name: &str, expected: u64, text: &str) -> Result<Option<u64>> {
        let (name, text) = (name.to_owned(), text.to_owned());
        self.writer.run(move |db| put(db, &name, expected, &text)).await
    }

    async fn remove(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        let sql = "DELETE FROM documents WHERE name = ?1";
        self.writer.run(move |db| Ok(db.run(sql, [name])? > 0)).await
    }

    async fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = prefix.to_owned();
        self.pool.read(move |db| names(db, &prefix)).await
    }
}

fn put(db: &Connection, name: &str, expected: u64, text: &str) -> Result<Option<u64>> {
    let changed = if expected == 0 {
        db.run("INSERT INTO documents VALUES (?1, 1, ?2) ON CONFLICT DO NOTHING", (name, text))?
    } else {
        let sql = "UPDATE documents SET version = version + 1, text = ?3 WHERE name = ?1 AND version = ?2";
        db.run(sql, (name, expected as i64, text))?
    };
    Ok((changed > 0).then_some(expected + 1))
}

fn names(db: &Connection, prefix: &str) -> Result<Vec<String>> {
    let mut statement =
        db.prepare_cached("SELECT name FROM documents WHERE name >= ?1 ORDER BY name")?;
    let mut rows = statement.query([prefix])?;
    let mut names = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if !name.starts_with(prefix) {
            break;
        }
        names.push(name);
    }
    Ok(names)
}
