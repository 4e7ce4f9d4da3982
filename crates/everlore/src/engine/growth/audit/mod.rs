//! Audit of memories.
//!
//! One audit:
//!
//! 1. `everlore audit` and `GET /v1/audit` call `Engine::audit`, which reads every memory of the scope a page at a time
//!    and hands the pages to an `AuditScan` (`growth/audit/scan.rs`) on a thread beside the async ones.
//! 2. `machine.rs` looks up what memories name on this machine, and checks are verified without running commands.
//! 3. Memories that share a hash are read again and compared: duplicates by the scan, contradictions by
//!    `conflicts.rs`, with the rules by which a new statement supersedes older ones.
//! 4. `fix.rs` applies the safe fixes as one run of the journal.
//!
//! An export of another system goes through the same scan (`export.rs`); nothing of it is stored.

mod conflicts;
mod export;
mod fix;
mod machine;
mod report;

pub use export::AuditSource;
pub use report::{AuditFinding, AuditReport, AuditRequest, FixedMemories};

use std::collections::{BTreeSet, HashMap};

use self::{conflicts::ConflictIndex, machine::MachineProbe};
use crate::{
    engine::{Engine, SCAN_PAGE, checks::PAGE_TIMEOUT},
    error::Result,
    growth::audit::{AlikeGroup, AuditContext, AuditScan, Fault, check_fault, missing_fault},
    store::{MemoryFilter, MemoryPages},
    sync::{boxed, run_blocking},
    text::text_sketch::TextSketch,
    types::{CHECK_KEY, Kind, Memory, MemoryId, Scope, Status},
    upkeep::find_merges,
};

/// Faults of a scope, before they are reported or fixed.
pub(in crate::engine) struct AuditedScope {
    /// Faults, gravest first.
    pub faults: Vec<Fault>,
    /// Memories that were audited, turns aside.
    pub statements: usize,
}

/// Scan of a scope with the indexes that need more than one module.
struct ScopeScan {
    scan: AuditScan,
    conflicts: ConflictIndex,
    probe: MachineProbe,
}

impl ScopeScan {
    fn read(&mut self, memories: &[Memory]) {
        for memory in memories {
            self.scan.read(memory);
            self.conflicts.add(memory);
            if let Some(missing) = self.probe.missing(memory) {
                self.scan.add(missing_fault(memory, &missing));
            }
        }
    }
}

