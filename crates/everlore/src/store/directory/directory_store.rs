//! Folder of markdown files as a store. People see and edit the files; a database in the hidden folder holds what a
//! file cannot: turns, history, tombstones, vectors and the search index.
//!
//! Every write becomes durable in the hidden database first and reaches the files right after; every edit by hand is
//! taken in before the next read. If the hidden database is lost, the memories are read back from the files, with their
//! ids; their history is lost.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, Instant},
};

use async_trait::async_trait;

use super::{SyncAction, SyncReport, SyncRequest, sync};
use crate::{
    error::{Error, Result},
    files::{
        home::folder_name,
        vault::{META_FOLDER, VaultLock, ensure_meta_folder},
    },
    store::{
        DocAddress, ListQuery, Memories, MemoryKey, ScopeCounts, SealChange, SearchIndex, Segment,
        SqliteStore, Store, StoreAdmin, StoreInfo,
    },
    sync::{lock, run_blocking},
    text::terms::TermHash,
    types::{
        AppliedChange, Change, EmbeddingModelId, Fingerprint, Kind, Memory, MemoryId, Scope,
        Timestamp, Vector, WriteBatch,
    },
};

/// Least time between two scans: edits by hand are found within a second, and a busy reader does not look at every file
/// for every query.
const SCAN_INTERVAL: Duration = Duration::from_millis(500);

/// Store in a folder: `{agent}/{user}/` holds the files of a scope.
pub struct DirectoryStore {
    root: PathBuf,
    pub(super) inner: SqliteStore,
    /// Time of the last scan of each scope. The lock is held while a scope is synced, so that syncs run one after the
    /// other.
    last_synced: tokio::sync::Mutex<HashMap<Scope, Instant>>,
    /// Last failure to write files that no later write made good.
    write_failure: Mutex<Option<String>>,
}

impl DirectoryStore {
    /// Opens the folder, creating it where needed.
    pub async fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref().to_owned();
        let folder = root.clone();
        let database = run_blocking(move || {
            fs::create_dir_all(&folder)
                .map_err(|error| Error::io(folder.display().to_string(), error))?;
            Ok(ensure_meta_folder(&folder)?.join("everlore.db"))
        });
        let inner = SqliteStore::open(database.await?).await?;
        Ok(Self {
            root,
            inner,
            last_synced: tokio::sync::Mutex::default(),
            write_failure: Mutex::default(),
        })
    }

    /// Returns the folder with the files of a scope.
    pub fn folder(&self, scope: &Scope) -> PathBuf {
        self.root.join(folder_name(scope.agent())).join(folder_name(scope.user()))
    }

    /// Takes in edits by hand, and writes changes that are not in files yet.
    pub async fn refresh(&self, scope: &Scope) -> Result<SyncReport> {
        let mut last_synced = self.last_synced.lock().await;
        let report = self.sync_scope(scope, None, false).await;
        last_synced.insert(scope.clone(), Instant::now());
        report
    }

    /// Scans the files of a scope unless that happened just now. A scope without files has nothing to scan.
    pub(super) async fn sync_if_stale(&self, scope: &Scope) -> Result<()> {
        let mut last_synced = self.last_synced.lock().await;
        let recently = last_synced.get(scope).is_some_and(|at| at.elapsed() < SCAN_INTERVAL);
        if recently || !self.folder(scope).is_dir() {
            return Ok(());
        }
        match self.sync_scope(scope, None, false).await {
            // Edits by hand of an agent that moves away are left in their files.
            Ok(_) | Err(Error::Sealed { .. }) => {}
            Err(error) => return Err(error),
        }
        last_synced.insert(scope.clone(), Instant::now());
        Ok(())
    }

    /// Syncs a scope at `at`: the time of the write or, for edits by hand, that of the file system.
    async fn sync_scope(
        &self,
        scope: &Scope,
        at: Option<Timestamp>,
        dry_run: bool,
    ) -> Result<SyncReport> {
        let folder = self.folder(scope);
        let request =
            SyncRequest { kinds: Kind::statements(), dry_run, ..SyncRequest::new(&folder, scope) };
        let now = match at {
            Some(at) => at,
            None => {
                let root = self.root.clone();
                let taken =
                    run_blocking(move || Ok(VaultLock::acquire(&root)?.acquired_at)).await?;
                Timestamp::from_nanosecond(taken.into()).unwrap_or(Timestamp::UNIX_EPOCH)
            }
        };
        sync(&self.inner, &request, now).await
    }

    /// Writes changes to the files. The change itself is stored already, so [`SearchIndex::check`] reports a failure,
    /// and the next write or scan makes it good.
    async fn write_files(&self, scope: &Scope, at: Timestamp) {
        let mut last_synced = self.last_synced.lock().await;
        let folder = self.folder(scope);
        let created = run_blocking(move || {
            fs::create_dir_all(&folder)
                .map_err(|error| Error::io(folder.display().to_string(), error))
        });
        let outcome = match created.await {
            Ok(()) => self.sync_scope(scope, Some(at), false).await.map(|_| ()),
            Err(error) => Err(error),
        };
        let failure = outcome.err().map(|error| error.to_string());
        if let Some(failure) = &failure {
            tracing::warn!(%failure, "files could not be written; the memories are stored");
        }
        *lock(&self.write_failure) = failure;
        last_synced.insert(scope.clone(), Instant::now());
    }
}

