//! Statements that give one value to one attribute of a subject: home, employer, job, age, marital status, name,
//! favourite, deadline. Subjects and attributes have one name in both languages.
//!
//! The tables list only what has one value at a time. "I work with Anna" and "I work with Ben" both hold; "I work at
//! Nokia" and "I work at Spotify" do not.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    attributes::{FAVOURITES, LOOSE_NOUNS, MOVES, OCCUPATIONS, SEVERAL, SUBJECTS},
    chinese_value, english_value,
    places::{is_same_place, may_contain},
    roles,
    words::normalized_words,
};
use crate::text::language::is_cjk;

static PAST_PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let year = "(?:19|20)\\d\\d";
    let english = format!(
        "\\b(?:from|between) (?:\\w+ )?{year} (?:to|and|until|till|-) (?:\\w+ )?{year}|\\b{year} ?[-–—] ?{year}\\b"
    );
    let chinese = format!("{year}年?(?:到|至|-|–|~){year}");
    Regex::new(&format!("(?i){english}|{chinese}")).expect("valid")
});

/// Most words of a value; a longer one is a story.
pub(super) const MAX_VALUE_WORDS: usize = 10;

/// Most words beside the clause that gives a value; a statement with more would be lost with it.
const MAX_OTHER_WORDS: usize = 6;

/// Status of whoever has a girlfriend or boyfriend, which only "single" contradicts.
const PARTNERED: &str = "partnered";

/// Subject of statements about the user.
pub(super) const USER: &str = "i";

/// Value of a subject's attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SingleValue {
    pub(super) subject: String,
    pub(super) attribute: String,
    pub(super) value: String,
    /// Set by a verb of moving, or "new" before a person: the old value is over even if both could hold.
    pub(super) is_move: bool,
}

impl SingleValue {
    /// Reads the values that a new statement gives, one at most a clause.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        clauses(text).filter_map(Self::of_clause).collect()
    }

    /// Reads the value of a stored statement; `None` if it says more than that.
    pub(super) fn only_in(text: &str) -> Option<Self> {
        let all: Vec<Vec<String>> = clauses(text).map(normalized_words).collect();
        let (at, value) =
            clauses(text).enumerate().find_map(|(at, it)| Some((at, Self::of_clause(it)?)))?;
        let others: usize = all.iter().map(Vec::len).sum::<usize>() - all[at].len();
        (others <= MAX_OTHER_WORDS).then_some(value)
    }

    /// Reads the value that a clause gives; a period that is over gives none.
    fn of_clause(clause: &str) -> Option<Self> {
        if is_past_period(clause) {
            return None;
        }
        roles::parse(clause).or_else(|| Self::parse(&normalized_words(clause)))
    }

    /// Parses normalized words; `None` if they give no such value.
    pub(super) fn parse(words: &[String]) -> Option<Self> {
        if words.iter().any(|word| word.contains(is_cjk)) {
            return chinese_value::parse(&words.concat());
        }
        english_value::parse(words)
    }

    /// Returns `true` if this gives another value to the same thing. A value that contains the other only says more, and
    /// so does a place that contains the other, unless someone moved.
    pub(super) fn differs_from(&self, old: &Self) -> bool {
        let is_same = self.subject == old.subject && self.attribute == old.attribute;
        is_same
            && !says_within(&self.value, &old.value)
            && !says_within(&old.value, &self.value)
            && !self.holds_beside(old)
    }

    fn holds_beside(&self, old: &Self) -> bool {
        match self.attribute.as_str() {
            "home" => holds_in_both(&self.value, &old.value, self.is_move),
            "name" | "occupation" => is_one_of_several(&self.subject),
            "marital status" => {
                let values = [self.value.as_str(), &old.value];
                values.contains(&PARTNERED) && !values.contains(&"single")
            }
            noun if LOOSE_NOUNS.contains(&noun) => !self.is_move,
            // Nobody grows younger; of two brothers one is.
            "age" => is_one_of_several(&self.subject) && number(&self.value) < number(&old.value),
            _ => false,
        }
    }

    pub(super) fn new(subject: &str, attribute: &str, value: &str) -> Option<Self> {
        let subject = canonical_subject(subject);
        let (attribute, value) = (attribute.to_owned(), value.trim().to_owned());
        let is_move = false;
        (!subject.is_empty() && !value.is_empty()).then_some(Self {
            subject,
            attribute,
            value,
            is_move,
        })
    }

    pub(super) fn moved(self, is_move: bool) -> Self {
        Self { is_move, ..self }
    }
}

