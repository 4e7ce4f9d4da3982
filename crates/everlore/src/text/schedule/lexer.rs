//! Splits a text into tokens of the vocabulary.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::chinese_lexicon::CHINESE;
use super::counted::{CountedRole, counted_role, numbered_thing};
use super::english_lexicon::{ENGLISH, corrected, numeral};
use super::lexer_numbers as numbers;
use super::word::{Unit, Word};
use super::zones::{offset_zone, zone_phrases, zones_behind_times};
use crate::text::traditional::simplify_char;

/// Longest phrase of the lexicon, in characters.
const MAX_PHRASE: usize = 32;

/// Word with its place in the text, in characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Set for 最后一天 and the like.
    pub(super) ends_in_day: bool,
    /// Set for a word without digits.
    pub(super) is_spelled: bool,
    /// Part that the word may play behind an ordinal.
    pub(super) role: CountedRole,
}

fn token(chars: &[char], (word, start, end): (Word, usize, usize)) -> Token {
    let text = &chars[start..end];
    let is_spelled = !text.iter().any(|c| c.is_ascii_digit() || is_han(*c));
    let role = counted_role(text);
    Token { word, start, end, ends_in_day: text.ends_with(&['天']), is_spelled, role }
}

static LEXICON: LazyLock<HashMap<Vec<char>, Word>> = LazyLock::new(|| {
    let listed = ENGLISH
        .iter()
        .chain(CHINESE)
        .flat_map(|(words, word)| words.split('|').map(move |text| (text.to_owned(), *word)));
    let zones = zone_phrases();
    zones
        .chain(zones_behind_times())
        .chain(listed)
        .map(|(text, word)| (text.chars().collect(), word))
        .collect()
});

/// Returns one character in the form of the lexicon: lower case, simplified, half width.
fn normalize(c: char) -> char {
    let half_width = match c {
        '！'..='～' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '　' | '\u{a0}' | '\t' | '\n' => ' ',
        '、' => ',',
        '。' => ';',
        '–' | '—' | '−' => '-',
        '’' | '‘' => '\'',
        _ => c,
    };
    let lower = half_width.to_lowercase().next().unwrap_or(half_width);
    simplify_char(lower)
}

/// Returns the text, one character for each of its own, as the lexicon spells it.
pub(super) fn normalized(text: &str) -> Vec<char> {
    let mut chars: Vec<char> = text.chars().map(normalize).collect();
    // 没天 is a slip of the keyboard for 每天.
    for at in 1..chars.len() {
        let is_period = matches!(chars[at], '天' | '周' | '月' | '年')
            || matches!(
                (chars[at], chars.get(at + 1)),
                ('个', Some('月' | '星' | '周' | '工' | '小'))
                    | ('星', Some('期' | '其'))
                    | ('小', Some('时'))
            );
        if chars[at - 1] == '没' && is_period {
            chars[at - 1] = '每';
        }
    }
    chars
}

/// Returns `true` for a Han character.
pub(super) fn is_han(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c) || c == '〇'
}

/// Splits normalized characters into tokens.
pub(super) fn lex(chars: &[char]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == ' ' {
            at += 1;
            continue;
        }
        let found = token_at(chars, at, tokens.last());
        let before = tokens.len();
        tokens.extend(found.into_iter().map(|found| token(chars, found)));
        at = tokens[before..].last().map_or(at + 1, |token| token.end);
    }
    merge_compounds(&tokens)
}

type Lexed = Vec<(Word, usize, usize)>;

