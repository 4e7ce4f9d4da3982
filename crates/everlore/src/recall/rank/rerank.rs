//! Reranking by late interaction (MaxSim): compares the best candidates with the query token by token.
//!
//! A candidate's value is the sum over the query tokens of their best match in its text or, at a discount, in the turns
//! beside it. The store keeps the token vectors of each text; this module computes them on first use.

use std::collections::{BTreeMap, HashSet};

use super::{
    fuse::RecallCandidate, gather::GatheredPostings, query_models::QueryReadings, semantic,
    signals::HitSignals,
};
use crate::{
    config::RecallConfig,
    error::Result,
    llm::{EncodedQuery, MaxSimScores, QueryVectors, Reranker},
    recall::{RecallDeps, RecallRequest},
    store::{DocAddress, NewTokenVectors},
    text::terms::{TermHash, terms},
    types::Memory,
};

/// Maximum number of reranked candidates, whatever the limit of the request: each costs tens of microseconds.
const MAX_RERANKED: usize = 300;

/// Limit of `why_not`, which looks for one memory among all hits; it leaves the number of reranked candidates
/// unchanged.
pub(crate) const UNLIMITED: usize = usize::MAX;

/// Share of a match in the turn before or after, for a short question: its words are often spread over turns. A long
/// message matches enough within one turn.
const NEIGHBOUR_SHARE: f32 = 0.8;

/// Weight of the pooled whole-text similarity beside MaxSim: a request in other words than the memory is near it as a
/// whole, though none of its words is.
const WHOLE_TEXT_SHARE: f64 = 0.7;

/// Weight of the similarity to what a short message seeks, in the place of the whole-text similarity: a request is far
/// from the memory that should shape its answer, and the message model has learnt which memories bear on which
/// requests. A long message says by itself what it is about.
const SOUGHT_SHARE: f64 = 1.0;

/// Cosine of the pooled vectors from which a turn is the query itself, asked before; packing costs up to 0.02.
const REPEATED_COSINE: f32 = 0.96;

/// Length of a query, in tokens, from which it counts as long.
const LONG_QUERY_TOKENS: f64 = 32.0;

/// Bytes of text that one recall encodes for the first time, about four hundred tokens: the first queries with a new
/// model each take some tens of milliseconds longer. The rest waits for the next save or query, or for `everlore embed
/// rebuild`.
const MAX_ENCODED_BYTES: usize = 1_500;

/// Idf of words that are not looked up, such as "what": about that of a word in every fourth text, ln(1 + 4).
const DEFAULT_IDF: f32 = 1.6;

/// Idf of punctuation: about that of a word in more than every second text, ln(1 + 1.7).
const PUNCTUATION_IDF: f32 = 1.0;

/// Factor on the weight of the cosine similarity when reranking: both signals overlap.
const SEMANTIC_SHARE: f64 = 0.8;

/// Returns the reranker, if the settings enable it and it understands the language of the query.
fn reranker<'a>(deps: RecallDeps<'a>, request: &RecallRequest) -> Option<&'a dyn Reranker> {
    let understands = |reranker: &&dyn Reranker| reranker.understands(&request.query);
    deps.reranker.filter(|_| deps.config.rerank > 0.0).filter(understands)
}

/// Returns the number of candidates to rerank; 0 without a reranker.
pub(crate) fn depth(deps: RecallDeps<'_>, request: &RecallRequest) -> usize {
    match reranker(deps, request) {
        Some(_) if request.limit == UNLIMITED => deps.config.rerank_depth,
        Some(_) => deps.config.rerank_depth.max(request.limit).min(MAX_RERANKED),
        None => 0,
    }
}

/// Returns the constants of ranking for the fusion that precedes reranking.
pub(super) fn first_stage_config(deps: RecallDeps<'_>, request: &RecallRequest) -> RecallConfig {
    let mut config = deps.config.clone();
    if reranker(deps, request).is_some() {
        config.semantic *= SEMANTIC_SHARE;
    }
    config
}

/// Reads the token vectors of the first candidates and of the turns beside them; none without a reranker.
pub(super) async fn read_token_vectors(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    candidates: &[RecallCandidate],
) -> Result<StoredTokenVectors> {
    let Some(reranker) = reranker(deps, request) else { return Ok(Vec::new()) };
    let first = &candidates[..depth(deps, request).min(candidates.len())];
    let own = first.iter().map(|candidate| candidate.address);
    let beside = first.iter().flat_map(|candidate| neighbours(candidate.address));
    let mut distinct = HashSet::new();
    // The candidates come first: missing texts are encoded in this order.
    let addresses: Vec<DocAddress> =
        own.chain(beside).filter(|address| distinct.insert(*address)).collect();
    let model = reranker.model();
    let stored = deps.store.token_vectors().get(&request.scope, model, &addresses).await?;
    Ok(addresses.into_iter().zip(stored).collect())
}

