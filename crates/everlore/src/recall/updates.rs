//! Updates: of memories that state the same thing differently, the newest comes first and the others say so.
//!
//! Two statements are of the same thing if they begin alike up to a joint such as "is", "in" or 是, what they share says of
//! whom and what they speak, and only one stretch of them differs: "The office is in Lisbon", "The office is in Porto". What
//! can be true more than once ("I like …", "we visited …") is no such statement. No model is asked.
//!
//! Every recall runs through here, so texts are cut into words without copying them, and only those that begin alike.

use std::collections::BTreeMap;

use super::{Hit, Intent, score::combined_score};
use crate::{
    text::{
        language::is_cjk,
        stop_words::{is_function_character, is_stop_word},
        terms::{TermHash, terms},
    },
    types::Memory,
};

/// Only the best hits are compared with each other; what stands further down is hardly read.
const MAX_COMPARED: usize = 50;

/// A longer text is no plain statement.
const MAX_WORDS: usize = 80;

/// A longer stretch is no value.
const MAX_VALUE_WORDS: usize = 12;

/// What a shared part must say at least: two things in English, such as whom and what.
const MIN_SPECIFICITY: usize = 4;

/// How little an outdated hit at least stands below the one that replaces it.
const SCORE_STEP: f64 = 1e-6;

/// Puts the newest of each group of statements first among the places that the group has.
pub(super) fn promote_newest(hits: &mut [Hit], intent: &Intent) {
    let groups = restatement_groups(&hits[..hits.len().min(MAX_COMPARED)], intent);
    if groups.is_empty() {
        return;
    }
    for group in groups {
        promote_group(hits, group);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// The hits that state the same thing differently, each in one group at most.
fn restatement_groups(hits: &[Hit], intent: &Intent) -> Vec<Vec<usize>> {
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, hit) in hits.iter().enumerate() {
        if let Some(start) = first_two_words(&hit.memory.content) {
            alike.entry(start).or_default().push(index);
        }
    }
    alike.retain(|_, indexes| indexes.len() > 1);
    if alike.is_empty() {
        return Vec::new();
    }
    let asked: Vec<TermHash> = intent.terms.iter().map(|term| TermHash::of(&term.text)).collect();
    alike.into_values().flat_map(|indexes| group_restatements(hits, indexes, &asked)).collect()
}

/// Parts hits that begin alike into groups.
fn group_restatements(hits: &[Hit], indexes: Vec<usize>, asked: &[TermHash]) -> Vec<Vec<usize>> {
    let mut rest: Vec<(usize, UpdateStatement<'_>)> = indexes
        .into_iter()
        .filter_map(|index| Some((index, UpdateStatement::parse(&hits[index].memory)?)))
        .collect();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let (first, statement) = rest.remove(0);
        let (same, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, other)| statement.restates(other, asked));
        if !same.is_empty() {
            groups.push(std::iter::once(first).chain(same.iter().map(|(i, _)| *i)).collect());
        }
        rest = others;
    }
    groups
}

/// Hands the scores of the group out anew, the best to the newest: all other hits stay where they are.
fn promote_group(hits: &mut [Hit], mut group: Vec<usize>) {
    let mut worths: Vec<f64> = group.iter().map(|index| hits[*index].factors.product()).collect();
    worths.sort_by(|a, b| b.total_cmp(a));
    group.sort_by_key(|index| std::cmp::Reverse((hits[*index].memory.at, hits[*index].address)));
    let newest = hits[group[0]].memory.id;
    for (age, (index, worth)) in group.into_iter().zip(worths).enumerate() {
        let hit = &mut hits[index];
        // Of equal ones, too, the newest comes first.
        hit.factors.update = worth * (1.0 - SCORE_STEP * age as f64) / hit.factors.product();
        hit.score = combined_score(&hit.factors);
        hit.newer = (age > 0).then_some(newest);
    }
}

/// A short text, word by word.
struct UpdateStatement<'a> {
    words: Vec<StatementWord<'a>>,
    speaker: Option<&'a str>,
}

/// A word, or a Chinese character; equal to the same in capitals.
#[derive(Debug, Clone, Copy)]
struct StatementWord<'a>(&'a str);

