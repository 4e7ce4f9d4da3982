//! Writes of records: memories that a feature keeps for itself.

use crate::{
    engine::Engine,
    error::Result,
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::boxed,
    types::{Change, Kind, Memory, Scope, Status, WriteBatch},
};

use super::super::SCAN_PAGE;

impl Engine {
    /// Applies changes of records as one step of this engine's author.
    #[boxed]
    pub(super) async fn write_records(
        &self,
        scope: &Scope,
        what: &str,
        changes: Vec<Change>,
    ) -> Result<()> {
        let (actor, reason) = (self.author.actor, self.author.reason_for(what));
        let write = WriteBatch::new(scope, actor, reason, self.now().timestamp(), changes);
        let write = WriteBatch { run: self.author.run.clone(), ..write };
        self.store.apply(write).await.map(drop)
    }

    /// Returns the active records of a kind, newest first. Each has the name of its kind as a tag, by which the index
    /// finds it among any number of memories.
    #[boxed]
    pub(super) async fn active_records(&self, scope: &Scope, kind: Kind) -> Result<Vec<Memory>> {
        self.tagged_records(scope, kind, vec![kind.as_str().to_owned()]).await
    }

    /// Returns the active records of a kind that have all of these tags, newest first.
    pub(super) async fn tagged_records(
        &self,
        scope: &Scope,
        kind: Kind,
        tags: Vec<String>,
    ) -> Result<Vec<Memory>> {
        let filter = MemoryFilter {
            kinds: vec![kind],
            statuses: vec![Status::Active],
            tags,
            ..MemoryFilter::default()
        };
        let order = ListOrder::NewestFirst;
        let mut page = ListQuery { filter, after: None, order, limit: SCAN_PAGE };
        let mut all = Vec::new();
        loop {
            let found = self.store.memories().list(scope, &page).await?;
            page.after = found.last().map(|memory| memory.id);
            let is_last = found.len() < SCAN_PAGE;
            all.extend(found);
            if is_last {
                return Ok(all);
            }
        }
    }
}
