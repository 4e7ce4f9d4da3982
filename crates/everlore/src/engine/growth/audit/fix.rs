//! Safe fixes of an audit, applied as one run of the journal.

use std::collections::BTreeMap;

use super::{AuditRequest, AuditedScope, FixedMemories};
use crate::{
    engine::{Engine, SCAN_PAGE},
    error::{Error, Result},
    growth::audit::{AuditFix, Fault, UNATTRIBUTED_TAG, masked},
    types::{
        AUDIT_CAUSE, Change, Memory, MemoryId, Scope, Status, Timestamp, WriteBatch, run_name,
    },
    upkeep::{archived, find_merges, needs_confirmation},
};

impl Engine {
    /// Applies the safe fixes as one run and returns it; `None` if there are none.
    pub(super) async fn fix_faults(
        &self,
        scope: &Scope,
        audited: &AuditedScope,
        request: &AuditRequest,
    ) -> Result<Option<FixedMemories>> {
        self.check_writable(scope)?;
        let now = self.now().timestamp();
        let safe: Vec<&Fault> = audited.faults.iter().filter(|it| it.fix.is_safe()).collect();
        let after = self.planned_fixes(scope, &safe, now).await?;
        let left = after.iter().filter(|memory| memory.status != Status::Active).count();
        if !request.yes && needs_confirmation(left, audited.statements) {
            return Err(Error::invalid(
                format!(
                    "the fixes would merge or archive {left} of {} memories, more than a quarter",
                    audited.statements
                ),
                "read the plan, then confirm it with --yes",
            ));
        }
        if after.is_empty() {
            return Ok(None);
        }
        let run = run_name("audit", now);
        self.write_run(scope, &after, AUDIT_CAUSE, &run, now).await?;
        Ok(Some(FixedMemories { run, memories: after.len() }))
    }

    /// Writes new states of memories as one run.
    pub(in crate::engine) async fn write_run(
        &self,
        scope: &Scope,
        after: &[Memory],
        cause: &str,
        run: &str,
        now: Timestamp,
    ) -> Result<()> {
        let actor = self.author.actor;
        for page in after.chunks(SCAN_PAGE) {
            let changes = page.iter().map(|memory| Change::Update(Box::new(memory.clone())));
            let write = WriteBatch::new(scope, actor, cause, now, changes.collect());
            self.store.apply(WriteBatch { run: Some(run.to_owned()), ..write }).await?;
        }
        Ok(())
    }

    /// Returns the states of memories after fixes, one for each memory.
    pub(in crate::engine) async fn planned_fixes(
        &self,
        scope: &Scope,
        faults: &[&Fault],
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let mut states: BTreeMap<MemoryId, FixedState> = BTreeMap::new();
        for fault in faults.chunks(SCAN_PAGE) {
            let ids = fault.iter().flat_map(|fault| &fault.ids);
            for (id, memory) in self.memories_of(scope, ids).await? {
                states.entry(id).or_insert_with(|| FixedState::new(memory));
            }
        }
        for fault in faults {
            fix(fault, &mut states, now);
        }
        Ok(states.into_values().filter_map(|state| state.after(now)).collect())
    }
}

/// Memory before and after its fixes.
struct FixedState {
    before: Memory,
    memory: Memory,
}

impl FixedState {
    fn new(memory: Memory) -> Self {
        Self { before: memory.clone(), memory }
    }

    /// Returns the new state as one change; `None` if nothing changed.
    fn after(self, now: Timestamp) -> Option<Memory> {
        let Self { before, memory } = self;
        let version = before.version;
        let same = Memory { version, updated_at: before.updated_at, ..memory.clone() };
        (same != before).then(|| Memory { version: version + 1, updated_at: now, ..memory })
    }
}

fn fix(fault: &Fault, states: &mut BTreeMap<MemoryId, FixedState>, now: Timestamp) {
    if fault.fix == AuditFix::Merge {
        return merge(fault, states, now);
    }
    for id in &fault.ids {
        let Some(state) = states.get_mut(id) else { continue };
        let memory = &mut state.memory;
        match fault.fix {
            AuditFix::Mask => *memory = masked(memory.clone()),
            AuditFix::Archive if memory.status == Status::Active => *memory = archived(memory, now),
            AuditFix::Mark => memory.tags.push(UNATTRIBUTED_TAG.to_owned()),
            AuditFix::Archive | AuditFix::Merge | AuditFix::Ask => {}
        }
    }
}

/// Merges duplicates as upkeep does; a memory that another fix has archived stays out of it.
fn merge(fault: &Fault, states: &mut BTreeMap<MemoryId, FixedState>, now: Timestamp) {
    let memories = fault.ids.iter().filter_map(|id| states.get(id));
    let memories: Vec<Memory> = memories.map(|state| state.memory.clone()).collect();
    for merge in find_merges(&memories, now) {
        for memory in merge.superseded.into_iter().chain([merge.survivor]) {
            if let Some(state) = states.get_mut(&memory.id) {
                state.memory = memory;
            }
        }
    }
}
