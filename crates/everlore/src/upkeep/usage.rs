//! Which of the memories that a prompt was given its answer used.
//!
//! What counts is what the answer has in common with a memory beyond what the question had: its words, rare ones more than
//! common ones; whole phrases; paths, numbers and names. Where a model is at hand, nearness of meaning helps a weak sign
//! over the bar, and never decides alone: an answer about the same topic is near, too.

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

/// An answer that says this share of what a memory adds to the question uses it.
const STRONG_COVERAGE: f64 = 0.45;

/// With a near meaning, this share is enough.
const WEAK_COVERAGE: f64 = 0.25;

/// The cosine from which on a sentence of the answer is near a memory. The built-in model gives two sentences about
/// one topic about 0.4, and a sentence said in other words 0.6 and more.
const NEAR_COSINE: f32 = 0.6;

/// A phrase of so many letters of sense: two words, or four characters.
const PHRASE_CHARS: usize = 4;

/// A word counts as two characters of languages that write a word with about two.
const CHARS_PER_WORD: usize = 2;

/// How much a sign tells: an identifier or a number is hardly there by chance, a name seldom, a word sometimes.
const IDENTIFIER_WEIGHT: f64 = 3.0;
const NAME_WEIGHT: f64 = 2.0;
const WORD_WEIGHT: f64 = 1.0;
/// A word of two characters stands in about two pairs.
const CJK_PAIR_WEIGHT: f64 = 0.5;

/// A memory as the prompt told it.
#[derive(Debug, Clone, Copy)]
pub struct ShownMemory<'a> {
    /// What the model saw of it.
    pub text: &'a str,
    /// What [`asked_of`] kept of the question.
    pub question_digests: &'a [u8],
    /// The cosine with the nearest sentence of the answer; 0 where no model is at hand.
    pub similarity: f32,
}

/// Digests of what a question has in common with a memory, four bytes each; neither can be read from them.
pub fn question_digests(question: &str, memory: &str) -> Vec<u8> {
    let signs = features(question);
    let own = self::features(memory);
    let mut shared: Vec<u32> =
        own.keys().filter(|key| signs.contains_key(*key)).map(|key| feature_digest(key)).collect();
    shared.sort_unstable();
    shared.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Whether the answer used each of these memories.
pub fn detect_usage(seen: &[ShownMemory<'_>], answer: &str) -> Vec<bool> {
    let told = strip_disclaimers(answer);
    let answer_signs = features(&told);
    let answer_phrases = phrases(&told);
    // What several memories of the prompt say, the answer may have from any of them.
    let mut holders: BTreeMap<String, usize> = BTreeMap::new();
    let all: Vec<_> = seen.iter().map(|seen| features(seen.text)).collect();
    for key in all.iter().flat_map(BTreeMap::keys) {
        *holders.entry(key.clone()).or_default() += 1;
    }
    let share = |key: &str| 1.0 / holders.get(key).copied().unwrap_or(1) as f64;
    seen.iter()
        .zip(&all)
        .map(|(seen, own)| {
            let asked: HashSet<u32> = seen
                .question_digests
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes))
                .collect();
            let signs = FeatureComparison {
                memory_features: own,
                question_digests: &asked,
                answer_features: &answer_signs,
            };
            signs.quotes_identifier(share)
                || signs.coverage(share) >= STRONG_COVERAGE
                || signs.coverage(share) >= WEAK_COVERAGE && seen.similarity >= NEAR_COSINE
                || repeats_phrase(seen.text, &asked, &answer_phrases)
        })
        .collect()
}

/// The signs of a memory beside those of the question and of the answer.
struct FeatureComparison<'a> {
    memory_features: &'a BTreeMap<String, f64>,
    question_digests: &'a HashSet<u32>,
    answer_features: &'a BTreeMap<String, f64>,
}

impl FeatureComparison<'_> {
    fn is_in_question(&self, key: &str) -> bool {
        self.question_digests.contains(&feature_digest(key))
    }

    /// How much of what the memory adds to the question the answer says, by weight, from 0 to 1. Where it adds nothing,
    /// only all of it counts: "yes, you like tea".
    fn coverage(&self, share: impl Fn(&str) -> f64) -> f64 {
        let new: Vec<_> =
            self.memory_features.iter().filter(|(key, _)| !self.is_in_question(key)).collect();
        if new.is_empty() {
            let said = self
                .memory_features
                .keys()
                .filter(|key| self.answer_features.contains_key(*key))
                .count();
            return if said == self.memory_features.len() && said > 0 { 1.0 } else { 0.0 };
        }
        let all: f64 = new.iter().map(|(_, weight)| **weight).sum();
        let said = new.iter().filter(|(key, _)| self.answer_features.contains_key(*key));
        said.map(|(key, weight)| **weight * share(key)).sum::<f64>() / all
    }

    /// Whether the answer has an identifier that this memory alone has, and the question had not.
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

/// Whether an identifier is hardly there by chance: not a year, not a number of one or two figures.
fn is_distinctive(key: &str) -> bool {
    let is_number = key.chars().all(|c| c.is_ascii_digit());
    let is_year = key.len() == 4 && (key.starts_with("19") || key.starts_with("20"));
    key.chars().count() >= 3 && !(is_number && is_year)
}

/// What the answer claims: without the clauses that say that something is not known.
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

