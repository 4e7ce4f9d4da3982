//! What earlier imports took from a source that names nothing: a changed entry is told by being most like what is gone.

use std::collections::{HashMap, HashSet};

use super::{
    ExternalImportOptions,
    incoming_memory::{IncomingMemory, is_edited, unkeyed_source},
};
use crate::{
    error::Result,
    files::importers::ExternalDraft,
    store::{ListOrder, ListQuery, MemoryFilter, Store},
    text::{secrets::mask, terms::terms},
    types::{Fingerprint, Memory, Scope, Status},
};

/// Memories read at once.
const PAGE_SIZE: usize = 1_000;

/// An entry is another one changed if they share so much of the longer one; less in common is chance.
const MIN_OVERLAP: f64 = 0.5;

/// Memories whose text is no longer in their source, by the source.
#[derive(Default)]
pub(super) struct EarlierImports {
    missing_by_source: HashMap<String, Vec<(HashSet<String>, Memory)>>,
}

impl EarlierImports {
    /// Looks for them, if the drafts have entries without a name.
    pub(super) async fn load(
        store: &dyn Store,
        scope: &Scope,
        options: &ExternalImportOptions,
        drafts: &[ExternalDraft],
    ) -> Result<Self> {
        let mut before = Self::default();
        if drafts.iter().all(|draft| draft.key.is_some()) {
            return Ok(before);
        }
        let print = |draft: &ExternalDraft| match options.keep_secrets {
            true => Fingerprint::of(&draft.content),
            false => Fingerprint::of(&mask(&draft.content).0),
        };
        let texts: HashSet<Fingerprint> = drafts.iter().map(print).collect();
        let filter = MemoryFilter {
            tags: vec![options.format.as_str().to_owned()],
            statuses: vec![Status::Active],
            ..MemoryFilter::default()
        };
        let mut page =
            ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit: PAGE_SIZE };
        loop {
            let found = store.memories().list(scope, &page).await?;
            let Some(last) = found.last() else { return Ok(before) };
            page.after = Some(last.id);
            for memory in found.into_iter().filter(|one| !texts.contains(&one.fingerprint())) {
                before.record(memory);
            }
        }
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

    /// The memory that an entry took the place of; it takes no other's.
    pub(super) fn take_best_match(&mut self, one: &IncomingMemory) -> Option<Memory> {
        let gone = self.missing_by_source.get_mut(&one.source_digest).filter(|_| one.is_unkeyed)?;
        let said = term_set(&one.memory.content);
        let likeness = |(at, (words, _)): (usize, &(HashSet<String>, Memory))| {
            let shared = said.intersection(words).count() as f64;
            (shared / said.len().max(words.len()).max(1) as f64, at)
        };
        let best = gone.iter().enumerate().map(likeness).max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, at) = best.filter(|(shared, _)| *shared >= MIN_OVERLAP)?;
        Some(gone.remove(at).1)
    }
}

fn term_set(text: &str) -> HashSet<String> {
    terms(text).into_iter().collect()
}
