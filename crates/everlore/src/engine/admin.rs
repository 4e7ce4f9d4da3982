//! Care of the whole store: address, scopes, checks, repair and closing. The embedding backfills are in `embedding`.

use super::Engine;
use crate::{error::Result, store::StoreInfo, types::Scope};

/// Care of an engine's whole store, for its owner; nothing here is for an agent.
#[derive(Clone, Copy)]
pub struct EngineAdmin<'a> {
    pub(super) engine: &'a Engine,
}

impl Engine {
    /// Returns the operations on the whole store.
    pub fn admin(&self) -> EngineAdmin<'_> {
        EngineAdmin { engine: self }
    }
}

impl EngineAdmin<'_> {
    /// Describes the store: address, schema and access.
    pub fn store_info(self) -> StoreInfo {
        self.engine.store.admin().info()
    }

    /// Reads one value from the store, and fails if the store does.
    pub async fn ping(self) -> Result<()> {
        self.engine.store.vectors().model().await.map(drop)
    }

    /// Returns every scope that ever stored something.
    pub async fn scopes(self) -> Result<Vec<Scope>> {
        self.engine.store.admin().scopes().await
    }

    /// Asks the database itself if it is sound and returns a line for each fault.
    pub async fn integrity(self) -> Result<Vec<String>> {
        self.engine.store.admin().integrity().await
    }

    /// Compares memories, index and journal of a scope and returns a line for each disagreement.
    pub async fn check_index(self, scope: &Scope) -> Result<Vec<String>> {
        self.engine.store.index().inconsistencies(scope).await
    }

    /// Rebuilds the index of a scope from its memories and returns how many it holds.
    pub async fn rebuild_index(self, scope: &Scope) -> Result<usize> {
        self.engine.store.index().reindex(scope).await
    }

    /// Waits for work in progress and releases files and connections; call [`Engine::flush`] first. Later calls of any
    /// clone of the engine fail.
    pub async fn close(self) {
        self.engine.store.admin().close().await;
    }
}
