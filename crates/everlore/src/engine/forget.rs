//! Removing memories: so that it can be undone, or for good.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Engine;
use crate::{
    error::{Error, Result},
    ingest,
    store::drawn_from_term,
    types::{Actor, Change, Erased, Held, Memory, MemoryId, Scope, Write},
};

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The memory that is gone.
    pub id: MemoryId,
    /// The journal's number of the erasure.
    pub seq: u64,
    /// What was removed from where.
    pub removed: Erased,
    /// Memories that were drawn from it and are still there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
}

impl Engine {
    /// Removes a memory; the journal keeps it, so that this can be undone. Returns the journal's number.
    pub async fn delete(&self, scope: &Scope, id: MemoryId) -> Result<u64> {
        let write = Write::new(
            scope,
            self.author.actor,
            self.author.cause_of("delete"),
            self.now().timestamp(),
            vec![Change::Delete(id)],
        );
        Ok(self.store.apply(write).await?[0].seq)
    }

    /// Removes a memory and every trace of what it said, for good; drafts that were drawn from it too. Memories that were
    /// are only named: a person may have approved them.
    ///
    /// A day of the daily log that was put away goes with the memory that was made from it.
    pub async fn forget(&self, scope: &Scope, id: MemoryId) -> Result<Forgotten> {
        let day = self.archived_day(scope, id).await?;
        let derived = self.drawn_from(scope, id).await?;
        let write = Write::new(
            scope,
            Actor::Person,
            "forget",
            self.now().timestamp(),
            vec![Change::Erase(id)],
        );
        let applied = self.store.apply(write).await?.remove(0);
        if let Some(day) = day {
            self.layers(scope)?.forget_day(day)?;
        }
        let removed = applied.erased.unwrap_or_default();
        Ok(Forgotten { id, seq: applied.seq, removed, derived })
    }

    /// The memories that were drawn from a turn.
    pub async fn drawn_from(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let segments = self.store.postings(scope, &[drawn_from_term(turn)], None).await?;
        let places: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                segment.postings[0].iter().map(move |it| (segment, it.doc as usize))
            })
            .map(|(segment, doc)| segment.docs.place(doc))
            .collect();
        let found = self.store.at_places(scope, &places).await?;
        Ok(found.into_iter().map(|(_, memory)| memory.id).collect())
    }

    /// A draft that was not remembered.
    pub async fn held(&self, scope: &Scope, id: MemoryId) -> Result<Held> {
        let held = self.store.held(scope).await?;
        let found = held.into_iter().find(|held| held.id() == id);
        found.ok_or_else(|| Error::not_found("draft", id))
    }

    /// Remembers a draft all the same: a person approved it.
    pub async fn restore_held(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.check_enabled()?;
        let held = self.held(scope, id).await?;
        let mut memory = ingest::approved(*held.memory, self.now().timestamp());
        ingest::find_uri(&*self.store, &mut memory, &BTreeSet::new()).await?;
        let write = Write::new(
            scope,
            self.author.actor,
            self.author.cause_of("restore from quarantine"),
            self.now().timestamp(),
            vec![Change::Add(Box::new(memory.clone()))],
        );
        self.store.apply(write).await?;
        Ok(memory)
    }

    /// Removes drafts from the quarantine for good and returns how many there were.
    pub async fn drop_held(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        self.store.drop_held(scope, ids).await
    }
}