/// Returns `true` if a write may concern files: only statements have them.
fn affects_files(write: &WriteBatch) -> bool {
    write.changes.iter().any(|change| match change {
        Change::Add(memory) | Change::Update(memory) => memory.kind.is_statement(),
        Change::Delete(_) | Change::Erase(_) => true,
    })
}

#[async_trait]
impl Store for DirectoryStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let (scope, at, concerns_files) = (write.scope.clone(), write.at, affects_files(&write));
        let applied = self.inner.apply(write).await?;
        if concerns_files {
            self.write_files(&scope, at).await;
        }
        Ok(applied)
    }

    crate::store_facets! {
        own: memories, index, uris, admin;
        by [.inner]: journal, vectors, token_vectors, queue, usage, ledger, vector_cache, documents
    }
}

forward_facet! { memories: Memories
    #[sync_if_stale] fn get(scope, ids: &[MemoryId]) -> Vec<Option<Memory>>;
    #[sync_if_stale] fn find(scope, keys: &[MemoryKey], limit: usize) -> Vec<Vec<Memory>>;
    #[sync_if_stale] fn list(scope, page: &ListQuery) -> Vec<Memory>;
    fn by_address(scope, addresses: &[DocAddress]) -> Vec<(DocAddress, Memory)>;
    fn read_back(scope, ids: &[MemoryId]) -> Vec<bool>;
    #[sync_if_stale] fn count(scope) -> ScopeCounts;
    fn are_erased(scope, texts: &[Fingerprint]) -> Vec<bool>;
    fn tombstones(scope) -> Vec<Fingerprint>;
}

#[async_trait]
impl SearchIndex for DirectoryStore {
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        self.sync_if_stale(scope).await?;
        self.inner.index().postings(scope, terms, model).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        segments: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        self.inner.index().similarities(scope, segments, question).await
    }

    async fn inconsistencies(&self, scope: &Scope) -> Result<Vec<String>> {
        let mut problems = self.inner.index().inconsistencies(scope).await?;
        let failure = lock(&self.write_failure).clone();
        problems.extend(failure.map(|failure| format!("files could not be written: {failure}")));
        if !self.folder(scope).join(META_FOLDER).is_dir() {
            return Ok(problems);
        }
        let report = self.sync_scope(scope, None, true).await?;
        problems.extend(report.done.into_iter().map(|done| match (done.what, done.note) {
            (SyncAction::Skipped, Some(reason)) => format!("{} was skipped: {reason}", done.file),
            _ => format!("{} and its memory differ", done.file),
        }));
        Ok(problems)
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        self.inner.index().reindex(scope).await
    }

    async fn stale_scopes(&self) -> Result<Vec<Scope>> {
        self.inner.index().stale_scopes().await
    }
}

