//! Token vectors in SQLite: of one reranking model at a time, which `meta.reranker` names; removed with their texts.

use async_trait::async_trait;
use rusqlite::Connection;

use super::{ScopeDb, SqliteStore, rows, statements::Statements, vectors};
use crate::{
    error::Result,
    store::{DocAddress, NewTokenVectors, TokenVectors},
    types::{EmbeddingModelId, Memory, MemoryId, Scope},
};

#[async_trait]
impl TokenVectors for SqliteStore {
    async fn get(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        addresses: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (model, wanted) = (model.clone(), addresses.to_vec());
        let mut found = self.read(scope, move |db| get(db, &model, &wanted)).await?;
        found.resize(addresses.len(), None);
        Ok(found)
    }

    async fn put(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        encoded: Vec<NewTokenVectors>,
    ) -> Result<()> {
        let (scope, model) = (scope.clone(), model.clone());
        let put = move |db: &Connection| match ScopeDb::find(db, &scope)? {
            Some(db) => {
                db.check_unsealed()?;
                put(db, &model, &encoded)
            }
            None => Ok(()),
        };
        self.writer.run_unsynced(put).await
    }

    async fn missing(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let model = model.clone();
        self.read(scope, move |db| {
            let ids = missing_ids(db, &model, after, limit)?;
            let memory = |id| Ok(rows::by_id(db, id)?.map(|row| row.memory));
            ids.into_iter().filter_map(|id| memory(id).transpose()).collect()
        })
        .await
    }

    async fn counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        let model = model.clone();
        self.pool.read(move |db| counts(db, &model)).await
    }
}

/// Removes the token vectors of a text and returns how many there were.
pub(super) fn remove(db: ScopeDb<'_>, address: DocAddress) -> Result<usize> {
    let sql = "DELETE FROM tokens WHERE scope = ?1 AND place = ?2";
    db.run(sql, (db.id, address.to_bits() as i64))
}

/// Counts token vectors without a memory.
pub(super) fn orphans(db: ScopeDb<'_>) -> Result<usize> {
    let sql = "SELECT count(*) FROM tokens WHERE scope = ?1 AND NOT EXISTS \
               (SELECT 1 FROM memories WHERE scope = tokens.scope AND place = tokens.place)";
    let orphans = db.one(sql, [db.id], |row| row.get::<_, i64>(0))?;
    Ok(orphans.unwrap_or(0) as usize)
}

fn get(
    db: ScopeDb<'_>,
    model: &EmbeddingModelId,
    addresses: &[DocAddress],
) -> Result<Vec<Option<Vec<u8>>>> {
    if !is_stored_model(&db, model)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT tokens FROM tokens WHERE scope = ?1 AND place = ?2";
    let key = |address: &DocAddress| (db.id, address.to_bits() as i64);
    addresses.iter().map(|address| db.one(sql, key(address), |row| row.get(0))).collect()
}

fn put(db: ScopeDb<'_>, model: &EmbeddingModelId, encoded: &[NewTokenVectors]) -> Result<()> {
    if !is_stored_model(&db, model)? {
        db.run("DELETE FROM tokens", [])?;
        let number = vectors::register_model(&db, model)?;
        db.run("INSERT OR REPLACE INTO meta VALUES ('reranker', ?1)", [number])?;
    }
    let sql = "INSERT OR REPLACE INTO tokens (scope, place, tokens) VALUES (?1, ?2, ?3)";
    for NewTokenVectors { id, version, token_vectors } in encoded {
        let row = rows::by_id(db, *id)?;
        if let Some(row) = row.filter(|row| row.memory.version == *version) {
            db.run(sql, (db.id, row.address.to_bits() as i64, token_vectors))?;
        }
    }
    Ok(())
}

fn missing_ids(
    db: ScopeDb<'_>,
    model: &EmbeddingModelId,
    after: Option<MemoryId>,
    limit: usize,
) -> Result<Vec<MemoryId>> {
    let not_encoded = if is_stored_model(&db, model)? {
        "AND NOT EXISTS (SELECT 1 FROM tokens WHERE scope = memories.scope AND place = memories.place)"
    } else {
        ""
    };
    let sql = format!(
        "SELECT id FROM memories WHERE scope = ?1 AND id > ?2 {not_encoded} ORDER BY id LIMIT ?3"
    );
    // Every id is above the empty blob.
    let after = after.map_or(Vec::new(), |id| id.as_bytes().to_vec());
    db.all(&sql, (db.id, after, limit as i64), |row| row.get(0).map(MemoryId::from_bytes))
}

fn counts(db: &Connection, model: &EmbeddingModelId) -> Result<(usize, usize)> {
    let count = |sql: &str| -> Result<usize> {
        let count = db.one(sql, [], |row| row.get::<_, i64>(0))?;
        Ok(count.unwrap_or(0) as usize)
    };
    let all = count("SELECT count(*) FROM memories")?;
    let is_stored = is_stored_model(db, model)?;
    let encoded = if is_stored { count("SELECT count(*) FROM tokens")? } else { 0 };
    Ok((encoded, all.saturating_sub(encoded)))
}

/// Returns `true` if the token vectors in the file are of this model.
fn is_stored_model(db: &Connection, model: &EmbeddingModelId) -> Result<bool> {
    let sql =
        "SELECT 1 FROM meta JOIN models ON models.id = value WHERE key = 'reranker' AND name = ?1";
    db.finds(sql, [&model.name])
}
