//! Updates: of several statements of the same thing, the newest comes first and the others are marked as outdated.
//!
//! Two statements are about the same thing if they begin alike up to a value marker such as "is", "in" or 是, their
//! shared part names a subject and an attribute, and they differ in one stretch only: "The office is in Lisbon", "The
//! office is in Porto". A value ends with its sentence. Statements that can be true more than once ("I like …", "we
//! visited …"), those of two speakers, and a memory beside the turn that it was drawn from do not count. No model is
//! involved.
//!
//! Every recall runs through here, so texts are split into words without copying, and only those that begin alike.

use std::collections::BTreeMap;

use super::score::combined_score;
use crate::{
    recall::{Hit, Intent},
    text::{
        language::is_cjk,
        sentences::sentences,
        stop_words::{is_function_character, is_stop_word},
        terms::{TermHash, terms},
    },
    types::{Memory, MemoryId, Role},
};

/// Number of the best hits that are compared with each other; those further down are hardly read.
const MAX_COMPARED: usize = 50;

/// Longest text, in words, that counts as a plain statement.
const MAX_WORDS: usize = 80;

/// Longest differing stretch, in words, that counts as a value.
const MAX_VALUE_WORDS: usize = 12;

/// Minimum specificity of the shared part: two content words in English, such as subject and attribute.
const MIN_SPECIFICITY: usize = 4;

/// Relative distance of an outdated hit below the one that replaces it.
const SCORE_STEP: f64 = 1e-6;

/// Moves the newest of each group of restatements to the best rank of the group.
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

/// Groups the hits that state the same thing differently; a hit is in one group at most.
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
    let query_terms: Vec<TermHash> =
        intent.terms.iter().map(|term| TermHash::of(&term.text)).collect();
    let groups =
        alike.into_values().flat_map(|indexes| group_restatements(hits, indexes, &query_terms));
    groups.collect()
}

/// Groups the restatements among hits that begin alike.
fn group_restatements(
    hits: &[Hit],
    indexes: Vec<usize>,
    query_terms: &[TermHash],
) -> Vec<Vec<usize>> {
    let mut rest: Vec<(usize, UpdateStatement<'_>)> = indexes
        .into_iter()
        .filter_map(|index| Some((index, UpdateStatement::parse(&hits[index].memory)?)))
        .collect();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let (first, statement) = rest.remove(0);
        let (same, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, other)| statement.restates(other, query_terms));
        if !same.is_empty() {
            groups.push(std::iter::once(first).chain(same.iter().map(|(i, _)| *i)).collect());
        }
        rest = others;
    }
    groups
}

/// Redistributes the scores of a group, the best to the newest; all other hits keep their ranks.
fn promote_group(hits: &mut [Hit], mut group: Vec<usize>) {
    let mut products: Vec<f64> = group.iter().map(|index| hits[*index].factors.product()).collect();
    products.sort_by(|a, b| b.total_cmp(a));
    group.sort_by_key(|index| std::cmp::Reverse((hits[*index].memory.at, hits[*index].address)));
    let (newest, replaced_at) = (hits[group[0]].memory.id, hits[group[0]].memory.at);
    for (age, (index, product)) in group.into_iter().zip(products).enumerate() {
        let hit = &mut hits[index];
        // The step puts the newest first among equals as well.
        hit.factors.update = product * (1.0 - SCORE_STEP * age as f64) / hit.factors.product();
        hit.score = combined_score(&hit.factors);
        hit.newer = (age > 0).then_some(newest);
        hit.held_until = (age > 0).then_some(replaced_at);
    }
}

/// Short text, split into words.
struct UpdateStatement<'a> {
    words: Vec<StatementWord<'a>>,
    speaker: StatementSpeaker<'a>,
    id: MemoryId,
    source_turns: &'a [MemoryId],
}

/// Person or tool that made a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StatementSpeaker<'a> {
    /// Name; `None` for the user of the scope.
    name: Option<&'a str>,
    /// `true` if an assistant or a tool said it.
    is_other: bool,
}

impl<'a> StatementSpeaker<'a> {
    fn of(memory: &'a Memory) -> Self {
        let is_user = |name: &&str| name.eq_ignore_ascii_case(memory.scope.user());
        Self {
            name: memory.source.speaker.as_deref().filter(|name| !is_user(name)),
            is_other: memory.source.role.is_some_and(|role| role != Role::User),
        }
    }
}

