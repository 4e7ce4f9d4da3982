//! Pending batch of an import: ids, uris and statements of changes that are not written yet, and of stored memories
//! like them.

use std::collections::HashSet;

use crate::types::{Change, Kind, Memory, MemoryId};

/// Keys of the changes in a batch.
#[derive(Default)]
pub(super) struct PendingBatch {
    ids: HashSet<MemoryId>,
    uris: HashSet<String>,
    statements: HashSet<(Kind, String, String)>,
}

impl PendingBatch {
    /// Records a change; an update has its uri already.
    pub(super) fn record(&mut self, change: &Change) {
        self.ids.insert(change.id());
        if let Change::Add(memory) = change {
            self.record_stored(memory);
        }
    }

    /// Records a stored memory, whose uri and statement are taken.
    pub(super) fn record_stored(&mut self, memory: &Memory) {
        self.uris.insert(memory.uri.clone());
        self.statements.insert(statement_key(memory));
    }

    pub(super) fn has_id(&self, id: MemoryId) -> bool {
        self.ids.contains(&id)
    }

    pub(super) fn has_uri(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// Returns `true` if the same statement is stored or added under the same name.
    pub(super) fn has_same_statement(&self, memory: &Memory) -> bool {
        self.statements.contains(&statement_key(memory))
    }
}

fn statement_key(memory: &Memory) -> (Kind, String, String) {
    (memory.kind, memory.name.clone(), memory.content.clone())
}
