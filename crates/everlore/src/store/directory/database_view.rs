//! Database side of a sync: the memories that changed since the last one, and every fact about them that the plan
//! needs.

use std::collections::{HashMap, HashSet};

use super::{
    sync_state::{JournalCheckpoint, SyncState},
    vault_scan::{FileContent, ScannedFile, VaultScan},
};
use crate::{
    error::Result,
    files::vault::VaultPage,
    store::{JournalQuery, MemoryFilter, MemoryKey, MemoryPages, Store},
    types::{Fingerprint, JournalEntry, Kind, Memory, MemoryId, Scope, Status},
};

/// Changes since the last sync beyond which all memories are read.
const MAX_CHANGES: u64 = 1_000;

/// Memories read at a time.
const LIST_PAGE_SIZE: usize = 1_000;

/// Both sides of a sync and the state on which they last agreed.
#[derive(Clone, Copy)]
pub(super) struct SyncInputs<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) scope: &'a Scope,
    pub(super) state: &'a SyncState,
    pub(super) scan: &'a VaultScan,
    pub(super) kinds: &'a [Kind],
}

impl SyncInputs<'_> {
    async fn history(&self, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        self.store.journal().entries(self.scope, query).await
    }
}

/// Facts about the database that the plan needs.
#[derive(Debug, Default)]
pub(super) struct DatabaseView {
    /// Newest journal line at the time when the memories were read.
    pub(super) journal_head: Option<JournalCheckpoint>,
    /// Set when the state belongs to this database, so that its records can be relied on.
    pub(super) is_same_database: bool,
    /// Memories that may have changed; `None` if any may have.
    changed: Option<HashSet<MemoryId>>,
    memories: HashMap<MemoryId, Memory>,
    /// Memories that were looked up: one of these without a row is known to be deleted.
    looked_up: HashSet<MemoryId>,
    /// Last version of each deleted memory, unless it was erased.
    deleted: HashMap<MemoryId, Memory>,
    /// Digests of file texts that were erased.
    erased: HashSet<Fingerprint>,
    /// Memories by the digest of their text, for files that name no id.
    by_text: HashMap<Fingerprint, Vec<MemoryId>>,
    /// Earlier texts of memories, where the text of a file differs from its memory.
    earlier_texts: HashSet<(MemoryId, Fingerprint)>,
    /// Versions of memories since the last sync, where a file differs from its memory.
    versions_since_sync: HashMap<MemoryId, Vec<Memory>>,
}

impl DatabaseView {
    /// Reads what the plan needs and no more: nothing at all if neither side changed.
    pub(super) async fn load(from: SyncInputs<'_>) -> Result<Self> {
        let SyncInputs { state, scan, .. } = from;
        let mut view = Self::default();
        view.compare_journal(from).await?;
        let is_quiet = view.changed.as_ref().is_some_and(HashSet::is_empty);
        let has_news =
            scan.files.values().any(|scanned| matches!(scanned.content, FileContent::Page(_)))
                || state
                    .files
                    .iter()
                    .any(|(file, base)| base.pending || !scan.files.contains_key(file));
        if is_quiet && !has_news {
            return Ok(view);
        }
        view.read_memories(from).await?;
        view.read_texts(from).await?;
        Ok(view)
    }

