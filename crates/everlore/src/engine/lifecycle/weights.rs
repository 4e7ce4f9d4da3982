//! Weights of memories: setting them, listing core memories, and archiving those of low weight.

use serde::Serialize;

use super::super::{Engine, SCAN_PAGE};
use crate::{
    error::Result,
    ingest,
    store::{MemoryFilter, MemoryPages},
    types::{Kind, Memory, MemoryId, Scope, Status, Timestamp},
};

/// Report of a cleanup: memories archived for low weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CleanupReport {
    /// Run id, for undoing all of it; `None` for a dry run.
    pub run: Option<String>,
    /// Archived memories, or those that would be.
    pub memories: Vec<Memory>,
}

impl Engine {
    /// Pins a memory's weight, so that neither use nor time moves it, and returns the memory. `None` unpins it: it
    /// starts again at 1. Fails if the scope has no such memory or the weight is out of range.
    pub async fn set_weight(
        &self,
        scope: &Scope,
        id: MemoryId,
        weight: Option<f64>,
    ) -> Result<Memory> {
        let now = self.now().timestamp();
        ingest::set_weight(&*self.store, scope, id, weight, &self.author, now).await
    }

    /// Returns at most `limit` memories of the greatest weight, heaviest first: those at or above `core_threshold` of
    /// the settings.
    pub async fn core_memories(&self, scope: &Scope, limit: usize) -> Result<Vec<Memory>> {
        let least = self.settings(scope.agent()).memory.long_term.core_threshold;
        let now = self.now().timestamp();
        let mut core = Vec::new();
        self.for_each_active(scope, &[], |memory| {
            core.extend((memory.weight_at(now) >= least).then_some(memory))
        })
        .await?;
        core.sort_by(|a: &Memory, b| b.weight_at(now).total_cmp(&a.weight_at(now)));
        core.truncate(limit);
        Ok(core)
    }

    /// Archives memories whose weight fell below `threshold` as one run and returns them; with `dry_run`, only finds
    /// them. Pinned memories stay.
    pub async fn clean(
        &self,
        scope: &Scope,
        threshold: f64,
        dry_run: bool,
    ) -> Result<CleanupReport> {
        let now = self.now().timestamp();
        let run = (!dry_run).then(|| format!("clean-{}", now.as_millisecond()));
        let mut memories = self.low_weight_memories(scope, threshold, now).await?;
        if let Some(run) = &run {
            for some in memories.chunks_mut(SCAN_PAGE) {
                let archived = ingest::archive_all(&*self.store, scope, some.to_vec(), run, now);
                some.clone_from_slice(&archived.await?);
            }
        }
        Ok(CleanupReport { run, memories })
    }

    /// Archives a memory, which recall then leaves out, and returns it. Fails if the scope has no such memory.
    pub async fn archive(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.set_status(scope, id, Status::Archived).await
    }

    /// Reactivates an archived or superseded memory and returns it. Upkeep does not archive it again at once: a weight
    /// below 1 starts again at 1, and an end of validity that has passed is gone. Fails if the scope has no such
    /// memory.
    pub async fn restore(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.set_status(scope, id, Status::Active).await
    }

    async fn set_status(&self, scope: &Scope, id: MemoryId, status: Status) -> Result<Memory> {
        let now = self.now().timestamp();
        ingest::set_status(&*self.store, scope, id, status, &self.author, now).await
    }

    /// Returns active, unpinned memories whose weight is now below `threshold`.
    pub(super) async fn low_weight_memories(
        &self,
        scope: &Scope,
        threshold: f64,
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let mut light = Vec::new();
        let is_light = |memory: &Memory| memory.weight_at(now) < threshold && !memory.is_pinned();
        self.for_each_active(scope, &[], |memory| {
            light.extend(is_light(&memory).then_some(memory))
        })
        .await?;
        Ok(light)
    }

    /// Calls `each` with every active memory of `kinds` (of all kinds but records if empty), oldest first, a page at a time.
    pub(in crate::engine) async fn for_each_active(
        &self,
        scope: &Scope,
        kinds: &[Kind],
        mut each: impl FnMut(Memory) + Send,
    ) -> Result<()> {
        let active = MemoryFilter {
            kinds: kinds.to_vec(),
            statuses: vec![Status::Active],
            ..MemoryFilter::default()
        };
        let active = active.without_records();
        let mut pages = MemoryPages::new(&*self.store, scope, active, SCAN_PAGE);
        while let Some(memories) = pages.next().await? {
            memories.into_iter().for_each(&mut each);
        }
        Ok(())
    }
}
