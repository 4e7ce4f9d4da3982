//! The vector cache in SQLite: vectors of remote models by scope, model and digest of the text.

use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::{ScopeDb, SqliteStore, erase, statements::Statements, vectors};
use crate::{
    error::Result,
    store::{
        VectorCache, VectorCacheStatus, VectorInsert, VectorLookup,
        vector_cache::{EVICTED_SHARE, day},
    },
    types::{EmbeddingModelId, Fingerprint, Scope, Vector},
};

/// Keys of `meta`.
const HITS: &str = "cache_hits";
const MISSES: &str = "cache_misses";
const COUNT: &str = "cached";

#[async_trait]
impl VectorCache for SqliteStore {
    async fn lookup(&self, scope: &Scope, request: &VectorLookup) -> Result<Vec<Option<Vector>>> {
        let lookup = request.clone();
        let mut found = self.read(scope, move |db| find(db, &lookup)).await?;
        found.vectors.resize(request.texts.len(), None);
        self.tally.count(&found.vectors);
        if !found.stale.is_empty() {
            let lookup = VectorLookup { texts: found.stale, ..request.clone() };
            self.write(scope, move |db| touch(db, &lookup)).await?;
        }
        Ok(found.vectors)
    }

    async fn insert(&self, scope: &Scope, batch: VectorInsert) -> Result<()> {
        let tally = self.tally.take();
        self.write(scope, move |db| {
            add_tally(&db, tally)?;
            insert(db, &batch)
        })
        .await
    }

    async fn status(&self) -> Result<VectorCacheStatus> {
        self.flush_tally().await?;
        self.pool
            .read(|db| {
                let [entries, hits, misses] = [COUNT, HITS, MISSES].map(|key| meta_value(db, key));
                Ok(VectorCacheStatus { entries: entries?, hits: hits?, misses: misses? })
            })
            .await
    }
}

impl SqliteStore {
    /// Adds the hits and misses of this process to the figures of the file.
    pub(super) async fn flush_tally(&self) -> Result<()> {
        if self.tally.is_empty() {
            return Ok(());
        }
        let tally = self.tally.take();
        self.writer.run(move |db| add_tally(db, tally)).await
    }
}

/// Removes the vectors of these texts, and every query of the scope, which may have quoted an erased text; returns how
/// many vectors there were.
pub(super) fn forget(db: ScopeDb<'_>, texts: &[Fingerprint]) -> Result<usize> {
    let sql = "DELETE FROM cached_vectors WHERE scope = ?1 AND model = ?2 AND (question = 1 OR text = ?3)";
    let models: Vec<u32> = db.all("SELECT id FROM models", [], |row| row.get(0))?;
    let mut removed = 0;
    for (model, text) in models.iter().flat_map(|model| texts.iter().map(move |text| (model, text)))
    {
        removed += db.run(sql, (db.id, model, text.as_bytes()))?;
    }
    if removed > 0 {
        add_to_meta(&db, COUNT, -(removed as i64))?;
    }
    Ok(removed)
}

/// Result of a lookup.
#[derive(Default)]
struct FoundVectors {
    vectors: Vec<Option<Vector>>,
    /// Texts whose last use was on an earlier day.
    stale: Vec<Fingerprint>,
}

fn find(db: ScopeDb<'_>, lookup: &VectorLookup) -> Result<FoundVectors> {
    let sql = "SELECT vector, used FROM cached_vectors \
               WHERE scope = ?1 AND model = ?2 AND question = ?3 AND text = ?4";
    let mut found = FoundVectors::default();
    let Some(model) = model_number(&db, &lookup.model)? else { return Ok(found) };
    for text in &lookup.texts {
        let key = (db.id, model, lookup.is_query, text.as_bytes());
        let row: Option<(Vec<u8>, i64)> = db.one(sql, key, |row| row.try_into())?;
        if row.as_ref().is_some_and(|(_, used)| *used < day(lookup.now)) {
            found.stale.push(*text);
        }
        found.vectors.push(row.and_then(|(bytes, _)| Vector::from_bytes(&bytes)));
    }
    Ok(found)
}

/// Marks texts as used today.
fn touch(db: ScopeDb<'_>, lookup: &VectorLookup) -> Result<()> {
    let sql = "UPDATE cached_vectors SET used = ?5 \
               WHERE scope = ?1 AND model = ?2 AND question = ?3 AND text = ?4";
    let Some(model) = model_number(&db, &lookup.model)? else { return Ok(()) };
    let today = day(lookup.now);
    lookup.texts.iter().try_for_each(|text| {
        db.run(sql, (db.id, model, lookup.is_query, text.as_bytes(), today)).map(drop)
    })
}

/// Stores vectors and evicts the surplus. A text that was erased while the model was at work is left out.
fn insert(db: ScopeDb<'_>, new: &VectorInsert) -> Result<()> {
    let sql = "INSERT INTO cached_vectors VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let model = vectors::register_model(&db, &new.model)?;
    let texts: Vec<_> = new.vectors.iter().map(|(text, _)| *text).collect();
    let erased = erase::are_erased(db, &texts)?;
    let today = day(new.now);
    let mut added = 0;
    for ((text, vector), _) in new.vectors.iter().zip(erased).filter(|(_, erased)| !erased) {
        let (text, vector) = (text.as_bytes(), vector.to_bytes());
        added += db.run(sql, params![db.id, model, new.is_query, text, today, vector])?;
    }
    add_to_meta(&db, COUNT, added as i64)?;
    evict(&db, new.max_entries)
}

/// Removes the vectors that were unused for longest if there are more than `max_entries`.
fn evict(db: &Connection, max_entries: usize) -> Result<()> {
    let sql = "DELETE FROM cached_vectors WHERE (scope, model, question, text) IN \
               (SELECT scope, model, question, text FROM cached_vectors ORDER BY used LIMIT ?1)";
    let count = meta_value(db, COUNT)? as usize;
    if count <= max_entries {
        return Ok(());
    }
    let surplus = count - max_entries + max_entries / EVICTED_SHARE;
    let evicted = db.run(sql, [surplus as i64])?;
    add_to_meta(db, COUNT, -(evicted as i64))
}

/// Adds hits and misses to the figures of the file.
fn add_tally(db: &Connection, (hits, misses): (u64, u64)) -> Result<()> {
    add_to_meta(db, HITS, hits as i64)?;
    add_to_meta(db, MISSES, misses as i64)
}

fn meta_value(db: &Connection, key: &str) -> Result<u64> {
    let value =
        db.one("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get::<_, i64>(0))?;
    Ok(value.unwrap_or(0) as u64)
}

fn add_to_meta(db: &Connection, key: &str, number: i64) -> Result<()> {
    let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + ?2";
    db.run(sql, (key, number)).map(drop)
}

fn model_number(db: &Connection, model: &EmbeddingModelId) -> Result<Option<u32>> {
    db.one("SELECT id FROM models WHERE name = ?1", [&model.name], |row| row.get(0))
}