/// Word or Chinese character, compared without case.
#[derive(Debug, Clone, Copy)]
struct StatementWord<'a>(&'a str, WordEnd);

/// Position of a word in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordEnd {
    /// Another word of the sentence follows.
    Inside,
    /// It is the last word of its sentence.
    Sentence,
}

impl PartialEq for StatementWord<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.0.eq_ignore_ascii_case(other.0) {
            return true;
        }
        // The comparison above is final for ASCII words, which are most.
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
        // A word has a few bytes, a Chinese character three: a text this long has too many words.
        if memory.content.len() > MAX_WORDS * 10 {
            return None;
        }
        let words = split_words(&memory.content);
        (words.len() <= MAX_WORDS).then_some(Self {
            words,
            speaker: StatementSpeaker::of(memory),
            id: memory.id,
            source_turns: &memory.source.turns,
        })
    }

    /// Returns `true` if both state the same thing with different values.
    fn restates(&self, other: &Self, query_terms: &[TermHash]) -> bool {
        let (mine, others) = (&self.words[..], &other.words[..]);
        let common = mine.iter().zip(others).take_while(|(a, b)| a == b).count();
        let Some(marker) = mine[..common].iter().rposition(is_value_marker) else {
            return false;
        };
        let (head, mine, others) = (&mine[..=marker], &mine[marker + 1..], &others[marker + 1..]);
        let tail = mine.iter().rev().zip(others.iter().rev()).take_while(|(a, b)| a == b).count();
        let shortest = mine.len().min(others.len());
        // A value has at least one word of its own.
        let tail = tail.min(shortest.saturating_sub(1));
        let (mine, end) = mine.split_at(mine.len() - tail);
        let (mine, others) = (in_sentence(mine), in_sentence(&others[..others.len() - tail]));
        let is_value = |value: &[StatementWord<'_>]| (1..=MAX_VALUE_WORDS).contains(&value.len());
        self.speaker == other.speaker
            && !self.is_drawn_from(other)
            && !other.is_drawn_from(self)
            && !mine.starts_with(others)
            && !others.starts_with(mine)
            && is_value(mine)
            && is_value(others)
            && differs_once(mine, others)
            && specificity(head) + specificity(end) >= MIN_SPECIFICITY
            && !is_repeatable(head)
            && leaves_query_open(&[head, end], &[mine, others], query_terms)
    }

    fn is_drawn_from(&self, other: &Self) -> bool {
        self.source_turns.contains(&other.id)
    }
}

/// Returns the words up to the end of their sentence: a value does not go on in the next one.
fn in_sentence<'w, 'a>(words: &'w [StatementWord<'a>]) -> &'w [StatementWord<'a>] {
    let end = words.iter().position(|word| word.1 == WordEnd::Sentence);
    &words[..end.map_or(words.len(), |end| end + 1)]
}

/// Returns `true` if the two differ in one stretch only. A copula in both would split the stretch into subject and
/// value.
fn differs_once(mine: &[StatementWord<'_>], others: &[StatementWord<'_>]) -> bool {
    !mine.iter().any(|word| word.is_copula() && others.contains(word))
}