/// What a text can be told by, with how much each tells: stems of words, identifiers, pairs of characters.
fn features(text: &str) -> BTreeMap<String, f64> {
    let mut signs = BTreeMap::new();
    let text = simplify(text);
    for piece in tokenize(&text) {
        match piece {
            UsageToken::Word { text, is_name } => add_word(&mut signs, text, is_name),
            UsageToken::CjkRun(run) => {
                let pairs = distinctive_runs(&run).flat_map(|run| run.windows(2));
                let pairs = pairs.map(|pair| pair.iter().collect::<String>());
                signs.extend(
                    pairs
                        .filter(|pair| !is_function_pair(pair))
                        .map(|pair| (pair, CJK_PAIR_WEIGHT)),
                );
            }
        }
    }
    signs
}

fn add_word(signs: &mut BTreeMap<String, f64>, word: &str, is_name: bool) {
    if is_identifier(word) {
        signs.insert(word.to_lowercase(), IDENTIFIER_WEIGHT);
        return;
    }
    for term in terms(word).into_iter().filter(|term| !GENERIC_WORDS.contains(&term.as_str())) {
        let weight = if is_name { NAME_WEIGHT } else { WORD_WEIGHT };
        let known = signs.entry(term).or_insert(weight);
        *known = known.max(weight);
    }
}

fn is_identifier(word: &str) -> bool {
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_joint = word.contains(['/', '_', '@', '\\', ':', '#']) || word.contains('.');
    has_digit || has_joint
}

/// Words that stand in most statements about a user: having them says nothing.
const GENERIC_WORDS: [&str; 19] = [
    "user", "like", "love", "prefer", "enjoy", "want", "need", "use", "have", "name", "call",
    "person", "make", "get", "good", "great", "thing", "way", "help",
];

/// The same in Chinese.
const GENERIC_PAIRS: [&str; 18] = [
    "用户", "喜欢", "希望", "需要", "使用", "觉得", "名字", "可以", "一个", "自己", "时候", "东西",
    "知道", "比较", "建议", "推荐", "大家", "这个",
];

/// What is left of a run between words that tell nothing.
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

/// A part of a text.
enum UsageToken<'a> {
    /// A word of letters, or an identifier; a name is written with a capital within a sentence.
    Word { text: &'a str, is_name: bool },
    /// Characters of a language without blanks.
    CjkRun(Vec<char>),
}

fn tokenize(text: &str) -> Vec<UsageToken<'_>> {
    let mut pieces = Vec::new();
    let (mut at, mut opens) = (0, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if is_cjk(first) {
            let run: Vec<char> = rest.chars().take_while(|c| is_cjk(*c)).collect();
            at += run.iter().map(|c| c.len_utf8()).sum::<usize>();
            pieces.push(UsageToken::CjkRun(run));
            opens = false;
        } else if is_word(first) {
            let end =
                rest.find(|c| !is_word(c) && !is_identifier_separator(c)).unwrap_or(rest.len());
            let word = rest[..end].trim_end_matches(is_identifier_separator);
            let is_name = !opens && first.is_uppercase();
            pieces.push(UsageToken::Word { text: word, is_name });
            at += word.len();
            opens = false;
        } else {
            opens |= matches!(first, '.' | '!' | '?' | '\n' | '。' | '！' | '？' | ':' | '"');
            at += first.len_utf8();
        }
    }
    pieces
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// What may stand within an identifier.
fn is_identifier_separator(c: char) -> bool {
    matches!(c, '/' | '.' | '_' | '-' | '@' | '\\' | ':' | '#' | '\'' | '~')
}

/// Every phrase of a text: neighbouring words, and characters in a row.
fn phrases(text: &str) -> HashSet<String> {
    token_rows(text)
        .iter()
        .flat_map(|row| row_phrases(row))
        .map(|phrase| phrase.join(" "))
        .collect()
}

/// Whether the answer has a phrase of the memory of which the question had less than half.
fn repeats_phrase(memory: &str, asked: &HashSet<u32>, answer: &HashSet<String>) -> bool {
    let is_new = |phrase: &Vec<String>| {
        let known = match phrase[0].chars().next() {
            Some(first) if is_cjk(first) => {
                let chars: Vec<char> = phrase.iter().flat_map(|c| c.chars()).collect();
                let pairs: Vec<String> =
                    chars.windows(2).map(|pair| pair.iter().collect()).collect();
                let known =
                    |pair: &&String| is_generic_pair(pair) || asked.contains(&feature_digest(pair));
                pairs.iter().filter(known).count() as f64 / pairs.len() as f64
            }
            _ => {
                let known = |word: &&String| {
                    GENERIC_WORDS.contains(&word.as_str()) || asked.contains(&feature_digest(word))
                };
                phrase.iter().filter(known).count() as f64 / phrase.len() as f64
            }
        };
        known < 0.5
    };
    let own = token_rows(memory);
    let mut own = own.iter().flat_map(|row| row_phrases(row));
    own.any(|phrase| answer.contains(&phrase.join(" ")) && is_new(&phrase))
}

/// Runs of words or characters, as stems and single characters.
fn token_rows(text: &str) -> Vec<Vec<String>> {
    let text = simplify(text);
    let mut rows = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for piece in tokenize(&text) {
        match piece {
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
