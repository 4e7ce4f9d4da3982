//! Trigram baseline, the design that Everlore began from: one memory table, an FTS5 trigram table over it kept in step
//! by triggers, and a MATCH joined to the table and filtered by agent and user.

use std::path::Path;

use anyhow::Result;
use rusqlite::{Connection, params};

use crate::terms::is_cjk;

/// Shortest string that the trigram tokenizer can find.
const MIN_CHARACTERS: usize = 3;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS memory (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        agent_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        type TEXT NOT NULL CHECK(type IN ('user', 'project', 'feedback', 'reference')),
        name TEXT NOT NULL,
        content TEXT NOT NULL,
        description TEXT NOT NULL DEFAULT '',
        metadata TEXT,
        created_at TEXT DEFAULT (datetime('now')),
        updated_at TEXT DEFAULT (datetime('now')));
    CREATE INDEX IF NOT EXISTS idx_agent_user ON memory(agent_name, user_id);
    CREATE VIRTUAL TABLE IF NOT EXISTS memory_fts USING fts5(
        name, content, description, content='memory', content_rowid='id', tokenize='trigram');
    CREATE TRIGGER IF NOT EXISTS memory_ai AFTER INSERT ON memory BEGIN
        INSERT INTO memory_fts(rowid, name, content, description)
        VALUES (new.id, new.name, new.content, new.description); END;
    CREATE TRIGGER IF NOT EXISTS memory_ad AFTER DELETE ON memory BEGIN
        INSERT INTO memory_fts(memory_fts, rowid, name, content, description)
        VALUES ('delete', old.id, old.name, old.content, old.description); END;
    CREATE TRIGGER IF NOT EXISTS memory_au AFTER UPDATE ON memory BEGIN
        INSERT INTO memory_fts(memory_fts, rowid, name, content, description)
        VALUES ('delete', old.id, old.name, old.content, old.description);
        INSERT INTO memory_fts(rowid, name, content, description)
        VALUES (new.id, new.name, new.content, new.description); END;";

/// Durability of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Syncs only at checkpoints, for fast loading.
    Load,
    /// Syncs every commit: it survives a power cut.
    Full,
}

/// Row of the baseline's memory table.
#[derive(Debug, Clone)]
pub(crate) struct TrigramEntry<'a> {
    pub(crate) agent: &'a str,
    pub(crate) user: &'a str,
    pub(crate) name: &'a str,
    pub(crate) content: &'a str,
}

/// Open database of the baseline.
pub(crate) struct TrigramBaseline {
    db: Connection,
}

impl TrigramBaseline {
    /// Opens or creates the database at `path`.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        let level = if durability == Durability::Full { "full" } else { "normal" };
        db.pragma_update(None, "synchronous", level)?;
        db.pragma_update(None, "cache_size", -65_536)?;
        db.execute_batch(SCHEMA)?;
        Ok(Self { db })
    }

    /// Saves all entries in one transaction and returns the id of the first; the others follow it.
    pub(crate) fn insert_batch(&mut self, entries: &[TrigramEntry<'_>]) -> Result<i64> {
        let transaction = self.db.transaction()?;
        let mut insert = transaction.prepare_cached(
            "INSERT INTO memory(agent_name, user_id, type, name, content) VALUES (?1, ?2, 'project', ?3, ?4)",
        )?;
        for entry in entries {
            insert.execute(params![entry.agent, entry.user, entry.name, entry.content])?;
        }
        drop(insert);
        let last = transaction.last_insert_rowid();
        transaction.commit()?;
        Ok(last + 1 - entries.len() as i64)
    }

    /// Returns the best `limit` ids for any of the words, within the agent and user.
    pub(crate) fn search(
        &self,
        agent: &str,
        user: &str,
        text: &str,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let Some(expression) = match_expression(text) else { return Ok(vec![]) };
        let sql = "SELECT m.* FROM memory m JOIN memory_fts f ON m.id = f.rowid
            WHERE memory_fts MATCH ?1 AND m.agent_name = ?2 AND m.user_id = ?3 ORDER BY rank LIMIT ?4";
        let mut select = self.db.prepare_cached(sql)?;
        let rows = select.query_map(params![expression, agent, user, limit as i64], |row| {
            // The baseline returns whole entries, so the text is read too.
            row.get::<_, String>("content")?;
            row.get("id")
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the size of the database in bytes.
    pub(crate) fn bytes(&self) -> Result<i64> {
        let value = |name| self.db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(value("page_count")? * value("page_size")?)
    }
}

/// Builds an OR of all words that trigrams can find; Chinese text gives every three characters in a row, which is the
/// most that a trigram index can do for it.
fn match_expression(text: &str) -> Option<String> {
    let words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    let pieces: Vec<String> = words
        .flat_map(|word| {
            let characters: Vec<char> = word.chars().collect();
            let runs = characters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b));
            runs.flat_map(searchable_parts).collect::<Vec<_>>()
        })
        .map(|piece| format!("\"{piece}\""))
        .collect();
    (!pieces.is_empty()).then(|| pieces.join(" OR "))
}

fn searchable_parts(run: &[char]) -> Vec<String> {
    if run.len() < MIN_CHARACTERS {
        vec![]
    } else if is_cjk(run[0]) {
        run.windows(MIN_CHARACTERS).map(String::from_iter).collect()
    } else {
        vec![String::from_iter(run)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_an_or_of_what_trigrams_can_find() {
        assert_eq!(
            match_expression("Is the load_config 配置文件 ok?").as_deref(),
            Some(r#""the" OR "load_config" OR "配置文" OR "置文件""#)
        );
        assert_eq!(match_expression("我们 is ok"), None);
    }

    #[test]
    fn a_search_stays_in_its_agent_and_user() {
        let folder = tempfile::tempdir().unwrap();
        let mut baseline =
            TrigramBaseline::open(&folder.path().join("source.db"), Durability::Load).unwrap();
        let entry = |user, content| TrigramEntry { agent: "a", user, name: "", content };
        let first = baseline
            .insert_batch(&[entry("u", "the invoice is late"), entry("v", "an invoice of v")])
            .unwrap();
        assert_eq!(baseline.search("a", "u", "invoice?", 10).unwrap(), [first]);
        assert_eq!(baseline.search("a", "v", "invoice?", 10).unwrap(), [first + 1]);
    }
}
