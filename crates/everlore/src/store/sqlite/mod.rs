//! Memories in one SQLite file: rows, index and journal in the same transaction, one writer that shares syncs between
//! waiting saves, many readers that never wait for it.

mod open;
mod pool;
mod writer;
mod apply;
mod rows;
mod index;
mod blocks;
mod question;
mod listed;
mod vectors;
mod cached;
mod tokens;
mod cache;
mod usage;
mod ledger;
mod journal;
mod erase;
mod captures;
mod held;
mod queue;
mod tree;
mod check;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension};

use self::{cache::Cache, pool::Pool, question::Asked, writer::Writer};
use super::{
    Counts, JournalQuery, Key, Ledger, Made, MadeTokens, Page, Place, Segment, Store, UsageLog,
};
use crate::{
    error::{Error, Result},
    text::terms::Term,
    types::{
        Applied, Change, Entry, Fingerprint, Memory, MemoryId, ModelId, Scope, Timestamp, Vector,
        Write,
    },
};

pub use self::open::SCHEMA_VERSION;

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    pool: Pool,
    writer: Writer,
    cache: Arc<Cache>,
    tally: Arc<cached::Tally>,
}

impl SqliteStore {
    /// Opens the file, creating or migrating it where needed. A backup is made before a migration. A file that cannot be
    /// written to is opened for reading, and every write is refused with [`Error::ReadOnly`].
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let (first, mode) = blocking({
            let path = path.clone();
            move || open::prepare(&path)
        })
        .await?;
        Ok(Self {
            pool: Pool::new(path.clone(), mode, first),
            writer: Writer::new(path.clone(), mode),
            cache: Arc::default(),
            tally: Arc::default(),
            path,
        })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can only be read from here.
    pub fn is_read_only(&self) -> bool {
        self.writer.check().is_err()
    }

    /// Asks SQLite itself whether the file is sound; returns what is wrong.
    pub async fn integrity(&self) -> Result<Vec<String>> {
        self.pool.read(check::integrity).await
    }

    /// Runs `read` on one unchanging state of the scope; a scope that never stored anything answers the default.
    async fn read<T, F>(&self, scope: &Scope, read: F) -> Result<T>
    where
        T: Default + Send + 'static,
        F: FnOnce(&Connection, i64) -> Result<T> + Send + 'static,
    {
        let scope = scope.clone();
        self.pool
            .read(move |db| match scope_number(db, &scope)? {
                Some(number) => read(db, number),
                None => Ok(T::default()),
            })
            .await
    }

    /// Runs `write` in a transaction; for a scope that never stored anything there is nothing to do.
    async fn write<F>(&self, scope: Scope, write: F) -> Result<()>
    where
        F: FnOnce(&Connection, i64) -> Result<()> + Send + 'static,
    {
        self.writer
            .run(move |db| match scope_number(db, &scope)? {
                Some(number) => write(db, number),
                None => Ok(()),
            })
            .await
    }

    /// Writes down how often the cache had something.
    async fn write_tally(&self) -> Result<()> {
        if self.tally.is_empty() {
            return Ok(());
        }
        let tally = self.tally.take();
        self.writer.run(move |db| cached::tally(db, tally)).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn apply(&self, write: Write) -> Result<Vec<Applied>> {
        let erases = write.changes.iter().any(|change| matches!(change, Change::Erase(_)));
        let applied = self.writer.apply(write).await?;
        if erases {
            self.cache.clear();
        }
        if erases && !self.writer.empty_log().await? {
            tracing::warn!(
                "readers kept the write-ahead log from being emptied; it is emptied when they are done"
            );
        }
        Ok(applied)
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        let (owner, ids) = (scope.clone(), ids.to_vec());
        let count = ids.len();
        let mut found = self
            .read(scope, move |db, number| {
                ids.iter()
                    .map(|id| Ok(rows::by_id(db, &owner, number, *id)?.map(|row| row.memory)))
                    .collect::<Result<Vec<_>>>()
            })
            .await?;
        found.resize(count, None);
        Ok(found)
    }

    async fn find(&self, scope: &Scope, key: &Key, limit: usize) -> Result<Vec<Memory>> {
        let (owner, key) = (scope.clone(), key.clone());
        self.read(scope, move |db, number| rows::find(db, &owner, number, &key, limit)).await
    }

    async fn list(&self, scope: &Scope, page: &Page) -> Result<Vec<Memory>> {
        let (owner, page) = (scope.clone(), page.clone());
        self.read(scope, move |db, number| match listed::list(db, &owner, number, &page)? {
            Some(found) => Ok(found),
            None => rows::list(db, &owner, number, &page),
        })
        .await
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[Term],
        model: Option<&ModelId>,
    ) -> Result<Vec<Segment>> {
        let asked = Asked { terms: terms.to_vec(), model: model.cloned() };
        self.read_postings(scope, asked).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        segments: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        self.compare(scope, segments, question).await
    }

    async fn model(&self) -> Result<Option<ModelId>> {
        Ok(self.pool.read(vectors::in_use).await?.map(|(_, model)| model))
    }

    async fn use_model(&self, model: &ModelId) -> Result<()> {
        let model = model.clone();
        self.writer.run(move |db| vectors::use_model(db, &model).map(drop)).await
    }

    async fn embedded(&self) -> Result<(usize, usize)> {
        self.pool.read(vectors::embedded).await
    }

    async fn unembedded(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let scope = scope.cloned();
        self.pool.read(move |db| vectors::unembedded(db, scope)).await
    }

    async fn embed(&self, scope: &Scope, model: &ModelId, made: Vec<Made>) -> Result<()> {
        let (owner, model) = (scope.clone(), model.clone());
        self.write(scope.clone(), move |db, number| {
            vectors::embed(db, &owner, number, &model, made)
        })
        .await
    }

    async fn tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        places: &[Place],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (model, places) = (model.clone(), places.to_vec());
        let count = places.len();
        let mut found =
            self.read(scope, move |db, number| tokens::read(db, number, &model, &places)).await?;
        found.resize(count, None);
        Ok(found)
    }

