//! Scan: reads each memory once and collects its faults and what later steps compare.

use std::collections::HashMap;

use jiff::{Timestamp, tz::TimeZone};

use super::{
    alike::{AlikeIndex, find_near, find_same},
    echoes::{assistant_only_fault, find_echo, needs_user_words},
    fault::{Fault, FaultKind, quote},
    secrets::find_secret,
    stale::find_expired,
    unattributed::{needs_evidence, no_evidence_fault},
    unused::UnusedMemories,
    vague::find_vague,
};
use crate::{
    text::text_sketch::TextSketch,
    types::{Kind, Memory, MemoryId, Role, Status},
};

/// Metadata keys of memories that stand for a file, a part of one, or an entity of a knowledge graph: their text is no
/// statement by itself.
const STRUCTURE_KEYS: [&str; 5] = ["file", "path", "hash", "graph", "entity"];

/// Facts that memories are judged against.
#[derive(Debug, Clone)]
pub(crate) struct AuditContext {
    /// Time of the audit.
    pub now: Timestamp,
    /// Time zone of the user, which decides the day.
    pub zone: TimeZone,
    /// System prompts of the agent.
    pub prompts: Vec<TextSketch>,
    /// Times that prompts were given a memory; 0 if that is unknown.
    pub injected: u64,
}

/// Memories that share a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AlikeGroup {
    /// They have the same content words.
    Same(Vec<MemoryId>),
    /// They may have most of their words in common.
    Near(Vec<MemoryId>),
}

impl AlikeGroup {
    /// Returns the memories.
    pub(crate) fn ids(&self) -> &[MemoryId] {
        match self {
            Self::Same(ids) | Self::Near(ids) => ids,
        }
    }
}

/// Memory whose evidence is looked up when all turns are known.
#[derive(Debug)]
struct EvidenceNeed {
    id: MemoryId,
    quoted: String,
    turns: Vec<MemoryId>,
    needs_user: bool,
}

/// Audit of one scope, or of one export, while its memories are read.
#[derive(Debug)]
pub(crate) struct AuditScan {
    context: AuditContext,
    faults: Vec<Fault>,
    alike: AlikeIndex,
    unused: UnusedMemories,
    roles: HashMap<MemoryId, Option<Role>>,
    evidence: Vec<EvidenceNeed>,
    /// Memories that were audited, turns aside.
    statements: usize,
}

impl AuditScan {
    /// Starts a scan.
    pub(crate) fn new(context: AuditContext) -> Self {
        Self {
            context,
            faults: Vec::new(),
            alike: AlikeIndex::default(),
            unused: UnusedMemories::default(),
            roles: HashMap::new(),
            evidence: Vec::new(),
            statements: 0,
        }
    }

    /// Returns the number of memories that were audited, turns aside.
    pub(crate) fn statements(&self) -> usize {
        self.statements
    }

    /// Reads a memory. Of turns only the role and the secrets matter; of memories that no longer hold, the secrets.
    pub(crate) fn read(&mut self, memory: &Memory) {
        self.faults.extend(find_secret(memory));
        if memory.kind == Kind::Turn {
            self.roles.insert(memory.id, memory.source.role);
            return;
        }
        if memory.status != Status::Active || memory.kind.is_record() {
            return;
        }
        self.statements += 1;
        let AuditContext { now, zone, injected, .. } = &self.context;
        self.faults.extend(find_expired(memory, *now, zone));
        self.unused.add(memory, *injected, *now);
        if !is_structure(memory) {
            self.read_statement(memory);
        }
    }

    fn read_statement(&mut self, memory: &Memory) {
        let echo = find_echo(memory, &self.context.prompts);
        let vague = find_vague(memory).filter(|_| echo.is_none());
        self.faults.extend(echo.into_iter().chain(vague));
        if !matches!(memory.kind, Kind::Session | Kind::Experience) {
            self.alike.add(memory);
        }
        if needs_evidence(memory) {
            self.evidence.push(EvidenceNeed {
                id: memory.id,
                quoted: quote(memory),
                turns: memory.source.turns.clone(),
                needs_user: needs_user_words(memory),
            });
        }
    }

    /// Adds a fault that another module found.
    pub(crate) fn add(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Returns groups of memories to compare with each other, by [`AuditScan::compare`].
    pub(crate) fn groups(&self) -> Vec<AlikeGroup> {
        let same = self.alike.same_groups().into_iter().map(AlikeGroup::Same);
        same.chain(self.alike.near_groups().into_iter().map(AlikeGroup::Near)).collect()
    }

    /// Compares the memories of a group.
    pub(crate) fn compare(&mut self, group: &AlikeGroup, memories: &[&Memory]) {
        let found = match group {
            AlikeGroup::Same(_) => find_same(memories),
            AlikeGroup::Near(_) => find_near(memories),
        };
        self.faults.extend(found);
    }

    /// Returns all faults, gravest first, none twice.
    pub(crate) fn finish(mut self) -> Vec<Fault> {
        let evidence = std::mem::take(&mut self.evidence);
        let unfounded = evidence.iter().filter_map(|need| evidence_fault(need, &self.roles));
        self.faults.extend(unfounded);
        self.faults.extend(self.unused.into_faults(self.context.injected));
        self.faults.sort_by(|one, other| (one.kind, &one.ids).cmp(&(other.kind, &other.ids)));
        self.faults.dedup_by(|one, other| one.kind == other.kind && one.ids == other.ids);
        without_covered(self.faults)
    }
}

/// Returns `true` if a memory stands for a file, a part of one, or an entity.
fn is_structure(memory: &Memory) -> bool {
    STRUCTURE_KEYS.iter().any(|key| memory.metadata.contains_key(*key))
}

fn evidence_fault(need: &EvidenceNeed, roles: &HashMap<MemoryId, Option<Role>>) -> Option<Fault> {
    let known: Vec<Option<Role>> =
        need.turns.iter().filter_map(|turn| roles.get(turn).copied()).collect();
    if known.is_empty() {
        return Some(no_evidence_fault(need.id, &need.quoted, !need.turns.is_empty()));
    }
    let only_assistant = known.iter().all(|role| *role == Some(Role::Assistant));
    (need.needs_user && only_assistant).then(|| assistant_only_fault(need.id, &need.quoted))
}

/// Drops pairs of duplicates that a larger group has.
fn without_covered(mut faults: Vec<Fault>) -> Vec<Fault> {
    let mut group_of: HashMap<MemoryId, usize> = HashMap::new();
    for (index, fault) in faults.iter().enumerate() {
        if fault.kind == FaultKind::Duplicate && fault.fix.is_safe() {
            group_of.extend(fault.ids.iter().map(|id| (*id, index)));
        }
    }
    faults.retain(|fault| {
        let is_pair = fault.kind == FaultKind::Duplicate && !fault.fix.is_safe();
        let groups: Vec<_> = fault.ids.iter().map(|id| group_of.get(id)).collect();
        !(is_pair && groups[0].is_some() && groups.iter().all(|group| *group == groups[0]))
    });
    faults
}
