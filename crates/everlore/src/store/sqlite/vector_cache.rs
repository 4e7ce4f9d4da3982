//! The cache of vectors in the file.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};

use super::{SqliteStore, erase, failed, vectors};
use crate::{
    error::Result,
    store::vector_cache::{VectorCache, VectorCacheStatus, VectorInsert, VectorLookup},
    types::{EmbeddingModelId, Fingerprint, Scope, Timestamp, Vector},
};

/// When there are too many, so many more go that it is not done at every save: one in sixteen.
const EVICTED_SHARE: usize = 16;

const HITS: &str = "cache_hits";
const MISSES: &str = "cache_misses";
const COUNT: &str = "cached";

/// Hits and misses of this process that the file does not know yet: a lookup writes nothing.
#[derive(Debug, Default)]
pub(super) struct CacheTally {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CacheTally {
    pub(super) fn count<T>(&self, found: &[Option<T>]) {
        let hits = found.iter().flatten().count();
        self.hits.fetch_add(hits as u64, Ordering::Relaxed);
        self.misses.fetch_add((found.len() - hits) as u64, Ordering::Relaxed);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hits.load(Ordering::Relaxed) + self.misses.load(Ordering::Relaxed) == 0
    }

    /// Hands over what was counted to be written.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.hits.swap(0, Ordering::Relaxed), self.misses.swap(0, Ordering::Relaxed))
    }
}

#[async_trait]
impl VectorCache for SqliteStore {
    async fn lookup(&self, scope: &Scope, asked: &VectorLookup) -> Result<Vec<Option<Vector>>> {
        let (lookup, count) = (asked.clone(), asked.texts.len());
        let mut found =
            self.read(scope, move |db, number| find_vectors(db, number, &lookup)).await?;
        found.vectors.resize(count, None);
        self.tally.count(&found.vectors);
        if !found.stale.is_empty() {
            let (owner, lookup, stale) = (scope.clone(), asked.clone(), found.stale);
            self.write(owner, move |db, number| touch(db, number, &lookup, &stale)).await?;
        }
        Ok(found.vectors)
    }

    async fn insert(&self, scope: &Scope, kept: VectorInsert) -> Result<()> {
        let counted = self.tally.take();
        self.write(scope.clone(), move |db, number| {
            add_tally(db, counted).and_then(|()| put(db, number, &kept))
        })
        .await
    }

    async fn status(&self) -> Result<VectorCacheStatus> {
        self.flush_tally().await?;
        self.pool.read(status).await
    }
}

/// What a lookup found.
#[derive(Default)]
pub(super) struct VectorLookupResult {
    pub(super) vectors: Vec<Option<Vector>>,
    /// Texts whose last use was on an earlier day.
    pub(super) stale: Vec<Fingerprint>,
}

