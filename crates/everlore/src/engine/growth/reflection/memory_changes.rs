//! Proposals to change memories: what an audit found and left to a person.

use sha2::{Digest, Sha256};

use crate::{
    engine::{Engine, growth::audit::AuditedScope},
    error::Result,
    growth::{
        audit::{Fault, FaultKind},
        reflection::{
            MemoryAction, Proposal, ProposalReason, ProposalState, ProposedChange, Topic,
        },
    },
    text::suspect::is_unverified,
    types::{Memory, MemoryId, Scope, Trust},
};

/// Most faults of each kind that are considered; the first are the oldest.
const MAX_FAULTS: usize = 100;

impl Engine {
    /// Returns proposals for contradictions, stale memories and duplicates.
    pub(super) async fn memory_proposals(
        &self,
        scope: &Scope,
        audited: &AuditedScope,
    ) -> Result<Vec<Proposal>> {
        let mut proposals = Vec::new();
        for kind in [FaultKind::Contradictory, FaultKind::Stale, FaultKind::Duplicate] {
            let faults = audited.faults.iter().filter(|fault| fault.kind == kind).take(MAX_FAULTS);
            for fault in faults {
                let memories = self.store.memories().get(scope, &fault.ids).await?;
                let memories: Vec<Memory> = memories.into_iter().flatten().collect();
                proposals.extend(proposal_of(fault, &memories));
            }
        }
        Ok(proposals)
    }
}

/// Returns the proposal for a fault; `None` if one of its memories may be poisoned: such a one changes nothing, and
/// neither does a less trusted statement a more trusted one.
fn proposal_of(fault: &Fault, memories: &[Memory]) -> Option<Proposal> {
    let (reason, action) = match fault.kind {
        FaultKind::Contradictory => (ProposalReason::Contradiction, MemoryAction::Supersede),
        FaultKind::Stale => (ProposalReason::Stale, MemoryAction::Archive),
        _ => (ProposalReason::Duplicate, MemoryAction::Merge),
    };
    let first = memories.first()?;
    let is_clean = |memory: &Memory| !is_unverified(memory) && memory.trust() > Trust::Tool;
    let is_trusted = memories.iter().all(|other| first.trust() >= other.trust());
    let is_fit = memories.len() == fault.ids.len() && memories.iter().all(is_clean);
    (is_fit && (is_trusted || action != MemoryAction::Supersede)).then(|| Proposal {
        reason,
        why: fault.why.clone(),
        evidence: fault.ids.clone(),
        change: ProposedChange::Memories { action, ids: fault.ids.clone(), base: base(memories) },
        state: ProposalState::Open,
        topic: Topic::default(),
        decided_at: None,
        applied: None,
    })
}

/// Returns the digest of texts.
pub(super) fn base(memories: &[Memory]) -> String {
    let mut ordered: Vec<(MemoryId, &str)> =
        memories.iter().map(|memory| (memory.id, memory.content.as_str())).collect();
    ordered.sort_unstable();
    let mut digest = Sha256::new();
    for (id, text) in ordered {
        digest.update(id.as_bytes());
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
