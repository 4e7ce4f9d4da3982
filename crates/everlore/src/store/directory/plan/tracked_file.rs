//! Planning for a tracked file and its memory: a three-way comparison of both with their record.

use super::{FORGOTTEN_NOTE, IndexFileOp, SyncPlanner};
use crate::{
    files::vault::{FileSyncState, MemorySyncState, SyncDecision, VaultPage, decide},
    store::directory::{
        sync_report::SyncAction,
        sync_state::{ContentDigest, MergeBase},
        vault_scan::{FileContent, ScannedFile},
    },
    types::{Change, Memory, Status},
};

/// File and memory of one record, as far as they exist.
struct TrackedFile<'t> {
    file: &'t String,
    /// Last state on which both agreed.
    base: &'t MergeBase,
    scanned: Option<&'t ScannedFile>,
    /// Content of the file, if it changed.
    page: Option<&'t VaultPage>,
    memory: Option<&'t Memory>,
}

impl SyncPlanner<'_> {
    /// Compares a file and its memory with their record, and plans the result.
    pub(super) fn plan_tracked(
        &mut self,
        file: &String,
        base: &MergeBase,
        scanned: Option<&ScannedFile>,
    ) {
        let memory = self.database.memory(base.id);
        let stored = self.stored_state(base, memory);
        let (disk, page) = disk_state(base, scanned);
        let forgotten = page.is_some_and(|page| self.database.is_erased(&page.content));
        if let (true, Some(scanned)) = (forgotten, scanned) {
            return self.plan_forgotten(file, base, scanned, stored);
        }
        let agree = page.zip(memory).is_some_and(|(page, memory)| page.matches_memory(memory));
        let behind = stored == MemorySyncState::Edited
            && page.is_some_and(|page| self.database.matched_since_sync(base.id, page));
        self.repair_index_file(file, base, memory, agree && stored == MemorySyncState::Edited);
        let tracked = TrackedFile { file, base, scanned, page, memory };
        self.apply_step(decide(disk, stored, agree || behind), &tracked);
    }

    fn stored_state(&self, base: &MergeBase, memory: Option<&Memory>) -> MemorySyncState {
        match memory {
            None if self.database.was_looked_up(base.id) => MemorySyncState::Deleted,
            None => MemorySyncState::Unchanged,
            Some(memory) if memory.status != Status::Active => MemorySyncState::Inactive,
            Some(memory) if ContentDigest::of_memory(memory) == base.said => {
                MemorySyncState::Unchanged
            }
            Some(_) => MemorySyncState::Edited,
        }
    }

    /// Plans for a file with an erased text: it is removed if its memory is gone, and never stored otherwise.
    fn plan_forgotten(
        &mut self,
        file: &str,
        base: &MergeBase,
        scanned: &ScannedFile,
        stored: MemorySyncState,
    ) {
        if stored == MemorySyncState::Deleted {
            return self.remove_file(file, base.id, scanned.hash);
        }
        self.plan.is_incomplete = true;
        self.report(SyncAction::Skipped, file, Some(base.id), Some(FORGOTTEN_NOTE.to_owned()));
    }

    /// Repairs the index line: an interrupted sync may have changed both sides and not yet the index file.
    fn repair_index_file(
        &mut self,
        file: &str,
        base: &MergeBase,
        memory: Option<&Memory>,
        arrived: bool,
    ) {
        let Some(memory) = memory.filter(|_| arrived || base.pending) else { return };
        let (file, memory) = (file.to_owned(), Box::new(memory.clone()));
        self.plan.index_ops.push(if arrived {
            IndexFileOp::Set { file, memory }
        } else {
            IndexFileOp::Add { file, memory }
        });
    }

    fn apply_step(&mut self, step: SyncDecision, tracked: &TrackedFile<'_>) {
        match step {
            SyncDecision::Nothing => self.leave_unchanged(tracked),
            SyncDecision::WriteFile | SyncDecision::RecreateFile => {
                self.push_to_file(step, tracked)
            }
            SyncDecision::RemoveFile => {
                self.remove_file(tracked.file, tracked.base.id, tracked.hash())
            }
            SyncDecision::UpdateMemory | SyncDecision::RestoreMemory | SyncDecision::KeepBoth => {
                self.pull_to_memory(step, tracked)
            }
            SyncDecision::DeleteMemory => self.delete_memory(tracked),
            SyncDecision::Untrack => self.untrack(tracked),
            SyncDecision::AwaitRepair => self.defer(tracked),
        }
    }

    fn leave_unchanged(&mut self, tracked: &TrackedFile<'_>) {
        if let Some(scanned) = tracked.scanned {
            self.keep_unchanged(tracked.file, tracked.base, scanned);
        }
    }

    /// Updates the file: only the memory changed.
    fn push_to_file(&mut self, step: SyncDecision, tracked: &TrackedFile<'_>) {
        let Some(memory) = tracked.memory else { return };
        if step == SyncDecision::WriteFile {
            return self.write_file(tracked.file, memory, tracked.hash());
        }
        self.plan.untracked.push(tracked.file.clone());
        let note = "was deleted here, but edited in memory".to_owned();
        self.create_file(memory.clone(), Some(tracked.file.clone()), Some(note));
    }

    /// Updates the memory: only the file changed.
    fn pull_to_memory(&mut self, step: SyncDecision, tracked: &TrackedFile<'_>) {
        let (Some(scanned), Some(page)) = (tracked.scanned, tracked.page) else { return };
        let Some(memory) = tracked.memory else {
            let note = "was deleted, but edited here".to_owned();
            return self.restore_memory(tracked.file, scanned, page, tracked.base.id, Some(note));
        };
        if step == SyncDecision::KeepBoth {
            return self.keep_both(tracked.file, scanned, page, memory);
        }
        let put_away = "was archived, but edited here".to_owned();
        let note = (step == SyncDecision::RestoreMemory).then_some(put_away);
        self.update_memory(tracked.file, scanned, page, memory, SyncAction::Updated, note);
    }

    fn delete_memory(&mut self, tracked: &TrackedFile<'_>) {
        self.plan.changes.push(Change::Delete(tracked.base.id));
        self.untrack(tracked);
        self.report(SyncAction::Deleted, tracked.file, Some(tracked.base.id), None);
    }

    fn untrack(&mut self, tracked: &TrackedFile<'_>) {
        self.plan.untracked.push(tracked.file.clone());
        self.plan.index_ops.push(IndexFileOp::Remove { file: tracked.file.clone() });
    }

    /// Marks the plan as incomplete: a skipped file, which is reported already, keeps a change from arriving.
    fn defer(&mut self, tracked: &TrackedFile<'_>) {
        self.plan.is_incomplete = true;
        let note =
            "its memory has been changed in the meantime; fix the file, or delete it".to_owned();
        self.report(SyncAction::Skipped, tracked.file, Some(tracked.base.id), Some(note));
    }
}

impl TrackedFile<'_> {
    /// Returns the digest of the file's bytes, or of its last ones.
    fn hash(&self) -> ContentDigest {
        self.scanned.map_or(self.base.hash, |scanned| scanned.hash)
    }
}

fn disk_state<'t>(
    base: &MergeBase,
    scanned: Option<&'t ScannedFile>,
) -> (FileSyncState, Option<&'t VaultPage>) {
    match scanned.map(|scanned| (scanned.hash == base.hash, &scanned.content)) {
        None => (FileSyncState::Deleted, None),
        Some((true, _)) => (FileSyncState::Unchanged, None),
        Some((false, FileContent::Page(page))) => (FileSyncState::Edited, Some(&**page)),
        Some((false, _)) => (FileSyncState::Unreadable, None),
    }
}