#[async_trait]
impl StoreAdmin for DirectoryStore {
    fn info(&self) -> StoreInfo {
        let url = format!("directory:{}", self.root.display());
        StoreInfo { url, ..self.inner.admin().info() }
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        self.inner.admin().scopes().await
    }

    async fn integrity(&self) -> Result<Vec<String>> {
        self.inner.admin().integrity().await
    }

    async fn compact(&self) -> Result<u64> {
        self.inner.admin().compact().await
    }

    async fn size(&self) -> Result<Option<u64>> {
        self.inner.admin().size().await
    }

    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()> {
        self.inner.admin().change_seal(agent, change).await
    }

    /// Removes the files too: a scan would take them for new memories.
    async fn erase_agent(&self, agent: &str) -> Result<()> {
        let _no_sync = self.last_synced.lock().await;
        let folder = self.root.join(folder_name(agent));
        run_blocking(move || match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(folder.display().to_string(), error))
            }
            _ => Ok(()),
        })
        .await?;
        self.inner.admin().erase_agent(agent).await
    }

    async fn close(&self) {
        self.inner.admin().close().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Engine, RememberRequest, store::conformance::TestStore};

    async fn fresh() -> TestStore {
        let open = |folder: PathBuf| async move {
            Arc::new(DirectoryStore::open(folder).await.unwrap()) as Arc<dyn Store>
        };
        TestStore::in_folder(open).await
    }

    crate::store::conformance::suite!(fresh);

    fn say(content: &str) -> RememberRequest {
        RememberRequest {
            content: content.into(),
            kind: Some(Kind::User),
            ..RememberRequest::default()
        }
    }

    #[tokio::test]
    async fn files_are_written_with_each_save_and_edits_by_hand_are_found() {
        let root = tempfile::tempdir().unwrap();
        let store = Arc::new(DirectoryStore::open(root.path()).await.unwrap());
        let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>);
        let scope = Scope::new("助手", "Ann").unwrap();
        engine.remember(&scope, say("I like 龙井茶")).await.unwrap();
        let folder = store.folder(&scope);
        assert!(folder.starts_with(root.path().join("助手")), "{}", folder.display());
        let file = folder.join("user_i_like_龙井茶.md");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("龙井茶", "普洱茶")).unwrap();
        store.refresh(&scope).await.unwrap();
        let found = engine.recall(&engine.recall_request(&scope, "普洱茶")).await.unwrap();
        assert_eq!(found.hits[0].memory.content, "I like 普洱茶");
        assert_eq!(
            engine.store().index().inconsistencies(&scope).await.unwrap(),
            Vec::<String>::new()
        );
    }

    #[tokio::test]
    async fn without_the_hidden_database_the_files_are_read_back() {
        let root = tempfile::tempdir().unwrap();
        let scope = Scope::default();
        let store = Arc::new(DirectoryStore::open(root.path()).await.unwrap());
        let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>);
        let id = engine.remember(&scope, say("I like tea")).await.unwrap().id;
        store.admin().close().await;
        fs::remove_dir_all(root.path().join(META_FOLDER)).unwrap();
        let again = Arc::new(DirectoryStore::open(root.path()).await.unwrap());
        let memory = again.get(&scope, &[id]).await.unwrap().remove(0).unwrap();
        assert_eq!((memory.id, memory.content.as_str()), (id, "I like tea"));
    }

    #[tokio::test]
    async fn what_is_forgotten_leaves_the_files_at_once() {
        let root = tempfile::tempdir().unwrap();
        let store = Arc::new(DirectoryStore::open(root.path()).await.unwrap());
        let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>);
        let scope = Scope::default();
        let id = engine.remember(&scope, say("the code is 4711")).await.unwrap().id;
        engine.forget(&scope, id).await.unwrap();
        let left: Vec<_> = fs::read_dir(store.folder(&scope))
            .unwrap()
            .flatten()
            .map(|found| found.file_name())
            .collect();
        assert!(left.iter().all(|name| name == META_FOLDER || name == "MEMORY.md"), "{left:?}");
        assert_eq!(fs::read_to_string(store.folder(&scope).join("MEMORY.md")).unwrap(), "");
    }
}