impl PartialEq for StatementWord<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.0.eq_ignore_ascii_case(other.0) {
            return true;
        }
        // Words of plain letters, which are most, have been compared by now.
        let is_plain = self.0.is_ascii() || self.0.starts_with(is_cjk);
        let lower = |word: &Self| word.0.to_lowercase();
        !is_plain && lower(self) == lower(other)
    }
}

impl StatementWord<'_> {
    fn is_capital(&self) -> bool {
        self.0.starts_with(char::is_uppercase)
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.0.eq_ignore_ascii_case(word))
    }

    fn is_copula(&self) -> bool {
        self.is_one_of(COPULAS)
    }
}

impl<'a> UpdateStatement<'a> {
    fn parse(memory: &'a Memory) -> Option<Self> {
        // A word has a few bytes, a character three: a text this long need not be cut up.
        if memory.content.len() > MAX_WORDS * 10 {
            return None;
        }
        let words = split_words(&memory.content);
        let speaker = memory.source.speaker.as_deref();
        (words.len() <= MAX_WORDS).then_some(Self { words, speaker })
    }

    /// Whether both state the same thing, each with a value of its own.
    fn restates(&self, other: &Self, asked: &[TermHash]) -> bool {
        let (mine, others) = (&self.words[..], &other.words[..]);
        let same_speaker = self.speaker.zip(other.speaker).is_none_or(|(a, b)| a == b);
        let common = mine.iter().zip(others).take_while(|(a, b)| a == b).count();
        let Some(joint) = mine[..common].iter().rposition(is_value_marker) else {
            return false;
        };
        let (head, mine, others) = (&mine[..=joint], &mine[joint + 1..], &others[joint + 1..]);
        let tail = mine.iter().rev().zip(others.iter().rev()).take_while(|(a, b)| a == b).count();
        let shortest = mine.len().min(others.len());
        // A value keeps at least one word of its own.
        let tail = tail.min(shortest.saturating_sub(1));
        let (mine, end) = mine.split_at(mine.len() - tail);
        let others = &others[..others.len() - tail];
        let is_value = |value: &[StatementWord<'_>]| (1..=MAX_VALUE_WORDS).contains(&value.len());
        same_speaker
            && mine != others
            && is_value(mine)
            && is_value(others)
            && differs_once(mine, others)
            && specificity(head) + specificity(end) >= MIN_SPECIFICITY
            && !is_repeatable(head)
            && leaves_query_open(&[head, end], &[mine, others], asked)
    }
}

/// Whether the two differ in one stretch only: a verb that both have splits them into a subject and a value.
fn differs_once(mine: &[StatementWord<'_>], others: &[StatementWord<'_>]) -> bool {
    !mine.iter().any(|word| word.is_copula() && others.contains(word))
}

/// Whether the values answer the query: a word that it asks by must not tell them apart.
fn leaves_query_open(
    shared: &[&[StatementWord<'_>]],
    values: &[&[StatementWord<'_>]],
    asked: &[TermHash],
) -> bool {
    let terms_of = |parts: &[&[StatementWord<'_>]]| -> Vec<TermHash> {
        let text = parts.iter().map(|part| join_words(part)).collect::<Vec<_>>().join("\n");
        terms(&text).iter().map(|term| TermHash::of(term)).collect()
    };
    let (shared, values) = (terms_of(shared), terms_of(values));
    !asked.iter().any(|term| values.contains(term) && !shared.contains(term))
}

/// The words as a text again, Chinese characters without blanks.
fn join_words(words: &[StatementWord<'_>]) -> String {
    let mut text = String::new();
    for StatementWord(word) in words {
        let joins = word.starts_with(is_cjk) && text.ends_with(is_cjk);
        if !text.is_empty() && !joins {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// How much a part says of whom and what it speaks: 2 for a word or a name, 1 for a Chinese character; a pronoun is as
/// good as a name.
fn specificity(part: &[StatementWord<'_>]) -> usize {
    let (mut sum, mut in_name, mut after_copula) = (0, false, false);
    for word in part {
        let is_stop = is_stop_word(&word.0.to_lowercase());
        let continues = in_name && word.is_capital();
        in_name = word.is_capital() && !is_stop;
        let places = after_copula && word.is_one_of(&["in", "at", "on", "from"]);
        after_copula = word.is_copula();
        sum += match word.0.chars().next() {
            _ if continues => 0,
            // "is in" says what is told: the place.
            _ if places => 2,
            Some('在' | '的') => 1,
            _ if word.is_one_of(CHINESE_PRONOUNS) => 3,
            _ if word.is_one_of(PRONOUNS) || word.is_one_of(CHINESE_VALUE_VERBS) => 2,
            Some(c) if is_cjk(c) => usize::from(!is_function_character(c)),
            _ => 2 * usize::from(!is_stop),
        };
    }
    sum
}

fn is_repeatable(head: &[StatementWord<'_>]) -> bool {
    let text = join_words(head);
    head.iter().any(|word| word.is_one_of(REPEATABLE))
        || CHINESE_REPEATABLE.iter().any(|verb| text.contains(verb))
}

fn is_value_marker(word: &StatementWord<'_>) -> bool {
    word.is_copula() || word.is_one_of(VALUE_MARKERS)
}

/// Cuts a text into words and Chinese characters; the `'s` of a word is dropped.
fn split_words(text: &str) -> Vec<StatementWord<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some((word, after)) = next_word(rest) {
        words.push(word);
        rest = after;
    }
    words
}

/// The first two words of a text in lower case, without which nothing is said of anything.
fn first_two_words(text: &str) -> Option<String> {
    let (first, rest) = next_word(text)?;
    let (second, _) = next_word(rest)?;
    Some(format!("{} {}", first.0, second.0).to_lowercase())
}

/// The first word of a text, and what follows it.
fn next_word(text: &str) -> Option<(StatementWord<'_>, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = text.chars().next()?;
    if is_cjk(first) {
        let (word, rest) = text.split_at(first.len_utf8());
        return Some((StatementWord(word), rest));
    }
    let plain = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let more = if text[plain..].starts_with(|c: char| !c.is_ascii()) {
        text[plain..].find(|c: char| !c.is_alphanumeric() || is_cjk(c))
    } else {
        Some(0)
    };
    let (word, rest) = text.split_at(more.map_or(text.len(), |more| plain + more));
    let possessive = ["'s", "’s"].into_iter().find(|ending| rest.starts_with(ending));
    Some((StatementWord(word), &rest[possessive.map_or(0, str::len)..]))
}

const COPULAS: &[&str] = &["is", "was", "are", "were", "am", "be", "是", "为", "為", "叫"];

/// What values follow, beside copulas.
#[rustfmt::skip]
const VALUE_MARKERS: &[&str] = &[
    "of", "in", "at", "to", "for", "with", "by", "on", "from", "as", "into", "the", "a", "an", "has", "have", "named", "called",
    "now", "currently", "至", "在", "到", "有", "于", "於", "成", "姓", "归", "属",
];

const PRONOUNS: &[&str] = &[
    "i", "my", "we", "our", "he", "his", "she", "her", "they", "their", "you", "your", "it", "its",
];

const CHINESE_PRONOUNS: &[&str] = &["我", "你", "您", "他", "她", "它", "咱"];

/// Chinese verbs of one character that say what is told.
const CHINESE_VALUE_VERBS: &[&str] = &["住", "叫", "姓"];

/// What is done or liked more than once.
#[rustfmt::skip]
const REPEATABLE: &[&str] = &[
    "like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "hate", "hates", "dislike", "dislikes",
    "go", "goes", "went", "going", "gone", "visit", "visits", "visited", "travel", "traveled", "travelled", "buy", "buys",
    "bought", "eat", "eats", "ate", "drink", "drinks", "drank", "cook", "cooked", "see", "saw", "seen", "watch", "watched",
    "read", "reads", "meet", "met", "met", "had", "got", "get", "made", "make", "makes", "tried", "try", "talked", "talk",
    "said", "told", "asked", "wants", "want", "wanted", "thinking", "looking", "one", "some", "another", "also", "attended",
    "joined", "received", "wrote", "knows", "know", "thanks", "thank", "finished", "started", "plan", "planned", "plans",
];

#[rustfmt::skip]
const CHINESE_REPEATABLE: &[&str] = &[
    "喜欢", "喜歡", "爱", "愛", "讨厌", "去", "买", "買", "吃", "喝", "看", "读", "見", "见", "玩", "参加", "參加", "做", "写", "说",
    "想", "听", "之一", "也", "还", "认识", "会", "打算", "计划",
];

#[cfg(test)]
#[path = "updates_tests.rs"]
mod tests;