impl Engine {
    /// Audits the memories of a scope and returns what it found; with `fix`, applies the safe fixes as one run. Calls
    /// `progress` with the number of memories read. Changes nothing without `fix`. Fails if the store fails, or if the
    /// fixes would change more than a quarter of the memories and `yes` is not set.
    #[boxed]
    pub async fn audit(
        &self,
        scope: &Scope,
        request: &AuditRequest,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<AuditReport> {
        let audited = self.audited(scope, progress).await?;
        let fixed =
            if request.fix { self.fix_faults(scope, &audited, request).await? } else { None };
        Ok(AuditReport::of_scope(&audited, fixed))
    }

    /// Finds the faults of a scope.
    #[boxed]
    pub(in crate::engine) async fn audited(
        &self,
        scope: &Scope,
        progress: &mut (dyn FnMut(usize) + Send),
    ) -> Result<AuditedScope> {
        let mut scan = ScopeScan {
            scan: AuditScan::new(self.audit_context(scope).await?),
            conflicts: ConflictIndex::default(),
            probe: self.machine_probe(),
        };
        let mut pages = MemoryPages::new(&*self.store, scope, MemoryFilter::default(), SCAN_PAGE);
        let mut count = 0;
        while let Some(page) = pages.next().await? {
            count += page.len();
            self.verify_page(&page, &mut scan.scan).await;
            scan = run_blocking(move || {
                scan.read(&page);
                Ok(scan)
            })
            .await?;
            progress(count);
        }
        self.compare_groups(scope, scan).await
    }

    /// Returns the facts that the memories of a scope are judged against.
    async fn audit_context(&self, scope: &Scope) -> Result<AuditContext> {
        let soul = match self.home {
            Some(_) => self.layer_snapshot(scope).await?.soul.text,
            None => String::new(),
        };
        Ok(AuditContext {
            now: self.now().timestamp(),
            zone: self.zone.clone(),
            prompts: vec![TextSketch::of(&soul)],
            injected: self.store.usage().counts(scope).await?.injected,
        })
    }

    /// Verifies the checks of a page; commands are not run.
    async fn verify_page(&self, page: &[Memory], scan: &mut AuditScan) {
        let has_check = |memory: &&Memory| {
            memory.status == Status::Active && memory.metadata.contains_key(CHECK_KEY)
        };
        let carriers: Vec<&Memory> = page.iter().filter(has_check).collect();
        if carriers.is_empty() {
            return;
        }
        let engine = self.clone().without_commands();
        let results = engine.verify_memories(&carriers, PAGE_TIMEOUT).await;
        for (memory, result) in carriers.iter().zip(results) {
            let fault = result.as_ref().and_then(|result| check_fault(memory, result));
            fault.into_iter().for_each(|fault| scan.add(fault));
        }
    }

    /// Reads memories that share a hash again and compares them.
    async fn compare_groups(&self, scope: &Scope, scan: ScopeScan) -> Result<AuditedScope> {
        let ScopeScan { mut scan, conflicts, .. } = scan;
        for groups in batches(scan.groups(), AlikeGroup::ids) {
            let memories = self.memories_of(scope, groups.iter().flat_map(AlikeGroup::ids)).await?;
            scan = run_blocking(move || {
                for group in &groups {
                    scan.compare(group, &members(&memories, group.ids()));
                }
                Ok(scan)
            })
            .await?;
        }
        let mut found = Vec::new();
        for groups in batches(conflicts.groups(), Vec::as_slice) {
            let memories = self.memories_of(scope, groups.iter().flatten()).await?;
            let pairs = groups.iter().flat_map(|ids| conflicts::find(&members(&memories, ids)));
            found.extend(pairs);
        }
        found.into_iter().for_each(|fault| scan.add(fault));
        let statements = scan.statements();
        let mut faults = run_blocking(move || Ok(scan.finish())).await?;
        self.ask_about_unmergeable(scope, &mut faults).await?;
        Ok(AuditedScope { faults, statements })
    }

    /// Turns merges that upkeep would not make either into questions: imported memories, those that stand for a file,
    /// and those weighed by hand are left alone.
    async fn ask_about_unmergeable(&self, scope: &Scope, faults: &mut [Fault]) -> Result<()> {
        let now = self.now().timestamp();
        let merges: Vec<&mut Fault> = faults.iter_mut().filter(|fault| fault.is_merge()).collect();
        for batch in batches(merges, |fault| &fault.ids) {
            let memories = self.memories_of(scope, batch.iter().flat_map(|it| &it.ids)).await?;
            for fault in batch {
                let group = members(&memories, &fault.ids);
                let group: Vec<Memory> = group.into_iter().cloned().collect();
                let merged = find_merges(&group, now);
                let merged: usize = merged.iter().map(|merge| merge.superseded.len() + 1).sum();
                if merged != fault.ids.len() {
                    fault.ask();
                }
            }
        }
        Ok(())
    }

    /// Returns memories by id.
    pub(in crate::engine) async fn memories_of<'a>(
        &self,
        scope: &Scope,
        ids: impl Iterator<Item = &'a MemoryId>,
    ) -> Result<HashMap<MemoryId, Memory>> {
        let ids: BTreeSet<MemoryId> = ids.copied().collect();
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let found = self.store.memories().get(scope, &ids).await?;
        Ok(found.into_iter().flatten().map(|memory| (memory.id, memory)).collect())
    }
}

/// Returns the memories with these ids that are still active.
fn members<'a>(memories: &'a HashMap<MemoryId, Memory>, ids: &[MemoryId]) -> Vec<&'a Memory> {
    let is_active = |memory: &&Memory| memory.status == Status::Active && memory.kind != Kind::Turn;
    ids.iter().filter_map(|id| memories.get(id)).filter(is_active).collect()
}

/// Splits groups into batches of about a page of memories each.
fn batches<G>(groups: Vec<G>, ids: impl Fn(&G) -> &[MemoryId]) -> Vec<Vec<G>> {
    let mut batches: Vec<Vec<G>> = Vec::new();
    let mut size = SCAN_PAGE;
    for group in groups {
        if size >= SCAN_PAGE {
            batches.push(Vec::new());
            size = 0;
        }
        size += ids(&group).len();
        if let Some(last) = batches.last_mut() {
            last.push(group);
        }
    }
    batches
}
