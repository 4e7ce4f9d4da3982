//! Memories in one SQLite file: rows, index and journal in the same transaction, one writer that shares syncs between
//! waiting saves, many readers that never wait for it.

mod open;
mod pool;
mod writer;
mod apply;
mod rows;
mod index;
mod block_tables;
mod read_segments;
mod list_by_term;
mod vectors;
mod vector_cache;
mod token_vectors;
mod block_cache;
mod usage;
mod ledger;
mod journal;
mod erase;
mod capture_rows;
mod quarantine;
mod capture_queue;
mod uri_index;
mod check;
#[cfg(test)]
pub(crate) mod vm_steps;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension};

use self::{
    block_cache::BlockCache, pool::ReaderPool, read_segments::PostingsRequest, writer::SqliteWriter,
};
use super::{
    DocAddress, JournalQuery, Ledger, ListQuery, MemoryKey, NewEmbedding, NewTokenVectors,
    ScopeCounts, Segment, Store, UsageLog,
};
use crate::{
    error::{Error, Result},
    text::terms::TermHash,
    types::{
        AppliedChange, Change, EmbeddingModelId, Fingerprint, JournalEntry, Memory, MemoryId,
        Scope, Timestamp, Vector, WriteBatch,
    },
};

pub use self::open::SCHEMA_VERSION;

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    pool: ReaderPool,
    writer: SqliteWriter,
    block_cache: Arc<BlockCache>,
    tally: Arc<vector_cache::CacheTally>,
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
            pool: ReaderPool::new(path.clone(), mode, first),
            writer: SqliteWriter::new(path.clone(), mode),
            block_cache: Arc::default(),
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
        self.writer.check_writable().is_err()
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
    async fn flush_tally(&self) -> Result<()> {
        if self.tally.is_empty() {
            return Ok(());
        }
        let tally = self.tally.take();
        self.writer.run(move |db| vector_cache::add_tally(db, tally)).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let erases = write.changes.iter().any(|change| matches!(change, Change::Erase(_)));
        let applied = self.writer.apply(write).await?;
        if erases {
            self.block_cache.clear();
        }
        if erases && !self.writer.truncate_wal().await? {
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

    async fn find(&self, scope: &Scope, key: &MemoryKey, limit: usize) -> Result<Vec<Memory>> {
        let (owner, key) = (scope.clone(), key.clone());
        self.read(scope, move |db, number| rows::find(db, &owner, number, &key, limit)).await
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        let (owner, page) = (scope.clone(), page.clone());
        self.read(scope, move |db, number| match list_by_term::list(db, &owner, number, &page)? {
            Some(found) => Ok(found),
            None => rows::list(db, &owner, number, &page),
        })
        .await
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        let asked = PostingsRequest { terms: terms.to_vec(), model: model.cloned() };
        self.read_postings(scope, asked).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        segments: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        self.score_blocks(scope, segments, question).await
    }

    async fn embedding_model(&self) -> Result<Option<EmbeddingModelId>> {
        Ok(self.pool.read(vectors::current_model).await?.map(|(_, model)| model))
    }

    async fn set_embedding_model(&self, model: &EmbeddingModelId) -> Result<()> {
        let model = model.clone();
        self.writer.run(move |db| vectors::set_embedding_model(db, &model).map(drop)).await
    }

    async fn embedding_counts(&self) -> Result<(usize, usize)> {
        self.pool.read(vectors::embedding_counts).await
    }

    async fn missing_embeddings(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let scope = scope.cloned();
        self.pool.read(move |db| vectors::missing_embeddings(db, scope)).await
    }

    async fn put_embeddings(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewEmbedding>,
    ) -> Result<()> {
        let (owner, model) = (scope.clone(), model.clone());
        self.write(scope.clone(), move |db, number| {
            vectors::put_embeddings(db, &owner, number, &model, made)
        })
        .await
    }

    async fn token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        places: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (model, places) = (model.clone(), places.to_vec());
        let count = places.len();
        let mut found = self
            .read(scope, move |db, number| token_vectors::read(db, number, &model, &places))
            .await?;
        found.resize(count, None);
        Ok(found)
    }

    async fn put_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewTokenVectors>,
    ) -> Result<()> {
        let (owner, model) = (scope.clone(), model.clone());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => token_vectors::put(db, &owner, number, &model, made),
                None => Ok(()),
            })
            .await
    }

    async fn missing_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let (owner, model) = (scope.clone(), model.clone());
        self.read(scope, move |db, number| {
            token_vectors::missing(db, &owner, number, &model, (after, limit))
        })
        .await
    }

    async fn token_vector_counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
        let model = model.clone();
        self.pool.read(move |db| token_vectors::counts(db, &model)).await
    }

    async fn by_address(
        &self,
        scope: &Scope,
        places: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        let (owner, places) = (scope.clone(), places.to_vec());
        self.read(scope, move |db, number| rows::by_address(db, &owner, number, &places)).await
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        let (owner, ids) = (scope.clone(), ids.to_vec());
        let count = ids.len();
        let mut found =
            self.read(scope, move |db, number| check::verify(db, &owner, number, &ids)).await?;
        found.resize(count, false);
        Ok(found)
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        let (owner, query) = (scope.clone(), query.clone());
        self.read(scope, move |db, number| journal::read(db, &owner, number, &query)).await
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        let owner = scope.clone();
        self.read(scope, move |db, number| journal::as_of(db, &owner, number, at)).await
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        let texts = texts.to_vec();
        let count = texts.len();
        let mut erased =
            self.read(scope, move |db, number| erase::are_erased(db, number, &texts)).await?;
        erased.resize(count, false);
        Ok(erased)
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        self.read(scope, erase::tombstones).await
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
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

    async fn compact(&self) -> Result<u64> {
        self.writer.vacuum().await
    }

    async fn close(&self) {
        if let Err(error) = self.flush_tally().await {
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
