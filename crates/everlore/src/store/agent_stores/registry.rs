//! Registry of the agents whose memories are elsewhere than in the database of the home, or on their way: one document of
//! the home's database, replaced by compare-and-swap, so that a switch is one step for all servers.
//!
//! It holds passwords, as the home's `config.toml` does; whoever reads the home's database reads the memories anyway.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    config::StoreUrl,
    error::{Error, Result},
    store::Store,
};

/// Name of the document.
const REGISTRY: &str = "agent_stores";

/// Database of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentDatabase {
    /// Address; empty for the database of the home.
    #[serde(default, serialize_with = "reveal", skip_serializing_if = "StoreUrl::is_empty")]
    pub url: StoreUrl,
    /// Move under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moving: Option<AgentMove>,
    /// Database that the last move left, sealed and whole, until the move is confirmed or taken back.
    #[serde(default, serialize_with = "reveal_option", skip_serializing_if = "Option::is_none")]
    pub kept: Option<StoreUrl>,
}

/// Move of an agent to another database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMove {
    /// Target; empty for the database of the home.
    #[serde(serialize_with = "reveal")]
    pub to: StoreUrl,
    /// Step of the move.
    pub phase: MovePhase,
    /// Lease of the process that stopped writes; outside of [`MovePhase::Sealed`] one whose seal is still to be ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<SealLease>,
}

/// Lease of a process that stopped the writes of an agent. It counts as abandoned when its beats stand still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealLease {
    /// Name of the holder of the seal, which no other has.
    pub holder: String,
    /// Number of times that the holder said it is alive.
    pub beats: u64,
}

/// Step of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MovePhase {
    /// Changes are copied while the agent is in use.
    Copying,
    /// Writes are stopped, the last changes are copied and both databases are compared.
    Sealed,
    /// Both databases differed: the agent is where it was, and the copy is made anew when the move is repeated.
    Failed,
}

impl AgentDatabase {
    /// Returns `true` if the registry need not name it: it is in the home's database, and nothing is kept elsewhere.
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns `true` while writes are stopped.
    pub(super) fn is_sealed(&self) -> bool {
        self.moving.as_ref().is_some_and(|moving| moving.phase == MovePhase::Sealed)
    }

    /// Returns the lease under which writes were stopped, also if its seal is still to be ended.
    pub(super) fn lease(&self) -> Option<&SealLease> {
        self.moving.as_ref()?.lease.as_ref()
    }

    /// Returns `true` while a holder has stopped writes.
    pub(crate) fn is_sealed_by(&self, holder: &str) -> bool {
        self.is_sealed() && self.lease().is_some_and(|lease| lease.holder == holder)
    }
}

/// Databases of agents, at a version of the document.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentRegistry {
    version: u64,
    pub(super) agents: BTreeMap<String, AgentDatabase>,
}

impl AgentRegistry {
    /// Reads the document; an empty registry if there is none.
    pub(super) async fn read(home: &dyn Store) -> Result<Self> {
        let document = match home.documents().get(REGISTRY).await {
            Ok(Some(document)) => document,
            Ok(None) => return Ok(Self::default()),
            // A file of an earlier version that cannot be migrated has no documents.
            Err(_) if home.admin().info().is_read_only => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let agents = serde_json::from_str(&document.text)
            .map_err(|_| Error::damaged("the list of databases of agents cannot be read"))?;
        Ok(Self { version: document.version, agents })
    }

    /// Returns `true` if the memories of an agent are not in the database of the home.
    pub(super) fn is_elsewhere(&self, agent: &str) -> bool {
        self.agents.get(agent).is_some_and(|database| !database.url.is_empty())
    }

    /// Returns the registry with another entry for an agent.
    pub(super) fn with(&self, agent: &str, database: AgentDatabase) -> Self {
        let mut changed = self.clone();
        if database.is_plain() {
            changed.agents.remove(agent);
        } else {
            changed.agents.insert(agent.to_owned(), database);
        }
        changed
    }

    /// Replaces the document; `None` if another process came first.
    pub(super) async fn put(mut self, home: &dyn Store) -> Result<Option<Self>> {
        let text = serde_json::to_string(&self.agents).map_err(Error::store)?;
        let Some(version) = home.documents().put(REGISTRY, self.version, &text).await? else {
            return Ok(None);
        };
        self.version = version;
        Ok(Some(self))
    }
}

fn reveal<S: Serializer>(url: &StoreUrl, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.reveal())
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn reveal_option<S: Serializer>(url: &Option<StoreUrl>, serializer: S) -> Result<S::Ok, S::Error> {
    url.as_ref().map(StoreUrl::reveal).serialize(serializer)
}
