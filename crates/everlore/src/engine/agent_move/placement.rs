//! Agents that the settings put into databases of their own before their first memory.

use super::Engine;
use crate::{
    config::{AgentStoreUrl, StoreUrl},
    error::Result,
    store::{AgentDatabase, AgentStores, SealChange},
    sync::boxed,
};

/// Agent whose memories are elsewhere than the settings say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MisplacedAgent {
    /// Agent.
    pub agent: String,
    /// Address of its database, without its password.
    pub at: String,
    /// Address that the settings name, without its password.
    pub named: String,
}

impl Engine {
    /// Puts agents that have no memories in the home's database into the databases that the settings name, and returns those
    /// that have memories elsewhere: they take a move. The databases
    /// themselves are not asked: one that is away fails the calls of its agents alone.
    #[boxed]
    pub async fn place_agents(&self, named: &[AgentStoreUrl]) -> Result<Vec<MisplacedAgent>> {
        let mut misplaced = Vec::new();
        for AgentStoreUrl { agent, url } in named {
            let stores = self.agent_stores()?;
            if !place(stores, agent, url).await? {
                let at = self.shown_database(&stores.database(agent).url);
                misplaced.push(MisplacedAgent { agent: agent.clone(), at, named: url.to_string() });
            }
        }
        Ok(misplaced)
    }
}

/// Returns `true` if the agent uses the database at `url` now.
async fn place(stores: &AgentStores, agent: &str, url: &StoreUrl) -> Result<bool> {
    let database = stores.database(agent);
    if database != AgentDatabase::default() {
        return Ok(database.url == *url);
    }
    let home = stores.open_url(&StoreUrl::default()).await?;
    // From here on no process writes its first memory to the home.
    home.admin().change_seal(agent, SealChange::SEAL_FOR_GOOD).await?;
    let scopes = home.admin().scopes().await?;
    if scopes.iter().any(|scope| scope.agent() == agent) {
        home.admin().change_seal(agent, SealChange::End).await?;
        return Ok(false);
    }
    let take = |current: AgentDatabase| {
        let is_free = current == AgentDatabase::default();
        Ok(if is_free { AgentDatabase { url: url.clone(), ..current } } else { current })
    };
    Ok(stores.update(agent, take).await?.url == *url)
}
