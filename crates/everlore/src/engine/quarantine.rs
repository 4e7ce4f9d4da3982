//! The quarantine: drafts that were found and not remembered, to be looked at, remembered all the same, or dropped.

use std::collections::BTreeSet;

use super::Engine;
use crate::{
    error::{Error, Result},
    ingest,
    types::{Change, Held, Memory, MemoryId, Scope, Write},
};

impl Engine {
    /// A draft that was not remembered.
    pub async fn held(&self, scope: &Scope, id: MemoryId) -> Result<Held> {
        let held = self.store.held(scope).await?;
        let found = held.into_iter().find(|held| held.id() == id);
        found.ok_or_else(|| Error::not_found("draft", id))
    }

    /// Remembers a draft all the same: a person approved it.
    pub async fn restore_held(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        self.check_enabled(scope)?;
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
