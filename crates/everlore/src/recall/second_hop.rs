//! From what the query names to what it means: "where is the event with three thousand people" finds the event by its size,
//! and by the event's name, which the query does not know, its place.
//!
//! The best candidates are anchors. What shares their rarest words with them is lifted, by the share of the anchor's worth
//! that it has, and never above the anchor. Words of the query itself are left out: they have been counted. Only texts that are read anyway are
//! looked at, and only an anchor is cut into terms; the others are merely searched for its words.

use std::collections::{HashMap, HashSet};

use super::{Intent, fuse::RecallCandidate, lexical::bm25_idf};
use crate::{
    config::RecallConfig,
    store::DocAddress,
    text::{
        language::is_cjk,
        stop_words::{is_function_character, is_stop_word},
        terms::{TermHash, for_each_term},
        traditional::{simplify, simplify_char},
    },
    types::Memory,
};

/// How many of the best are anchors: any of them may be the right one.
const ANCHOR_COUNT: usize = 3;

/// What stands further down is hardly read, whatever it shares.
const MAX_BOOSTED: usize = 50;

/// What is worth less than this share of the best is no anchor: it may be anything.
const MIN_ANCHOR_SHARE: f64 = 0.5;

/// The most of the distance to an anchor that is made up: what it leads to does not pass it.
const MAX_GAP_CLOSED: f64 = 0.75;

/// Words of a text that are looked at; the rest of a document is about more than the query.
const MAX_WORDS: usize = 100;

/// A word as it is compared: the hash of its letters in lower case, or of two Chinese characters.
type WordHash = u64;

/// The words of the anchors.
struct AnchorWords {
    /// Sorted, each with the anchors that have it.
    words: Vec<(WordHash, [bool; ANCHOR_COUNT])>,
    /// A bit for some of the bits of each: most words of other texts need not be looked for.
    bloom: [u64; 16],
}

/// Lifts the candidates that the best of them lead to.
pub(super) fn boost_second_hop(
    candidates: &mut [RecallCandidate],
    loaded: &[(DocAddress, Memory)],
    intent: &Intent,
    config: &RecallConfig,
) {
    // A period is told in order; a single candidate leads nowhere.
    if config.bridge == 0.0 || intent.asks_period || candidates.len() < 2 {
        return;
    }
    let rows: HashMap<DocAddress, &str> =
        loaded.iter().map(|(place, memory)| (*place, memory.content.as_str())).collect();
    let text =
        |candidate: &RecallCandidate| rows.get(&candidate.address).copied().unwrap_or_default();
    let texts: Vec<&str> = candidates.iter().take(MAX_BOOSTED).map(text).collect();
    let anchors = anchor_scores(candidates);
    for (candidate, shares) in candidates.iter_mut().zip(overlap_shares(&texts, intent)) {
        let signals = &mut candidate.signals;
        let lifts = anchors.iter().zip(shares).map(|(anchor, share)| {
            (config.bridge * share).min(MAX_GAP_CLOSED * (anchor - signals.fused))
        });
        signals.bridge = lifts.fold(0.0, f64::max);
        signals.fused += signals.bridge;
    }
}

/// What the anchors are worth for the query.
fn anchor_scores(candidates: &[RecallCandidate]) -> Vec<f64> {
    let worths = candidates.iter().take(ANCHOR_COUNT).map(|candidate| candidate.signals.fused);
    let least = candidates.first().map_or(0.0, |best| MIN_ANCHOR_SHARE * best.signals.fused);
    worths.take_while(|worth| *worth > 0.0 && *worth >= least).collect()
}

/// For each text, the share that it has of the worth of each anchor. Texts are best first.
fn overlap_shares(texts: &[&str], intent: &Intent) -> Vec<[f64; ANCHOR_COUNT]> {
    let words = AnchorWords::new(&texts[..texts.len().min(ANCHOR_COUNT)], intent);
    let found: Vec<Vec<usize>> = texts.iter().map(|text| words.find_in(text)).collect();
    let worths = words.idfs(&found);
    let sum = |numbers: &mut dyn Iterator<Item = usize>, anchor: usize| {
        numbers.filter(|number| words.words[*number].1[anchor]).map(|number| worths[number]).sum()
    };
    let totals: [f64; ANCHOR_COUNT] =
        std::array::from_fn(|anchor| sum(&mut (0..worths.len()), anchor));
    let share = |found: &[usize], anchor: usize| match totals[anchor] {
        0.0 => 0.0,
        total => sum(&mut found.iter().copied(), anchor) / total,
    };
    found.iter().map(|found| std::array::from_fn(|anchor| share(found, anchor))).collect()
}

