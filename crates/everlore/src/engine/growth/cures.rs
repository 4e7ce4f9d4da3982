//! Cures: what solved the same failure as an error or a near one, found by its signature and told in a prompt.

use std::collections::BTreeMap;

use super::experiences::{ExperienceHit, experience_of};
use crate::{
    engine::Engine,
    error::Result,
    growth::{is_other_failure, match_error, near_cure},
    recall::{Hit, Recall, RecallRequest},
    store::{DocAddress, error_term},
    sync::boxed,
    text::{
        error_signature::{ErrorSignature, signature},
        experience_text::error_keys_of,
    },
    types::{Experience, Kind, Memory, Scope, Status},
};

/// Most candidates that are compared: those with the most keys in common. A failure that was met more often has its best
/// cures among them.
const MAX_CANDIDATES: usize = 100;

/// Most cures in a prompt: a model tries one, and needs one more if that fails.
const MAX_CURES: usize = 2;

impl Engine {
    /// Returns active experiences about the same failure, best first. The cost grows with those that share a key.
    pub(super) async fn same_failures(
        &self,
        scope: &Scope,
        signature: &ErrorSignature,
    ) -> Result<Vec<ExperienceHit>> {
        let cures = self.cures_of(scope, signature).await?;
        Ok(cures.into_iter().map(|(hit, _)| hit).collect())
    }

    /// Returns active experiences about the same failure with their memories, best first.
    pub(super) async fn cures_of(
        &self,
        scope: &Scope,
        signature: &ErrorSignature,
    ) -> Result<Vec<(ExperienceHit, Memory)>> {
        let mut cures = Vec::new();
        for memory in self.experiences_with_keys(scope, signature).await? {
            let found = match_error(signature, &experience_of(&memory)?);
            if let Some(found) = found.filter(|found| found.is_same) {
                cures.push((ExperienceHit::same_failure(&memory, found)?, memory));
            }
        }
        cures.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
        Ok(cures)
    }

    /// Returns active experiences that share a key of the signature: a code, a class or words of the message.
    #[boxed]
    pub(super) async fn experiences_with_keys(
        &self,
        scope: &Scope,
        signature: &ErrorSignature,
    ) -> Result<Vec<Memory>> {
        let addresses = self.candidate_addresses(scope, signature).await?;
        let found = self.store.memories().by_address(scope, &addresses).await?;
        let is_meant =
            |memory: &Memory| memory.kind == Kind::Experience && memory.status == Status::Active;
        Ok(found.into_iter().map(|(_, memory)| memory).filter(is_meant).collect())
    }

    /// Returns the addresses of memories that share keys of the signature, those with the most keys first.
    async fn candidate_addresses(
        &self,
        scope: &Scope,
        signature: &ErrorSignature,
    ) -> Result<Vec<DocAddress>> {
        let keys = error_keys_of(std::slice::from_ref(signature));
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let terms: Vec<_> = keys.into_iter().map(error_term).collect();
        let segments = self.store.index().postings(scope, &terms, None).await?;
        let mut shared: BTreeMap<DocAddress, usize> = BTreeMap::new();
        for segment in &segments {
            for posting in segment.postings.iter().flatten() {
                *shared.entry(segment.docs.address(posting.doc as usize)).or_default() += 1;
            }
        }
        let mut found: Vec<_> = shared.into_iter().collect();
        found.sort_by_key(|(_, keys)| std::cmp::Reverse(*keys));
        found.truncate(MAX_CANDIDATES);
        let mut addresses: Vec<_> = found.into_iter().map(|(address, _)| address).collect();
        addresses.sort_unstable();
        Ok(addresses)
    }

    /// Puts the cures of a failure that a message tells before the other hits, and leaves out those of other failures.
    /// Returns the number of hits that may be told: cures come whatever the request's limit is; `None` if the message tells
    /// no failure.
    pub(in crate::engine) async fn add_cures(
        &self,
        request: &RecallRequest,
        found: &mut Recall,
    ) -> Result<Option<usize>> {
        let kinds = &request.filter.kinds;
        if !kinds.is_empty() && !kinds.contains(&Kind::Experience) {
            return Ok(None);
        }
        let signature = signature(&request.query);
        if !signature.is_failure() {
            return Ok(None);
        }
        let cures = self.cures_of(&request.scope, &signature).await?;
        let cures: Vec<_> = cures.into_iter().take(MAX_CURES).collect();
        let is_shown = |hit: &Hit| {
            let is_cure = cures.iter().any(|(_, memory)| memory.id == hit.memory.id);
            let experience = Experience::of_memory(&hit.memory);
            !is_cure && !experience.is_some_and(|other| is_other_failure(&signature, &other))
        };
        found.hits.retain(is_shown);
        for (cure, memory) in cures.into_iter().rev() {
            found.abstained = false;
            found.confidence = found.confidence.max(cure.score);
            found.hits.insert(0, Hit::of_memory(memory, cure.score));
        }
        Ok(Some(request.limit.max(MAX_CURES)))
    }

    /// Leaves only cures of the failure that an error tells, or of a near one: experiences, and what else says how to solve it.
    pub(in crate::engine) async fn keep_cures(
        &self,
        request: &RecallRequest,
        found: &mut Recall,
    ) -> Result<()> {
        let signature = signature(&request.query);
        let mut hits = self.cure_hits(&request.scope, &signature).await?;
        let known: Vec<_> = hits.iter().map(|hit| hit.memory.id).collect();
        let recalled = std::mem::take(&mut found.hits).into_iter();
        let is_cure = |hit: &Hit| {
            !known.contains(&hit.memory.id)
                && hit.memory.kind != Kind::Experience
                && near_cure(&signature, &hit.memory).is_some()
        };
        hits.extend(recalled.filter(is_cure).take(MAX_CURES - hits.len()));
        found.abstained = hits.is_empty();
        found.hits = hits;
        Ok(())
    }

    /// Returns `true` if a memory says how to solve the failure that an error tells, or a near one.
    pub(in crate::engine) fn may_cure(error: &str, memory: &Memory) -> bool {
        near_cure(&signature(error), memory).is_some()
    }

    /// Returns at most [`MAX_CURES`] experiences about the same failure or, without any, about a near one, best first.
    async fn cure_hits(&self, scope: &Scope, signature: &ErrorSignature) -> Result<Vec<Hit>> {
        let same = self.cures_of(scope, signature).await?;
        if !same.is_empty() {
            let hits = same.into_iter().map(|(cure, memory)| Hit::of_memory(memory, cure.score));
            return Ok(hits.take(MAX_CURES).collect());
        }
        let near =
            |memory: Memory| Some(Hit::of_memory(memory.clone(), near_cure(signature, &memory)?));
        let candidates = self.experiences_with_keys(scope, signature).await?;
        let mut hits: Vec<Hit> = candidates.into_iter().filter_map(near).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        hits.truncate(MAX_CURES);
        Ok(hits)
    }
}