/// Adds the z-scores of the late-interaction comparison to the signals of the first candidates.
pub(super) async fn rerank(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    (gathered, readings): (&GatheredPostings, &QueryReadings),
    stored: StoredTokenVectors,
    candidates: &mut [RecallCandidate],
) -> Result<()> {
    let Some(reranker) = reranker(deps, request) else { return Ok(()) };
    let depth = depth(deps, request).min(candidates.len());
    let first = &mut candidates[..depth];
    let query = encode_query(reranker, request, gathered, readings).await?;
    let query = query.with_sought(sought(deps, reranker, readings));
    let compared = compare(deps, reranker, request, &query, stored).await?;
    for candidate in first.iter_mut() {
        candidate.signals.max_sim = max_sim(&query, candidate.address, &compared);
        let scores = compared.get(&candidate.address);
        candidate.signals.rerank_cosine = scores.map(|scores| scores.pooled.into());
        candidate.signals.sought_cosine = scores.and_then(|scores| scores.sought).map(f64::from);
    }
    let tokens = z_scores(first, |signals| signals.max_sim);
    let whole = z_scores(first, |signals| signals.rerank_cosine);
    let sought = z_scores(first, |signals| signals.sought_cosine);
    let shortness = if query.has_sought() { shortness(&query).powi(2) } else { 0.0 };
    for (index, candidate) in first.iter_mut().enumerate() {
        let whole = WHOLE_TEXT_SHARE * (1.0 - shortness) * whole[index]
            + SOUGHT_SHARE * shortness * sought[index];
        candidate.signals.rerank = deps.config.rerank * (tokens[index] + whole);
        candidate.signals.fused += candidate.signals.rerank;
    }
    Ok(())
}

/// Returns the vector of what the message seeks, if it is comparable with the reranker's.
fn sought<'a>(
    deps: RecallDeps<'_>,
    reranker: &dyn Reranker,
    readings: &'a QueryReadings,
) -> Option<&'a [f32]> {
    let is_comparable = deps.message_model.is_some_and(|it| it.model() == reranker.model());
    readings.message.as_ref().filter(|_| is_comparable).map(|it| &*it.sought)
}

/// Encodes the query ahead of the ranking, while the index is read; `None` without a reranker or if it fails.
pub(super) async fn encode_ahead(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
) -> Option<EncodedQuery> {
    let reranker = reranker(deps, request)?;
    reranker.encode_query(&reranker.split_words(&request.query)).await.ok()
}

/// Returns the query without the names of speakers, each word with its idf in the scope.
async fn encode_query(
    reranker: &dyn Reranker,
    request: &RecallRequest,
    gathered: &GatheredPostings,
    readings: &QueryReadings,
) -> Result<QueryVectors> {
    let query = semantic::without_speakers(&request.query, gathered);
    let words = reranker.split_words(&query);
    let weights = words.iter().map(|word| gathered.word_idf(word));
    match &readings.encoded_query {
        Some(encoded) if encoded.words == words => Ok(encoded.weigh(weights)),
        _ => Ok(reranker.encode_query(&words).await?.weigh(weights)),
    }
}

impl GatheredPostings {
    /// Returns the idf of a word: that of its rarest term.
    fn word_idf(&self, word: &str) -> f32 {
        if !word.starts_with(char::is_alphanumeric) {
            return PUNCTUATION_IDF;
        }
        let all: usize = self.segments.iter().map(|segment| segment.docs.len()).sum();
        let idf = |term: &String| {
            let term = TermHash::of(term);
            let list = self.terms.iter().position(|other| *other == term)?;
            let df: usize = self.segments.iter().map(|segment| segment.postings[list].len()).sum();
            Some((1.0 + all as f32 / (0.5 + df as f32)).ln())
        };
        terms(word).iter().filter_map(idf).reduce(f32::max).unwrap_or(DEFAULT_IDF)
    }
}

/// Token vectors of each text; `None` for a text that is not encoded yet.
pub(super) type StoredTokenVectors = Vec<(DocAddress, Option<Vec<u8>>)>;

