//! Fault of one or more memories, with its evidence in words and its fix.

use serde::Serialize;

use crate::{
    text::secrets::mask,
    types::{Memory, MemoryId},
};

/// Characters of a memory that a reason quotes: enough to recognize it in a line.
const QUOTE_CHARS: usize = 60;

/// Kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// Holds a key, password or another secret.
    Secret,
    /// Cannot hold beside another memory.
    Contradictory,
    /// No longer holds: it ended, its date passed, or what it names is gone.
    Stale,
    /// Repeats a prompt or the assistant instead of stating something.
    Echo,
    /// Says what another memory says.
    Duplicate,
    /// Names nothing in particular.
    Vague,
    /// Nobody is known to have said it.
    Unattributed,
    /// Was never put into a prompt, though others were.
    Unused,
}

crate::types::variant_names! { pub FaultKind:
    Secret = "secret", Contradictory = "contradictory", Stale = "stale", Echo = "echo",
    Duplicate = "duplicate", Vague = "vague", Unattributed = "unattributed", Unused = "unused",
}

/// Fix of a fault. All but [`AuditFix::Ask`] are safe: they lose nothing and can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum AuditFix {
    /// Merge all into the first, which keeps the evidence and the tags of all.
    Merge,
    /// Archive it: recall leaves it out, and it can be restored.
    Archive,
    /// Put a mask in place of each secret.
    Mask,
    /// Add a tag by which it is found.
    Mark,
    /// Decide yourself.
    Ask,
}

crate::types::variant_names! { pub AuditFix:
    Merge = "merge", Archive = "archive", Mask = "mask", Mark = "mark", Ask = "ask",
}

impl AuditFix {
    /// Returns `true` if it may be applied without a decision of a person.
    pub fn is_safe(self) -> bool {
        self != Self::Ask
    }
}

/// Fault of one or more memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Memories, the one that stays first.
    pub ids: Vec<MemoryId>,
    /// Evidence in plain words.
    pub why: String,
    /// Fix.
    pub fix: AuditFix,
}

impl Fault {
    /// Creates a fault of one memory.
    pub(crate) fn of(memory: &Memory, kind: FaultKind, fix: AuditFix, why: String) -> Self {
        Self { kind, ids: vec![memory.id], why, fix }
    }
}

impl Fault {
    /// Returns `true` if its memories are to be merged.
    pub(crate) fn is_merge(&self) -> bool {
        self.fix == AuditFix::Merge
    }

    /// Leaves the fix to a person.
    pub(crate) fn ask(&mut self) {
        self.fix = AuditFix::Ask;
    }
}

/// Returns the fault of two memories that cannot both hold, the newer first.
pub(crate) fn conflict_fault(newer: &Memory, older: &Memory) -> Fault {
    let why = format!("{} and {} cannot both hold", quote(newer), quote(older));
    Fault { kind: FaultKind::Contradictory, ids: vec![newer.id, older.id], why, fix: AuditFix::Ask }
}

/// Returns the beginning of a memory in quotation marks, without secrets.
pub(crate) fn quote(memory: &Memory) -> String {
    let text = mask(&memory.content).0.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(QUOTE_CHARS) {
        Some((end, _)) => format!("“{}…”", &text[..end]),
        None => format!("“{text}”"),
    }
}
