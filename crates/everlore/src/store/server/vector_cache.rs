//! The vector cache facet: vectors of remote models by scope, model and digest of the text.

use std::{
    collections::{BTreeSet, HashMap},
    sync::atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;

use super::{
    ServerStore,
    database::{Database, number, rows as result_rows},
    memories::read_digests,
    models,
    scope_row::{self, ScopeKey},
    sql::{OnConflict, SqlRow, Statement, insert, list, sql, sql_row},
    tables::CACHED_VECTORS,
    transaction::RetryRule,
};
use crate::{
    error::{Error, Result},
    store::{
        VectorCache, VectorCacheStatus, VectorInsert, VectorLookup,
        vector_cache::{EVICTED_SHARE, day},
    },
    types::{Fingerprint, Scope, Vector},
};

/// Rows of `meta`.
const HITS: &str = "cache_hits";
const MISSES: &str = "cache_misses";

const COUNT: &str = "SELECT count(*) FROM cached_vectors";

/// Vectors that this process inserted since it last counted all of them; counting each time would read the whole table.
#[derive(Debug)]
pub(super) struct EvictionClock(AtomicUsize);

impl Default for EvictionClock {
    /// A process counts at its first insertion.
    fn default() -> Self {
        Self(AtomicUsize::new(usize::MAX / 2))
    }
}

impl EvictionClock {
    /// Returns `true` if so many were inserted that the surplus may be worth an eviction.
    fn is_due(&self, inserted: usize, max_entries: usize) -> bool {
        let before = self.0.fetch_add(inserted, Ordering::Relaxed);
        let is_due = before + inserted >= max_entries / EVICTED_SHARE;
        if is_due {
            self.0.store(0, Ordering::Relaxed);
        }
        is_due
    }
}

#[async_trait]
impl VectorCache for ServerStore {
    async fn lookup(&self, scope: &Scope, request: &VectorLookup) -> Result<Vec<Option<Vector>>> {
        let text = "SELECT c.digest, c.vector, c.used_day FROM cached_vectors c JOIN models m ON m.number = c.model \
                    WHERE c.scope = ? AND m.name = ? AND c.is_query = ? AND c.digest IN ?";
        let (key, texts) = (ScopeKey::of(scope), list(request.texts.iter().copied()));
        let found = sql!(text, key, &request.model.name, request.is_query, texts);
        let mut vectors: HashMap<Fingerprint, Vector> = HashMap::new();
        let mut stale = Vec::new();
        for mut row in self.db.read_one(found).await? {
            let text = Fingerprint::from_bytes(row.id(0)?);
            vectors.extend(Vector::from_bytes(&row.bytes(1)?).map(|vector| (text, vector)));
            if row.int::<i64>(2)? < day(request.now) {
                stale.push(text);
            }
        }
        let found: Vec<_> = request.texts.iter().map(|text| vectors.get(text).cloned()).collect();
        self.tally.count(&found);
        if !stale.is_empty() {
            self.db.write(RetryRule::Idempotent, vec![touch(key, request, stale)]).await?;
        }
        Ok(found)
    }

    async fn insert(&self, scope: &Scope, batch: VectorInsert) -> Result<()> {
        let model = models::register(&self.db, &batch.model, None).await?;
        self.db
            .retried(RetryRule::Idempotent, || insert_new(&self.db, scope, &batch, model))
            .await?;
        self.flush_tally().await?;
        if self.eviction.is_due(batch.vectors.len(), batch.max_entries) {
            evict(&self.db, batch.max_entries).await?;
        }
        Ok(())
    }

    async fn status(&self) -> Result<VectorCacheStatus> {
        self.flush_tally().await?;
        let meta = |name: &str| sql!("SELECT value FROM meta WHERE name = ?", name);
        let [entries, hits, misses] = self.db.read([sql!(COUNT), meta(HITS), meta(MISSES)]).await?;
        let figure = |rows: Vec<SqlRow>| Ok::<_, Error>(number(rows)?.max(0) as u64);
        Ok(VectorCacheStatus {
            entries: figure(entries)?,
            hits: figure(hits)?,
            misses: figure(misses)?,
        })
    }
}

impl ServerStore {
    /// Adds the hits and misses of this process to the figures of the database.
    pub(super) async fn flush_tally(&self) -> Result<()> {
        if self.tally.is_empty() {
            return Ok(());
        }
        let (hits, misses) = self.tally.take();
        let add = |name: &str, count: u64| {
            sql!("UPDATE meta SET value = value + ? WHERE name = ?", count, name)
        };
        let add = vec![add(HITS, hits), add(MISSES, misses)];
        self.db.write(RetryRule::Unchanged, add).await.map(drop)
    }
}

/// Creates the statement that marks texts as used today.
fn touch(key: ScopeKey, request: &VectorLookup, texts: Vec<Fingerprint>) -> Statement {
    sql!(
        "UPDATE cached_vectors SET used_day = ? WHERE scope = ? AND model = (SELECT number FROM models WHERE name = ?) \
         AND is_query = ? AND digest IN ?",
        day(request.now),
        key,
        &request.model.name,
        request.is_query,
        list(texts)
    )
}

/// Stores vectors. A text that was erased while the model was at work is left out.
async fn insert_new(db: &Database, scope: &Scope, new: &VectorInsert, model: u32) -> Result<()> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let text = "SELECT digest FROM tombstones WHERE scope = ? AND digest IN ?";
    let erased = sql!(text, key, list(new.vectors.iter().map(|(text, _)| *text)));
    let Some((locked, results)) = scope_row::lock(&mut tx, key, vec![erased]).await? else {
        return Ok(());
    };
    let [erased] = result_rows(results)?;
    let erased: BTreeSet<Fingerprint> = read_digests(erased)?.into_iter().collect();
    let left: HashMap<Fingerprint, &Vector> = new
        .vectors
        .iter()
        .filter(|(text, _)| !erased.contains(text))
        .map(|(text, vector)| (*text, vector))
        .collect();
    let today = day(new.now);
    let row = |(text, vector): (Fingerprint, &Vector)| {
        sql_row![key, model, new.is_query, text, today, vector.to_bytes()]
    };
    let rows = left.into_iter().map(row).collect();
    let insert = vec![insert(&CACHED_VECTORS, rows, OnConflict::Keep)];
    locked.commit(tx, db.dialect(), key, insert).await.map(drop)
}

/// Removes the vectors that were unused for longest if there are more than `max_entries`.
async fn evict(db: &Database, max_entries: usize) -> Result<()> {
    let count = number(db.read_one(sql!(COUNT)).await?)? as usize;
    if count <= max_entries {
        return Ok(());
    }
    let surplus = count - max_entries + max_entries / EVICTED_SHARE;
    // The inner query has a name of its own, because MySQL does not delete from a table that it reads.
    let text = "DELETE FROM cached_vectors WHERE (scope, model, is_query, digest) IN \
                (SELECT scope, model, is_query, digest FROM \
                 (SELECT scope, model, is_query, digest FROM cached_vectors ORDER BY used_day LIMIT ?) oldest)";
    db.write(RetryRule::Idempotent, vec![sql!(text, surplus)]).await.map(drop)
}
