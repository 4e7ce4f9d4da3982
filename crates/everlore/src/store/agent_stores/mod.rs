//! Stores of agents: each agent may have a database of its own; the others share that of the home.
//!
//! A call with a scope goes to the database of its agent, which is opened at its first use and stays open; calls about all
//! scopes ask every database (`joined.rs`). Where an agent lives is in the registry (`registry.rs`), which every process
//! looks at twice a second. A write to an agent that is sealed for a move waits for the end of the move and goes to the new
//! database.
//!
//! Three things stay in the home's database. The ledger: its limit is for all agents together. Documents: layers, settings
//! and keys are the home's. And the registry itself.

mod registry;
mod seal_lease;
mod facets;
mod joined;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError, RwLock, Weak},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::sync::OnceCell;

use self::registry::AgentRegistry;
pub use self::registry::{AgentDatabase, AgentMove, MovePhase, SealLease};
use self::seal_lease::LeaseWatch;
pub(crate) use self::seal_lease::SealHeartbeat;
use super::{JournalQuery, SealChange, Store};
use crate::{
    config::StoreUrl,
    error::{Error, Result},
    files::atomic_file::{create_private_folder, private_open_options},
    sync::{boxed, lock, run_blocking},
    types::{AppliedChange, Change, ChangeOp, WriteBatch},
};

/// Interval at which the registry is read: half of the second after which every server knows of a move.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Time for which a write waits for the end of a move; a client would rather have an answer then, and may try again.
const MAX_SEAL_WAIT: Duration = Duration::from_secs(20);

/// Wait between two attempts to write to an agent that moves.
const SEAL_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Attempts to change the registry while other processes change it too.
const MAX_ATTEMPTS: usize = 64;

/// Database of agents, opened at its first use.
type OwnStore = OnceCell<Arc<dyn Store>>;

/// Databases of a home: its own, and those of agents that have one.
pub struct AgentStores {
    home: Arc<dyn Store>,
    registry: RwLock<Arc<AgentRegistry>>,
    /// Open databases by address, each opened once.
    opened: Mutex<HashMap<String, Arc<OwnStore>>>,
    max_seal_wait: Duration,
    leases: LeaseWatch,
}

/// Runs a call on the store of an agent; while the agent is sealed, again until the move has ended.
macro_rules! routed {
    ($self:ident, $agent:expr, $store:ident => $call:expr) => {{
        let began = std::time::Instant::now();
        loop {
            let $store = $self.store_of($agent).await?;
            match $call.await {
                Err($crate::Error::Sealed { .. }) if $self.await_unsealed(began).await => {}
                Err(error) => break Err($self.name_database($agent, error)),
                done => break done,
            }
        }
    }};
}
use routed;

impl AgentStores {
    /// Reads the registry of a home's database, and watches it for as long as somebody holds the result.
    pub async fn open(home: Arc<dyn Store>) -> Result<Arc<Self>> {
        Self::open_waiting(home, MAX_SEAL_WAIT, seal_lease::MAX_SILENCE).await
    }

    async fn open_waiting(
        home: Arc<dyn Store>,
        max_seal_wait: Duration,
        max_silence: Duration,
    ) -> Result<Arc<Self>> {
        let read = AgentRegistry::read(&*home).await?;
        let leases = LeaseWatch::new(max_silence);
        leases.observe(&read);
        let (registry, opened) = (RwLock::new(Arc::new(read)), Mutex::default());
        let stores = Arc::new(Self { home, registry, opened, max_seal_wait, leases });
        stores.spawn_refresh();
        Ok(stores)
    }

    /// Returns the database of an agent and its move, if there is one.
    pub fn database(&self, agent: &str) -> AgentDatabase {
        self.registry().agents.get(agent).cloned().unwrap_or_default()
    }

    /// Returns the agents whose memories are not in the database of the home.
    pub fn agents_elsewhere(&self) -> Vec<String> {
        let registry = self.registry();
        let is_elsewhere = |agent: &&String| registry.is_elsewhere(agent);
        registry.agents.keys().filter(is_elsewhere).cloned().collect()
    }

    /// Opens the database at an address, or returns it if it is open; the home's for an empty address.
    #[boxed]
    pub(crate) async fn open_url(&self, url: &StoreUrl) -> Result<Arc<dyn Store>> {
        if url.is_empty() {
            return Ok(Arc::clone(&self.home));
        }
        let cell = Arc::clone(lock(&self.opened).entry(url.reveal().to_owned()).or_default());
        let opened = cell.get_or_try_init(|| self.open_own(url)).await;
        Ok(Arc::clone(opened.map_err(|error| name_database(url, error))?))
    }

    /// Adds the address of an agent's own database to its failure.
    fn name_database(&self, agent: &str, error: Error) -> Error {
        match self.registry().agents.get(agent) {
            Some(database) if !database.url.is_empty() => name_database(&database.url, error),
            _ => error,
        }
    }

    /// Reads the registry again.
    pub(crate) async fn refresh(&self) -> Result<()> {
        self.set_registry(AgentRegistry::read(&*self.home).await?);
        Ok(())
    }

