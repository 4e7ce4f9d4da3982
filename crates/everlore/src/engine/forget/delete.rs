//! Deleting memories, one or several at once as one run of the journal, which keeps them.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::RemovalMode;
use crate::{
    engine::Engine,
    error::Result,
    store::{MemoryFilter, MemoryPages},
    sync::boxed,
    types::{Change, MemoryId, Scope, Status, WriteBatch, run_name},
};

/// Deletions in one write transaction; a larger one would block other writers for too long.
const MAX_DELETES_PER_WRITE: usize = 1_000;

/// Receipt of a deletion, which can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DeleteReceipt {
    /// Deleted memories, in the order in which they were named.
    pub deleted: Vec<DeletedMemory>,
    /// Turns that went with them, since nothing else comes from these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<MemoryId>,
    /// Turns that stay and may still tell what was deleted, since other memories come from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remaining_turns: Vec<MemoryId>,
}

/// Deleted memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeletedMemory {
    /// Memory.
    pub id: MemoryId,
    /// Journal number, by which the deletion is undone.
    pub seq: u64,
}

impl Engine {
    /// Deletes a memory and returns the journal number: see [`Engine::delete_many`]. Fails if the scope has no such memory.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        Ok(self.delete_many(scope, &[id]).await?.deleted[0].seq)
    }

    /// Returns the memories that each of `ids` superseded. Once it is gone nothing stands in for them; [`Engine::restore`]
    /// makes one active again.
    pub async fn superseded_by(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, Vec<MemoryId>>> {
        let filter = MemoryFilter { statuses: vec![Status::Superseded], ..MemoryFilter::default() };
        let mut pages = MemoryPages::new(&*self.store, scope, filter, MAX_DELETES_PER_WRITE);
        let mut found: HashMap<MemoryId, Vec<MemoryId>> = HashMap::new();
        while let Some(page) = pages.next().await? {
            for old in page {
                if let Some(by) = old.superseded_by.filter(|by| ids.contains(by)) {
                    found.entry(by).or_default().push(old.id);
                }
            }
        }
        Ok(found)
    }

    /// Removes memories of a scope; the journal keeps them, so that [`Engine::undo`] can bring them back.
    ///
    /// A turn that nothing else was extracted from goes with its memory, since recall would answer with it instead, and
    /// comes back with it. Every entry of the journal carries the author, the reason and the run of
    /// [`Engine::on_behalf_of`]; without one, several deletions get a run. This also works where memory is switched off:
    /// that setting stops collecting, not removing. Up to 1,000 deletions are one transaction; a failure leaves the
    /// transactions before it in place. Fails if the scope lacks one of the memories.
    #[boxed]
    pub async fn delete_many(&self, scope: &Scope, ids: &[MemoryId]) -> Result<DeleteReceipt> {
        let mut known = HashSet::new();
        let mut all: Vec<MemoryId> = ids.iter().copied().filter(|id| known.insert(*id)).collect();
        let named = all.len();
        let sources = self.source_turns(scope, &all, RemovalMode::Delete).await?;
        all.extend(&sources.alone);
        let mut deleted = self.delete_listed(scope, &all).await?;
        deleted.truncate(named);
        Ok(DeleteReceipt { deleted, turns: sources.alone, remaining_turns: sources.shared })
    }

    /// Removes memories and nothing beside them.
    pub(super) async fn delete_listed(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
    ) -> Result<Vec<DeletedMemory>> {
        let (author, now) = (&self.author, self.now().timestamp());
        let run = author.run.clone();
        let run = run.or_else(|| (ids.len() > 1).then(|| run_name("delete", now)));
        let mut deleted = Vec::new();
        for batch in ids.chunks(MAX_DELETES_PER_WRITE) {
            let changes = batch.iter().copied().map(Change::Delete).collect();
            let reason = author.reason_for("delete");
            let write = WriteBatch::new(scope, author.actor, reason, now, changes);
            let applied = self.store.apply(WriteBatch { run: run.clone(), ..write }).await?;
            let seqs = applied.iter().map(|change| change.seq);
            deleted.extend(batch.iter().zip(seqs).map(|(id, seq)| DeletedMemory { id: *id, seq }));
        }
        if self.has_skill_files(scope) {
            self.sync_skills_after(scope).await;
        }
        Ok(deleted)
    }
}
