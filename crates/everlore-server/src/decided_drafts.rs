//! Drafts that a person approved or rejected a moment ago, kept so that the decision can be taken back.

use std::time::{Duration, Instant};

use everlore::{MemoryId, Scope, types::QuarantinedDraft};

use crate::fifo_cache::FifoCache;

/// Time in which a decision can be taken back.
const KEPT_FOR: Duration = Duration::from_secs(15 * 60);

/// Most drafts that are kept: more than a person decides on in that time.
const MAX_DRAFTS: usize = 500;

/// Decided drafts in memory, of all scopes.
pub(crate) struct DecidedDrafts(FifoCache<(Instant, QuarantinedDraft)>);

impl Default for DecidedDrafts {
    fn default() -> Self {
        Self(FifoCache::with_capacity(MAX_DRAFTS))
    }
}

impl DecidedDrafts {
    /// Keeps a draft that was decided on.
    pub(crate) fn keep(&self, scope: &Scope, draft: QuarantinedDraft) {
        self.0.put(key(scope, draft.id()), (Instant::now(), draft));
    }

    /// Returns a draft of the scope; `None` if there was no decision lately.
    pub(crate) fn get(&self, scope: &Scope, id: MemoryId) -> Option<QuarantinedDraft> {
        let (at, draft) = self.0.get(&key(scope, id))?;
        (at.elapsed() < KEPT_FOR).then_some(draft)
    }
}

fn key(scope: &Scope, id: MemoryId) -> String {
    format!("{}\n{}\n{id}", scope.agent(), scope.user())
}