/// Similarities of each text to the query; texts that are not encoded yet are missing.
type SimilaritiesByAddress = BTreeMap<DocAddress, MaxSimScores>;

/// Compares the query with the token vectors, and with those of texts that are encoded now.
async fn compare(
    deps: RecallDeps<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    query: &QueryVectors,
    stored: StoredTokenVectors,
) -> Result<SimilaritiesByAddress> {
    let (mut compared, mut missing) = (SimilaritiesByAddress::new(), Vec::new());
    for (address, tokens) in stored {
        match tokens {
            Some(tokens) => drop(compared.insert(address, query.compare(&tokens))),
            None => missing.push(address),
        }
    }
    for (address, tokens) in encode_missing(deps, reranker, request, &missing).await? {
        compared.insert(address, query.compare(&tokens));
    }
    Ok(compared)
}

/// Encodes the first [`MAX_ENCODED_BYTES`] of the missing texts and stores their token vectors.
async fn encode_missing(
    deps: RecallDeps<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    missing: &[DocAddress],
) -> Result<Vec<(DocAddress, Vec<u8>)>> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = MAX_ENCODED_BYTES;
    let mut rows = deps.store.memories().by_address(&request.scope, missing).await?;
    rows.retain(|(_, memory)| {
        let fits = left > 0;
        left = left.saturating_sub(memory.content.len());
        fits
    });
    let texts: Vec<&str> = rows.iter().map(|(_, memory)| memory.content.as_str()).collect();
    let encoded: Vec<Vec<u8>> =
        reranker.encode_texts(&texts).await?.into_iter().map(|packed| packed.0).collect();
    let new =
        rows.iter().zip(&encoded).map(|((_, memory), tokens)| new_token_vectors(memory, tokens));
    if let Err(error) =
        deps.store.token_vectors().put(&request.scope, reranker.model(), new.collect()).await
    {
        // Recall answers even if the store cannot be written to.
        tracing::warn!("could not store token vectors: {error}");
    }
    Ok(rows.into_iter().map(|(address, _)| address).zip(encoded).collect())
}

fn new_token_vectors(memory: &Memory, tokens: &[u8]) -> NewTokenVectors {
    NewTokenVectors { id: memory.id, version: memory.version, token_vectors: tokens.to_vec() }
}

/// Returns 1 for a short query, less for a long one.
fn shortness(query: &QueryVectors) -> f64 {
    (LONG_QUERY_TOKENS / query.len().max(1) as f64).min(1.0)
}

/// Returns the addresses of the turns before and after.
fn neighbours(address: DocAddress) -> impl Iterator<Item = DocAddress> {
    [-1, 1].into_iter().filter_map(move |distance| address.neighbour(distance))
}

/// Returns the weighted sum of the best match of each query token in a text and its neighbours; `None` if the text is
/// not encoded yet.
fn max_sim(
    query: &QueryVectors,
    address: DocAddress,
    compared: &SimilaritiesByAddress,
) -> Option<f64> {
    let mut best = compared.get(&address)?.tokens.clone();
    let share = NEIGHBOUR_SHARE * shortness(query) as f32;
    let next = address.neighbour(1);
    let is_asked_next = |beside: &DocAddress| {
        Some(*beside) == next
            && compared.get(beside).is_some_and(|scores| scores.pooled >= REPEATED_COSINE)
    };
    // An earlier asking of the question lends its words to the answer after it, not to what was said before it.
    let beside = neighbours(address).filter(|beside| !is_asked_next(beside));
    for MaxSimScores { tokens, .. } in beside.filter_map(|address| compared.get(&address)) {
        best.iter_mut().zip(tokens).for_each(|(best, beside)| *best = best.max(beside * share));
    }
    Some(query.weighted_sum(&best).into())
}

/// Returns the z-scores of a measure over the candidates; 0 for a candidate without a value, which keeps its rank.
fn z_scores(
    candidates: &[RecallCandidate],
    measure: impl Fn(&HitSignals) -> Option<f64>,
) -> Vec<f64> {
    let numbers: Vec<_> = candidates.iter().map(|candidate| measure(&candidate.signals)).collect();
    let known = || numbers.iter().flatten();
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let deviation = (known().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt();
    // If all are equal, none is better.
    let scale = if deviation > 1e-6 { deviation.recip() } else { 0.0 };
    numbers.iter().map(|number| number.map_or(0.0, |number| (number - mean) * scale)).collect()
}
