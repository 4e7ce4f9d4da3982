//! What will be stored together, told apart before any of it is.

use std::collections::HashSet;

use crate::types::{Change, Kind, Memory, MemoryId};

/// The changes of a batch, by what tells memories apart.
#[derive(Default)]
pub(super) struct Ahead {
    ids: HashSet<MemoryId>,
    uris: HashSet<String>,
    said: HashSet<(Kind, String, String)>,
}

impl Ahead {
    /// Notes a change; what is only updated has its uri already.
    pub(super) fn note(&mut self, change: &Change) {
        self.ids.insert(change.id());
        if let Change::Add(memory) = change {
            self.uris.insert(memory.uri.clone());
            self.said.insert(said(memory));
        }
    }

    pub(super) fn has(&self, id: MemoryId) -> bool {
        self.ids.contains(&id)
    }

    pub(super) fn has_uri(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// Whether an addition says the same under the same name.
    pub(super) fn says(&self, memory: &Memory) -> bool {
        self.said.contains(&said(memory))
    }
}

fn said(memory: &Memory) -> (Kind, String, String) {
    (memory.kind, memory.name.clone(), memory.content.clone())
}
