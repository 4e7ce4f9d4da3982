//! Files of a home that all servers of a database share: layers with their histories, agent settings, API keys and
//! calibration.
//!
//! The documents of the store are the truth, and every home has copies as the files that a local home has, so that all
//! code reads files. A write ([`SharedFiles::write`]) goes like this:
//!
//! 1. It locks the home against other processes, and takes the lease (`lease.rs`) against other servers.
//! 2. It copies documents that changed meanwhile (`feed.rs` tells which), and changes files as on a local home.
//! 3. It puts every changed file as a document, each by compare-and-swap on its version, and names them in the feed.
//!
//! Other servers look at the feed twice a second. A document that was removed stays as an empty text: a server that was
//! away removes its copy too, and does not bring the text back. Local homes have no `SharedFiles`.

mod feed;
mod lease;
mod home_files;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::{
    feed::{ChangeFeed, ChangedNames},
    home_files::{document_name, file_path, read_file, shared_files, write_file},
    lease::FileLease,
};
use crate::{
    error::{Error, Result},
    files::{atomic_file, regular_file},
    store::Store,
    sync::{boxed, run_blocking},
};

/// Interval at which copies are renewed: half of the second after which every server sees a change.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// File of a home that lists the copies with their versions.
const MANIFEST_FILE: &str = "shared.json";

/// Most bytes of the list: some hundred thousand files.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024 * 1024;

/// Copies of shared documents in a home.
pub struct SharedFiles {
    store: Arc<dyn Store>,
    home: PathBuf,
    /// Position in the feed up to which the copies are current.
    position: AtomicU64,
}

/// List of the copies in a home, kept in a file so that a command copies only what changed since the one before.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CopyManifest {
    /// Id of the feed: a home that changes to another database starts anew.
    feed: String,
    /// Position in the feed.
    position: u64,
    copies: BTreeMap<String, CopiedDocument>,
}

/// Copy of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CopiedDocument {
    version: u64,
    digest: String,
}

impl SharedFiles {
    /// Makes the copies of a home current. Files of a home that joins, and that no other has, become documents.
    pub async fn open(store: Arc<dyn Store>, home: &Path) -> Result<Self> {
        let shared = Self { store, home: home.to_owned(), position: AtomicU64::new(0) };
        let _lock = shared.lock_home().await?;
        match shared.load().await? {
            Some(mut manifest) => shared.pull(&mut manifest).await?,
            None => shared.join().await?,
        }
        Ok(shared)
    }

    /// Copies documents that other servers changed.
    pub async fn refresh(&self) -> Result<()> {
        if ChangeFeed::read(&*self.store).await?.position == self.position.load(Ordering::Relaxed) {
            return Ok(());
        }
        let _lock = self.lock_home().await?;
        let mut manifest = self.load().await?.unwrap_or_default();
        self.pull(&mut manifest).await
    }

