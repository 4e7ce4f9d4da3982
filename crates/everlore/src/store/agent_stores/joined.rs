//! Calls about all scopes: every database is asked, and an agent counts where it lives, not where a move left it.
//!
//! A database that cannot be reached is left out with a warning, so that it stops no other agent; `integrity` names it.

use async_trait::async_trait;

use super::{AgentStores, facets::routed_facet, routed};
use crate::{
    config::StoreUrl,
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, DocAddress, Embeddings, NewEmbedding,
        NewTokenVectors, PendingSession, SealChange, SessionLease, Store, StoreAdmin, StoreInfo,
        TokenVectors, UnreadTurns,
    },
    sync::BoxFuture,
    types::{EmbeddingModelId, Memory, MemoryId, QuarantinedDraft, Scope, Timestamp},
};

use std::{collections::BTreeSet, sync::Arc};

impl AgentStores {
    /// Returns every database of agents that can be reached, each once.
    pub(super) async fn own_stores(&self) -> Vec<Arc<dyn Store>> {
        let registry = self.registry();
        let urls: BTreeSet<&str> = registry.agents.values().map(|own| own.url.reveal()).collect();
        let mut stores = Vec::new();
        for url in urls.into_iter().filter(|url| !url.is_empty()) {
            match self.open_url(&StoreUrl::new(url)).await {
                Ok(store) => stores.push(store),
                Err(error) => tracing::warn!("{error}: agents of this database are left out"),
            }
        }
        stores
    }

    /// Joins lists of scopes: those of the home without agents that are elsewhere, and of every other agent its own.
    pub(super) async fn join_scopes(
        &self,
        list: impl for<'a> Fn(&'a Arc<dyn Store>) -> BoxFuture<'a, Result<Vec<Scope>>> + Send,
    ) -> Result<Vec<Scope>> {
        let registry = self.registry();
        let mut scopes = list(&self.home).await?;
        scopes.retain(|scope| !registry.is_elsewhere(scope.agent()));
        for (agent, own) in &registry.agents {
            if own.url.is_empty() {
                continue;
            }
            let listed = match self.open_url(&own.url).await {
                Ok(store) => list(&store).await,
                Err(error) => Err(error),
            };
            match listed {
                Ok(listed) => scopes.extend(listed.into_iter().filter(|it| it.agent() == agent)),
                Err(error) => tracing::warn!(agent, "{error}: the agent is left out"),
            }
        }
        scopes.sort();
        Ok(scopes)
    }

    /// Returns `true` if all memories are in the database of the home.
    fn is_plain(&self) -> bool {
        self.registry().agents.is_empty()
    }

    /// Joins the pending sessions of all agents, those pending for longest first.
    async fn join_pending(&self) -> Result<Vec<PendingSession>> {
        let registry = self.registry();
        let mut pending = self.home.queue().pending(None).await?;
        pending.retain(|session| !registry.is_elsewhere(session.scope.agent()));
        for scope in self.scopes().await? {
            if !registry.is_elsewhere(scope.agent()) {
                continue;
            }
            match self.store_of(scope.agent()).await {
                Ok(store) => pending.extend(store.queue().pending(Some(&scope)).await?),
                Err(error) => tracing::warn!("{error}: sessions of {scope} wait"),
            }
        }
        pending.sort_by_key(|session| session.last_at);
        Ok(pending)
    }
}

routed_facet! { vectors: Embeddings
    joined {
        /// Does not wait for the end of a move: vectors are computed again.
        async fn put(
            &self,
            scope: &Scope,
            model: &EmbeddingModelId,
            embeddings: Vec<NewEmbedding>,
        ) -> Result<()> {
            self.store_of(scope.agent()).await?.vectors().put(scope, model, embeddings).await
        }

        async fn model(&self) -> Result<Option<EmbeddingModelId>> {
            if let Some(model) = self.home.vectors().model().await? {
                return Ok(Some(model));
            }
            // Only agents with databases of their own have stored something.
            for store in self.own_stores().await {
                if let Some(model) = store.vectors().model().await? {
                    return Ok(Some(model));
                }
            }
            Ok(None)
        }

        async fn set_model(&self, model: &EmbeddingModelId) -> Result<()> {
            self.home.vectors().set_model(model).await?;
            for store in self.own_stores().await {
                store.vectors().set_model(model).await?;
            }
            Ok(())
        }

        async fn counts(&self) -> Result<(usize, usize)> {
            let (mut with, mut without) = self.home.vectors().counts().await?;
            for store in self.own_stores().await {
                let (own_with, own_without) = store.vectors().counts().await?;
                (with, without) = (with + own_with, without + own_without);
            }
            Ok((with, without))
        }

        async fn missing(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
            if let Some(scope) = scope {
                return routed!(self, scope.agent(), store => store.vectors().missing(Some(scope)));
            }
            let found = self.home.vectors().missing(None).await?;
            let registry = self.registry();
            let is_left_behind = |memory: &Memory| registry.is_elsewhere(memory.scope.agent());
            if !found.is_empty() && !found.iter().any(is_left_behind) || self.is_plain() {
                return Ok(found);
            }
            for scope in self.scopes().await? {
                let found = self.vectors().missing(Some(&scope)).await?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            Ok(Vec::new())
        }
    }
}

routed_facet! { token_vectors: TokenVectors
    fn get(scope, model: &EmbeddingModelId, addresses: &[DocAddress]) -> Vec<Option<Vec<u8>>>;
    fn missing(scope, model: &EmbeddingModelId, after: Option<MemoryId>, limit: usize) -> Vec<Memory>;
    joined {
        /// Does not wait for the end of a move: vectors are computed again.
        async fn put(
            &self,
            scope: &Scope,
            model: &EmbeddingModelId,
            encoded: Vec<NewTokenVectors>,
        ) -> Result<()> {
            self.store_of(scope.agent()).await?.token_vectors().put(scope, model, encoded).await
        }

        async fn counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)> {
            let (mut with, mut without) = self.home.token_vectors().counts(model).await?;
            for store in self.own_stores().await {
                let (own_with, own_without) = store.token_vectors().counts(model).await?;
                (with, without) = (with + own_with, without + own_without);
            }
            Ok((with, without))
        }
    }
}