fn token_at(chars: &[char], at: usize, previous: Option<&Token>) -> Lexed {
    let follows_number = previous
        .is_some_and(|p| matches!(p.word, Word::Number { .. }) && p.end == at && is_han(chars[at]));
    if follows_number && let Some((word, end)) = numbers::mark(chars, at) {
        return vec![(word, at, end)];
    }
    // 家长会: the meeting is part of the task.
    let is_in_task = previous.is_some_and(|p| p.word == Word::Task && p.end == at);
    if is_in_task && chars[at] == '会' && longest_phrase(chars, at).is_none_or(|it| it.1 == at + 1)
    {
        return vec![(Word::Task, at, at + 1)];
    }
    // 半个钟: an hour is a 钟 after its measure.
    let is_measured =
        previous.is_some_and(|p| matches!(p.word, Word::Half | Word::Measure) && p.end == at);
    if is_measured && chars[at] == '钟' && chars.get(at + 1) != Some(&'头') {
        return vec![(Word::Unit(Unit::Hour), at, at + 1)];
    }
    let list = numbers::weekday_list(chars, at)
        .or_else(|| numbers::bare_weekdays(chars, at))
        .or_else(|| numbers::letter_list(chars, at));
    if let Some(found) = list {
        return vec![(found.0, at, found.1)];
    }
    // 隔周五: every second Friday.
    if chars[at] == '隔'
        && let Some((days @ Word::Weekdays { .. }, end)) = numbers::weekday_list(chars, at + 1)
    {
        return vec![(Word::Alternate(Unit::Week), at, at + 1), (days, at + 1, end)];
    }
    if let Some((word, end)) = offset_zone(chars, at) {
        return vec![(word, at, end)];
    }
    let starts_word =
        at == 0 || !chars[at - 1].is_ascii_alphanumeric() || !chars[at].is_ascii_alphanumeric();
    let digit_glue = at > 0 && chars[at - 1].is_ascii_digit() && chars[at].is_ascii_alphabetic();
    if (starts_word || digit_glue)
        && let Some((word, end)) = longest_phrase(chars, at)
    {
        return vec![(word, at, end)];
    }
    if let Some((word, end)) = numbered_thing(chars, at) {
        return vec![(word, at, end)];
    }
    if let Some(found) = numbers::number_at(chars, at) {
        return found;
    }
    if chars[at].is_alphabetic() && !is_han(chars[at]) {
        return latin_word(chars, at);
    }
    let word = match chars[at] {
        ':' => Word::Colon,
        '-' => Word::Dash,
        '/' => Word::Slash,
        ',' => Word::Comma,
        '.' => Word::Dot,
        c if is_han(c) => Word::Task,
        _ => Word::Punctuation,
    };
    vec![(word, at, at + 1)]
}

/// Returns the longest phrase of the lexicon at a position and its end.
fn longest_phrase(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let longest = (chars.len() - at).min(MAX_PHRASE);
    (1..=longest).rev().find_map(|length| {
        let end = at + length;
        let is_whole = chars[end - 1].is_ascii_digit()
            || !chars[end - 1].is_alphanumeric()
            || is_han(chars[end - 1])
            || chars.get(end).is_none_or(|c| !c.is_alphanumeric() || is_han(*c));
        let digit_split = chars[end - 1].is_ascii_digit()
            && chars.get(end).is_some_and(|c| c.is_ascii_alphanumeric() || *c == ':');
        let word = LEXICON.get(&chars[at..end])?;
        (is_whole && !digit_split).then_some((*word, end))
    })
}

/// Reads a run of letters that is no phrase of the lexicon.
fn latin_word(chars: &[char], at: usize) -> Lexed {
    let is_part = |c: &char| (c.is_alphanumeric() && !is_han(*c)) || *c == '\'';
    let end = at + chars[at..].iter().take_while(|c| is_part(c)).count();
    let text: String = chars[at..end].iter().collect();
    let word = numeral(&text)
        .or_else(|| {
            corrected(&text)
                .and_then(|right| LEXICON.get(&right.chars().collect::<Vec<_>>()).copied())
        })
        .unwrap_or(Word::Task);
    vec![(word, at, end)]
}

/// Joins twenty-five and twenty fifth to one number each.
fn merge_compounds(tokens: &[Token]) -> Vec<Token> {
    let mut merged: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let dash = usize::from(tokens.get(at + 1).is_some_and(|t| t.word == Word::Dash));
        let joined =
            tokens.get(at + 1 + dash).and_then(|ones| compound(tokens[at].word, ones.word));
        match joined {
            Some(word) => {
                merged.push(Token { word, end: tokens[at + 1 + dash].end, ..tokens[at] });
                at += 2 + dash;
            }
            None => {
                merged.push(tokens[at]);
                at += 1;
            }
        }
    }
    merged
}

fn compound(tens: Word, ones: Word) -> Option<Word> {
    let Word::Number { value: tens @ (20 | 30 | 40 | 50), digits: 0 } = tens else { return None };
    match ones {
        Word::Number { value: ones @ 1..=9, digits: 0 } => {
            Some(Word::Number { value: tens + ones, digits: 0 })
        }
        Word::Ordinal(ones @ 1..=9) => Some(Word::Ordinal(tens + ones)),
        Word::Article => Some(Word::Number { value: tens + 1, digits: 0 }),
        Word::Unit(Unit::Second) => Some(Word::Ordinal(tens + 2)),
        _ => None,
    }
}
