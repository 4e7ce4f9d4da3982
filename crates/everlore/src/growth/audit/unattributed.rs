//! Unattributed memories: nothing tells who said them.

use super::fault::{AuditFix, Fault, FaultKind, quote};
use crate::types::{Memory, MemoryId, Origin};

/// Tag that the fix adds.
pub(crate) const UNATTRIBUTED_TAG: &str = "unattributed";

/// Returns `true` if turns should say what a memory says.
pub(super) fn needs_evidence(memory: &Memory) -> bool {
    memory.source.via == Origin::Extract && !memory.tags.iter().any(|tag| tag == UNATTRIBUTED_TAG)
}

/// Returns the fault of an extracted memory without any turn that says it; `had` tells that it once had some.
pub(super) fn no_evidence_fault(id: MemoryId, quoted: &str, had: bool) -> Fault {
    let reason = if had { "the turns it was drawn from are gone" } else { "it names no turn" };
    Fault {
        kind: FaultKind::Unattributed,
        ids: vec![id],
        why: format!("{quoted} was extracted from a conversation, but {reason}"),
        fix: AuditFix::Mark,
    }
}

/// Returns the fault of a memory of another system's export that names neither a user nor a speaker.
pub(crate) fn no_speaker_fault(memory: &Memory) -> Fault {
    let why = format!("nothing tells whom {} is about or who said it", quote(memory));
    Fault::of(memory, FaultKind::Unattributed, AuditFix::Mark, why)
}