    pub(super) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.memories.get(&id)
    }

    /// Returns `true` if the database was asked for a memory; otherwise the memory is unchanged.
    pub(super) fn was_looked_up(&self, id: MemoryId) -> bool {
        self.changed.is_none() || self.looked_up.contains(&id)
    }

    fn may_have_changed(&self, id: MemoryId) -> bool {
        self.changed.as_ref().is_none_or(|changed| changed.contains(&id))
    }

    /// Returns the last version of a deleted memory.
    pub(super) fn deleted(&self, id: MemoryId) -> Option<&Memory> {
        self.deleted.get(&id)
    }

    pub(super) fn is_erased(&self, content: &str) -> bool {
        self.erased.contains(&Fingerprint::of(content))
    }

    /// Returns `true` if the memory once had this text.
    pub(super) fn had_text(&self, id: MemoryId, content: &str) -> bool {
        self.earlier_texts.contains(&(id, Fingerprint::of(content)))
    }

    /// Returns `true` if a version of the memory since the last sync equals the file. The file is then behind, as an
    /// interrupted sync leaves it, and was not edited.
    pub(super) fn matched_since_sync(&self, id: MemoryId, page: &VaultPage) -> bool {
        self.versions_since_sync
            .get(&id)
            .is_some_and(|versions| versions.iter().any(|version| page.matches_memory(version)))
    }

    /// Returns the active memories with the same text, oldest first.
    pub(super) fn same_text(&self, page: &VaultPage) -> impl Iterator<Item = &Memory> {
        let ids = self.by_text.get(&Fingerprint::of(&page.content)).into_iter().flatten();
        ids.filter_map(|id| self.memories.get(id))
            .filter(|memory| memory.kind == page.kind && memory.status == Status::Active)
    }

    /// Returns the memories that may need a file, oldest first.
    pub(super) fn file_candidates(&self, kinds: &[Kind]) -> Vec<&Memory> {
        let fits = |memory: &&Memory| {
            memory.status == Status::Active
                && kinds.contains(&memory.kind)
                && self.may_have_changed(memory.id)
        };
        let mut found: Vec<&Memory> = self.memories.values().filter(fits).collect();
        found.sort_by_key(|memory| memory.id);
        found
    }

    /// Finds out if the database is the one of the state, and which memories changed in it since.
    async fn compare_journal(&mut self, from: SyncInputs<'_>) -> Result<()> {
        let SyncInputs { state, kinds, .. } = from;
        let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
        self.journal_head = from.history(&newest).await?.first().map(JournalCheckpoint::from_entry);
        let (Some(version), Some(head)) = (state.header.checkpoint, self.journal_head) else {
            // A vault that was synced before the database had a change counts as new.
            self.is_same_database = state.files.values().all(|base| base.pending);
            return Ok(());
        };
        let line = JournalQuery { seq: Some(version.seq), ..JournalQuery::default() };
        let line = from.history(&line).await?;
        self.is_same_database = line.first().map(JournalCheckpoint::from_entry) == Some(version);
        let behind = head.seq.saturating_sub(version.seq);
        if !self.is_same_database
            || behind > MAX_CHANGES
            || state.header.incomplete
            || state.header.kinds != kinds
        {
            return Ok(());
        }
        let since = JournalQuery { limit: Some(behind as usize), ..JournalQuery::default() };
        let since = if behind == 0 { Vec::new() } else { from.history(&since).await? };
        self.changed = Some(since.iter().map(|entry| entry.id).collect());
        Ok(())
    }

    async fn read_memories(&mut self, from: SyncInputs<'_>) -> Result<()> {
        let SyncInputs { store, scope, state, scan, kinds } = from;
        let mut ids: HashSet<MemoryId> = self.changed.iter().flatten().copied().collect();
        if self.changed.is_none() {
            let filter = MemoryFilter { kinds: kinds.to_vec(), ..MemoryFilter::default() };
            let mut pages = MemoryPages::new(store, scope, filter, LIST_PAGE_SIZE);
            while let Some(memories) = pages.next().await? {
                self.memories.extend(memories.into_iter().map(|memory| (memory.id, memory)));
            }
            ids.extend(state.files.values().map(|base| base.id));
        }
        let touched = |(file, base): (&String, &super::sync_state::MergeBase)| {
            let as_it_was = scan
                .files
                .get(file)
                .is_some_and(|scanned| scanned.content == FileContent::Unchanged);
            (!as_it_was || base.pending).then_some(base.id)
        };
        ids.extend(state.files.iter().filter_map(touched));
        ids.extend(pages(scan).filter_map(|(_, page)| page.id));
        self.looked_up.clone_from(&ids);
        ids.retain(|id| !self.memories.contains_key(id));
        let ids: Vec<_> = ids.into_iter().collect();
        let found = store.memories().get(scope, &ids).await?;
        self.memories.extend(found.into_iter().flatten().map(|memory| (memory.id, memory)));
        Ok(())
    }

    /// Looks up the texts of files: erasures, memories with the same text, earlier texts.
    async fn read_texts(&mut self, from: SyncInputs<'_>) -> Result<()> {
        let SyncInputs { store, scope, state, scan, .. } = from;
        for memory in self.memories.values() {
            self.by_text.entry(memory.fingerprint()).or_default().push(memory.id);
        }
        let digests: Vec<_> = pages(scan).map(|(_, page)| Fingerprint::of(&page.content)).collect();
        let erased = store.memories().are_erased(scope, &digests).await?;
        self.erased = digests
            .into_iter()
            .zip(erased)
            .filter(|(_, erased)| *erased)
            .map(|(print, _)| print)
            .collect();
        for (file, page) in pages(scan) {
            let base = state.files.get(file).filter(|_| self.is_same_database);
            match page.id.or(base.map(|base| base.id)) {
                Some(id) if !self.memories.contains_key(&id) => self.read_deleted(from, id).await?,
                Some(id) if !page.matches_memory(&self.memories[&id]) => match base {
                    None => self.read_earlier(from, id).await?,
                    Some(_) => self.read_versions_since(from, id).await?,
                },
                Some(_) => {}
                None if self.changed.is_some() => self.read_same_text(from, page).await?,
                None => {}
            }
        }
        self.by_text.values_mut().for_each(|ids| {
            ids.sort_unstable();
            ids.dedup();
        });
        Ok(())
    }

    async fn read_deleted(&mut self, from: SyncInputs<'_>, id: MemoryId) -> Result<()> {
        let last = JournalQuery { id: Some(id), limit: Some(1), ..JournalQuery::default() };
        let last = from.history(&last).await?.pop();
        if let Some(before) = last.and_then(|entry| entry.before) {
            self.deleted.insert(id, *before);
        }
        Ok(())
    }

    async fn read_earlier(&mut self, from: SyncInputs<'_>, id: MemoryId) -> Result<()> {
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let entries = from.history(&own).await?;
        let before = entries.iter().filter_map(|entry| entry.before.as_ref());
        self.earlier_texts.extend(before.map(|before| (id, before.fingerprint())));
        Ok(())
    }

    async fn read_versions_since(&mut self, from: SyncInputs<'_>, id: MemoryId) -> Result<()> {
        let own = JournalQuery { id: Some(id), ..JournalQuery::default() };
        let version = from.state.header.checkpoint.map_or(0, |version| version.seq);
        let since = from.history(&own).await?.into_iter().filter(|entry| entry.seq > version);
        self.versions_since_sync
            .insert(id, since.filter_map(|entry| entry.after.map(|after| *after)).collect());
        Ok(())
    }

    async fn read_same_text(&mut self, from: SyncInputs<'_>, page: &VaultPage) -> Result<()> {
        let print = Fingerprint::of(&page.content);
        // A file that names no id cannot tell more than a few memories with one text apart.
        let found = from.store.memories().find(from.scope, &[MemoryKey::Text(print)], 20).await?;
        for memory in found.into_iter().flatten() {
            self.by_text.entry(print).or_default().push(memory.id);
            self.memories.insert(memory.id, memory);
        }
        Ok(())
    }
}

fn pages(scan: &VaultScan) -> impl Iterator<Item = (&String, &VaultPage)> {
    scan.files.iter().filter_map(|(file, ScannedFile { content: found, .. })| match found {
        FileContent::Page(page) => Some((file, &**page)),
        _ => None,
    })
}
