//! Candidate loading: reads the rows of the best candidates and applies what only their texts can tell.

use std::collections::HashSet;

use super::{
    fuse::{Fusion, RecallCandidate},
    query_models::QueryModels,
    repeated_questions, rerank, second_hop, time_order, visible_context,
};
use crate::{
    error::Result,
    recall::{Intent, RecallDeps, RecallRequest},
    store::DocAddress,
    types::{Memory, Status, Timestamp},
};

/// Candidates loaded beyond twice the limit: the bounded score factors reorder near equals and hardly ever raise a
/// memory from further down.
const EXTRA_LOADED: usize = 10;

/// Growth of the number of loaded candidates if most of them only repeat the question.
const DEPTH_GROWTH: usize = 4;

/// Best candidates of a query with their rows.
pub(crate) struct LoadedCandidates<'a> {
    pub(super) fusion: Fusion<'a>,
    pub(super) candidates: Vec<RecallCandidate>,
    pub(super) rows: Vec<(DocAddress, Memory)>,
}

/// Loads the best candidates: reranks them, drops those that tell nothing new, and boosts those that the best ones lead
/// to. If more than half are dropped, it loads more.
pub(crate) async fn load<'a>(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    mut fusion: Fusion<'a>,
    models: &mut QueryModels<'_>,
) -> Result<LoadedCandidates<'a>> {
    let mut depth = load_depth(fusion.intent, request).max(rerank::depth(deps, request));
    loop {
        let mut candidates = fusion.best(depth);
        let is_all = candidates.len() < depth;
        let rows = load_rows(deps, request, &mut fusion, &mut candidates, models).await?;
        let loaded = candidates.len();
        drop_redundant(deps, request, fusion.intent, &mut candidates, &rows).await?;
        if is_all || loaded == 0 || candidates.len() * 2 > loaded {
            second_hop::boost_second_hop(&mut candidates, &rows, fusion.intent, &fusion.config);
            return Ok(LoadedCandidates { fusion, candidates, rows });
        }
        depth = depth.saturating_mul(DEPTH_GROWTH);
    }
}

/// Reranks the candidates, or samples those of a period, and reads their rows. The rows are read while the models read
/// the query; those of candidates that turn out to be unrelated are dropped.
async fn load_rows(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    fusion: &mut Fusion<'_>,
    candidates: &mut Vec<RecallCandidate>,
    models: &mut QueryModels<'_>,
) -> Result<Vec<(DocAddress, Memory)>> {
    if fusion.intent.asks_period {
        time_order::sample_evenly(candidates, request);
        fusion.readings = models.finish().await;
        candidates.retain(|candidate| candidate.signals.is_related());
        return read_rows(deps, request, candidates).await;
    }
    let rows = read_rows(deps, request, candidates);
    let tokens = rerank::read_token_vectors(deps, request, candidates);
    let (rows, tokens, readings) = tokio::join!(rows, tokens, models.finish());
    let mut rows = rows?;
    rerank::rerank(deps, request, (fusion.gathered, &readings), tokens?, candidates).await?;
    fusion.readings = readings;
    candidates.retain(|candidate| candidate.signals.is_related());
    let related: HashSet<DocAddress> =
        candidates.iter().map(|candidate| candidate.address).collect();
    rows.retain(|(address, _)| related.contains(address));
    Ok(rows)
}

async fn read_rows(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    candidates: &[RecallCandidate],
) -> Result<Vec<(DocAddress, Memory)>> {
    let addresses: Vec<_> = candidates.iter().map(|candidate| candidate.address).collect();
    deps.store.memories().by_address(&request.scope, &addresses).await
}

/// Drops the candidates that no longer hold, only repeat the question, know no answer, or are still visible in the
/// conversation.
async fn drop_redundant(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    intent: &Intent,
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
) -> Result<()> {
    if request.for_prompt {
        drop_expired(candidates, rows, deps.now.timestamp());
    }
    repeated_questions::drop_uninformative(candidates, rows, intent, request.for_prompt);
    let (scope, visible) = (&request.scope, request.visible.as_ref());
    visible_context::drop_visible(deps.store, scope, visible, candidates, rows).await
}

/// Drops active memories whose end has passed: upkeep archives them later, and a prompt tells only what holds.
fn drop_expired(
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
    now: Timestamp,
) {
    let over: HashSet<DocAddress> = rows
        .iter()
        .filter(|(_, memory)| memory.status == Status::Active && memory.has_expired(now))
        .map(|(address, _)| *address)
        .collect();
    candidates.retain(|candidate| !over.contains(&candidate.address));
}

/// Returns the number of candidates to load: all of a period, because it is shown from its first to its last memory.
fn load_depth(intent: &Intent, request: &RecallRequest) -> usize {
    if intent.asks_period {
        return usize::MAX;
    }
    request.limit.saturating_mul(2).saturating_add(EXTRA_LOADED)
}
