//! Memories in one SQLite file: rows, index and journal in the same transaction, one writer that shares syncs between
//! concurrent saves, many readers that never wait for it.
//!
//! Migrations never change, so some names in SQL are older than those in Rust:
//!
//! | SQL | Rust |
//! |---|---|
//! | `place` | address: [`DocAddress`] as an integer |
//! | `gone` | deletions: `plan::Deletion` |
//! | `text` of a memory, tombstone, draft or cached vector | [`Fingerprint`] of the text |
//! | `changes`, `cause` | journal lines, their reason |
//! | `captures`, `extracted` | capture queue, checkpoint of a session |
//! | `held` | quarantined drafts |
//! | `tokens` | token vectors |
//! | `slots`, `unmade` | packed vectors of a block; how many are missing |
//! | `block_gone` | deleted documents of a block |
//! | `asked`, `weighed` of `usage` | digests of query terms; set when weights were updated |

mod open;
mod pool;
mod statements;
mod writer;
mod apply;
mod rows;
mod index;
mod block_tables;
mod locate;
mod read_segments;
mod list_by_term;
mod vectors;
mod vector_cache;
mod token_vectors;
mod usage;
mod ledger;
mod journal;
mod erase;
mod capture_rows;
mod quarantine;
mod capture_queue;
mod uri_index;
mod shared_documents;
mod integrity;
mod seal;
#[cfg(test)]
pub(crate) mod vm_steps;

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use rusqlite::Connection;

use self::{pool::ReaderPool, statements::Statements, writer::SqliteWriter};
use super::{
    DocAddress, ListQuery, Memories, MemoryKey, ScopeCounts, SealChange, Store, StoreAdmin,
    StoreInfo, index::block_cache::BlockCache, seal::SEAL, vector_cache::CacheTally,
};
use crate::{
    error::{Error, Result},
    sync::run_blocking,
    types::{AppliedChange, Change, Fingerprint, Memory, MemoryId, Scope, WriteBatch},
};

pub(crate) use self::open::SCHEMA_VERSION;

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    pool: ReaderPool,
    writer: Arc<SqliteWriter>,
    /// Index blocks in RAM.
    block_cache: Arc<BlockCache>,
    /// Hits and misses of the vector cache that are not in the database yet.
    tally: Arc<CacheTally>,
}

impl SqliteStore {
    /// Opens the file, creating or migrating it where needed. A backup is made before a migration. A file that cannot
    /// be written to is opened for reading, and every write is refused with
    /// [`Error::ReadOnly`](crate::Error::ReadOnly).
    ///
    /// Indexes that an older text analysis built are rebuilt in the background, a scope at a time.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let (first, mode, stale) = run_blocking({
            let path = path.clone();
            move || {
                let (first, mode) = open::prepare(&path)?;
                let stale = integrity::stale_scopes(&first)?;
                Ok((first, mode, stale))
            }
        })
        .await?;
        let store = Self {
            pool: ReaderPool::new(path.clone(), mode, first),
            writer: Arc::new(SqliteWriter::new(path.clone(), mode)),
            block_cache: Arc::default(),
            tally: Arc::default(),
            path,
        };
        store.rebuild_indexes(stale);
        Ok(store)
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rebuilds the indexes of these scopes in the background.
    fn rebuild_indexes(&self, stale: Vec<Scope>) {
        if stale.is_empty() || self.writer.check_writable().is_err() {
            return;
        }
        let writer = Arc::clone(&self.writer);
        tokio::spawn(async move {
            for scope in stale {
                let reindex = |scope: Scope| {
                    writer.run(move |db| match ScopeDb::find(db, &scope)? {
                        Some(db) => integrity::reindex(db),
                        None => Ok(0),
                    })
                };
                if let Err(error) = reindex(scope.clone()).await {
                    tracing::warn!("{error}: the index of {scope} is rebuilt at the next start");
                }
            }
        });
    }

    /// Runs `read` on one unchanging state of the scope; a scope that never stored anything answers the default.
    async fn read<T, F>(&self, scope: &Scope, read: F) -> Result<T>
    where
        T: Default + Send + 'static,
        F: FnOnce(ScopeDb<'_>) -> Result<T> + Send + 'static,
    {
        let scope = scope.clone();
        self.pool
            .read(move |db| match ScopeDb::find(db, &scope)? {
                Some(db) => read(db),
                None => Ok(T::default()),
            })
            .await
    }

    /// Runs `write` in the writer's transaction; a scope that never stored anything answers the default.
    async fn write<T, F>(&self, scope: &Scope, write: F) -> Result<T>
    where
        T: Default + Send + 'static,
        F: FnOnce(ScopeDb<'_>) -> Result<T> + Send + 'static,
    {
        let scope = scope.clone();
        self.writer
            .run(move |db| match ScopeDb::find(db, &scope)? {
                Some(db) => {
                    db.check_unsealed()?;
                    write(db)
                }
                None => Ok(T::default()),
            })
            .await
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

    crate::store_facets! {
        own: memories, index, journal, vectors, token_vectors, queue, uris, usage, ledger, vector_cache,
            documents, admin
    }
}

#[async_trait]
impl Memories for SqliteStore {
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        let wanted = ids.to_vec();
        let get = move |db: ScopeDb<'_>| {
            let memory = |id: &MemoryId| Ok(rows::by_id(db, *id)?.map(|row| row.memory));
            wanted.iter().map(memory).collect::<Result<Vec<_>>>()
        };
        let mut found = self.read(scope, get).await?;
        found.resize(ids.len(), None);
        Ok(found)
    }

    async fn find(
        &self,
        scope: &Scope,
        keys: &[MemoryKey],
        limit: usize,
    ) -> Result<Vec<Vec<Memory>>> {
        let wanted = keys.to_vec();
        let find = move |db: ScopeDb<'_>| {
            let found = |key| rows::find(db, key, limit);
            wanted.iter().map(found).collect::<Result<Vec<_>>>()
        };
        let mut found = self.read(scope, find).await?;
        found.resize(keys.len(), Vec::new());
        Ok(found)
    }

    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>> {
        let page = page.clone();
        self.read(scope, move |db| match list_by_term::list(db, &page)? {
            Some(found) => Ok(found),
            None => rows::list(db, &page),
        })
        .await
    }

    async fn by_address(
        &self,
        scope: &Scope,
        addresses: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>> {
        let addresses = addresses.to_vec();
        self.read(scope, move |db| rows::by_address(db, &addresses)).await
    }

    async fn read_back(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        let wanted = ids.to_vec();
        let read_back = move |db: ScopeDb<'_>| integrity::read_back(db, &wanted);
        let mut found = self.read(scope, read_back).await?;
        found.resize(ids.len(), false);
        Ok(found)
    }

    async fn count(&self, scope: &Scope) -> Result<ScopeCounts> {
        self.read(scope, rows::count).await
    }

    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        let wanted = texts.to_vec();
        let look_up = move |db: ScopeDb<'_>| erase::are_erased(db, &wanted);
        let mut erased = self.read(scope, look_up).await?;
        erased.resize(texts.len(), false);
        Ok(erased)
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        self.read(scope, erase::tombstones).await
    }
}

