//! Memories of earlier imports from a source without keys: a changed entry is matched by overlap with a missing one.

use std::collections::{HashMap, HashSet};

use super::{
    ExternalImportOptions,
    incoming_memory::{IncomingMemory, is_edited, unkeyed_source},
};
use crate::{
    error::Result,
    files::importers::ExternalDraft,
    store::{MemoryFilter, MemoryPages, Store},
    text::{secrets::mask, terms::terms},
    types::{Fingerprint, Memory, Scope, Status},
};

/// Memories per page.
const PAGE_SIZE: usize = 1_000;

/// Share of the longer text's terms that two entries must share to count as one that changed; less is chance.
const MIN_OVERLAP: f64 = 0.5;

/// Memories whose text is missing in their source, by source.
#[derive(Default)]
pub(super) struct EarlierImports {
    missing_by_source: HashMap<String, Vec<(HashSet<String>, Memory)>>,
}

impl EarlierImports {
    /// Loads them, if any draft has no key.
    pub(super) async fn load(
        store: &dyn Store,
        scope: &Scope,
        options: &ExternalImportOptions,
        drafts: &[ExternalDraft],
    ) -> Result<Self> {
        let mut earlier = Self::default();
        if drafts.iter().all(|draft| draft.key.is_some()) {
            return Ok(earlier);
        }
        let print = |draft: &ExternalDraft| {
            if options.keep_secrets {
                Fingerprint::of(&draft.content)
            } else {
                Fingerprint::of(&mask(&draft.content).0)
            }
        };
        let texts: HashSet<Fingerprint> = drafts.iter().map(print).collect();
        let filter = MemoryFilter {
            tags: vec![options.format.as_str().to_owned()],
            statuses: vec![Status::Active],
            ..MemoryFilter::default()
        };
        let mut pages = MemoryPages::new(store, scope, filter, PAGE_SIZE);
        while let Some(found) = pages.next().await? {
            for memory in found.into_iter().filter(|one| !texts.contains(&one.fingerprint())) {
                earlier.record(memory);
            }
        }
        Ok(earlier)
    }

    fn record(&mut self, memory: Memory) {
        let Some(source) = unkeyed_source(&memory).map(str::to_owned) else { return };
        if !is_edited(&memory) {
            self.missing_by_source
                .entry(source)
                .or_default()
                .push((term_set(&memory.content), memory));
        }
    }

    /// Removes and returns the memory that an entry replaces; each memory is matched once.
    pub(super) fn take_best_match(&mut self, incoming: &IncomingMemory) -> Option<Memory> {
        let missing = self
            .missing_by_source
            .get_mut(&incoming.source_digest)
            .filter(|_| incoming.is_unkeyed)?;
        let terms = term_set(&incoming.memory.content);
        let overlap = |(at, (theirs, _)): (usize, &(HashSet<String>, Memory))| {
            let shared = terms.intersection(theirs).count() as f64;
            (shared / terms.len().max(theirs.len()).max(1) as f64, at)
        };
        let best = missing.iter().enumerate().map(overlap).max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, at) = best.filter(|(shared, _)| *shared >= MIN_OVERLAP)?;
        Some(missing.remove(at).1)
    }
}

fn term_set(text: &str) -> HashSet<String> {
    terms(text).into_iter().collect()
}