/// Returns `true` if a value contains another at the bounds of numbers: 12月1日 is none of 12月15日, "1" none of "15".
fn says_within(whole: &str, part: &str) -> bool {
    let is_digit = |c: Option<char>| {
        c.is_some_and(|c| c.is_ascii_digit() || "一二三四五六七八九十".contains(c))
    };
    whole.match_indices(part).any(|(at, part)| {
        let (before, after) = (&whole[..at], &whole[at + part.len()..]);
        let splits_start = is_digit(before.chars().next_back()) && is_digit(part.chars().next());
        let splits_end = is_digit(part.chars().next_back()) && is_digit(after.chars().next());
        !splits_start && !splits_end
    })
}

/// Returns `true` for "from 2005 to 2010" and 2005年到2010年.
fn is_past_period(clause: &str) -> bool {
    PAST_PERIOD.is_match(clause)
}

/// Returns `true` if both homes hold: one may be part of the other, and no move was said.
pub(super) fn holds_in_both(new: &str, old: &str, is_move: bool) -> bool {
    is_same_place(new, old) || may_contain(new, old) && !is_move
}

/// Returns `true` if one may have several of a subject: "my brother".
pub(super) fn is_one_of_several(subject: &str) -> bool {
    let last = subject.split(' ').next_back().unwrap_or_default();
    SEVERAL.contains(&last) || SEVERAL.iter().any(|word| !word.is_ascii() && last.ends_with(word))
}

/// Returns `true` if a statement speaks of a move.
pub(super) fn says_move(text: &str) -> bool {
    let words = normalized_words(text).join(" ");
    MOVES.iter().any(|verb| words.contains(verb))
}

/// Returns words by which statements about the same attributes are found, whatever words and language they use.
pub(super) fn related_words(text: &str) -> String {
    let of = |value: &SingleValue| match value.attribute.as_str() {
        "home" => "live lives moved based 住 住在 搬到 定居".to_owned(),
        "employer" => "work works working joined 上班 工作 入职 跳槽".to_owned(),
        "name" => "name named called call 名字 叫 改名".to_owned(),
        "deadline" => "deadline due 截止 截止日期".to_owned(),
        "marital status" => "single married divorced engaged 结婚 已婚 单身 离婚 未婚".to_owned(),
        "age" => {
            let ages = number(&value.value).saturating_sub(12)..number(&value.value);
            let ages: Vec<String> = ages.rev().map(|age| format!("{age} {age}岁")).collect();
            format!("age years 岁 {}", ages.join(" "))
        }
        "occupation" => {
            let names = OCCUPATIONS.iter().map(|(en, zh)| format!("{en} {}", zh.replace('/', " ")));
            names.collect::<Vec<_>>().join(" ")
        }
        other => match other.strip_prefix("favourite ") {
            Some(thing) => {
                format!("favourite favorite color {thing} 最喜欢 {}", chinese_thing(thing))
            }
            None => String::new(),
        },
    };
    SingleValue::all_in(text).iter().map(of).collect::<Vec<_>>().join(" ")
}

fn chinese_thing(thing: &str) -> &str {
    FAVOURITES.iter().find(|(english, _)| *english == thing).map_or("", |(_, chinese)| chinese)
}

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '，', ';', '；']).filter(|clause| !clause.trim().is_empty())
}

pub(super) fn number(value: &str) -> u32 {
    value.parse().unwrap_or_default()
}

/// Names a subject as both languages do: the user is "i", 我老婆 is "my wife".
fn canonical_subject(subject: &str) -> String {
    let chinese = subject.trim_start_matches('我').trim_start_matches('的').trim_end_matches('的');
    if subject.starts_with('我') && chinese.is_empty() {
        return USER.to_owned();
    }
    let named = SUBJECTS.iter().find(|(_, names)| names.contains(&chinese));
    match named {
        Some((english, _)) if subject.starts_with('我') => format!("my {english}"),
        Some((english, _)) => (*english).to_owned(),
        None if subject.contains(is_cjk) => chinese.to_owned(),
        None => match subject.strip_prefix("my ").unwrap_or_default() {
            "mum" | "mom" => "my mother".to_owned(),
            "dad" => "my father".to_owned(),
            owned => match owned.split(' ').collect::<Vec<_>>()[..] {
                // "My cat Luna" is Luna.
                [kind, name] if SEVERAL.contains(&kind) => name.to_owned(),
                _ => subject.strip_prefix("our ").unwrap_or(subject).to_owned(),
            },
        },
    }
}
