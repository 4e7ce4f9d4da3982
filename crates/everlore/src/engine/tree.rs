//! The tree of uris: making vectors does not concern it.

use async_trait::async_trait;

use super::embedding::Embedding;
use crate::{
    error::Result,
    store::{Name, Place, Talk, Tree, Within},
    types::{Memory, MemoryId, Scope},
};

#[async_trait]
impl Tree for Embedding {
    async fn names(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Name>> {
        self.store().names(scope, folder, after, limit).await
    }

    async fn beginning(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.store().beginning(scope, beginning, after, limit).await
    }

    async fn places(&self, scope: &Scope, within: &Within) -> Result<Vec<Place>> {
        self.store().places(scope, within).await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Talk>> {
        self.store().sessions(scope, after, limit).await
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.store().turns(scope, session, after, limit).await
    }
}
