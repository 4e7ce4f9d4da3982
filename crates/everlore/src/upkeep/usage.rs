//! Usage detection: which of the memories injected into a prompt its answer used.
//!
//! Evidence is what the answer shares with a memory beyond the question: words, rare ones more than common ones;
//! phrases; paths, numbers and names. Where an embedder is available, semantic similarity lifts weak evidence over the
//! threshold but never decides alone: an answer about the same topic is similar, too.

use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::{
    language::is_cjk,
    sentences::sentences,
    terms::{is_function_pair, terms},
    traditional::simplify,
};

/// Coverage of what a memory adds to the question at which the answer uses it.
const STRONG_COVERAGE: f64 = 0.45;

/// Sufficient coverage if the meaning is near as well.
const WEAK_COVERAGE: f64 = 0.25;

/// Cosine from which a sentence of the answer counts as near a memory. The built-in model gives two sentences about one
/// topic about 0.4, and a paraphrase 0.6 and more.
const NEAR_COSINE: f32 = 0.6;

/// Length of a phrase in characters: two words, or four CJK characters.
const PHRASE_CHARS: usize = 4;

/// CJK characters that count as one word.
const CHARS_PER_WORD: usize = 2;

/// Feature weights: an identifier or a number is hardly shared by chance, a name seldom, a word sometimes.
const IDENTIFIER_WEIGHT: f64 = 3.0;
const NAME_WEIGHT: f64 = 2.0;
const WORD_WEIGHT: f64 = 1.0;
/// Weight of a CJK character pair; a word of two characters appears in about two pairs.
const CJK_PAIR_WEIGHT: f64 = 0.5;

/// Memory as the prompt showed it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownMemory<'a> {
    /// Text that the model saw.
    pub text: &'a str,
    /// Digests of the question, made by [`question_digests`].
    pub question_digests: &'a [u8],
    /// Cosine with the nearest sentence of the answer; 0 without an embedder.
    pub similarity: f32,
}

/// Returns digests of the features that a question shares with a memory, four bytes each; the texts cannot be read from
/// them.
pub(crate) fn question_digests(question: &str, memory: &str) -> Vec<u8> {
    let asked = features(question);
    let own = self::features(memory);
    let mut shared: Vec<u32> =
        own.keys().filter(|key| asked.contains_key(*key)).map(|key| feature_digest(key)).collect();
    shared.sort_unstable();
    shared.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns the number of features that a sentence shares with a question, by the question's digests.
pub(crate) fn shared_with_question(sentence: &str, question_digests: &[u8]) -> f64 {
    let asked: HashSet<u32> =
        question_digests.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    features(sentence).keys().filter(|key| asked.contains(&feature_digest(key))).count() as f64
}

/// Detects for each memory whether the answer used it.
pub(crate) fn detect_usage(shown: &[ShownMemory<'_>], answer: &str) -> Vec<bool> {
    let claims = strip_disclaimers(answer);
    let answer_features = features(&claims);
    let answer_phrases = phrases(&claims);
    // The answer may have a feature of several memories from any of them.
    let mut holders: BTreeMap<String, usize> = BTreeMap::new();
    let all: Vec<_> = shown.iter().map(|shown| features(shown.text)).collect();
    for key in all.iter().flat_map(BTreeMap::keys) {
        *holders.entry(key.clone()).or_default() += 1;
    }
    let share = |key: &str| 1.0 / holders.get(key).copied().unwrap_or(1) as f64;
    shown
        .iter()
        .zip(&all)
        .map(|(shown, own)| {
            let question: HashSet<u32> = shown
                .question_digests
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes))
                .collect();
            let comparison = FeatureComparison {
                memory_features: own,
                question_digests: &question,
                answer_features: &answer_features,
            };
            comparison.quotes_identifier(share)
                || comparison.coverage(share) >= STRONG_COVERAGE
                || comparison.coverage(share) >= WEAK_COVERAGE && shown.similarity >= NEAR_COSINE
                || repeats_phrase(shown.text, &question, &answer_phrases)
        })
        .collect()
}

/// Features of a memory beside those of the question and the answer.
struct FeatureComparison<'a> {
    memory_features: &'a BTreeMap<String, f64>,
    question_digests: &'a HashSet<u32>,
    answer_features: &'a BTreeMap<String, f64>,
}

