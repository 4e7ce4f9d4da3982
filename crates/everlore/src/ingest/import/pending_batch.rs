//! What will be stored together, told apart before any of it is.

use std::collections::HashSet;

use crate::types::{Change, Kind, Memory, MemoryId};

/// The changes of a batch, by what tells memories apart.
#[derive(Default)]
pub(super) struct PendingBatch {
    ids: HashSet<MemoryId>,
    uris: HashSet<String>,
    statements: HashSet<(Kind, String, String)>,
}

impl PendingBatch {
    /// Notes a change; what is only updated has its uri already.
    pub(super) fn record(&mut self, change: &Change) {
        self.ids.insert(change.id());
        if let Change::Add(memory) = change {
            self.uris.insert(memory.uri.clone());
            self.statements.insert(statement_key(memory));
        }
    }

    pub(super) fn has_id(&self, id: MemoryId) -> bool {
        self.ids.contains(&id)
    }

    pub(super) fn has_uri(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// Whether an addition says the same under the same name.
    pub(super) fn has_same_statement(&self, memory: &Memory) -> bool {
        self.statements.contains(&statement_key(memory))
    }
}

fn statement_key(memory: &Memory) -> (Kind, String, String) {
    (memory.kind, memory.name.clone(), memory.content.clone())
}
