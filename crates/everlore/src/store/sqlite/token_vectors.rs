//! Vectors of words in the file: of one reranking model, made after the texts, gone with them.

use rusqlite::{Connection, OptionalExtension, params};

use super::{failed, rows, vectors};
use crate::{
    error::Result,
    store::{DocAddress, NewTokenVectors},
    types::{EmbeddingModelId, Memory, MemoryId, Scope},
};

/// What the model made of these texts; none where it is another model or has not read the text.
pub(super) fn read(
    db: &Connection,
    scope: i64,
    model: &EmbeddingModelId,
    places: &[DocAddress],
) -> Result<Vec<Option<Vec<u8>>>> {
    if !is_stored_model(db, model)? {
        return Ok(vec![None; places.len()]);
    }
    let mut select = db
        .prepare_cached("SELECT tokens FROM tokens WHERE scope = ?1 AND place = ?2")
        .map_err(failed)?;
    let mut found = |place: &DocAddress| {
        select
            .query_row((scope, place.to_bits() as i64), |row| row.get(0))
            .optional()
            .map_err(failed)
    };
    places.iter().map(&mut found).collect()
}

/// Keeps what a model made of texts that are still the same. What another model made is removed first.
pub(super) fn put(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    model: &EmbeddingModelId,
    made: Vec<NewTokenVectors>,
) -> Result<()> {
    if !is_stored_model(db, model)? {
        db.execute("DELETE FROM tokens", []).map_err(failed)?;
        let number = vectors::register_model(db, model)?;
        db.execute("INSERT OR REPLACE INTO meta VALUES ('reranker', ?1)", [number])
            .map_err(failed)?;
    }
    let mut insert = db
        .prepare_cached("INSERT OR REPLACE INTO tokens (scope, place, tokens) VALUES (?1, ?2, ?3)")
        .map_err(failed)?;
    for NewTokenVectors { id, version, token_vectors: tokens } in made {
        let stored = rows::by_id(db, owner, scope, id)?;
        if let Some(stored) = stored.filter(|stored| stored.memory.version == version) {
            let place = stored.address.to_bits() as i64;
            insert.execute(params![scope, place, tokens]).map_err(failed)?;
        }
    }
    Ok(())
}

/// The first memories after one, by age, that the model has not read.
pub(super) fn missing(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    model: &EmbeddingModelId,
    (after, limit): (Option<MemoryId>, usize),
) -> Result<Vec<Memory>> {
    let unread = if is_stored_model(db, model)? {
        "AND NOT EXISTS (SELECT 1 FROM tokens WHERE scope = memories.scope AND place = memories.place)"
    } else {
        ""
    };
    let sql = format!(
        "SELECT id FROM memories WHERE scope = ?1 AND id > ?2 {unread} ORDER BY id LIMIT ?3"
    );
    let mut select = db.prepare_cached(&sql).map_err(failed)?;
    let after = after.map_or(Vec::new(), |id| id.as_bytes().to_vec());
    let ids = select
        .query_map(params![scope, after, limit as i64], |row| row.get(0).map(MemoryId::from_bytes))
        .map_err(failed)?
        .collect::<rusqlite::Result<Vec<_>>>()
        .map_err(failed)?;
    let memory = |id| Ok(rows::by_id(db, owner, scope, id)?.map(|stored| stored.memory));
    ids.into_iter().filter_map(|id| memory(id).transpose()).collect()
}

/// How many texts of all scopes the model has read, and how many it has not.
pub(super) fn counts(db: &Connection, model: &EmbeddingModelId) -> Result<(usize, usize)> {
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let all = count("SELECT count(*) FROM memories")?;
    let kept = if is_stored_model(db, model)? { count("SELECT count(*) FROM tokens")? } else { 0 };
    Ok((kept as usize, (all - kept) as usize))
}

/// Forgets what was made of a text and tells how much that was.
pub(super) fn remove(db: &Connection, scope: i64, place: DocAddress) -> Result<usize> {
    db.prepare_cached("DELETE FROM tokens WHERE scope = ?1 AND place = ?2")
        .and_then(|mut delete| delete.execute((scope, place.to_bits() as i64)))
        .map_err(failed)
}

/// Vectors of words without a memory.
pub(super) fn orphans(db: &Connection, scope: i64) -> Result<usize> {
    let sql = "SELECT count(*) FROM tokens WHERE scope = ?1 AND NOT EXISTS \
               (SELECT 1 FROM memories WHERE scope = tokens.scope AND place = tokens.place)";
    db.query_row(sql, [scope], |row| row.get::<_, i64>(0))
        .map(|count| count as usize)
        .map_err(failed)
}

/// Whether the vectors of words in the file are of this model.
fn is_stored_model(db: &Connection, model: &EmbeddingModelId) -> Result<bool> {
    let sql =
        "SELECT 1 FROM meta JOIN models ON models.id = value WHERE key = 'reranker' AND name = ?1";
    db.prepare_cached(sql).and_then(|mut select| select.exists([&model.name])).map_err(failed)
}