impl AnchorWords {
    fn new(anchors: &[&str], intent: &Intent) -> Self {
        let asked = QueryTermSet::from_intent(intent);
        let mut words: Vec<(WordHash, [bool; ANCHOR_COUNT])> = Vec::new();
        for (anchor, text) in anchors.iter().enumerate() {
            for_each_word(text, |spelling, word| {
                if asked.is_novel(spelling) {
                    words.push((word, std::array::from_fn(|other| other == anchor)));
                }
            });
        }
        words.sort_unstable();
        words.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1.iter_mut().zip(next.1).for_each(|(kept, next)| *kept |= next);
            }
            same
        });
        let mut bloom = [0; 16];
        for (word, _) in &words {
            bloom[(word >> 6) as usize % bloom.len()] |= 1 << (word % 64);
        }
        Self { words, bloom }
    }

    /// The number of a word.
    fn find(&self, word: WordHash) -> Option<usize> {
        let may = self.bloom[(word >> 6) as usize % self.bloom.len()] & 1 << (word % 64) != 0;
        may.then(|| self.words.binary_search_by_key(&word, |(word, _)| *word).ok()).flatten()
    }

    /// Which of the words a text has, each once.
    fn find_in(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for_each_word(text, |_, word| found.extend(self.find(word)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// How rare each word is among the texts.
    fn idfs(&self, found: &[Vec<usize>]) -> Vec<f64> {
        let mut known = vec![0_usize; self.words.len()];
        found.iter().flatten().for_each(|number| known[*number] += 1);
        known.iter().map(|known| f64::from(bm25_idf(found.len(), *known))).collect()
    }
}

/// The terms that a query asks by.
struct QueryTermSet {
    terms: HashSet<TermHash>,
    /// The two letters that they begin with: other words need not be cut to their stems.
    prefixes: Vec<[u8; 2]>,
}

impl QueryTermSet {
    fn from_intent(intent: &Intent) -> Self {
        let mut asked = Self { terms: HashSet::new(), prefixes: Vec::new() };
        for term in &intent.terms {
            asked.terms.extend(term.variants().map(|(term, _)| term));
            let texts = term.synonyms.iter().map(|(text, _)| text).chain([&term.text]);
            asked.prefixes.extend(texts.map(|text| stem_prefix(text)));
        }
        asked
    }

    /// Whether a word says something that the query does not ask by, in any form.
    fn is_novel(&self, word: &str) -> bool {
        if word.starts_with(is_cjk) {
            return !self.contains_pair(word);
        }
        let word = word.to_lowercase();
        !is_stop_word(&word) && !self.contains_word(&word)
    }

    /// Whether it asks by a pair or by one of its characters.
    fn contains_pair(&self, pair: &str) -> bool {
        let pair = simplify(pair);
        let has = |text: &str| self.terms.contains(&TermHash::of(text));
        has(&pair) || pair.chars().any(|c| has(c.encode_utf8(&mut [0; 4])))
    }

    /// Whether it asks by a word in lower case.
    fn contains_word(&self, word: &str) -> bool {
        // An accent is lost on the way to a term.
        let may = !word.is_ascii() || self.prefixes.contains(&stem_prefix(word));
        let mut has = false;
        if may {
            for_each_term(word, &mut |term| has |= self.terms.contains(&TermHash::of(term)));
        }
        has
    }
}

/// The two letters that a word keeps when it is cut to its stem: "dying" becomes "die".
fn stem_prefix(word: &str) -> [u8; 2] {
    let byte = |at: usize| word.as_bytes().get(at).copied().unwrap_or_default();
    [byte(0), if byte(1) == b'y' { b'i' } else { byte(1) }]
}

/// Calls `each` with the words of a text and their hashes: runs of letters and figures, and pairs of Chinese characters
/// that say something.
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

/// The word that a text begins with, its hash and what follows, if all that is plain ASCII; the word is empty before a mark.
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
    let mark = usize::from(next.is_some());
    Some((&text[..end], hash, &text[end + mark..]))
}

/// The run of like characters that a text begins with, and what follows.
fn non_ascii_run(text: &str) -> (&str, &str) {
    let first = text.chars().next().unwrap_or_default();
    let is_pair = is_cjk(first);
    let belongs = |c: char| c.is_alphanumeric() && is_cjk(c) == is_pair;
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end.max(first.len_utf8()))
}

/// The same for a run of Chinese characters; returns how many pairs it has.
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

/// The hash of a word in lower case.
fn hash_word(word: &str) -> WordHash {
    hash(word.chars().flat_map(char::to_lowercase).map(u32::from))
}

/// FNV-1a over characters: short words are hashed faster than by anything stronger, and nothing is stored.
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

    /// The shares in the worth of the best text.
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