#[async_trait]
impl StoreAdmin for SqliteStore {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            url: format!("sqlite:{}", self.path.display()),
            schema: SCHEMA_VERSION,
            is_read_only: self.writer.check_writable().is_err(),
        }
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        self.pool.read(rows::scopes).await
    }

    async fn integrity(&self) -> Result<Vec<String>> {
        self.pool.read(integrity::file_problems).await
    }

    async fn compact(&self) -> Result<u64> {
        self.writer.vacuum().await
    }

    async fn size(&self) -> Result<Option<u64>> {
        Ok(std::fs::metadata(&self.path).ok().map(|data| data.len()))
    }

    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()> {
        let agent = agent.to_owned();
        match change {
            SealChange::Seal(holder) => {
                let holder = holder.to_owned();
                self.writer.run(move |db| seal::seal(db, &agent, &holder)).await
            }
            SealChange::End => self.writer.run(move |db| seal::unseal(db, &agent, None)).await,
            SealChange::EndOf(holder) => {
                let holder = holder.to_owned();
                self.writer.run(move |db| seal::unseal(db, &agent, Some(&holder))).await
            }
        }
    }

    async fn erase_agent(&self, agent: &str) -> Result<()> {
        let agent = agent.to_owned();
        self.writer.run(move |db| seal::erase_agent(db, &agent)).await?;
        self.block_cache.clear();
        self.writer.vacuum().await?;
        if !self.writer.truncate_wal().await? {
            tracing::warn!("readers kept the write-ahead log from being emptied");
        }
        Ok(())
    }

    async fn close(&self) {
        if let Err(error) = self.flush_tally().await {
            tracing::debug!("{error}: the hit rate of the vector cache is not complete");
        }
        self.writer.close().await;
        self.pool.close();
    }
}

/// Connection with the scope that its statements are confined to.
#[derive(Clone, Copy)]
struct ScopeDb<'a> {
    connection: &'a Connection,
    scope: &'a Scope,
    /// Row id of the scope.
    id: i64,
}

impl<'a> ScopeDb<'a> {
    /// Finds a scope; `None` if it never stored anything.
    fn find(connection: &'a Connection, scope: &'a Scope) -> Result<Option<Self>> {
        let sql = "SELECT id FROM scopes WHERE agent = ?1 AND user = ?2";
        let id = connection.one(sql, (scope.agent(), scope.user()), |row| row.get(0))?;
        Ok(id.map(|id| Self { connection, scope, id }))
    }

    /// Fails if the scope is sealed.
    fn check_unsealed(&self) -> Result<()> {
        let sql = "SELECT 1 FROM scopes WHERE id = ?1 AND index_version >= ?2";
        if self.finds(sql, (self.id, SEAL))? {
            return Err(Error::Sealed { agent: self.scope.agent().to_owned() });
        }
        Ok(())
    }
}

impl Deref for ScopeDb<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SearchIndex, conformance::TestStore};

    async fn fresh() -> TestStore {
        let open = |folder: PathBuf| async move {
            let store = SqliteStore::open(folder.join("everlore.db")).await.unwrap();
            Arc::new(store) as Arc<dyn Store>
        };
        TestStore::in_folder(open).await
    }

    crate::store::conformance::suite!(fresh);

    #[tokio::test]
    async fn a_stale_index_is_rebuilt_in_the_background_and_a_newer_one_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        let engine = crate::Engine::new(Arc::new(SqliteStore::open(&path).await.unwrap()));
        let scope = Scope::default();
        let remember =
            crate::RememberRequest { content: "我喜欢茶".into(), ..Default::default() };
        engine.remember(&scope, remember.clone()).await.unwrap();
        let set_version = |version: u32| {
            let db = Connection::open(&path).unwrap();
            db.execute("UPDATE scopes SET index_version = ?1", [version]).unwrap();
        };
        set_version(0);
        let store = SqliteStore::open(&path).await.unwrap();
        while !store.stale_scopes().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(store.inconsistencies(&scope).await.unwrap(), Vec::<String>::new());
        set_version(u32::MAX);
        let error = engine.remember(&scope, remember).await.unwrap_err();
        assert!(matches!(error, crate::Error::SchemaTooNew { .. }), "{error:?}");
    }
}
