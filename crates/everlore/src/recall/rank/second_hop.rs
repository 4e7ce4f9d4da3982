//! Second hop: boosts candidates that share rare words with the best ones. "Where is the event with three thousand
//! people" finds the event by its size and then, by the event's name, which the query lacks, its location.
//!
//! The best candidates are anchors. A candidate that shares their rarest words is boosted by the share of the anchor's
//! word weights that it contains, and never above the anchor. Words of the query itself are excluded: they have been
//! counted. Only loaded texts take part, and only anchors are stemmed; the other texts are merely searched for the
//! anchors' words.

use std::collections::{HashMap, HashSet};

use super::{fuse::RecallCandidate, lexical::bm25_idf};
use crate::{
    config::RecallConfig,
    recall::Intent,
    store::DocAddress,
    text::{
        language::is_cjk,
        stop_words::{is_function_character, is_stop_word},
        terms::{TermHash, for_each_term},
        traditional::{simplify, simplify_char},
    },
    types::Memory,
};

/// Number of anchors: any of the best candidates may be the right one.
const ANCHOR_COUNT: usize = 3;

/// Number of candidates that can be boosted; those further down are hardly read.
const MAX_BOOSTED: usize = 50;

/// Minimum relevance of an anchor, as a share of the best candidate's: below it, a candidate may be unrelated.
const MIN_ANCHOR_SHARE: f64 = 0.5;

/// Maximum share of the gap to an anchor that a boost closes: a boosted candidate does not overtake its anchor.
const MAX_GAP_CLOSED: f64 = 0.75;

/// Words of a text that take part; the rest of a long document is about other things.
const MAX_WORDS: usize = 100;

/// Hash of a word in lower case, or of a pair of Chinese characters.
type WordHash = u64;

/// Words of the anchors.
struct AnchorWords {
    /// Sorted words, each with the anchors that contain it.
    words: Vec<(WordHash, [bool; ANCHOR_COUNT])>,
    /// Bloom filter over the words: it rules out most words of other texts without a search.
    bloom: [u64; 16],
}

/// Boosts the candidates that share rare words with the best ones.
pub(super) fn boost_second_hop(
    candidates: &mut [RecallCandidate],
    rows: &[(DocAddress, Memory)],
    intent: &Intent,
    config: &RecallConfig,
) {
    // A period is sorted by time; a single candidate has nothing to lead to.
    if config.bridge == 0.0 || intent.asks_period || candidates.len() < 2 {
        return;
    }
    let contents: HashMap<DocAddress, &str> =
        rows.iter().map(|(address, memory)| (*address, memory.content.as_str())).collect();
    let text =
        |candidate: &RecallCandidate| contents.get(&candidate.address).copied().unwrap_or_default();
    let texts: Vec<&str> = candidates.iter().take(MAX_BOOSTED).map(text).collect();
    let anchors = anchor_relevances(candidates);
    for (candidate, shares) in candidates.iter_mut().zip(overlap_shares(&texts, intent)) {
        let signals = &mut candidate.signals;
        let boosts = anchors.iter().zip(shares).map(|(anchor, share)| {
            (config.bridge * share).min(MAX_GAP_CLOSED * (anchor - signals.fused))
        });
        signals.bridge = boosts.fold(0.0, f64::max);
        signals.fused += signals.bridge;
    }
}

/// Returns the fused relevance of each anchor.
fn anchor_relevances(candidates: &[RecallCandidate]) -> Vec<f64> {
    let first = candidates.iter().take(ANCHOR_COUNT).map(|candidate| candidate.signals.fused);
    let least = candidates.first().map_or(0.0, |best| MIN_ANCHOR_SHARE * best.signals.fused);
    first.take_while(|fused| *fused > 0.0 && *fused >= least).collect()
}

/// Returns for each text the share of each anchor's idf-weighted words that it contains. Texts are best first.
fn overlap_shares(texts: &[&str], intent: &Intent) -> Vec<[f64; ANCHOR_COUNT]> {
    let words = AnchorWords::new(&texts[..texts.len().min(ANCHOR_COUNT)], intent);
    let found: Vec<Vec<usize>> = texts.iter().map(|text| words.find_in(text)).collect();
    let idfs = words.idfs(&found);
    let sum = |indexes: &mut dyn Iterator<Item = usize>, anchor: usize| {
        indexes.filter(|index| words.words[*index].1[anchor]).map(|index| idfs[index]).sum()
    };
    let totals: [f64; ANCHOR_COUNT] =
        std::array::from_fn(|anchor| sum(&mut (0..idfs.len()), anchor));
    let share = |found: &[usize], anchor: usize| match totals[anchor] {
        0.0 => 0.0,
        total => sum(&mut found.iter().copied(), anchor) / total,
    };
    found.iter().map(|found| std::array::from_fn(|anchor| share(found, anchor))).collect()
}

