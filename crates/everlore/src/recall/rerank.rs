//! A second look at the best candidates: the question beside each text, word by word.
//!
//! A candidate is as good as the best match of each word of the question in its text, or, for a little less, in the
//! turns beside it. What a model made of a text is kept by the store, and made here the first time it is needed.

use std::collections::BTreeMap;

use super::{Means, RecallRequest, fuse::Candidate, gather::Gathered, semantic};
use crate::{
    config::RecallConfig,
    error::Result,
    llm::{Asked, Compared, Reranker},
    store::{MadeTokens, Place},
    text::terms::{Term, terms},
    types::Memory,
};

/// More candidates than this are not looked at, however many are asked for: each costs tens of microseconds.
const MOST: usize = 300;

/// The limit of whoever looks for one memory among all, which changes nothing about the ranking.
pub(super) const ALL: usize = usize::MAX;

/// What a match in the turn before or after is worth beside one in the text itself, for a short question: its words are
/// often spread over turns. A long message has enough of its own in one.
const BESIDE: f32 = 0.8;

/// What the comparison as a whole is worth beside the one word by word, for a long message: a short question is its words.
const WHOLE: f64 = 0.5;

/// Where a question begins to be long, in word pieces.
const LONG: f64 = 32.0;

/// Bytes of text that are read for the first time in one recall, about a thousand word pieces: the first questions after
/// a model was taken into use each take a quarter of a second longer. The rest waits for the next one, or for
/// `everlore embed rebuild`.
const MOST_READ: usize = 4_000;

/// Words that are not looked up, such as "what", tell about as much as one that every fourth text has: ln(1 + 4).
const PLAIN_WORD: f32 = 1.6;

/// Signs tell about as much as one that more than every second text has: ln(1 + 1.7).
const SIGN: f32 = 1.0;

/// What the built-in model's word is still worth where this comparison is made: both say much the same, and this one
/// says it better.
const OTHER_MODEL: f64 = 0.5;

/// What compares, if the settings want it and it knows the language of the query.
fn reranker<'a>(means: Means<'a>, request: &RecallRequest) -> Option<&'a dyn Reranker> {
    let knows = |reranker: &&dyn Reranker| reranker.understands(&request.query);
    means.reranker.filter(|_| means.config.rerank > 0.0).filter(knows)
}

/// How many candidates are looked at again.
pub(super) fn depth(means: Means<'_>, request: &RecallRequest) -> usize {
    match reranker(means, request) {
        Some(_) if request.limit == ALL => means.config.rerank_depth,
        Some(_) => means.config.rerank_depth.max(request.limit).min(MOST),
        None => 0,
    }
}

/// The constants of ranking before the second look.
pub(super) fn config(means: Means<'_>, request: &RecallRequest) -> RecallConfig {
    let mut config = means.config.clone();
    if reranker(means, request).is_some() {
        config.semantic *= OTHER_MODEL;
    }
    config
}

/// Adds what the comparison says to the first candidates.
pub(super) async fn rerank(
    means: Means<'_>,
    request: &RecallRequest,
    gathered: &Gathered,
    candidates: &mut [Candidate],
) -> Result<()> {
    let Some(reranker) = reranker(means, request) else { return Ok(()) };
    let depth = depth(means, request).min(candidates.len());
    let first = &mut candidates[..depth];
    let asked = ask(reranker, request, gathered).await?;
    let compared = compare(means, reranker, request, &asked, first).await?;
    let words = standard(first, |place| by_words(&asked, place, &compared));
    let whole = standard(first, |place| Some(compared.get(&place)?.whole.into()));
    let share = WHOLE * asked.len() as f64 / (asked.len() as f64 + LONG);
    for ((candidate, words), whole) in first.iter_mut().zip(words).zip(whole) {
        candidate.signals.rerank = means.config.rerank * (words + share * whole);
        candidate.signals.fused += candidate.signals.rerank;
    }
    Ok(())
}

/// The question without the names of speakers, each word with how rare it is in the scope.
async fn ask(
    reranker: &dyn Reranker,
    request: &RecallRequest,
    gathered: &Gathered,
) -> Result<Asked> {
    let query = semantic::without_speakers(&request.query, gathered);
    let words: Vec<_> = words(&query).map(|word| (word, gathered.rarity(word))).collect();
    reranker.ask(&words).await
}