    /// Renews the copies for as long as somebody else holds `self`.
    pub fn spawn_refresh(self: &Arc<Self>) {
        let shared: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(POLL_INTERVAL).await;
                let Some(shared) = shared.upgrade() else { return };
                if let Err(error) = shared.refresh().await {
                    tracing::debug!("{error}: shared files may be old");
                }
            }
        });
    }

    /// Runs an operation that may change shared files, and shares its changes, even if it fails halfway.
    pub async fn write<T, E: From<Error>>(
        &self,
        operation: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let _lock = self.lock_home().await?;
        let mut manifest = self.load().await?.unwrap_or_default();
        let lease = FileLease::acquire(&*self.store).await?;
        let outcome = match self.pull(&mut manifest).await {
            Ok(()) => operation.await,
            Err(error) => Err(error.into()),
        };
        let pushed = self.push(&mut manifest).await;
        lease.release(&*self.store).await;
        let value = outcome?;
        pushed?;
        Ok(value)
    }

    /// Runs an operation that may take long, such as one that waits for a person, and shares its changes after it. It
    /// fails if another server changed the same file meanwhile, whose text then stays.
    pub async fn write_after<T, E: From<Error>>(
        &self,
        operation: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.refresh().await?;
        let outcome = operation.await;
        let _lock = self.lock_home().await?;
        let mut manifest = self.load().await?.unwrap_or_default();
        let lease = FileLease::acquire(&*self.store).await?;
        let pushed = self.push(&mut manifest).await;
        lease.release(&*self.store).await;
        let value = outcome?;
        pushed?;
        Ok(value)
    }

    /// Copies all documents, and puts files that have none.
    async fn join(&self) -> Result<()> {
        let lease = FileLease::acquire(&*self.store).await?;
        let mut manifest = CopyManifest::default();
        let joined = async {
            self.pull(&mut manifest).await?;
            self.push(&mut manifest).await
        };
        let joined = joined.await;
        lease.release(&*self.store).await;
        joined
    }

    /// Copies documents that changed since the position of the manifest.
    #[boxed]
    async fn pull(&self, manifest: &mut CopyManifest) -> Result<()> {
        let feed = ChangeFeed::read(&*self.store).await?;
        let changed = if feed.id == manifest.feed {
            feed.since(manifest.position)
        } else {
            manifest.copies.clear();
            ChangedNames::Unknown
        };
        match changed {
            ChangedNames::None => {}
            ChangedNames::Some(names) => {
                for name in names {
                    self.pull_document(manifest, &name).await?;
                }
            }
            ChangedNames::Unknown => self.pull_all(manifest).await?,
        }
        (manifest.feed, manifest.position) = (feed.id, feed.position);
        self.save(manifest).await
    }

    async fn pull_all(&self, manifest: &mut CopyManifest) -> Result<()> {
        for prefix in home_files::NAME_PREFIXES {
            for name in self.store.documents().names(prefix).await? {
                self.pull_document(manifest, &name).await?;
            }
        }
        Ok(())
    }

    async fn pull_document(&self, manifest: &mut CopyManifest, name: &str) -> Result<()> {
        let Some(path) = file_path(&self.home, name) else { return Ok(()) };
        let Some(document) = self.store.documents().get(name).await? else { return Ok(()) };
        if manifest.copies.get(name).is_some_and(|copy| copy.version == document.version) {
            return Ok(());
        }
        let copy = CopiedDocument { version: document.version, digest: digest(&document.text) };
        run_blocking(move || write_file(&path, &document.text)).await?;
        manifest.copies.insert(name.to_owned(), copy);
        Ok(())
    }

    /// Puts every file that differs from its copy, and empties the documents of files that are gone.
    #[boxed]
    async fn push(&self, manifest: &mut CopyManifest) -> Result<()> {
        let mut changed = Vec::new();
        let mut outcome = Ok(());
        for (name, text) in self.changed_files(manifest).await? {
            match self.put(manifest, &name, &text).await {
                Ok(()) => changed.push(name),
                Err(error) => outcome = Err(error),
            }
        }
        if !changed.is_empty() {
            let feed = ChangeFeed::append(&*self.store, &changed).await?;
            (manifest.feed, manifest.position) = (feed.id, feed.position);
        }
        self.save(manifest).await?;
        outcome
    }

    async fn put(&self, manifest: &mut CopyManifest, name: &str, text: &str) -> Result<()> {
        let expected = manifest.copies.get(name).map_or(0, |copy| copy.version);
        match self.store.documents().put(name, expected, text).await? {
            Some(version) => {
                manifest
                    .copies
                    .insert(name.to_owned(), CopiedDocument { version, digest: digest(text) });
                Ok(())
            }
            None => {
                // Another server took the lease over: its text stays, ours is told to be refused.
                manifest.copies.remove(name);
                self.pull_document(manifest, name).await?;
                Err(Error::Conflict { what: format!("`{name}`") })
            }
        }
    }

    /// Returns names and texts of the files that differ from their documents; the text of a file that is gone is empty.
    async fn changed_files(&self, manifest: &CopyManifest) -> Result<Vec<(String, String)>> {
        let home = self.home.clone();
        let texts = run_blocking(move || {
            let mut texts = BTreeMap::new();
            for path in shared_files(&home) {
                if let (Some(name), Some(text)) = (document_name(&home, &path), read_file(&path)?) {
                    texts.insert(name, text);
                }
            }
            Ok(texts)
        })
        .await?;
        let is_gone = |(name, copy): &(&String, &CopiedDocument)| {
            !texts.contains_key(*name) && copy.digest != digest("")
        };
        let gone =
            manifest.copies.iter().filter(is_gone).map(|(name, _)| (name.clone(), String::new()));
        let gone: Vec<_> = gone.collect();
        let differs = |name: &String, text: &String| {
            manifest.copies.get(name).is_none_or(|copy| copy.digest != digest(text))
        };
        let changed = texts.into_iter().filter(|(name, text)| differs(name, text));
        Ok(changed.chain(gone).collect())
    }

    async fn lock_home(&self) -> Result<File> {
        let path = self.home.join(".shared.lock");
        run_blocking(move || {
            atomic_file::lock(&path).map_err(|error| Error::io(path.display().to_string(), error))
        })
        .await
    }

    async fn load(&self) -> Result<Option<CopyManifest>> {
        let path = self.home.join(MANIFEST_FILE);
        run_blocking(move || match regular_file::read(&path, MAX_MANIFEST_BYTES) {
            // A list that cannot be read is made again.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path.display().to_string(), error)),
        })
        .await
    }

    async fn save(&self, manifest: &CopyManifest) -> Result<()> {
        let text = serde_json::to_string(manifest).map_err(Error::store)?;
        let path = self.home.join(MANIFEST_FILE);
        run_blocking(move || write_file(&path, &text)).await?;
        self.position.store(manifest.position, Ordering::Relaxed);
        Ok(())
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