    /// Changes the entry of an agent and returns the new one. `change` gets the current one and may refuse.
    pub(crate) async fn update(
        &self,
        agent: &str,
        change: impl Fn(AgentDatabase) -> Result<AgentDatabase> + Send,
    ) -> Result<AgentDatabase> {
        for _ in 0..MAX_ATTEMPTS {
            let registry = AgentRegistry::read(&*self.home).await?;
            let current = registry.agents.get(agent).cloned().unwrap_or_default();
            let database = change(current)?;
            if let Some(changed) = registry.with(agent, database.clone()).put(&*self.home).await? {
                self.set_registry(changed);
                return Ok(database);
            }
        }
        Err(Error::Conflict { what: "the list of databases of agents".to_owned() })
    }

    /// Returns the store that holds the memories of an agent.
    async fn store_of(&self, agent: &str) -> Result<Arc<dyn Store>> {
        let registry = self.registry();
        match registry.agents.get(agent) {
            Some(database) => self.open_url(&database.url).await,
            None => Ok(Arc::clone(&self.home)),
        }
    }

    /// Waits a moment for the end of a move and reads the registry again; `false` if that took too long.
    async fn await_unsealed(&self, began: Instant) -> bool {
        if began.elapsed() > self.max_seal_wait {
            return false;
        }
        tokio::time::sleep(SEAL_RETRY_INTERVAL).await;
        self.follow().await;
        true
    }

    /// Reads the registry again, and ends the seals of moves that were killed.
    async fn follow(&self) {
        if let Err(error) = self.refresh().await {
            tracing::debug!("{error}: databases of agents may have changed");
        }
        if let Err(error) = self.end_abandoned_seals().await {
            tracing::debug!("{error}: writers of an agent wait on");
        }
    }

    /// Opens the database of an agent. Its vectors are to be of the model that the home uses.
    async fn open_own(&self, url: &StoreUrl) -> Result<Arc<dyn Store>> {
        if let Some(path) = url.sqlite_path() {
            let path = path.to_owned();
            run_blocking(move || create_private_file(Path::new(&path))).await?;
        }
        let store = super::open(url.reveal()).await?;
        let model = self.home.vectors().model().await?;
        if let Some(model) = model
            && !store.admin().info().is_read_only
            && store.vectors().model().await?.as_ref() != Some(&model)
        {
            store.vectors().set_model(&model).await?;
        }
        Ok(store)
    }

    /// Erases what a write erases in the database that the last move of the agent left, too.
    async fn erase_in_kept(&self, write: &WriteBatch) -> Result<()> {
        let is_erasure = |change: &&Change| matches!(change, Change::Erase(_));
        let mut erased = write.changes.iter().filter(is_erasure).peekable();
        let agent = write.scope.agent();
        let kept = self.registry().agents.get(agent).and_then(|it| it.kept.clone());
        let (Some(kept), Some(_)) = (kept, erased.peek()) else { return Ok(()) };
        let store = self.open_url(&kept).await?;
        let mut changes = Vec::new();
        for change in erased {
            let newest =
                JournalQuery { id: Some(change.id()), limit: Some(1), ..JournalQuery::default() };
            let lines = store.journal().entries(&write.scope, &newest).await?;
            if lines.first().is_some_and(|line| line.op != ChangeOp::Erase) {
                changes.push(change.clone());
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        store.admin().change_seal(agent, SealChange::End).await?;
        let batch = WriteBatch { changes, vectors: None, checkpoint: None, ..write.clone() };
        let written = store.apply(batch).await;
        store.admin().change_seal(agent, SealChange::SEAL_FOR_GOOD).await?;
        written.map(drop)
    }

    fn registry(&self) -> Arc<AgentRegistry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_registry(&self, registry: AgentRegistry) {
        self.leases.observe(&registry);
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }

    fn spawn_refresh(self: &Arc<Self>) {
        let stores: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(POLL_INTERVAL).await;
                let Some(stores) = stores.upgrade() else { return };
                stores.follow().await;
            }
        });
    }
}

/// Adds the address of a database to its failure; other errors stay as they are.
fn name_database(url: &StoreUrl, error: Error) -> Error {
    match error {
        Error::Store(cause) => Error::agent_store(url.to_string(), cause),
        other => other,
    }
}

/// Creates a file that only the user can read; an existing one stays as it is.
fn create_private_file(path: &Path) -> Result<()> {
    let failed = |error| Error::io(path.display().to_string(), error);
    create_private_folder(path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
    match private_open_options().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists && !path.exists() => {
            Err(failed(error))
        }
        _ => Ok(()),
    }
}

#[async_trait]
impl Store for AgentStores {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        self.erase_in_kept(&write).await?;
        routed!(self, write.scope.agent(), store => store.apply(write.clone()))
    }

    crate::store_facets! {
        own: memories, index, journal, vectors, token_vectors, queue, uris, usage, vector_cache, admin;
        by [.home]: ledger, documents
    }
}
