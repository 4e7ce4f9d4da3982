//! What the model still sees in the conversation that goes on need not be told again: its turns, and what was drawn from nothing
//! but them.

use std::collections::{HashMap, HashSet};

use super::fuse::RecallCandidate;
use crate::{
    error::Result,
    store::{DocAddress, Store},
    types::{Fingerprint, Kind, Memory, MemoryId, Scope, Timestamp, to_millisecond},
};

/// The part of a conversation that the model still sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleContext {
    /// The conversation.
    pub session: String,
    /// What was said in it from this moment on.
    pub since: Timestamp,
    /// And only these texts, where they are known.
    pub texts: Option<HashSet<Fingerprint>>,
}

impl VisibleContext {
    /// Whether the model sees this turn.
    fn contains_turn(&self, turn: &Memory) -> bool {
        turn.kind == Kind::Turn
            && turn.source.session.as_ref() == Some(&self.session)
            // Turns are stored to the millisecond.
            && turn.at >= to_millisecond(self.since)
            && self.texts.as_ref().is_none_or(|texts| texts.contains(&turn.fingerprint()))
    }

    /// Whether a memory may have been drawn from what is seen: one that is older was not.
    fn may_cover(&self, memory: &Memory) -> bool {
        !memory.source.turns.is_empty() && memory.created_at >= to_millisecond(self.since)
    }
}

/// Those of the memories that tell only what is seen. What an older conversation told as well is none of them.
pub(super) async fn already_visible(
    store: &dyn Store,
    scope: &Scope,
    seen: &VisibleContext,
    memories: impl Iterator<Item = &Memory> + Clone + Send,
) -> Result<HashSet<MemoryId>> {
    let drawn = memories.clone().filter(|memory| seen.may_cover(memory));
    let sources: Vec<MemoryId> =
        drawn.clone().flat_map(|memory| memory.source.turns.iter().copied()).collect();
    let turns =
        if sources.is_empty() { Vec::new() } else { store.memories().get(scope, &sources).await? };
    let visible: HashMap<MemoryId, bool> = sources
        .into_iter()
        .zip(turns)
        .map(|(id, turn)| (id, turn.is_some_and(|turn| seen.contains_turn(&turn))))
        .collect();
    let is_visible = |turn: &MemoryId| visible.get(turn).copied().unwrap_or(false);
    let told = drawn.filter(|memory| memory.source.turns.iter().all(is_visible));
    let own = memories.filter(|memory| seen.contains_turn(memory));
    Ok(told.chain(own).map(|memory| memory.id).collect())
}

/// Leaves them out.
pub(super) async fn drop_visible(
    store: &dyn Store,
    scope: &Scope,
    seen: Option<&VisibleContext>,
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
) -> Result<()> {
    let Some(seen) = seen else { return Ok(()) };
    let shown = already_visible(store, scope, seen, rows.iter().map(|(_, memory)| memory)).await?;
    let places: HashSet<DocAddress> = rows
        .iter()
        .filter(|(_, memory)| shown.contains(&memory.id))
        .map(|(place, _)| *place)
        .collect();
    candidates.retain(|candidate| !places.contains(&candidate.address));
    Ok(())
}
