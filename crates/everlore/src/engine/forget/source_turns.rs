//! Turns that removed memories were extracted from. They go too if nothing else comes from them: recall would answer with
//! the turn instead.

use std::collections::HashSet;

use super::RemovalMode;
use crate::{
    engine::Engine,
    error::Result,
    store::source_turn_term,
    types::{Kind, Memory, MemoryId, Role, Scope},
};

/// Memories and turns in one read.
const IDS_PER_READ: usize = 200;

/// Turns that memories were extracted from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceTurns {
    /// Turns that no other memory comes from: they are removed with the memories.
    pub alone: Vec<MemoryId>,
    /// Turns that other memories come from: they stay, and may still tell what was said.
    pub shared: Vec<MemoryId>,
}

impl Engine {
    /// Returns the turns that memories were extracted from, without those among `ids`; where something is to be forgotten,
    /// deleted turns too. Calls and results of tools are none: they belong to their trajectory.
    pub async fn source_turns(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
        mode: RemovalMode,
    ) -> Result<SourceTurns> {
        let removed: HashSet<MemoryId> = ids.iter().copied().collect();
        let mut known = removed.clone();
        let mut sources = self.turns_named_by(scope, ids).await?;
        sources.retain(|turn| known.insert(*turn));
        let mut found = SourceTurns::default();
        for sources in sources.chunks(IDS_PER_READ) {
            let turns = match mode {
                RemovalMode::Delete => self.get_many(scope, sources).await?,
                RemovalMode::Forget => self.get_even_deleted(scope, sources).await?,
            };
            self.sort_turns(scope, &turns, &removed, &mut found).await?;
        }
        Ok(found)
    }

    /// Returns the memories extracted from a turn.
    pub async fn derived_memories(&self, scope: &Scope, turn: MemoryId) -> Result<Vec<MemoryId>> {
        let found = self.memories_from(scope, &[turn]).await?;
        Ok(found.into_iter().map(|memory| memory.id).collect())
    }

    /// Adds turns to those that go and those that stay.
    async fn sort_turns(
        &self,
        scope: &Scope,
        turns: &[Memory],
        removed: &HashSet<MemoryId>,
        found: &mut SourceTurns,
    ) -> Result<()> {
        let ids: Vec<MemoryId> = turns.iter().map(|turn| turn.id).collect();
        let derived = self.memories_from(scope, &ids).await?;
        let keeps = |turn: MemoryId, memory: &Memory| {
            memory.source.turns.contains(&turn)
                && memory.kind.is_statement()
                && !removed.contains(&memory.id)
        };
        for turn in turns.iter().filter(|turn| is_utterance(turn)) {
            let is_shared = derived.iter().any(|memory| keeps(turn.id, memory));
            let list = if is_shared { &mut found.shared } else { &mut found.alone };
            list.push(turn.id);
        }
        Ok(())
    }

    /// Returns the turns that statements name as their sources.
    async fn turns_named_by(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<MemoryId>> {
        let mut turns = Vec::new();
        for ids in ids.chunks(IDS_PER_READ) {
            let memories = self.get_even_deleted(scope, ids).await?;
            let quoting =
                memories.iter().filter(|it| it.kind.is_statement() && it.kind != Kind::Session);
            turns.extend(quoting.flat_map(|memory| memory.source.turns.iter().copied()));
        }
        Ok(turns)
    }

    /// Returns memories as they are, or as they were before they were deleted.
    async fn get_even_deleted(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let mut memories = self.get_many(scope, ids).await?;
        let stored: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        for id in ids.iter().filter(|id| !stored.contains(id)) {
            memories.extend(self.all_versions(scope, *id).await?.into_iter().next());
        }
        Ok(memories)
    }

    /// Returns the memories extracted from any of the turns.
    async fn memories_from(&self, scope: &Scope, turns: &[MemoryId]) -> Result<Vec<Memory>> {
        let terms: Vec<_> = turns.iter().map(|turn| source_turn_term(*turn)).collect();
        let segments = self.store.index().postings(scope, &terms, None).await?;
        let addresses: Vec<_> = segments
            .iter()
            .flat_map(|segment| {
                let postings = segment.postings.iter().flatten();
                postings.map(move |posting| segment.docs.address(posting.doc as usize))
            })
            .collect();
        let found = self.store.memories().by_address(scope, &addresses).await?;
        Ok(found.into_iter().map(|(_, memory)| memory).collect())
    }
}

fn is_utterance(turn: &Memory) -> bool {
    turn.kind == Kind::Turn && turn.source.role != Some(Role::Tool)
}
