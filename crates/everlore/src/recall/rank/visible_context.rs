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
pub enum VisibleContext {
    /// Turns of a session.
    Session {
        /// Session of the conversation.
        session: String,
        /// Moment from which on its turns are visible.
        since: Timestamp,
    },
    /// Texts of the request itself, whichever session they belong to.
    Texts(HashSet<Fingerprint>),
}

impl VisibleContext {
    /// Returns `true` if the model sees this memory itself.
    fn shows(&self, memory: &Memory) -> bool {
        match self {
            // Stores keep times to the millisecond.
            Self::Session { session, since } => {
                memory.kind == Kind::Turn
                    && memory.source.session.as_ref() == Some(session)
                    && memory.at >= to_millisecond(*since)
            }
            Self::Texts(texts) => texts.contains(&memory.fingerprint()),
        }
    }

    /// Returns `true` if a memory may come from visible turns; one that is older than them cannot.
    fn may_cover(&self, memory: &Memory) -> bool {
        let is_recent = match self {
            Self::Session { since, .. } => memory.created_at >= to_millisecond(*since),
            Self::Texts(texts) => !texts.is_empty(),
        };
        !memory.source.turns.is_empty() && is_recent
    }
}

/// Returns the memories that add nothing to the visible context: those that it shows, and memories whose source turns it
/// shows, all of them.
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
        .map(|(id, turn)| (id, turn.is_some_and(|turn| context.shows(&turn))))
        .collect();
    let is_visible = |turn: &MemoryId| visible.get(turn).copied().unwrap_or(false);
    let covered = extracted.filter(|memory| memory.source.turns.iter().all(is_visible));
    let shown = memories.filter(|memory| context.shows(memory));
    Ok(covered.chain(shown).map(|memory| memory.id).collect())
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
