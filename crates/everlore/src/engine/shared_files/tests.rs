//! Two homes on one store: what one writes the other has, and of two writers none loses.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;

use super::SharedFiles;
use crate::{
    error::{Error, Result},
    store::{RamStore, Store},
};

/// Home with its copies.
struct SharedHome {
    folder: TempDir,
    files: SharedFiles,
}

impl SharedHome {
    async fn open(store: &Arc<dyn Store>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = SharedFiles::open(Arc::clone(store), folder.path()).await.unwrap();
        Self { folder, files }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path().join(file)).ok()
    }

    /// Appends a line to a file as a write that is shared.
    async fn append(&self, file: &str, line: &str) -> Result<()> {
        let append = async {
            let before = self.read(file).unwrap_or_default();
            // Another writer gets a chance to come between.
            tokio::task::yield_now().await;
            fs::write(self.path().join(file), format!("{before}{line}\n")).unwrap();
            Ok(())
        };
        self.files.write(append).await
    }
}

fn new_store() -> Arc<dyn Store> {
    Arc::new(RamStore::default())
}

#[tokio::test]
async fn what_one_home_writes_or_removes_the_other_gets() {
    let store = new_store();
    let (one, other) = (SharedHome::open(&store).await, SharedHome::open(&store).await);
    one.append("SOUL.md", "我是助手").await.unwrap();
    other.files.refresh().await.unwrap();
    assert_eq!(other.read("SOUL.md").as_deref(), Some("我是助手\n"));
    let remove =
        async { fs::remove_file(other.path().join("SOUL.md")).map_err(|e| Error::io("", e)) };
    other.files.write(remove).await.unwrap();
    one.files.refresh().await.unwrap();
    assert_eq!(one.read("SOUL.md"), None);
    assert_eq!(SharedHome::open(&store).await.read("SOUL.md"), None);
    one.append("SOUL.md", "again").await.unwrap();
    other.files.refresh().await.unwrap();
    assert_eq!(other.read("SOUL.md").as_deref(), Some("again\n"));
}

#[tokio::test]
async fn writers_at_once_lose_nothing() {
    let store = new_store();
    let (one, other) = (SharedHome::open(&store).await, SharedHome::open(&store).await);
    let appending = async |home: &SharedHome, name: &str| {
        for n in 0..10 {
            home.append("SOUL.md", &format!("{name}{n}")).await.unwrap();
        }
    };
    tokio::join!(appending(&one, "a"), appending(&other, "b"));
    one.files.refresh().await.unwrap();
    other.files.refresh().await.unwrap();
    assert_eq!(one.read("SOUL.md"), other.read("SOUL.md"));
    assert_eq!(one.read("SOUL.md").unwrap().lines().count(), 20);
}

#[tokio::test]
async fn a_writer_that_was_presumed_gone_is_refused() {
    let store = new_store();
    let home = SharedHome::open(&store).await;
    home.append("SOUL.md", "first").await.unwrap();
    let late = async {
        // Another server took the lease over and wrote.
        let put = store.documents().put("agents/default/SOUL.md", 1, "theirs\n").await;
        assert_eq!(put.unwrap(), Some(2));
        fs::write(home.path().join("SOUL.md"), "ours\n").unwrap();
        Ok::<_, Error>(())
    };
    let refused = home.files.write(late).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?}");
    assert_eq!(home.read("SOUL.md").as_deref(), Some("theirs\n"));
}

#[tokio::test]
async fn a_failed_operation_shares_what_it_changed() {
    let store = new_store();
    let (one, other) = (SharedHome::open(&store).await, SharedHome::open(&store).await);
    let failing = async {
        fs::write(one.path().join("SOUL.md"), "half\n").unwrap();
        Err::<(), _>(Error::invalid("failed", "no"))
    };
    assert!(one.files.write(failing).await.is_err());
    other.files.refresh().await.unwrap();
    assert_eq!(other.read("SOUL.md").as_deref(), Some("half\n"));
    other.append("SOUL.md", "whole").await.unwrap();
}

#[tokio::test]
async fn a_home_that_changes_its_database_has_the_files_of_the_new_one() {
    let (store, another) = (new_store(), new_store());
    let (home, far) = (SharedHome::open(&store).await, SharedHome::open(&another).await);
    home.append("SOUL.md", "here").await.unwrap();
    far.append("SOUL.md", "there").await.unwrap();
    let moved = SharedFiles::open(Arc::clone(&another), home.path()).await.unwrap();
    assert_eq!(home.read("SOUL.md").as_deref(), Some("there\n"));
    drop(moved);
    let back = SharedFiles::open(Arc::clone(&store), home.path()).await.unwrap();
    assert_eq!(home.read("SOUL.md").as_deref(), Some("here\n"));
    drop(back);
}