impl FeatureComparison<'_> {
    fn is_in_question(&self, key: &str) -> bool {
        self.question_digests.contains(&feature_digest(key))
    }

    /// Returns the weighted share of the memory's new features that the answer contains, from 0 to 1. If the memory
    /// adds nothing to the question, only all of it counts: "yes, you like tea".
    fn coverage(&self, share: impl Fn(&str) -> f64) -> f64 {
        let new: Vec<_> =
            self.memory_features.iter().filter(|(key, _)| !self.is_in_question(key)).collect();
        if new.is_empty() {
            let covered = self
                .memory_features
                .keys()
                .filter(|key| self.answer_features.contains_key(*key))
                .count();
            return if covered == self.memory_features.len() && covered > 0 { 1.0 } else { 0.0 };
        }
        let all: f64 = new.iter().map(|(_, weight)| **weight).sum();
        let covered = new.iter().filter(|(key, _)| self.answer_features.contains_key(*key));
        covered.map(|(key, weight)| **weight * share(key)).sum::<f64>() / all
    }

    /// Returns `true` if the answer has an identifier that only this memory has, and not the question.
    fn quotes_identifier(&self, share: impl Fn(&str) -> f64) -> bool {
        self.memory_features.iter().any(|(key, weight)| {
            *weight >= IDENTIFIER_WEIGHT
                && is_distinctive(key)
                && !self.is_in_question(key)
                && self.answer_features.contains_key(key)
                && share(key) >= 1.0
        })
    }
}

/// Returns `true` if an identifier is hardly shared by chance: no year, and no number of one or two digits.
fn is_distinctive(key: &str) -> bool {
    let is_number = key.chars().all(|c| c.is_ascii_digit());
    let is_year = key.len() == 4 && (key.starts_with("19") || key.starts_with("20"));
    key.chars().count() >= 3 && !(is_number && is_year)
}

/// Removes clauses that say that something is not known, which claim nothing.
fn strip_disclaimers(answer: &str) -> String {
    let clauses = sentences(answer).flat_map(|sentence| CLAUSE_BREAK.split(sentence));
    clauses.filter(|clause| !DISCLAIMER.is_match(clause)).collect::<Vec<_>>().join(" . ")
}

static CLAUSE_BREAK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[,;]\s|[，；。！？\n]|\s(?:but|though|however)\s|但是?|不过").expect("valid")
});

static DISCLAIMER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:don't|do not|didn't|did not|doesn't) (?:\w+ )?(?:know|have|recall|remember|see|find|mention|say|tell)\b|\bnot (?:sure|aware|certain|mentioned|known)\b|\bno (?:information|record|memory|mention|idea|notes?)\b|\b(?:can't|cannot|can not|couldn't|unable to) (?:\w+ )?(?:recall|remember|find|tell|say|confirm|know)\b|\bhaven't (?:told|mentioned|said|shared)\b|不知道|不清楚|不确定|不太清楚|没有?(?:任何)?(?:相关)?(?:的)?(?:记录|信息|资料|记忆|印象)|没有?(?:提到|提过|告诉|说过|找到|查到)|无法(?:确定|得知|确认|判断)|想不起|不记得|记不清|查不到",
    )
    .expect("valid")
});

/// Extracts weighted features of a text: word stems, identifiers, CJK pairs.
fn features(text: &str) -> BTreeMap<String, f64> {
    let mut features = BTreeMap::new();
    let text = simplify(text);
    for token in tokenize(&text) {
        match token {
            UsageToken::Word { text, is_name } => add_word(&mut features, text, is_name),
            UsageToken::CjkRun(run) => {
                let pairs = distinctive_runs(&run).flat_map(|run| run.windows(2));
                let pairs = pairs.map(|pair| pair.iter().collect::<String>());
                features.extend(
                    pairs
                        .filter(|pair| !is_function_pair(pair))
                        .map(|pair| (pair, CJK_PAIR_WEIGHT)),
                );
            }
        }
    }
    features
}

fn add_word(features: &mut BTreeMap<String, f64>, word: &str, is_name: bool) {
    if is_identifier(word) {
        features.insert(word.to_lowercase(), IDENTIFIER_WEIGHT);
        return;
    }
    for term in terms(word).into_iter().filter(|term| !GENERIC_WORDS.contains(&term.as_str())) {
        let weight = if is_name { NAME_WEIGHT } else { WORD_WEIGHT };
        let current = features.entry(term).or_insert(weight);
        *current = current.max(weight);
    }
}

fn is_identifier(word: &str) -> bool {
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_joint = word.contains(['/', '_', '@', '\\', ':', '#']) || word.contains('.');
    has_digit || has_joint
}

/// Words of most statements about a user, which prove nothing.
const GENERIC_WORDS: [&str; 19] = [
    "user", "like", "love", "prefer", "enjoy", "want", "need", "use", "have", "name", "call",
    "person", "make", "get", "good", "great", "thing", "way", "help",
];

/// The same in Chinese.
const GENERIC_PAIRS: [&str; 18] = [
    "用户", "喜欢", "希望", "需要", "使用", "觉得", "名字", "可以", "一个", "自己", "时候", "东西",
    "知道", "比较", "建议", "推荐", "大家", "这个",
];

