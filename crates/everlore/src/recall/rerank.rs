//! A second look at the best candidates: the question beside each text, word by word.
//!
//! A candidate is as good as the best match of each word of the question in its text, or, for a little less, in the
//! turns beside it. What a model made of a text is kept by the store, and made here the first time it is needed.

use std::collections::BTreeMap;

use super::{RecallDeps, RecallRequest, fuse::RecallCandidate, gather::GatheredPostings, semantic};
use crate::{
    config::RecallConfig,
    error::Result,
    llm::{MaxSimScores, QueryVectors, Reranker},
    store::{DocAddress, NewTokenVectors},
    text::terms::{TermHash, terms},
    types::Memory,
};

/// More candidates than this are not looked at, however many are asked for: each costs tens of microseconds.
const MAX_RERANKED: usize = 300;

/// The limit of whoever looks for one memory among all, which changes nothing about the ranking.
pub(super) const UNLIMITED: usize = usize::MAX;

/// What a match in the turn before or after is worth beside one in the text itself, for a short question: its words are
/// often spread over turns. A long message has enough of its own in one.
const NEIGHBOUR_WORTH: f32 = 0.8;

/// What the comparison as a whole is worth beside the one word by word, for a long message: a short question is its words.
const WHOLE_TEXT_WORTH: f64 = 0.5;

/// Where a question begins to be long, in word pieces.
const LONG_QUERY_TOKENS: f64 = 32.0;

/// Bytes of text that are read for the first time in one recall, about a thousand word pieces: the first questions after
/// a model was taken into use each take a quarter of a second longer. The rest waits for the next one, or for
/// `everlore embed rebuild`.
const MAX_ENCODED_BYTES: usize = 4_000;

/// Words that are not looked up, such as "what", tell about as much as one that every fourth text has: ln(1 + 4).
const DEFAULT_IDF: f32 = 1.6;

/// Signs tell about as much as one that more than every second text has: ln(1 + 1.7).
const PUNCTUATION_IDF: f32 = 1.0;

/// What the built-in model's word is still worth where this comparison is made: both say much the same, and this one
/// says it better.
const SEMANTIC_SHARE: f64 = 0.5;

/// What compares, if the settings want it and it knows the language of the query.
fn reranker<'a>(means: RecallDeps<'a>, request: &RecallRequest) -> Option<&'a dyn Reranker> {
    let knows = |reranker: &&dyn Reranker| reranker.understands(&request.query);
    means.reranker.filter(|_| means.config.rerank > 0.0).filter(knows)
}

/// How many candidates are looked at again.
pub(super) fn depth(means: RecallDeps<'_>, request: &RecallRequest) -> usize {
    match reranker(means, request) {
        Some(_) if request.limit == UNLIMITED => means.config.rerank_depth,
        Some(_) => means.config.rerank_depth.max(request.limit).min(MAX_RERANKED),
        None => 0,
    }
}

/// The constants of ranking before the second look.
pub(super) fn adjusted_config(means: RecallDeps<'_>, request: &RecallRequest) -> RecallConfig {
    let mut config = means.config.clone();
    if reranker(means, request).is_some() {
        config.semantic *= SEMANTIC_SHARE;
    }
    config
}

/// Adds what the comparison says to the first candidates.
pub(super) async fn rerank(
    means: RecallDeps<'_>,
    request: &RecallRequest,
    gathered: &GatheredPostings,
    candidates: &mut [RecallCandidate],
) -> Result<()> {
    let Some(reranker) = reranker(means, request) else { return Ok(()) };
    let depth = depth(means, request).min(candidates.len());
    let first = &mut candidates[..depth];
    let asked = encode_query(reranker, request, gathered).await?;
    let compared = compare(means, reranker, request, &asked, first).await?;
    let words = z_scores(first, |place| max_sim(&asked, place, &compared));
    let whole = z_scores(first, |place| Some(compared.get(&place)?.pooled.into()));
    let share = WHOLE_TEXT_WORTH * asked.len() as f64 / (asked.len() as f64 + LONG_QUERY_TOKENS);
    for ((candidate, words), whole) in first.iter_mut().zip(words).zip(whole) {
        candidate.signals.rerank = means.config.rerank * (words + share * whole);
        candidate.signals.fused += candidate.signals.rerank;
    }
    Ok(())
}

/// The question without the names of speakers, each word with how rare it is in the scope.
async fn encode_query(
    reranker: &dyn Reranker,
    request: &RecallRequest,
    gathered: &GatheredPostings,
) -> Result<QueryVectors> {
    let query = semantic::without_speakers(&request.query, gathered);
    let words: Vec<_> = split_words(&query).map(|word| (word, gathered.word_idf(word))).collect();
    reranker.encode_query(&words).await
}

impl GatheredPostings {
    /// How rare a word is: that of its rarest term.
    fn word_idf(&self, word: &str) -> f32 {
        if !word.starts_with(char::is_alphanumeric) {
            return PUNCTUATION_IDF;
        }
        let all: usize = self.segments.iter().map(|segment| segment.docs.len()).sum();
        let rarity = |term: &String| {
            let term = TermHash::of(term);
            let list = self.terms.iter().position(|asked| *asked == term)?;
            let known: usize =
                self.segments.iter().map(|segment| segment.postings[list].len()).sum();
            Some((1.0 + all as f32 / (0.5 + known as f32)).ln())
        };
        terms(word).iter().filter_map(rarity).reduce(f32::max).unwrap_or(DEFAULT_IDF)
    }
}

