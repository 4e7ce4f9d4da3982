//! The tree of uris of a folder: what was edited by hand is taken in first.

use async_trait::async_trait;

use super::DirectoryStore;
use crate::{
    error::Result,
    store::{Name, Place, Talk, Tree, Within},
    types::{Memory, MemoryId, Scope},
};

#[async_trait]
impl Tree for DirectoryStore {
    async fn names(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Name>> {
        self.look(scope).await?;
        self.inner.names(scope, folder, after, limit).await
    }

    async fn beginning(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.look(scope).await?;
        self.inner.beginning(scope, beginning, after, limit).await
    }

    async fn places(&self, scope: &Scope, within: &Within) -> Result<Vec<Place>> {
        self.look(scope).await?;
        self.inner.places(scope, within).await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Talk>> {
        self.inner.sessions(scope, after, limit).await
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.inner.turns(scope, session, after, limit).await
    }
}
