//! Sync planner: turns the state of both sides into the operations to execute; pure, no I/O.

mod sync_plan;
mod rename_detection;
mod tracked_file;
mod new_memory;

use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) use self::sync_plan::{FileOp, IndexFileOp, SyncPlan, merge_base};
use self::{
    new_memory::{conflict_copy, memory_from_page},
    rename_detection::{detect_renames, is_other_memory},
};

use super::{
    database_view::DatabaseView,
    sync_report::{SyncAction, SyncRequest, SyncStep},
    sync_state::{ContentDigest, MergeBase, SyncState},
    vault_scan::{FileContent, ScannedFile, VaultScan},
};
use crate::{
    files::vault::VaultPage,
    text::secrets::describe_kinds,
    types::{Change, Memory, MemoryId, Status, Timestamp},
};

/// Plans a sync.
pub(super) fn plan(
    state: &SyncState,
    scan: &VaultScan,
    database: &DatabaseView,
    request: &SyncRequest,
    now: Timestamp,
) -> SyncPlan {
    let mut planner = SyncPlanner {
        database,
        request,
        now,
        paired: HashSet::new(),
        unconfirmed: HashMap::new(),
        plan: SyncPlan::default(),
    };
    planner.report_skipped(scan);
    let live = planner.confirmed_bases(state);
    let (renamed, untracked) = detect_renames(&live, scan, database);
    planner.paired = live.values().map(|base| base.id).collect();
    let noted = state.files.iter().filter(|(file, _)| !live.contains_key(file));
    planner.unconfirmed = noted.map(|(file, base)| (file.clone(), base.id)).collect();
    planner.plan.untracked.extend(planner.unconfirmed.keys().cloned());
    let absent = planner.unconfirmed.keys().filter(|file| !scan.files.contains_key(*file));
    planner.plan.index_ops.extend(absent.map(|file| IndexFileOp::Remove { file: file.clone() }));
    for (file, base) in live {
        let name = renamed.get(file).copied().unwrap_or(file);
        if name != file {
            planner.rename(file, name, base);
        }
        let is_own = name != file || !is_other_memory(base, scan.files.get(name));
        planner.plan_tracked(name, base, scan.files.get(name).filter(|_| is_own));
    }
    for (file, scanned, page) in untracked {
        planner.plan_untracked(file, scanned, page);
    }
    planner.create_missing_files();
    planner.plan
}

struct SyncPlanner<'a> {
    database: &'a DatabaseView,
    request: &'a SyncRequest,
    now: Timestamp,
    /// Memories that have a file.
    paired: HashSet<MemoryId>,
    /// Files with a record whose memory does not exist: it was never stored, or was deleted since.
    unconfirmed: HashMap<String, MemoryId>,
    plan: SyncPlan,
}

