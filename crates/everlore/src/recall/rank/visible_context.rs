//! Visible context: drops the turns that the model still sees in the current conversation, and the memories extracted
//! from nothing but those turns.

use std::collections::{HashMap, HashSet};

use super::fuse::RecallCandidate;
use crate::{
    error::Result,
    store::{DocAddress, Store},
    types::{Fingerprint, Kind, Memory, MemoryId, Scope, Timestamp, to_millisecond},
};

/// Part of a conversation that the model still sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleContext {
    /// Session of the conversation.
    pub session: String,
    /// Moment from which on its turns are visible.
    pub since: Timestamp,
    /// Fingerprints of the visible texts; `None` if they are unknown, and every turn since then is visible.
    pub texts: Option<HashSet<Fingerprint>>,
}

impl VisibleContext {
    /// Returns `true` if the model sees this turn.
    fn contains_turn(&self, turn: &Memory) -> bool {
        turn.kind == Kind::Turn
            && turn.source.session.as_ref() == Some(&self.session)
            // Stores keep times to the millisecond.
            && turn.at >= to_millisecond(self.since)
            && self.texts.as_ref().is_none_or(|texts| texts.contains(&turn.fingerprint()))
    }

    /// Returns `true` if a memory may come from visible turns; one that is older than them cannot.
    fn may_cover(&self, memory: &Memory) -> bool {
        !memory.source.turns.is_empty() && memory.created_at >= to_millisecond(self.since)
    }
}

/// Returns the memories that add nothing to the visible context: visible turns, and memories whose source turns are all
/// visible.
pub(crate) async fn already_visible(
    store: &dyn Store,
    scope: &Scope,
    context: &VisibleContext,
    memories: impl Iterator<Item = &Memory> + Clone + Send,
) -> Result<HashSet<MemoryId>> {
    let extracted = memories.clone().filter(|memory| context.may_cover(memory));
    let sources: Vec<MemoryId> =
        extracted.clone().flat_map(|memory| memory.source.turns.iter().copied()).collect();
    let turns =
        if sources.is_empty() { Vec::new() } else { store.memories().get(scope, &sources).await? };
    let visible: HashMap<MemoryId, bool> = sources
        .into_iter()
        .zip(turns)
        .map(|(id, turn)| (id, turn.is_some_and(|turn| context.contains_turn(&turn))))
        .collect();
    let is_visible = |turn: &MemoryId| visible.get(turn).copied().unwrap_or(false);
    let covered = extracted.filter(|memory| memory.source.turns.iter().all(is_visible));
    let turns = memories.filter(|memory| context.contains_turn(memory));
    Ok(covered.chain(turns).map(|memory| memory.id).collect())
}

/// Drops the candidates that are already visible.
pub(super) async fn drop_visible(
    store: &dyn Store,
    scope: &Scope,
    context: Option<&VisibleContext>,
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
) -> Result<()> {
    let Some(context) = context else { return Ok(()) };
    let memories = rows.iter().map(|(_, memory)| memory);
    let visible = already_visible(store, scope, context, memories).await?;
    let addresses: HashSet<DocAddress> = rows
        .iter()
        .filter(|(_, memory)| visible.contains(&memory.id))
        .map(|(address, _)| *address)
        .collect();
    candidates.retain(|candidate| !addresses.contains(&candidate.address));
    Ok(())
}
