//! What a tree holds, in figures.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    engine::Engine,
    error::Result,
    types::{Kind, Scope, Status},
};

/// What is held of an agent and a user.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsStatus {
    /// Memories that take part in recall, by kind; only kinds that occur.
    pub memories: BTreeMap<Kind, usize>,
    /// Memories that are kept and left out of recall: archived or superseded.
    pub put_away: usize,
    /// Documents.
    pub documents: usize,
    /// Changes that the journal tells of.
    pub changes: usize,
    /// Texts that were erased and may not come back.
    pub erased: usize,
    /// The model by which memories are found by meaning, if any.
    pub model: Option<String>,
}

impl Engine {
    /// Says what a scope holds.
    pub async fn fs_status(&self, scope: &Scope) -> Result<FsStatus> {
        let counts = self.count(scope).await?;
        let mut memories = BTreeMap::new();
        let mut put_away = 0;
        for (kind, status, count) in counts.memories {
            match status {
                Status::Active => *memories.entry(kind).or_default() += count,
                Status::Archived | Status::Superseded => put_away += count,
            }
        }
        Ok(FsStatus {
            memories,
            put_away,
            documents: self.all_documents(scope).await?.len(),
            changes: counts.changes,
            erased: counts.tombstones,
            model: self.store.vectors().model().await?.map(|model| model.name),
        })
    }
}