/// The vectors that are kept of these texts.
pub(super) fn find_vectors(
    db: &Connection,
    scope: i64,
    asked: &VectorLookup,
) -> Result<VectorLookupResult> {
    let mut found = VectorLookupResult::default();
    let Some(model) = model_number(db, &asked.model)? else { return Ok(found) };
    let mut select = db
        .prepare_cached(
            "SELECT vector, used FROM cached_vectors WHERE scope = ?1 AND model = ?2 AND question = ?3 AND text = ?4",
        )
        .map_err(failed)?;
    for text in &asked.texts {
        let row = select
            .query_row(params![scope, model, asked.is_query, text.as_bytes()], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()
            .map_err(failed)?;
        if row.as_ref().is_some_and(|(_, used)| *used < day(asked.now)) {
            found.stale.push(*text);
        }
        found.vectors.push(row.and_then(|(slot, _)| Vector::from_bytes(&slot)));
    }
    Ok(found)
}

/// Notes that texts were used today.
pub(super) fn touch(
    db: &Connection,
    scope: i64,
    asked: &VectorLookup,
    texts: &[Fingerprint],
) -> Result<()> {
    let Some(model) = model_number(db, &asked.model)? else { return Ok(()) };
    let mut update = db
        .prepare_cached(
            "UPDATE cached_vectors SET used = ?5 WHERE scope = ?1 AND model = ?2 AND question = ?3 AND text = ?4",
        )
        .map_err(failed)?;
    for text in texts {
        update
            .execute(params![scope, model, asked.is_query, text.as_bytes(), day(asked.now)])
            .map_err(failed)?;
    }
    Ok(())
}

/// Keeps vectors and lets those go that are too many. A text that was erased while its model was asked is not kept.
pub(super) fn put(db: &Connection, scope: i64, kept: &VectorInsert) -> Result<()> {
    let model = vectors::register_model(db, &kept.model)?;
    let mut insert = db
        .prepare_cached(
            "INSERT INTO cached_vectors VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
        )
        .map_err(failed)?;
    let texts: Vec<_> = kept.vectors.iter().map(|(text, _)| *text).collect();
    let erased = erase::are_erased(db, scope, &texts)?;
    let mut added = 0;
    for ((text, vector), _) in kept.vectors.iter().zip(erased).filter(|(_, erased)| !erased) {
        added += insert
            .execute(params![
                scope,
                model,
                kept.is_query,
                text.as_bytes(),
                day(kept.now),
                vector.to_bytes()
            ])
            .map_err(failed)?;
    }
    add_to_meta(db, COUNT, added as i64)?;
    evict(db, kept.max_entries)
}

/// Takes out what is kept of these texts, and every question of the scope: one may have quoted what is erased.
pub(super) fn remove_texts(db: &Connection, scope: i64, texts: &[Fingerprint]) -> Result<usize> {
    let mut delete = db
        .prepare_cached(
            "DELETE FROM cached_vectors WHERE scope = ?1 AND model = ?2 AND (question = 1 OR text = ?3)",
        )
        .map_err(failed)?;
    let mut gone = 0;
    for model in models(db)? {
        for text in texts {
            gone += delete.execute(params![scope, model, text.as_bytes()]).map_err(failed)?;
        }
    }
    if gone > 0 {
        add_to_meta(db, COUNT, -(gone as i64))?;
    }
    Ok(gone)
}

/// Adds what was counted to the figures of the file.
pub(super) fn add_tally(db: &Connection, (hits, misses): (u64, u64)) -> Result<()> {
    add_to_meta(db, HITS, hits as i64)?;
    add_to_meta(db, MISSES, misses as i64)
}

/// The figures of the file.
pub(super) fn status(db: &Connection) -> Result<VectorCacheStatus> {
    let [entries, hits, misses] = [COUNT, HITS, MISSES].map(|key| meta_value(db, key));
    Ok(VectorCacheStatus { entries: entries?, hits: hits?, misses: misses? })
}

fn evict(db: &Connection, most: usize) -> Result<()> {
    let count = meta_value(db, COUNT)? as usize;
    if count <= most {
        return Ok(());
    }
    let excess = count - most + most / EVICTED_SHARE;
    let gone = db
        .execute(
            "DELETE FROM cached_vectors WHERE (scope, model, question, text) IN \
             (SELECT scope, model, question, text FROM cached_vectors ORDER BY used LIMIT ?1)",
            [excess as i64],
        )
        .map_err(failed)?;
    add_to_meta(db, COUNT, -(gone as i64))
}

fn meta_value(db: &Connection, key: &str) -> Result<u64> {
    let value = db
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut select| select.query_row([key], |row| row.get::<_, i64>(0)).optional());
    Ok(value.map_err(failed)?.unwrap_or(0) as u64)
}

fn add_to_meta(db: &Connection, key: &str, number: i64) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + ?2",
    )
    .and_then(|mut insert| insert.execute(params![key, number]))
    .map(drop)
    .map_err(failed)
}

fn model_number(db: &Connection, model: &EmbeddingModelId) -> Result<Option<u32>> {
    db.prepare_cached("SELECT id FROM models WHERE name = ?1")
        .and_then(|mut select| select.query_row([&model.name], |row| row.get(0)).optional())
        .map_err(failed)
}

fn models(db: &Connection) -> Result<Vec<u32>> {
    let mut select = db.prepare_cached("SELECT id FROM models").map_err(failed)?;
    let rows = select.query_map([], |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn day(at: Timestamp) -> i64 {
    at.as_second() / 86_400
}
