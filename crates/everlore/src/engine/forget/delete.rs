//! Deleting memories, one or several at once as one run of the journal, which keeps them.

use crate::{
    engine::Engine,
    error::Result,
    store::source_turn_term,
    types::{Change, MemoryId, Scope, WriteBatch},
};

/// Deletions in one write transaction; a larger one would block other writers for too long.
const MAX_DELETES_PER_WRITE: usize = 1_000;

impl Engine {
    /// Deletes a memory and returns the journal number. The journal keeps the memory, so [`Engine::undo`] can bring it
    /// back. Fails if the scope has no such memory.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        let write = WriteBatch::new(
            scope,
            self.author.actor,
            self.author.reason_for("delete"),
            self.now().timestamp(),
            vec![Change::Delete(id)],
        );
        let write = WriteBatch { run: self.author.run.clone(), ..write };
        let seq = self.store.apply(write).await?[0].seq;
        if self.has_skill_files(scope) {
            self.sync_skills_after(scope).await;
        }
        Ok(seq)
    }

    /// Returns the memories extracted from a turn.
    pub async fn derived_memories(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let segments = self.store.index().postings(scope, &[source_turn_term(turn)], None).await?;
        let addresses: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                segment.postings[0].iter().map(move |it| (segment, it.doc as usize))
            })
            .map(|(segment, doc)| segment.docs.address(doc))
            .collect();
        let found = self.store.memories().by_address(scope, &addresses).await?;
        Ok(found.into_iter().map(|(_, memory)| memory.id).collect())
    }

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
        if self.has_skill_files(scope) {
            self.sync_skills_after(scope).await;
        }
        Ok(())
    }
}