impl SyncPlanner<'_> {
    /// Returns `true` unless a record was noted before its memory was stored and the memory does not exist.
    fn is_confirmed(&self, base: &MergeBase) -> bool {
        !base.pending || self.database.memory(base.id).is_some()
    }

    /// Returns the records that count. A file that was renamed and noted again before a crash is known by its new name.
    fn confirmed_bases<'s>(&mut self, state: &'s SyncState) -> BTreeMap<&'s String, &'s MergeBase> {
        let mut live: BTreeMap<&String, &MergeBase> =
            state.files.iter().filter(|(_, base)| self.is_confirmed(base)).collect();
        let noted: HashMap<MemoryId, &String> = live
            .iter()
            .filter(|(_, base)| base.pending)
            .map(|(file, base)| (base.id, *file))
            .collect();
        live.retain(|file, base| {
            let newer = noted.get(&base.id).filter(|newer| *newer != file);
            if let Some(newer) = newer {
                let (from, to) = ((*file).clone(), (*newer).clone());
                self.plan.index_ops.push(IndexFileOp::Rename { from, to });
            }
            newer.is_none()
        });
        live
    }

    fn report_skipped(&mut self, scan: &VaultScan) {
        for skipped in &scan.skipped {
            self.report(SyncAction::Skipped, &skipped.file, None, Some(skipped.reason.clone()));
        }
        for (file, scanned) in &scan.files {
            if let FileContent::Unreadable(reason) = &scanned.content {
                self.report(SyncAction::Skipped, file, None, Some(reason.clone()));
            }
        }
    }

    fn rename(&mut self, from: &str, to: &str, base: &MergeBase) {
        self.plan.untracked.push(from.to_owned());
        self.plan.bases.insert(to.to_owned(), base.clone());
        self.plan.index_ops.push(IndexFileOp::Rename { from: from.to_owned(), to: to.to_owned() });
        self.report(SyncAction::Renamed, to, Some(base.id), Some(format!("was {from}")));
    }

    /// Plans for a file without a record.
    fn plan_untracked(&mut self, file: &String, scanned: &ScannedFile, page: &VaultPage) {
        let database = self.database;
        let own = page.id.filter(|id| !self.paired.contains(id));
        if let Some(memory) = own.and_then(|id| database.memory(id)) {
            return self.pair_file(file, scanned, page, memory);
        }
        if database.is_erased(&page.content) {
            return match page.id.or(self.unconfirmed.get(file).copied()) {
                // The file held a memory of this scope, so the sync removes it.
                Some(id) => self.remove_file(file, id, scanned.hash),
                None => {
                    self.report(SyncAction::Skipped, file, None, Some(FORGOTTEN_NOTE.to_owned()))
                }
            };
        }
        if let Some(id) = own.filter(|id| database.deleted(*id).is_some()) {
            return self.restore_memory(file, scanned, page, id, None);
        }
        let twin = database.same_text(page).find(|memory| !self.paired.contains(&memory.id));
        match twin.filter(|twin| page.id.is_none() && page.matches_memory(twin)) {
            Some(twin) => self.pair_file(file, scanned, page, twin),
            None => self.add_new_memory(file, scanned, page, own),
        }
    }

    /// Pairs a file and a memory that belong together, although no record says what both agreed on.
    fn pair_file(&mut self, file: &str, scanned: &ScannedFile, page: &VaultPage, memory: &Memory) {
        self.paired.insert(memory.id);
        if self.database.is_erased(&page.content) {
            self.plan.is_incomplete = true;
            return self.report(
                SyncAction::Skipped,
                file,
                Some(memory.id),
                Some(FORGOTTEN_NOTE.to_owned()),
            );
        }
        let line = Box::new(memory.clone());
        self.plan.index_ops.push(IndexFileOp::Add { file: file.to_owned(), memory: line });
        if memory.status != Status::Active {
            return self.update_memory(file, scanned, page, memory, SyncAction::Updated, None);
        }
        if page.matches_memory(memory) || self.database.had_text(memory.id, &page.content) {
            return self.write_file(file, memory, scanned.hash);
        }
        self.keep_both(file, scanned, page, memory);
    }

    fn keep_unchanged(&mut self, file: &str, base: &MergeBase, scanned: &ScannedFile) {
        self.plan.unchanged += 1;
        if base.stat != scanned.stat || base.pending {
            let base = MergeBase { stat: scanned.stat, pending: false, ..base.clone() };
            self.plan.bases.insert(file.to_owned(), base);
        }
    }

    fn write_file(&mut self, file: &str, memory: &Memory, expected: ContentDigest) {
        let memory = Box::new(memory.clone());
        self.plan.file_ops.push(FileOp::Write { file: file.to_owned(), memory, expected });
    }

    fn create_file(&mut self, memory: Memory, name: Option<String>, note: Option<String>) {
        self.paired.insert(memory.id);
        self.plan.file_ops.push(FileOp::Create { memory: Box::new(memory), name, note });
    }

    fn remove_file(&mut self, file: &str, id: MemoryId, expected: ContentDigest) {
        self.plan.file_ops.push(FileOp::Remove { file: file.to_owned(), id, expected });
    }

    fn update_memory(
        &mut self,
        file: &str,
        scanned: &ScannedFile,
        page: &VaultPage,
        memory: &Memory,
        what: SyncAction,
        note: Option<String>,
    ) {
        let mut after = memory.clone();
        page.apply_to(&mut after);
        after.status = Status::Active;
        after.superseded_by = None;
        after.updated_at = self.now;
        after.version += 1;
        self.set_base(file, scanned, &after);
        self.plan.index_ops.push(IndexFileOp::UpdateIfUnedited {
            file: file.to_owned(),
            before: Box::new(memory.clone()),
            after: Box::new(after.clone()),
        });
        self.report(what, file, Some(after.id), with_secrets_note(note, scanned));
        self.plan.changes.push(Change::Update(Box::new(after)));
    }

    /// Restores a memory that was deleted; an erased one becomes a new memory.
    fn restore_memory(
        &mut self,
        file: &String,
        scanned: &ScannedFile,
        page: &VaultPage,
        id: MemoryId,
        note: Option<String>,
    ) {
        let Some(before) = self.database.deleted(id) else {
            return self.add_new_memory(file, scanned, page, None);
        };
        let mut memory =
            Memory { version: before.version + 1, updated_at: self.now, ..before.clone() };
        page.apply_to(&mut memory);
        memory.status = Status::Active;
        self.add_memory(file, scanned, page, memory, note);
    }

    fn add_new_memory(
        &mut self,
        file: &String,
        scanned: &ScannedFile,
        page: &VaultPage,
        id: Option<MemoryId>,
    ) {
        let id = id.unwrap_or_else(|| MemoryId::new(self.now));
        let memory = memory_from_page(&self.request.scope, id, file, page, scanned, self.now);
        self.add_memory(file, scanned, page, memory, None);
    }

    fn add_memory(
        &mut self,
        file: &String,
        scanned: &ScannedFile,
        page: &VaultPage,
        memory: Memory,
        note: Option<String>,
    ) {
        self.paired.insert(memory.id);
        self.set_base(file, scanned, &memory);
        let base = MergeBase { pending: true, ..self.plan.bases[file].clone() };
        self.plan.pending.push((file.clone(), base));
        self.plan
            .index_ops
            .push(IndexFileOp::Add { file: file.clone(), memory: Box::new(memory.clone()) });
        if page.id.is_some_and(|id| id != memory.id) {
            // A copy of a file names the id of the original.
            self.write_file(file, &memory, scanned.hash);
        }
        self.report(SyncAction::Stored, file, Some(memory.id), with_secrets_note(note, scanned));
        self.plan.changes.push(Change::Add(Box::new(memory)));
    }

    /// Keeps the file and updates its memory from it; the memory's version gets a memory and a file of its own.
    fn keep_both(&mut self, file: &str, scanned: &ScannedFile, page: &VaultPage, memory: &Memory) {
        let copy = conflict_copy(&self.request.scope, memory, self.now);
        let note =
            format!("edited on both sides; the text of the memory is kept as \"{}\"", copy.name);
        self.update_memory(file, scanned, page, memory, SyncAction::Conflict, Some(note));
        self.plan.changes.push(Change::Add(Box::new(copy.clone())));
        self.create_file(copy, None, None);
    }

    fn create_missing_files(&mut self) {
        for memory in self.database.file_candidates(&self.request.kinds) {
            if !self.paired.contains(&memory.id) {
                self.create_file(memory.clone(), None, None);
            }
        }
    }

    fn set_base(&mut self, file: &str, scanned: &ScannedFile, memory: &Memory) {
        self.plan.bases.insert(file.to_owned(), merge_base(memory, scanned.hash, scanned.stat));
    }

    fn report(&mut self, what: SyncAction, file: &str, id: Option<MemoryId>, note: Option<String>) {
        self.plan.steps.push(SyncStep { what, file: file.to_owned(), id, note });
    }
}

/// Adds a note on masked secrets to the report of a file; the file stays as it was typed.
fn with_secrets_note(note: Option<String>, scanned: &ScannedFile) -> Option<String> {
    if scanned.masked.is_empty() {
        return note;
    }
    let secrets =
        format!("{} masked in memory, and still in the file", describe_kinds(&scanned.masked));
    Some(note.map_or_else(|| secrets.clone(), |note| format!("{note}; {secrets}")))
}

const FORGOTTEN_NOTE: &str = "its text was forgotten; delete the file, or change its text";
