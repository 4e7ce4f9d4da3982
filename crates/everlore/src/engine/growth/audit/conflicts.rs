//! Contradictions: pairs of memories of which the newer makes the older one untrue, or may do so.

use std::collections::HashMap;

use crate::{
    growth::audit::{Fault, conflict_fault},
    ingest::{are_rivals, rival_keys},
    types::{Memory, MemoryId},
};

/// Older memories of one key that a memory is compared with: each true value of a subject has few.
const MAX_COMPARED: usize = 16;

/// Statements by what they say something about.
#[derive(Default)]
pub(super) struct ConflictIndex(HashMap<u64, Vec<MemoryId>>);

impl ConflictIndex {
    /// Adds a memory.
    pub(super) fn add(&mut self, memory: &Memory) {
        for key in rival_keys(memory) {
            self.0.entry(key).or_default().push(memory.id);
        }
        if let Some(older) = memory.may_replace() {
            let key = xxhash_rust::xxh3::xxh3_64(older.as_bytes());
            self.0.entry(key).or_insert_with(|| vec![older]).push(memory.id);
        }
    }

    /// Returns groups of memories that may contradict each other.
    pub(super) fn groups(&self) -> Vec<Vec<MemoryId>> {
        let mut groups: Vec<_> = self.0.values().filter(|ids| ids.len() > 1).cloned().collect();
        groups.sort();
        groups.dedup();
        groups
    }
}

/// Returns a fault for each memory of a group that a newer one contradicts.
pub(super) fn find(group: &[&Memory]) -> Vec<Fault> {
    let mut ordered = group.to_vec();
    ordered.sort_by_key(|memory| (memory.at, memory.id));
    let mut faults = Vec::new();
    for (index, older) in ordered.iter().enumerate() {
        let later = ordered[index + 1..].iter().rev().take(MAX_COMPARED);
        let replaces =
            |newer: &Memory| are_rivals(newer, older) || newer.may_replace() == Some(older.id);
        let newest = later.into_iter().find(|newer| replaces(newer));
        faults.extend(newest.map(|newer| conflict_fault(newer, older)));
    }
    faults
}