/// Splits a run at generic words and returns the rest.
fn distinctive_runs(run: &[char]) -> impl Iterator<Item = &[char]> {
    let generic = |at: usize| {
        let pair: String = run[at..(at + 2).min(run.len())].iter().collect();
        GENERIC_PAIRS.contains(&pair.as_str())
    };
    let mut cuts = vec![0];
    let mut at = 0;
    while at < run.len() {
        if generic(at) {
            cuts.extend([at, at + 2]);
            at += 1;
        }
        at += 1;
    }
    cuts.push(run.len());
    cuts.chunks(2).map(|cut| &run[cut[0]..cut[1]]).collect::<Vec<_>>().into_iter()
}

fn is_generic_pair(pair: &str) -> bool {
    GENERIC_PAIRS.contains(&pair) || is_function_pair(pair)
}

/// Token of a text.
enum UsageToken<'a> {
    /// Word or identifier; a name has a capital within a sentence.
    Word { text: &'a str, is_name: bool },
    /// Characters of a language without spaces.
    CjkRun(Vec<char>),
}

fn tokenize(text: &str) -> Vec<UsageToken<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut opens) = (0, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if is_cjk(first) {
            let run: Vec<char> = rest.chars().take_while(|c| is_cjk(*c)).collect();
            at += run.iter().map(|c| c.len_utf8()).sum::<usize>();
            tokens.push(UsageToken::CjkRun(run));
            opens = false;
        } else if is_word(first) {
            let end =
                rest.find(|c| !is_word(c) && !is_identifier_separator(c)).unwrap_or(rest.len());
            let word = rest[..end].trim_end_matches(is_identifier_separator);
            let is_name = !opens && first.is_uppercase();
            tokens.push(UsageToken::Word { text: word, is_name });
            at += word.len();
            opens = false;
        } else {
            opens |= matches!(first, '.' | '!' | '?' | '\n' | '。' | '！' | '？' | ':' | '"');
            at += first.len_utf8();
        }
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// Returns `true` for characters that may stand within an identifier.
fn is_identifier_separator(c: char) -> bool {
    matches!(c, '/' | '.' | '_' | '-' | '@' | '\\' | ':' | '#' | '\'' | '~')
}

/// Returns every phrase of a text: neighbouring words, or consecutive characters.
fn phrases(text: &str) -> HashSet<String> {
    token_rows(text)
        .iter()
        .flat_map(|row| row_phrases(row))
        .map(|phrase| phrase.join(" "))
        .collect()
}

/// Returns `true` if the answer has a phrase of the memory of which the question had less than half.
fn repeats_phrase(memory: &str, question: &HashSet<u32>, answer: &HashSet<String>) -> bool {
    let is_new = |phrase: &Vec<String>| {
        let familiar = match phrase[0].chars().next() {
            Some(first) if is_cjk(first) => {
                let chars: Vec<char> = phrase.iter().flat_map(|c| c.chars()).collect();
                let pairs: Vec<String> =
                    chars.windows(2).map(|pair| pair.iter().collect()).collect();
                let familiar = |pair: &&String| {
                    is_generic_pair(pair) || question.contains(&feature_digest(pair))
                };
                pairs.iter().filter(familiar).count() as f64 / pairs.len() as f64
            }
            _ => {
                let familiar = |word: &&String| {
                    GENERIC_WORDS.contains(&word.as_str())
                        || question.contains(&feature_digest(word))
                };
                phrase.iter().filter(familiar).count() as f64 / phrase.len() as f64
            }
        };
        familiar < 0.5
    };
    let own = token_rows(memory);
    let mut own = own.iter().flat_map(|row| row_phrases(row));
    own.any(|phrase| answer.contains(&phrase.join(" ")) && is_new(&phrase))
}

/// Returns runs of words or characters, as stems and single characters.
fn token_rows(text: &str) -> Vec<Vec<String>> {
    let text = simplify(text);
    let mut rows = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for token in tokenize(&text) {
        match token {
            UsageToken::Word { text, .. } => words.extend(terms(text).into_iter().next()),
            UsageToken::CjkRun(run) => {
                rows.push(std::mem::take(&mut words));
                rows.push(run.into_iter().map(String::from).collect());
            }
        }
    }
    rows.push(words);
    rows
}

fn row_phrases(row: &[String]) -> Vec<Vec<String>> {
    let is_cjk_row = row.first().and_then(|first| first.chars().next()).is_some_and(is_cjk);
    let length = if is_cjk_row { PHRASE_CHARS } else { PHRASE_CHARS / CHARS_PER_WORD };
    row.windows(length).map(<[String]>::to_vec).collect()
}

fn feature_digest(key: &str) -> u32 {
    xxh3_64(key.as_bytes()) as u32
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
