//! Counts of a tree.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    engine::Engine,
    error::Result,
    types::{Kind, Scope, Status},
};

/// Counts of a scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsStatus {
    /// Active memories, which take part in recall, by kind; only kinds that occur.
    pub memories: BTreeMap<Kind, usize>,
    /// Memories that recall leaves out: archived or superseded.
    pub put_away: usize,
    /// Number of documents.
    pub documents: usize,
    /// Number of changes in the journal.
    pub changes: usize,
    /// Number of erased texts, which may not come back.
    pub erased: usize,
    /// Name of the embedding model in use, if any.
    pub model: Option<String>,
}

impl Engine {
    /// Returns the counts of a scope. Fails if the store fails.
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
