//! What earlier imports took from a source that names nothing: a changed entry is told by being most like what is gone.

use std::collections::{HashMap, HashSet};

use super::{
    ForeignOptions,
    memory::{Incoming, is_edited, loose_source},
};
use crate::{
    error::Result,
    files::foreign::ForeignDraft,
    store::{Filter, Order, Page, Store},
    text::{secrets::mask, terms::terms},
    types::{Fingerprint, Memory, Scope, Status},
};

/// Memories read at once.
const PAGE: usize = 1_000;

/// An entry is another one changed if they share so much of the longer one; less in common is chance.
const MIN_SHARED: f64 = 0.5;

/// Memories whose text is no longer in their source, by the source.
#[derive(Default)]
pub(super) struct Before {
    gone: HashMap<String, Vec<(HashSet<String>, Memory)>>,
}

impl Before {
    /// Looks for them, if the drafts have entries without a name.
    pub(super) async fn of(
        store: &dyn Store,
        scope: &Scope,
        options: &ForeignOptions,
        drafts: &[ForeignDraft],
    ) -> Result<Self> {
        let mut before = Self::default();
        if drafts.iter().all(|draft| draft.key.is_some()) {
            return Ok(before);
        }
        let print = |draft: &ForeignDraft| match options.keep_secrets {
            true => Fingerprint::of(&draft.content),
            false => Fingerprint::of(&mask(&draft.content).0),
        };
        let texts: HashSet<Fingerprint> = drafts.iter().map(print).collect();
        let filter = Filter {
            tags: vec![options.format.as_str().to_owned()],
            statuses: vec![Status::Active],
            ..Filter::default()
        };
        let mut page = Page { filter, after: None, order: Order::OldestFirst, limit: PAGE };
        loop {
            let found = store.list(scope, &page).await?;
            let Some(last) = found.last() else { return Ok(before) };
            page.after = Some(last.id);
            for memory in found.into_iter().filter(|one| !texts.contains(&one.fingerprint())) {
                before.note(memory);
            }
        }
    }

    fn note(&mut self, memory: Memory) {
        let Some(source) = loose_source(&memory).map(str::to_owned) else { return };
        if !is_edited(&memory) {
            self.gone.entry(source).or_default().push((words(&memory.content), memory));
        }
    }

    /// The memory that an entry took the place of; it takes no other's.
    pub(super) fn take_most_like(&mut self, one: &Incoming) -> Option<Memory> {
        let gone = self.gone.get_mut(&one.source).filter(|_| one.is_loose)?;
        let said = words(&one.memory.content);
        let likeness = |(at, (words, _)): (usize, &(HashSet<String>, Memory))| {
            let shared = said.intersection(words).count() as f64;
            (shared / said.len().max(words.len()).max(1) as f64, at)
        };
        let best = gone.iter().enumerate().map(likeness).max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, at) = best.filter(|(shared, _)| *shared >= MIN_SHARED)?;
        Some(gone.remove(at).1)
    }
}

fn words(text: &str) -> HashSet<String> {
    terms(text).into_iter().collect()
}
