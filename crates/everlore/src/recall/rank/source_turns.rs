//! Turns and the memories drawn from them: a turn whose memory is a hit tells the same twice, and a turn whose memory
//! was superseded tells what no longer holds.

use std::collections::{HashMap, HashSet};

use super::{
    doubts::lift_doubting,
    score::{RankedHits, combined_score},
};
use crate::{
    error::Result,
    recall::{Hit, Intent, RecallDeps, RecallRequest},
    store::{DocAddress, source_turn_term},
    text::terms::{TermHash, for_each_term},
    types::{Kind, Memory, MemoryId, Status, Timestamp, VALID_UNTIL_KEY},
};

/// Relative distance of a superseded turn below the memory that replaces it.
pub(super) const SCORE_STEP: f64 = 1e-6;

/// Marks superseded memories, and the turns among the best hits whose memory was superseded, with their successor and
/// the time until which they held. Reads the store only if the scope has superseded memories.
pub(crate) async fn mark_superseded(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    ranked: &mut RankedHits<'_>,
) -> Result<()> {
    for hit in ranked.hits.iter_mut().filter(|hit| hit.memory.status == Status::Superseded) {
        mark(hit, &hit.memory.clone());
    }
    if !ranked.fusion.corpus.has_superseded() {
        return Ok(());
    }
    // Twice the limit: some of the best hits are dropped later.
    let shown = ranked.hits.len().min(request.limit.saturating_mul(2));
    let turns = ranked.hits[..shown].iter().filter(|hit| hit.memory.kind == Kind::Turn);
    let turns: Vec<MemoryId> = turns.map(|hit| hit.memory.id).collect();
    let drawn = memories_drawn_from(deps, request, &turns).await?;
    let query_terms = term_variants(ranked.fusion.intent);
    for hit in ranked.hits[..shown].iter_mut().filter(|hit| hit.memory.kind == Kind::Turn) {
        if let Some(memory) = outdated_memory(hit.memory.id, &drawn, &query_terms) {
            mark(hit, memory);
        }
    }
    Ok(())
}

