//! Unused memories: stored long ago and never put into a prompt, though others of the scope were.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::fault::{AuditFix, Fault, FaultKind};
use crate::types::{Kind, Memory, MemoryId};

/// Age below which it is too early to tell.
const MIN_AGE: SignedDuration = SignedDuration::from_hours(180 * 24);

/// Fewest memories that prompts were given: below, nothing was used much.
const MIN_INJECTED: u64 = 200;

/// Memories that were never used, by kind: one fault each, since there may be very many.
#[derive(Debug, Default)]
pub(super) struct UnusedMemories(BTreeMap<Kind, Vec<MemoryId>>);

impl UnusedMemories {
    /// Adds a memory if it was never used. What is about the user is kept for the day on which it matters.
    pub(super) fn add(&mut self, memory: &Memory, injected: u64, now: Timestamp) {
        let is_old = now.duration_since(memory.created_at) >= MIN_AGE;
        let may_rest = matches!(memory.kind, Kind::User | Kind::Feedback) || memory.is_pinned();
        if injected >= MIN_INJECTED && is_old && !may_rest && memory.last_used_at.is_none() {
            self.0.entry(memory.kind).or_default().push(memory.id);
        }
    }

    /// Returns a fault for each kind.
    pub(super) fn into_faults(self, injected: u64) -> impl Iterator<Item = Fault> {
        self.0.into_iter().map(move |(kind, ids)| {
            let (count, days) = (ids.len(), MIN_AGE.as_hours() / 24);
            let (noun, verb) = if count == 1 { ("memory", "was") } else { ("memories", "were") };
            let why = format!(
                "{count} {noun} of kind {kind}, older than {days} days, {verb} never put into a prompt, though prompts were given memories {injected} times"
            );
            Fault { kind: FaultKind::Unused, ids, why, fix: AuditFix::Ask }
        })
    }
}