    async fn keep_tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        made: Vec<MadeTokens>,
    ) -> Result<()> {
        let (owner, model) = (scope.clone(), model.clone());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => tokens::keep(db, &owner, number, &model, made),
                None => Ok(()),
            })
            .await
    }

    async fn unread(
        &self,
        scope: &Scope,
        model: &ModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (owner, model) = (scope.clone(), model.clone());
        self.read(scope, move |db, number| {
            tokens::unread(db, &owner, number, &model, (after, limit))
        })
        .await
    }

    async fn count_read(&self, model: &ModelId) -> Result<(usize, usize)> {
        let model = model.clone();
        self.pool.read(move |db| tokens::counts(db, &model)).await
    }

    async fn at_places(&self, scope: &Scope, places: &[Place]) -> Result<Vec<(Place, Memory)>> {
        let (owner, places) = (scope.clone(), places.to_vec());
        self.read(scope, move |db, number| rows::at_places(db, &owner, number, &places)).await
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        let (owner, ids) = (scope.clone(), ids.to_vec());
        let count = ids.len();
        let mut found =
            self.read(scope, move |db, number| check::verify(db, &owner, number, &ids)).await?;
        found.resize(count, false);
        Ok(found)
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<Entry>> {
        let (owner, query) = (scope.clone(), query.clone());
        self.read(scope, move |db, number| journal::read(db, &owner, number, &query)).await
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        let owner = scope.clone();
        self.read(scope, move |db, number| journal::as_of(db, &owner, number, at)).await
    }

    async fn erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        let texts = texts.to_vec();
        let count = texts.len();
        let mut erased =
            self.read(scope, move |db, number| erase::erased(db, number, &texts)).await?;
        erased.resize(count, false);
        Ok(erased)
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        self.read(scope, erase::tombstones).await
    }

    async fn count(&self, scope: &Scope) -> Result<Counts> {
        self.read(scope, rows::count).await
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        self.pool.read(rows::scopes).await
    }

    async fn check(&self, scope: &Scope) -> Result<Vec<String>> {
        let owner = scope.clone();
        self.read(scope, move |db, number| check::check(db, &owner, number)).await
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        let owner = scope.clone();
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => {
                    index::drop_orphans(db).and_then(|()| check::reindex(db, &owner, number))
                }
                None => Ok(0),
            })
            .await
    }

    fn usage(&self) -> &dyn UsageLog {
        self
    }

    fn ledger(&self) -> &dyn Ledger {
        self
    }

    async fn vacuum(&self) -> Result<u64> {
        self.writer.vacuum().await
    }

    async fn close(&self) {
        if let Err(error) = self.write_tally().await {
            tracing::debug!("{error}: the figures of the cache are not complete");
        }
        self.writer.close().await;
        self.pool.close();
    }
}

/// The number under which the file keeps a scope.
fn scope_number(db: &Connection, scope: &Scope) -> Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM scopes WHERE agent = ?1 AND user = ?2")
        .map_err(failed)?
        .query_row((scope.agent(), scope.user()), |row| row.get(0))
        .optional()
        .map_err(failed)
}

/// Runs blocking work away from the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::store)?
}

/// Wraps a failure of SQLite.
fn failed(error: rusqlite::Error) -> Error {
    Error::store(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store in a folder of its own, which is kept for the rest of the test process.
    async fn fresh() -> Arc<dyn Store> {
        let folder = tempfile::tempdir().unwrap().keep();
        Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap())
    }

    crate::store::conformance::suite!(fresh);
}