impl Gathered {
    /// How rare a word is: that of its rarest term.
    fn rarity(&self, word: &str) -> f32 {
        if !word.starts_with(char::is_alphanumeric) {
            return SIGN;
        }
        let all: usize = self.segments.iter().map(|segment| segment.docs.len()).sum();
        let rarity = |term: &String| {
            let term = Term::of(term);
            let list = self.asked.iter().position(|asked| *asked == term)?;
            let known: usize =
                self.segments.iter().map(|segment| segment.postings[list].len()).sum();
            Some((1.0 + all as f32 / (0.5 + known as f32)).ln())
        };
        terms(word).iter().filter_map(rarity).reduce(f32::max).unwrap_or(PLAIN_WORD)
    }
}

/// Words and signs, each by itself, as models cut them too.
fn words(query: &str) -> impl Iterator<Item = &str> {
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
type ByPlace = BTreeMap<Place, Compared>;

/// Compares the question with the candidates and the turns beside them.
async fn compare(
    means: Means<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    asked: &Asked,
    candidates: &[Candidate],
) -> Result<ByPlace> {
    let own = candidates.iter().map(|candidate| candidate.place);
    let beside = candidates.iter().flat_map(|candidate| beside(candidate.place));
    let mut places: Vec<Place> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    // The candidates first: what is not read yet is read in this order.
    places.extend(own.chain(beside).filter(|place| seen.insert(*place)));
    let model = reranker.model();
    let kept = means.store.tokens(&request.scope, model, &places).await?;
    let (mut compared, mut missing) = (ByPlace::new(), Vec::new());
    for (place, tokens) in places.into_iter().zip(kept) {
        match tokens {
            Some(tokens) => drop(compared.insert(place, asked.compare(&tokens))),
            None => missing.push(place),
        }
    }
    for (place, tokens) in read(means, reranker, request, &missing).await? {
        compared.insert(place, asked.compare(&tokens));
    }
    Ok(compared)
}

/// Reads some of the texts that the model has not read yet, and keeps what it made of them.
async fn read(
    means: Means<'_>,
    reranker: &dyn Reranker,
    request: &RecallRequest,
    missing: &[Place],
) -> Result<Vec<(Place, Vec<u8>)>> {
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = MOST_READ;
    let mut found = means.store.at_places(&request.scope, missing).await?;
    found.retain(|(_, memory)| {
        let reads = left > 0;
        left = left.saturating_sub(memory.content.len());
        reads
    });
    let texts: Vec<&str> = found.iter().map(|(_, memory)| memory.content.as_str()).collect();
    let made: Vec<Vec<u8>> =
        reranker.read(&texts).await?.into_iter().map(|packed| packed.0).collect();
    let kept = found.iter().zip(&made).map(|((_, memory), tokens)| made_of(memory, tokens));
    if let Err(error) =
        means.store.keep_tokens(&request.scope, reranker.model(), kept.collect()).await
    {
        // A question is answered even where nothing can be written.
        tracing::warn!("{error}: what the model made of some texts is not kept");
    }
    Ok(found.into_iter().map(|(place, _)| place).zip(made).collect())
}

fn made_of(memory: &Memory, tokens: &[u8]) -> MadeTokens {
    MadeTokens { id: memory.id, version: memory.version, tokens: tokens.to_vec() }
}

/// The turns before and after.
fn beside(place: Place) -> impl Iterator<Item = Place> {
    [-1, 1].into_iter().filter_map(move |distance| place.neighbour(distance))
}

/// How well a text matches the question word by word; none for a text that is not read yet.
fn by_words(asked: &Asked, place: Place, compared: &ByPlace) -> Option<f64> {
    let mut best = compared.get(&place)?.pieces.clone();
    let worth = BESIDE * (LONG as f32 / asked.len().max(1) as f32).min(1.0);
    for Compared { pieces, .. } in beside(place).filter_map(|place| compared.get(&place)) {
        best.iter_mut().zip(pieces).for_each(|(best, beside)| *best = best.max(beside * worth));
    }
    Some(asked.sum(&best).into())
}

/// A measure of the candidates as standard deviations above its mean; 0 for what is not known, which stays where it is.
fn standard(candidates: &[Candidate], measure: impl Fn(Place) -> Option<f64>) -> Vec<f64> {
    let numbers: Vec<_> = candidates.iter().map(|candidate| measure(candidate.place)).collect();
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
        let cut = |query| words(query).collect::<Vec<_>>();
        assert_eq!(
            cut("When did she see the dog's vet?"),
            ["When", "did", "she", "see", "the", "dog", "'", "s", "vet", "?"]
        );
        assert_eq!(cut("用 Rust 写的，对吗？"), ["用", "Rust", "写的", "，", "对吗", "？"]);
        assert_eq!(cut(" \n"), Vec::<&str>::new());
    }
}
