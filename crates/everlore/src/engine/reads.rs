//! Plain reads for front ends: several memories by id, and the turns of a session.

use super::Engine;
use crate::{
    error::Result,
    types::{Memory, MemoryId, Scope},
};

impl Engine {
    /// Returns the memories with these ids, in their order; ids without a memory are left out.
    pub async fn get_many(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        Ok(self.store.memories().get(scope, ids).await?.into_iter().flatten().collect())
    }

    /// Returns at most `limit` turns of a session in their order, from the one after `after` on.
    pub async fn session_turns_after(
        &self,
        scope: &Scope,
        session: &str,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let session = self.stored_session(scope, session);
        self.store.uris().turns(scope, &session, after, limit).await
    }
}