/// Arranges hits for a prompt: a memory takes the place of the turns that it was drawn from, unless they hold more that
/// the query asks for, and what was superseded comes after its successor.
pub(crate) fn arrange_for_prompt(hits: &mut Vec<Hit>, intent: &Intent) {
    replace_turns(hits, intent);
    lift_doubting(hits);
    let products: HashMap<MemoryId, f64> =
        hits.iter().map(|hit| (hit.memory.id, hit.factors.product())).collect();
    for hit in hits.iter_mut().filter(|hit| hit.held_until.is_some()) {
        let successor = hit.newer.and_then(|newer| products.get(&newer));
        if let Some(product) = successor.filter(|product| **product <= hit.factors.product()) {
            set_product(hit, product * (1.0 - SCORE_STEP));
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// Returns the memory that tells what `turn` tells, if `hits` have one.
pub(crate) fn teller_of<'a>(turn: &Memory, hits: &'a [Hit], intent: &Intent) -> Option<&'a Hit> {
    let query_terms = term_variants(intent);
    let is_drawn = |hit: &&Hit| hit.memory.source.turns.contains(&turn.id);
    let asked = matched_terms(&turn.content, &query_terms);
    hits.iter().filter(is_drawn).find(|hit| tells_all(hit, &asked, &query_terms))
}

fn replace_turns(hits: &mut Vec<Hit>, intent: &Intent) {
    let query_terms = term_variants(intent);
    let mut tellers: HashMap<MemoryId, Vec<usize>> = HashMap::new();
    for (index, hit) in hits.iter().enumerate().filter(|(_, hit)| hit.memory.kind != Kind::Turn) {
        for turn in &hit.memory.source.turns {
            tellers.entry(*turn).or_default().push(index);
        }
    }
    let mut dropped = HashSet::new();
    for index in 0..hits.len() {
        let Some(drawn) = tellers.get(&hits[index].memory.id) else { continue };
        let asked = matched_terms(&hits[index].memory.content, &query_terms);
        let teller = drawn.iter().find(|drawn| tells_all(&hits[**drawn], &asked, &query_terms));
        if let Some(teller) = teller {
            dropped.insert(hits[index].memory.id);
            let product = hits[index].factors.product().max(hits[*teller].factors.product());
            set_product(&mut hits[*teller], product);
        }
    }
    hits.retain(|hit| !dropped.contains(&hit.memory.id));
}

fn tells_all(memory: &Hit, asked: &HashSet<usize>, query_terms: &QueryTermIndex) -> bool {
    let memory = &memory.memory;
    let text = format!("{}\n{}\n{}", memory.name, memory.description, memory.content);
    asked.is_subset(&matched_terms(&text, query_terms))
}

/// Changes the score of a hit by its `update` factor.
pub(super) fn set_product(hit: &mut Hit, product: f64) {
    hit.factors.update *= product / hit.factors.product();
    hit.score = combined_score(&hit.factors);
}

fn mark(hit: &mut Hit, superseded: &Memory) {
    hit.newer = superseded.superseded_by;
    hit.held_until = Some(held_until(superseded));
}

/// Returns the time until which a superseded memory held: as extraction noted it, or when it was replaced.
fn held_until(superseded: &Memory) -> Timestamp {
    let noted = superseded.metadata.get(VALID_UNTIL_KEY);
    let noted = noted.and_then(|until| until.as_str()?.parse().ok());
    noted.unwrap_or(superseded.updated_at)
}

/// Returns the superseded memory for which a turn is outdated. A turn with an active memory that is nearer to the query
/// still holds.
fn outdated_memory<'a>(
    turn: MemoryId,
    drawn: &'a [Memory],
    query_terms: &QueryTermIndex,
) -> Option<&'a Memory> {
    let of_turn = || drawn.iter().filter(|memory| memory.source.turns.contains(&turn));
    let shared = |memory: &&Memory| matched_terms(&memory.content, query_terms).len();
    let holds = of_turn().filter(|memory| memory.status == Status::Active);
    let holds = holds.map(|memory| shared(&memory)).max();
    let is_outdated = |it: &&Memory| it.superseded_by.is_some() || it.status == Status::Superseded;
    let outdated = of_turn().filter(is_outdated);
    let outdated = outdated.max_by_key(shared)?;
    holds.is_none_or(|holds| shared(&outdated) > holds).then_some(outdated)
}

/// Reads the memories that were drawn from these turns.
async fn memories_drawn_from(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    turns: &[MemoryId],
) -> Result<Vec<Memory>> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    let terms: Vec<TermHash> = turns.iter().map(|turn| source_turn_term(*turn)).collect();
    let segments = deps.store.index().postings(&request.scope, &terms, None).await?;
    let addresses: HashSet<DocAddress> = segments
        .iter()
        .flat_map(|segment| segment.postings.iter().flatten().map(move |it| (segment, it.doc)))
        .map(|(segment, doc)| segment.docs.address(doc as usize))
        .collect();
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let addresses: Vec<DocAddress> = addresses.into_iter().collect();
    let rows = deps.store.memories().by_address(&request.scope, &addresses).await?;
    Ok(rows.into_iter().map(|(_, memory)| memory).collect())
}

/// Number of the query term of each variant.
type QueryTermIndex = HashMap<TermHash, usize>;

fn term_variants(intent: &Intent) -> QueryTermIndex {
    let terms = intent.terms.iter().enumerate();
    terms.flat_map(|(number, term)| term.variants().map(move |(term, _)| (term, number))).collect()
}

/// Returns the numbers of the query terms that a text has.
fn matched_terms(text: &str, query_terms: &QueryTermIndex) -> HashSet<usize> {
    let mut matched = HashSet::new();
    for_each_term(text, &mut |term| matched.extend(query_terms.get(&TermHash::of(term))));
    matched
}
