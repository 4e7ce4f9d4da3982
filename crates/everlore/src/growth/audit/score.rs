//! Score of an audit: 100 without a fault, and less the more memories have one.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::fault::{Fault, FaultKind};
use crate::types::MemoryId;

/// Score and the parts it is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditScore {
    /// From 0 to 100: `100 × memories ÷ (memories + points)`, rounded down; 100 only without a fault.
    pub score: u32,
    /// Points by kind of fault, the most first.
    pub parts: Vec<ScorePart>,
}

/// Points that one kind of fault takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScorePart {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Memories with it; a memory counts once, by its gravest fault.
    pub memories: usize,
    /// Points: memories times the weight of the kind.
    pub points: f64,
}

/// Returns the score of so many memories with these faults.
pub(crate) fn score(faults: &[Fault], memories: usize) -> AuditScore {
    let mut gravest: HashMap<MemoryId, FaultKind> = HashMap::new();
    for fault in faults {
        for id in faulty_ids(fault) {
            let kind = gravest.entry(*id).or_insert(fault.kind);
            *kind = (*kind).min(fault.kind);
        }
    }
    let mut counts: BTreeMap<FaultKind, usize> = BTreeMap::new();
    for kind in gravest.into_values() {
        *counts.entry(kind).or_default() += 1;
    }
    let part = |(kind, memories): (FaultKind, usize)| ScorePart {
        kind,
        memories,
        points: memories as f64 * weight(kind),
    };
    let mut parts: Vec<ScorePart> = counts.into_iter().map(part).collect();
    parts.sort_by(|one, other| other.points.total_cmp(&one.points));
    let points: f64 = parts.iter().map(|part| part.points).sum();
    AuditScore { score: whole_score(memories, points), parts }
}

/// Returns the memories of a fault that are faulty: the first of duplicates and contradictions may stay as it is.
fn faulty_ids(fault: &Fault) -> &[MemoryId] {
    match fault.kind {
        FaultKind::Duplicate | FaultKind::Contradictory => fault.ids.get(1..).unwrap_or_default(),
        _ => &fault.ids,
    }
}

fn whole_score(memories: usize, points: f64) -> u32 {
    if points <= 0.0 {
        return 100;
    }
    let all = memories.max(1) as f64;
    // One fault among very many memories still shows.
    ((100.0 * all / (all + points)).floor() as u32).min(99)
}

/// Returns the weight of a kind of fault: a leaked secret does harm by itself, a contradiction or an outdated statement
/// makes answers wrong, an echo, a duplicate and a vague statement take the place of others, and the rest costs little.
fn weight(kind: FaultKind) -> f64 {
    match kind {
        FaultKind::Secret => 10.0,
        FaultKind::Contradictory | FaultKind::Stale => 2.0,
        FaultKind::Echo | FaultKind::Duplicate | FaultKind::Vague => 1.0,
        FaultKind::Unattributed => 0.5,
        FaultKind::Unused => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{growth::audit::AuditFix, types::Timestamp};

    fn fault(kind: FaultKind, ids: &[MemoryId]) -> Fault {
        Fault { kind, ids: ids.to_vec(), why: String::new(), fix: AuditFix::Ask }
    }

    #[test]
    fn a_score_falls_with_the_share_and_the_gravity_of_the_faults() {
        let ids: Vec<MemoryId> = (0..4).map(|_| MemoryId::new(Timestamp::UNIX_EPOCH)).collect();
        assert_eq!(score(&[], 0).score, 100);
        assert_eq!(score(&[], 4).score, 100);
        let vague = fault(FaultKind::Vague, &ids[..1]);
        assert_eq!(score(std::slice::from_ref(&vague), 4).score, 80);
        assert_eq!(score(std::slice::from_ref(&vague), 100_000).score, 99);
        let secret = fault(FaultKind::Secret, &ids[..1]);
        assert_eq!(score(&[vague, secret], 4).score, 28, "a memory counts once, by its gravest");
        let duplicates = score(&[fault(FaultKind::Duplicate, &ids)], 4);
        assert_eq!((duplicates.score, duplicates.parts[0].memories), (57, 3));
    }
}