/// Words and signs, each by itself, as models cut them too.
fn split_words(query: &str) -> impl Iterator<Item = &str> {
    query.split_whitespace().flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = match first.is_alphanumeric() {
                true => rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()),
                false => first.len_utf8(),
            };
            let (word, after) = rest.split_at(end);
            rest = after;
            Some(word)
        })
    })
}

/// How each text compares with the question; nothing for texts that are not read yet.
type SimilaritiesByAddress = BTreeMap<DocAddress, MaxSimScores>;

/// Compares the question with the candidates and the turns beside them.
async fn compare(
    means: RecallDeps<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    asked: &QueryVectors,
    candidates: &[RecallCandidate],
) -> Result<SimilaritiesByAddress> {
    let own = candidates.iter().map(|candidate| candidate.address);
    let beside = candidates.iter().flat_map(|candidate| neighbours(candidate.address));
    let mut places: Vec<DocAddress> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    // The candidates first: what is not read yet is read in this order.
    places.extend(own.chain(beside).filter(|place| seen.insert(*place)));
    let model = reranker.model();
    let kept = means.store.token_vectors().get(&request.scope, model, &places).await?;
    let (mut compared, mut missing) = (SimilaritiesByAddress::new(), Vec::new());
    for (place, tokens) in places.into_iter().zip(kept) {
        match tokens {
            Some(tokens) => drop(compared.insert(place, asked.compare(&tokens))),
            None => missing.push(place),
        }
    }
    for (place, tokens) in encode_missing(means, reranker, request, &missing).await? {
        compared.insert(place, asked.compare(&tokens));
    }
    Ok(compared)
}

/// Reads some of the texts that the model has not read yet, and keeps what it made of them.
async fn encode_missing(
    means: RecallDeps<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    missing: &[DocAddress],
) -> Result<Vec<(DocAddress, Vec<u8>)>> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = MAX_ENCODED_BYTES;
    let mut found = means.store.memories().by_address(&request.scope, missing).await?;
    found.retain(|(_, memory)| {
        let reads = left > 0;
        left = left.saturating_sub(memory.content.len());
        reads
    });
    let texts: Vec<&str> = found.iter().map(|(_, memory)| memory.content.as_str()).collect();
    let made: Vec<Vec<u8>> =
        reranker.encode_texts(&texts).await?.into_iter().map(|packed| packed.0).collect();
    let kept =
        found.iter().zip(&made).map(|((_, memory), tokens)| new_token_vectors(memory, tokens));
    if let Err(error) =
        means.store.token_vectors().put(&request.scope, reranker.model(), kept.collect()).await
    {
        // A question is answered even where nothing can be written.
        tracing::warn!("{error}: what the model made of some texts is not kept");
    }
    Ok(found.into_iter().map(|(place, _)| place).zip(made).collect())
}

fn new_token_vectors(memory: &Memory, tokens: &[u8]) -> NewTokenVectors {
    NewTokenVectors { id: memory.id, version: memory.version, token_vectors: tokens.to_vec() }
}

/// The turns before and after.
fn neighbours(place: DocAddress) -> impl Iterator<Item = DocAddress> {
    [-1, 1].into_iter().filter_map(move |distance| place.neighbour(distance))
}

/// How well a text matches the question word by word; none for a text that is not read yet.
fn max_sim(
    asked: &QueryVectors,
    place: DocAddress,
    compared: &SimilaritiesByAddress,
) -> Option<f64> {
    let mut best = compared.get(&place)?.tokens.clone();
    let worth = NEIGHBOUR_WORTH * (LONG_QUERY_TOKENS as f32 / asked.len().max(1) as f32).min(1.0);
    for MaxSimScores { tokens: pieces, .. } in
        neighbours(place).filter_map(|place| compared.get(&place))
    {
        best.iter_mut().zip(pieces).for_each(|(best, beside)| *best = best.max(beside * worth));
    }
    Some(asked.weighted_sum(&best).into())
}

/// A measure of the candidates as standard deviations above its mean; 0 for what is not known, which stays where it is.
fn z_scores(
    candidates: &[RecallCandidate],
    measure: impl Fn(DocAddress) -> Option<f64>,
) -> Vec<f64> {
    let numbers: Vec<_> = candidates.iter().map(|candidate| measure(candidate.address)).collect();
    let known = || numbers.iter().flatten();
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let deviation = (known().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt();
    // Where all are alike, none is better.
    let each = if deviation > 1e-6 { deviation.recip() } else { 0.0 };
    numbers.iter().map(|number| number.map_or(0.0, |number| (number - mean) * each)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_stand_by_themselves() {
        let cut = |query| split_words(query).collect::<Vec<_>>();
        assert_eq!(
            cut("When did she see the dog's vet?"),
            ["When", "did", "she", "see", "the", "dog", "'", "s", "vet", "?"]
        );
        assert_eq!(cut("用 Rust 写的，对吗？"), ["用", "Rust", "写的", "，", "对吗", "？"]);
        assert_eq!(cut(" \n"), Vec::<&str>::new());
    }
}