/// Returns `true` if the query does not choose between the values: none of its terms occurs only in a value.
fn leaves_query_open(
    shared: &[&[StatementWord<'_>]],
    values: &[&[StatementWord<'_>]],
    query_terms: &[TermHash],
) -> bool {
    let terms_of = |parts: &[&[StatementWord<'_>]]| -> Vec<TermHash> {
        let text = parts.iter().map(|part| join_words(part)).collect::<Vec<_>>().join("\n");
        terms(&text).iter().map(|term| TermHash::of(term)).collect()
    };
    let (shared, values) = (terms_of(shared), terms_of(values));
    !query_terms.iter().any(|term| values.contains(term) && !shared.contains(term))
}

/// Joins words to a text, Chinese characters without blanks.
fn join_words(words: &[StatementWord<'_>]) -> String {
    let mut text = String::new();
    for StatementWord(word, _) in words {
        let joins = word.starts_with(is_cjk) && text.ends_with(is_cjk);
        if !text.is_empty() && !joins {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Returns how specifically a part names its subject and attribute: 2 for a word or a name, 1 for a Chinese character.
/// A pronoun counts like a name.
fn specificity(part: &[StatementWord<'_>]) -> usize {
    let (mut sum, mut in_name, mut after_copula) = (0, false, false);
    for word in part {
        let is_stop = is_stop_word(&word.0.to_lowercase());
        let continues = in_name && word.is_capital();
        in_name = word.is_capital() && !is_stop;
        let is_location = after_copula && word.is_one_of(&["in", "at", "on", "from"]);
        after_copula = word.is_copula();
        sum += match word.0.chars().next() {
            _ if continues => 0,
            // "is in" names the attribute: the location.
            _ if is_location => 2,
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

/// Splits a text into words and Chinese characters; the `'s` of a word is dropped.
fn split_words(text: &str) -> Vec<StatementWord<'_>> {
    let mut words = Vec::new();
    for sentence in sentences(text) {
        let mut rest = sentence;
        while let Some((word, after)) = next_word(rest) {
            words.push(word);
            rest = after;
        }
        if let Some(last) = words.last_mut() {
            last.1 = WordEnd::Sentence;
        }
    }
    words
}

/// Returns the first two words of a text in lower case; `None` if it has fewer, and so states nothing.
fn first_two_words(text: &str) -> Option<String> {
    let (first, rest) = next_word(text)?;
    let (second, _) = next_word(rest)?;
    Some(format!("{} {}", first.0, second.0).to_lowercase())
}

/// Splits off the first word of a text.
fn next_word(text: &str) -> Option<(StatementWord<'_>, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = text.chars().next()?;
    if is_cjk(first) {
        let (word, rest) = text.split_at(first.len_utf8());
        return Some((StatementWord(word, WordEnd::Inside), rest));
    }
    let ascii = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let more = if text[ascii..].starts_with(|c: char| !c.is_ascii()) {
        text[ascii..].find(|c: char| !c.is_alphanumeric() || is_cjk(c))
    } else {
        Some(0)
    };
    let (word, rest) = text.split_at(more.map_or(text.len(), |more| ascii + more));
    let possessive = ["'s", "’s"].into_iter().find(|ending| rest.starts_with(ending));
    let word = StatementWord(word, WordEnd::Inside);
    Some((word, &rest[possessive.map_or(0, str::len)..]))
}

const COPULAS: &[&str] = &["is", "was", "are", "were", "am", "be", "是", "为", "為", "叫"];

/// Words after which a value follows, beside copulas.
#[rustfmt::skip]
const VALUE_MARKERS: &[&str] = &[
    "of", "in", "at", "to", "for", "with", "by", "on", "from", "as", "into", "the", "a", "an", "has", "have", "named", "called",
    "now", "currently", "至", "在", "到", "有", "于", "於", "成", "姓", "归", "属",
];

const PRONOUNS: &[&str] = &[
    "i", "my", "we", "our", "he", "his", "she", "her", "they", "their", "you", "your", "it", "its",
];

const CHINESE_PRONOUNS: &[&str] = &["我", "你", "您", "他", "她", "它", "咱"];

/// Chinese verbs of one character that name the attribute.
const CHINESE_VALUE_VERBS: &[&str] = &["住", "叫", "姓"];

/// Words of statements that can be true more than once.
#[rustfmt::skip]
const REPEATABLE: &[&str] = &[
    "like", "likes", "liked", "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "hate", "hates", "dislike", "dislikes",
    "go", "goes", "went", "going", "gone", "visit", "visits", "visited", "travel", "traveled", "travelled", "buy", "buys",
    "bought", "eat", "eats", "ate", "drink", "drinks", "drank", "cook", "cooked", "see", "saw", "seen", "watch", "watched",
    "read", "reads", "meet", "met", "met", "had", "got", "get", "made", "make", "makes", "tried", "try", "talked", "talk",
    "said", "told", "asked", "wants", "want", "wanted", "thinking", "looking", "one", "some", "another", "also", "attended",
    "joined", "received", "wrote", "knows", "know", "thanks", "thank", "finished", "started", "plan", "planned", "plans",
];

/// Chinese words of statements that can be true more than once.
#[rustfmt::skip]
const CHINESE_REPEATABLE: &[&str] = &[
    "喜欢", "喜歡", "爱", "愛", "讨厌", "去", "买", "買", "吃", "喝", "看", "读", "見", "见", "玩", "参加", "參加", "做", "写", "说",
    "想", "听", "之一", "也", "还", "认识", "会", "打算", "计划",
];

#[cfg(test)]
mod tests;
