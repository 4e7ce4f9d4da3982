//! Uri index of a folder store: takes in edits by hand first.

use async_trait::async_trait;

use super::DirectoryStore;
use crate::{
    error::Result,
    store::{AddressQuery, DocAddress, SessionSummary, Store, UriChild, UriIndex},
    types::{Memory, MemoryId, Scope},
};

#[async_trait]
impl UriIndex for DirectoryStore {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        self.sync_if_stale(scope).await?;
        self.inner.uris().children(scope, folder, after, limit).await
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.sync_if_stale(scope).await?;
        self.inner.uris().by_prefix(scope, beginning, after, limit).await
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        self.sync_if_stale(scope).await?;
        self.inner.uris().addresses(scope, within).await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
        self.inner.uris().sessions(scope, after, limit).await
    }

    async fn turns(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.inner.uris().turns(scope, session, after, limit).await
    }
}
