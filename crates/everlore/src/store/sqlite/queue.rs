//! What waits to be drawn from conversations, asked of the file.

use async_trait::async_trait;

use super::{SqliteStore, captures, held, scope_number};
use crate::{
    error::Result,
    store::{Claim, Claimed, Failure, Queue, Unread, Waiting, queue::choose},
    types::{Held, MemoryId, Scope, Timestamp},
};

#[async_trait]
impl Queue for SqliteStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Claimed>> {
        // Most of the time nothing is due: only then a writer is needed.
        let claim = claim.clone();
        let waiting = self.waiting(claim.scope.as_ref()).await?;
        if choose(&waiting, &claim).is_none() {
            return Ok(None);
        }
        self.writer.run(move |db| captures::claim(db, &claim)).await
    }

    async fn give_back(&self, claimed: &Claimed, failure: Option<&Failure>) -> Result<()> {
        let (claimed, failure) = (claimed.clone(), failure.cloned());
        self.writer.run(move |db| captures::give_back(db, &claimed, failure.as_ref())).await
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Unread> {
        let (owner, session) = (scope.clone(), session.map(str::to_owned));
        self.read(scope, move |db, number| {
            captures::unread(db, &owner, number, session.as_deref(), limit)
        })
        .await
    }

    async fn announce_end(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let (owner, session) = (scope.clone(), session.to_owned());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => captures::announce_end(db, number, &session, now),
                None => Ok(false),
            })
            .await
    }

    async fn waiting(&self, scope: Option<&Scope>) -> Result<Vec<Waiting>> {
        let scope = scope.cloned();
        self.pool.read(move |db| captures::waiting(db, scope.as_ref())).await
    }

    async fn held(&self, scope: &Scope) -> Result<Vec<Held>> {
        self.read(scope, held::read).await
    }

    async fn drop_held(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let (owner, ids) = (scope.clone(), ids.to_vec());
        self.writer
            .run(move |db| match scope_number(db, &owner)? {
                Some(number) => held::remove(db, number, &ids),
                None => Ok(0),
            })
            .await
    }
}