impl AnchorWords {
    fn new(anchors: &[&str], intent: &Intent) -> Self {
        let query = QueryTermSet::from_intent(intent);
        let mut words: Vec<(WordHash, [bool; ANCHOR_COUNT])> = Vec::new();
        for (anchor, text) in anchors.iter().enumerate() {
            for_each_word(text, |spelling, word| {
                if query.is_novel(spelling) {
                    words.push((word, std::array::from_fn(|other| other == anchor)));
                }
            });
        }
        words.sort_unstable();
        words.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1.iter_mut().zip(next.1).for_each(|(first, next)| *first |= next);
            }
            is_same
        });
        let mut bloom = [0; 16];
        for (word, _) in &words {
            bloom[(word >> 6) as usize % bloom.len()] |= 1 << (word % 64);
        }
        Self { words, bloom }
    }

    /// Returns the index of a word.
    fn find(&self, word: WordHash) -> Option<usize> {
        let may_contain =
            self.bloom[(word >> 6) as usize % self.bloom.len()] & 1 << (word % 64) != 0;
        may_contain
            .then(|| self.words.binary_search_by_key(&word, |(word, _)| *word).ok())
            .flatten()
    }

    /// Returns the indexes of the words that a text contains, each once.
    fn find_in(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for_each_word(text, |_, word| found.extend(self.find(word)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the idf of each word among the texts.
    fn idfs(&self, found: &[Vec<usize>]) -> Vec<f64> {
        let mut dfs = vec![0_usize; self.words.len()];
        found.iter().flatten().for_each(|index| dfs[*index] += 1);
        dfs.iter().map(|df| f64::from(bm25_idf(found.len(), *df))).collect()
    }
}

/// Terms of a query with their synonyms.
struct QueryTermSet {
    terms: HashSet<TermHash>,
    /// First two letters of each term: words with other letters need not be stemmed.
    prefixes: Vec<[u8; 2]>,
}

impl QueryTermSet {
    fn from_intent(intent: &Intent) -> Self {
        let mut set = Self { terms: HashSet::new(), prefixes: Vec::new() };
        for term in &intent.terms {
            set.terms.extend(term.variants().map(|(term, _)| term));
            let texts = term.synonyms.iter().map(|(text, _)| text).chain([&term.text]);
            set.prefixes.extend(texts.map(|text| stem_prefix(text)));
        }
        set
    }

    /// Returns `true` if a word has content and the query does not contain it in any form.
    fn is_novel(&self, word: &str) -> bool {
        if word.starts_with(is_cjk) {
            return !self.contains_pair(word);
        }
        let word = word.to_lowercase();
        !is_stop_word(&word) && !self.contains_word(&word)
    }

    /// Returns `true` if the query contains a pair of characters or one of the two.
    fn contains_pair(&self, pair: &str) -> bool {
        let pair = simplify(pair);
        let has = |text: &str| self.terms.contains(&TermHash::of(text));
        has(&pair) || pair.chars().any(|c| has(c.encode_utf8(&mut [0; 4])))
    }

    /// Returns `true` if the query contains a word, given in lower case.
    fn contains_word(&self, word: &str) -> bool {
        // Terms have no accents, so the prefix of an accented word says nothing.
        let may_contain = !word.is_ascii() || self.prefixes.contains(&stem_prefix(word));
        let mut has = false;
        if may_contain {
            for_each_term(word, &mut |term| has |= self.terms.contains(&TermHash::of(term)));
        }
        has
    }
}

/// Returns the first two letters of a word as its stem has them: "dying" becomes "die".
fn stem_prefix(word: &str) -> [u8; 2] {
    let byte = |at: usize| word.as_bytes().get(at).copied().unwrap_or_default();
    [byte(0), if byte(1) == b'y' { b'i' } else { byte(1) }]
}

/// Calls `each` with the words of a text and their hashes: runs of letters and digits, and pairs of Chinese characters
/// without function characters.
fn for_each_word(text: &str, mut each: impl FnMut(&str, WordHash)) {
    let (mut left, mut rest) = (MAX_WORDS, text);
    while left > 0 && !rest.is_empty() {
        if let Some((word, hash, after)) = ascii_word(rest) {
            rest = after;
            if !word.is_empty() {
                each(word, hash);
                left -= 1;
            }
        } else {
            let (run, after) = non_ascii_run(rest);
            rest = after;
            if run.starts_with(is_cjk) {
                left = left.saturating_sub(for_each_pair(run, &mut each));
            } else if run.starts_with(char::is_alphanumeric) {
                each(run, hash_word(run));
                left -= 1;
            }
        }
    }
}

/// Returns the ASCII word at the beginning of a text, its hash and the rest; the word is empty before punctuation.
/// `None` if a character outside ASCII follows the word.
fn ascii_word(text: &str) -> Option<(&str, WordHash, &str)> {
    let bytes = text.as_bytes();
    let (mut end, mut hash) = (0, HASH_BASIS);
    while let Some(byte) = bytes.get(end).filter(|byte| byte.is_ascii_alphanumeric()) {
        hash = hash_step(hash, byte.to_ascii_lowercase().into());
        end += 1;
    }
    let next = bytes.get(end);
    if next.is_some_and(|byte| !byte.is_ascii()) {
        return None;
    }
    let separator = usize::from(next.is_some());
    Some((&text[..end], hash, &text[end + separator..]))
}

/// Splits off the run of characters of one script at the beginning of a text.
fn non_ascii_run(text: &str) -> (&str, &str) {
    let first = text.chars().next().unwrap_or_default();
    let is_pair = is_cjk(first);
    let belongs = |c: char| c.is_alphanumeric() && is_cjk(c) == is_pair;
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end.max(first.len_utf8()))
}

/// Calls `each` with the pairs of a run of Chinese characters; returns the number of pairs.
fn for_each_pair(run: &str, each: &mut impl FnMut(&str, WordHash)) -> usize {
    let characters = || run.char_indices();
    let pairs = characters().zip(characters().skip(1)).take(MAX_WORDS);
    let mut count = 0;
    for ((start, first), (at, second)) in pairs {
        count += 1;
        if !is_function_character(first) && !is_function_character(second) {
            let pair = [first, second].map(simplify_char);
            each(&run[start..at + second.len_utf8()], hash(pair.into_iter().map(u32::from)));
        }
    }
    count
}

/// Hashes a word in lower case.
fn hash_word(word: &str) -> WordHash {
    hash(word.chars().flat_map(char::to_lowercase).map(u32::from))
}

/// Hashes characters by FNV-1a: it is faster for short words than a stronger hash, and no hash is stored.
fn hash(characters: impl Iterator<Item = u32>) -> WordHash {
    characters.fold(HASH_BASIS, hash_step)
}

const HASH_BASIS: WordHash = 0xcbf2_9ce4_8422_2325;

fn hash_step(hash: WordHash, character: u32) -> WordHash {
    (hash ^ u64::from(character)).wrapping_mul(0x100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::analyze;

    /// Returns the shares of the best text's words.
    fn shares_for(query: &str, texts: &[&str]) -> Vec<f64> {
        let now = "2026-03-02T12:00[UTC]".parse().unwrap();
        let shares = overlap_shares(texts, &analyze(query, &RecallConfig::default(), &now));
        shares.into_iter().map(|of_anchors| of_anchors[0]).collect()
    }

    #[test]
    fn what_shares_the_name_that_the_best_has_is_lifted() {
        let texts = [
            "The Harvest Fair expects 3000 people",
            "We booked a hotel for 3000 crowns",
            "The Harvest Fair is in Bristol",
        ];
        let found = shares_for("Where is the event with 3000 people?", &texts);
        assert!(found[2] > 0.4, "{found:?}");
        assert!(found[2] > found[1] + 0.3, "{found:?}");
    }

    #[test]
    fn chinese_names_lead_on_too_in_both_scripts() {
        let texts = ["金融科技论坛的规模是三千人", "酒店花了三千元", "金融科技論壇的地点是北京"];
        let found = shares_for("那个规模是三千人的活动，地点是什么？", &texts);
        assert!(found[2] > 0.4 && found[2] > found[1] + 0.3, "{found:?}");
    }

    #[test]
    fn words_of_the_query_and_words_that_say_nothing_lift_nothing() {
        let texts = ["She camps with them", "They were camping with her", "no"];
        assert_eq!(shares_for("Where does she camp?", &texts), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn an_anchor_has_all_of_its_words_and_nothing_is_shared_by_nothing() {
        assert_eq!(shares_for("tea", &["green tea"]), [1.0]);
        assert_eq!(shares_for("tea", &["", "。", "🎉"]), [0.0, 0.0, 0.0]);
        assert!(shares_for("tea", &[]).is_empty());
    }

    #[test]
    fn words_are_runs_of_letters_and_pairs_whatever_they_stand_beside() {
        let words = |text: &str| {
            let mut words = Vec::new();
            for_each_word(text, |word, _| words.push(word.to_owned()));
            words
        };
        assert_eq!(words("A café-Bar, 3x naïve!"), ["A", "café", "Bar", "3x", "naïve"]);
        assert_eq!(words("喝Rust茶叶é店铺"), ["Rust", "茶叶", "é", "店铺"]);
        let hash_of = |text: &str| {
            let mut found = 0;
            for_each_word(text, |_, word| found = word);
            found
        };
        assert_eq!(hash_of("CAFÉ"), hash_of("café"));
        assert_eq!(hash_of("Tea!"), hash_of("tea"));
        assert_eq!(hash_of("茶葉"), hash_of("茶叶"));
    }

    #[test]
    fn a_long_text_is_looked_at_to_a_bound() {
        let long = "word ".repeat(10_000) + "needle";
        let mut words = 0;
        for_each_word(&long, |_, _| words += 1);
        assert_eq!(words, MAX_WORDS);
        let mut pairs = 0;
        for_each_word(&"茶叶".repeat(10_000), |_, _| pairs += 1);
        assert_eq!(pairs, MAX_WORDS);
    }
}
