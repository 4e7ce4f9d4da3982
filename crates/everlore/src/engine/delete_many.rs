//! Deleting several memories at once, as one run of the journal.

use super::Engine;
use crate::{
    error::Result,
    types::{Change, MemoryId, Scope, WriteBatch},
};

/// Deletions in one write transaction; a larger one would block other writers for too long.
const MAX_DELETES_PER_WRITE: usize = 1_000;

impl Engine {
    /// Removes memories of a scope; the journal keeps them, so that this can be undone.
    ///
    /// Every entry of the journal carries the author, the reason and the run of [`Engine::on_behalf_of`]. Like
    /// [`Engine::delete`] it also works where memory is switched off: that setting stops collecting, not removing. Up to
    /// 1,000 deletions are one transaction; a failure leaves the transactions before it in place.
    pub async fn delete_many(&self, scope: &Scope, ids: &[MemoryId]) -> Result<()> {
        for batch in ids.chunks(MAX_DELETES_PER_WRITE) {
            let changes = batch.iter().copied().map(Change::Delete).collect();
            let (author, now) = (&self.author, self.now().timestamp());
            let reason = author.reason_for("delete");
            let write = WriteBatch::new(scope, author.actor, reason, now, changes);
            self.store.apply(WriteBatch { run: author.run.clone(), ..write }).await?;
        }
        Ok(())
    }
}
