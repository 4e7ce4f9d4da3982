//! Report of an audit.

use serde::Serialize;

use super::AuditedScope;
use crate::{
    files::importers::SkippedImport,
    growth::audit::{AuditFix, Fault, FaultKind, ScorePart, score},
    types::MemoryId,
};

/// Options of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditRequest {
    /// Apply the safe fixes, as one run that can be undone.
    pub fix: bool,
    /// Apply them even if they change more than a quarter of the memories.
    pub yes: bool,
}

/// Report of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditReport {
    /// From 0 to 100: `100 × memories ÷ (memories + points)`, rounded down; 100 only without a finding.
    pub score: u32,
    /// Points that made the score, by kind of fault.
    pub points: Vec<ScorePart>,
    /// Memories that were audited, turns aside.
    pub memories: usize,
    /// Findings, gravest first.
    pub findings: Vec<AuditFinding>,
    /// Items of an export that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Object>))]
    pub skipped: Vec<SkippedImport>,
    /// Memories that were fixed; `None` if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedMemories>,
}

/// Finding of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditFinding {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Ids of the memories, the one that stays first; of an export, its own ids or where they are in it.
    pub ids: Vec<String>,
    /// Evidence in plain words.
    pub why: String,
    /// Fix; `ask` needs a decision, the others are safe.
    pub fix: AuditFix,
}

/// Fixes that were applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FixedMemories {
    /// Run of the journal that undoes all of them.
    pub run: String,
    /// Memories that were changed.
    pub memories: usize,
}

impl AuditReport {
    /// Reports on a scope.
    pub(super) fn of_scope(audited: &AuditedScope, fixed: Option<FixedMemories>) -> Self {
        let label = |id: &MemoryId| id.to_string();
        Self { fixed, ..Self::new(&audited.faults, audited.statements, label) }
    }

    /// Reports faults; `label` names a memory.
    pub(super) fn new(
        faults: &[Fault],
        memories: usize,
        label: impl Fn(&MemoryId) -> String,
    ) -> Self {
        let finding = |fault: &Fault| AuditFinding {
            kind: fault.kind,
            ids: fault.ids.iter().map(&label).collect(),
            why: fault.why.clone(),
            fix: fault.fix,
        };
        let made = score(faults, memories);
        Self {
            score: made.score,
            points: made.parts,
            memories,
            findings: faults.iter().map(finding).collect(),
            skipped: Vec::new(),
            fixed: None,
        }
    }
}
