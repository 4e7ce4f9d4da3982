//! The tree of uris: making vectors does not concern it.

use async_trait::async_trait;

use super::embed_on_write::EmbedOnWrite;
use crate::{
    error::Result,
    store::{AddressQuery, DocAddress, SessionSummary, UriChild, UriIndex},
    types::{Memory, MemoryId, Scope},
};

#[async_trait]
impl UriIndex for EmbedOnWrite {
    async fn children(
        &self,
        scope: &Scope,
        folder: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<UriChild>> {
        self.store().children(scope, folder, after, limit).await
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        self.store().by_prefix(scope, beginning, after, limit).await
    }

    async fn addresses(&self, scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>> {
        self.store().addresses(scope, within).await
    }

    async fn sessions(
        &self,
        scope: &Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>> {
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