routed_facet! { queue: CaptureQueue
    fn unread_turns(scope, session: Option<&str>, limit: usize) -> UnreadTurns;
    fn mark_ended(scope, session: &str, now: Timestamp) -> bool;
    fn quarantined(scope) -> Vec<QuarantinedDraft>;
    fn drop_quarantined(scope, ids: &[MemoryId]) -> usize;
    fn put_back(scope, draft: &QuarantinedDraft) -> ();
    joined {
        async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
            if let Some(scope) = &claim.scope {
                return routed!(self, scope.agent(), store => store.queue().claim(claim));
            }
            if self.is_plain() {
                return self.home.queue().claim(claim).await;
            }
            let registry = self.registry();
            let is_sealed = |agent: &str| {
                registry.agents.get(agent).is_some_and(|database| database.is_sealed())
            };
            let mut pending = self.join_pending().await?;
            pending.retain(|session| !is_sealed(session.scope.agent()));
            let Some(due) = claim.pick_due(&pending) else { return Ok(None) };
            let PendingSession { scope, session, .. } = pending.swap_remove(due);
            let one =
                ClaimRequest { scope: Some(scope), session: Some(session), ..claim.clone() };
            self.claim(&one).await
        }

        async fn release(
            &self,
            lease: &SessionLease,
            failure: Option<&CaptureFailure>,
        ) -> Result<()> {
            routed!(self, lease.scope.agent(), store => store.queue().release(lease, failure))
        }

        async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
            match scope {
                Some(scope) => {
                    routed!(self, scope.agent(), store => store.queue().pending(Some(scope)))
                }
                None if self.is_plain() => self.home.queue().pending(None).await,
                None => self.join_pending().await,
            }
        }
    }
}

#[async_trait]
impl StoreAdmin for AgentStores {
    fn info(&self) -> StoreInfo {
        self.home.admin().info()
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        self.join_scopes(|store| Box::pin(store.admin().scopes())).await
    }

    async fn integrity(&self) -> Result<Vec<String>> {
        let mut problems = self.home.admin().integrity().await?;
        for (agent, own) in &self.registry().agents {
            let found = match self.open_url(&own.url).await {
                Ok(_) if own.url.is_empty() => continue,
                Ok(store) => store.admin().integrity().await,
                Err(error) => Err(error),
            };
            let found = found.unwrap_or_else(|error| vec![error.to_string()]);
            problems.extend(found.iter().map(|it| format!("database of agent `{agent}`: {it}")));
        }
        Ok(problems)
    }

    async fn compact(&self) -> Result<u64> {
        let mut freed = self.home.admin().compact().await?;
        for store in self.own_stores().await {
            freed += store.admin().compact().await?;
        }
        Ok(freed)
    }

    async fn size(&self) -> Result<Option<u64>> {
        let mut size = self.home.admin().size().await?;
        for store in self.own_stores().await {
            let own = store.admin().size().await?;
            size = size.zip(own).map(|(all, own)| all + own);
        }
        Ok(size)
    }

    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()> {
        self.store_of(agent).await?.admin().change_seal(agent, change).await
    }

    async fn erase_agent(&self, agent: &str) -> Result<()> {
        self.store_of(agent).await?.admin().erase_agent(agent).await
    }

    async fn close(&self) {
        let opened: Vec<_> = crate::sync::lock(&self.opened).values().cloned().collect();
        for store in opened.iter().filter_map(|cell| cell.get()) {
            store.admin().close().await;
        }
        self.home.admin().close().await;
    }
}
