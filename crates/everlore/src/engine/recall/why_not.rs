//! Explanations: why a memory is not among the hits of a recall, or not in the block that answered a message.

use super::{is_injection_enabled, with_limit_cap};
use crate::{
    engine::Engine,
    error::Result,
    recall::{self, Hit, MemoryBlock, RecallRequest, WhyNot},
    sync::boxed,
    types::{Kind, MemoryId},
    upkeep::is_held_out,
};

/// Block that answered a message.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredBlock<'a> {
    /// The block.
    pub block: &'a MemoryBlock,
    /// Maximum tokens of the block.
    pub budget: usize,
    /// Session into which it was injected, if any.
    pub session: Option<&'a str>,
}

/// Hits for a prompt, before their number is limited, with the number that may be told.
struct PromptHits {
    hits: Vec<Hit>,
    limit: usize,
}

impl Engine {
    /// Explains why a memory is missing from a recall, or at which rank it is. Fails if the store fails.
    #[boxed]
    pub async fn why_not(&self, request: &RecallRequest, id: MemoryId) -> Result<WhyNot> {
        let settings = self.settings(request.scope.agent());
        let (request, now) = (with_limit_cap(request, &settings), self.now());
        let embedder = self.cached_embedder(&request.scope, now.timestamp());
        let deps = self.recall_deps(&request.scope, &settings, embedder.as_ref(), &now);
        let why_not = recall::why_not(deps, &request, id).await?;
        match why_not {
            WhyNot::Returned { .. } => {
                Ok(Self::with_final_rank(&self.recall_at(&request, &now).await?, why_not))
            }
            why_not => Ok(why_not),
        }
    }

    /// Explains why a memory is missing from the block that answered a message. Fails if the store fails.
    pub async fn why_not_in_block(
        &self,
        request: &RecallRequest,
        answered: AnsweredBlock<'_>,
        id: MemoryId,
    ) -> Result<WhyNot> {
        let (settings, now) = (self.settings(request.scope.agent()), self.now());
        if !is_injection_enabled(&settings, &request.query, &now) {
            return Ok(match self.why_not(request, id).await? {
                WhyNot::Returned { hit, .. } => WhyNot::Settings { hit },
                why_not => why_not,
            });
        }
        let (found, limit) = self.recall_with_cures(request, &now).await?;
        let candidates = PromptHits { hits: found.hits, limit };
        let index = candidates.hits.iter().position(|hit| hit.memory.id == id);
        let entry = answered.block.entries.iter().find(|entry| entry.id == id);
        match (entry, index) {
            (Some(entry), Some(index)) => {
                let hit = Box::new(candidates.hits[index].clone());
                Ok(WhyNot::Told { tier: entry.tier, hit })
            }
            // The block was built a moment ago, when the embedder or the store told something else.
            (Some(entry), None) => {
                let memory = self.get(&request.scope, id).await?;
                let hit = Box::new(Hit::of_memory(memory, entry.score));
                Ok(WhyNot::Told { tier: entry.tier, hit })
            }
            (None, Some(index)) => Ok(self.why_left_out(request, answered, &candidates, index)),
            (None, None) => self.why_no_hit(request, id, !candidates.hits.is_empty()).await,
        }
    }

    /// Explains why a block does not show a hit for the prompt.
    fn why_left_out(
        &self,
        request: &RecallRequest,
        AnsweredBlock { block, budget, session }: AnsweredBlock<'_>,
        PromptHits { hits, limit }: &PromptHits,
        index: usize,
    ) -> WhyNot {
        let hit = Box::new(hits[index].clone());
        let id = hit.memory.id;
        if block.left_out.contains(&id) {
            return WhyNot::Budget { budget, tokens: block.tokens, hit };
        }
        if index >= *limit {
            let lowest = hits[..*limit].last().map_or(1.0, |hit| hit.score);
            return WhyNot::Rank { rank: index + 1, limit: *limit, lowest, hit };
        }
        let inject = &self.settings(request.scope.agent()).memory.inject;
        let session = session.map(|session| self.stored_session(&request.scope, session));
        let is_held = |hit: &Hit| {
            session
                .as_ref()
                .is_some_and(|session| is_held_out(inject.holdout, session, hit.memory.id))
        };
        let is_empty = block.entries.is_empty() && block.left_out.is_empty();
        // A block is also empty if all of its memories are held out.
        let is_first_round = inject.first_round_empty
            && is_empty
            && hits.iter().take(*limit).any(|hit| !is_held(hit));
        if session.is_some() && is_first_round {
            return WhyNot::FirstRound { hit };
        }
        if is_held(&hit) {
            return WhyNot::HeldOut { hit };
        }
        // It was saved after the block was built.
        let lowest = block.entries.last().map_or(1.0, |entry| entry.score);
        WhyNot::Rank { rank: index + 1, limit: block.entries.len(), lowest, hit }
    }

    /// Explains why a memory is no hit for the prompt: recall left it out, or the failure that the message tells did.
    async fn why_no_hit(
        &self,
        request: &RecallRequest,
        id: MemoryId,
        has_cures: bool,
    ) -> Result<WhyNot> {
        let why_not = self.why_not(request, id).await?;
        if !request.only_cures {
            return Ok(match why_not {
                // It is about another failure than the message.
                WhyNot::Returned { .. } => WhyNot::NotACure,
                why_not => why_not,
            });
        }
        if matches!(why_not, WhyNot::Filter { .. } | WhyNot::Seen) {
            return Ok(why_not);
        }
        let memory = self.get(&request.scope, id).await?;
        let is_found =
            memory.kind == Kind::Experience || matches!(why_not, WhyNot::Returned { .. });
        let may_cure = Self::may_cure(&request.query, &memory);
        Ok(if may_cure && !is_found {
            why_not
        } else if may_cure && has_cures {
            WhyNot::BetterCures
        } else {
            WhyNot::NotACure
        })
    }
}
