//! Numbers of what a number tells: a version, a room, a floor, a grade, a time. The same statement with another one is a
//! change where its subject has one at a time: "the database is Postgres 14", "I'm in room 12".
//!
//! Invariant: a number before the verb names a thing ("server 2 has a fan") and is never compared.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    attributes::SEVERAL,
    chinese_numbers,
    numbers::{self, FILLERS, NO_UNITS, singular, split_number},
    statement::StatementClash,
    words::normalized_words,
};
use crate::text::language::is_cjk;

/// Verbs of what is so; behind them a number tells something about the subject.
const STATES: &[&str] = &["am", "are", "run", "use", "wear", "require", "need", "have"];

/// Words that begin no subject of which there is one.
#[rustfmt::skip]
const NO_SUBJECT: &[&str] = &[
    "a", "an", "some", "every", "each", "one", "it", "this", "that", "there", "he", "she", "they", "these", "those", "if", "when", "yesterday", "another", "you",
    "here", "all", "most", "many", "today", "tomorrow", "what", "his", "her", "their",
];

/// Things of which a house has several.
#[rustfmt::skip]
const SCATTERED: &[&str] = &[
    "bathroom", "toilet", "restroom", "elevator", "lift", "exit", "printer", "kitchen", "room", "classroom", "stair", "window", "lamp", "light", "door", "locker",
    "shop", "store", "cafe", "restaurant", "table", "chair", "patient", "guest",
];

/// Events that come again at the same time.
#[rustfmt::skip]
const RECURRING: &[&str] = &[
    "standup", "stand-up", "daily", "weekly", "sync", "retro", "retrospective", "huddle", "alarm", "bedtime", "curfew", "checkout", "check-in", "scrum",
];

/// Events of which one may have several.
#[rustfmt::skip]
const EVENTS: &[&str] = &[
    "flight", "train", "bus", "ferry", "meeting", "call", "shift", "appointment", "exam", "interview", "class", "lesson", "lecture", "session", "workshop", "talk",
    "game", "match", "ticket", "order", "score", "invoice", "question", "answer", "chapter", "page", "step", "result", "test", "issue", "bug", "note",
];

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];

const PLACES: &[&str] =
    &["room", "gate", "seat", "desk", "apartment", "flat", "unit", "bay", "platform", "cubicle"];

const GRADES: &[&str] = &["grade", "year", "form", "semester"];

const FLOORS: &[&str] = &["floor", "storey", "story", "level"];

const ORDINALS: &[&str] = &[
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    "tenth", "eleventh", "twelfth",
];

/// Beginning of a grade: whoever started it is in it.
static ENTERED: LazyLock<Regex> = LazyLock::new(|| {
    let verb = r"(?:have )?(?:just )?(?:started|entered|starts|am start|moved up to)";
    Regex::new(&format!(r"\b{verb}(?: in)? (?P<grade>\S+ (?:grade|year|form))\b")).expect("valid")
});

/// Kind of thing that a number tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    Version,
    Place,
    Floor,
    Grade,
    Time,
    Date,
    Measure,
}

/// Compares two statements that differ in a number; `None` if both hold.
pub(super) fn clash_of_numbers(new: &str, old: &str) -> Option<StatementClash> {
    match (new.contains(is_cjk), old.contains(is_cjk)) {
        (true, true) => chinese_numbers::clash_of_numbers(new, old),
        (false, false) => {
            let (new, old) = (NumberedStatement::read(new), NumberedStatement::read(old));
            new.clash_with(&old)
        }
        _ => None,
    }
}

/// Returns what two statements have in common that differ in a number behind the verb.
pub(super) fn number_key(text: &str) -> Option<String> {
    if text.contains(is_cjk) {
        return chinese_numbers::number_key(text);
    }
    let read = NumberedStatement::read(text);
    let has_kind = read.numbers.iter().any(|(at, _)| read.kind_at(*at).is_some());
    (has_kind && read.verb().is_some()).then(|| format!("number {}", read.masked.join(" ")))
}

/// Statement with its numbers masked.
struct NumberedStatement {
    /// Words, of each number `#` and its unit.
    masked: Vec<String>,
    /// Place and text of each number.
    numbers: Vec<(usize, String)>,
}

impl NumberedStatement {
    fn read(text: &str) -> Self {
        let (mut masked, mut numbers) = (Vec::new(), Vec::new());
        let words = normalized_words(text).join(" ");
        let words = ENTERED.replace_all(&words, "am in $grade");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        for word in words.iter().filter(|word| !FILLERS.contains(&word.as_str())) {
            match number_in(word) {
                Some((number, unit)) => {
                    numbers.push((masked.len(), number));
                    masked.push(format!("#{unit}"));
                }
                None => masked.push(singular(word)),
            }
        }
        Self { masked, numbers }
    }

    fn clash_with(&self, old: &Self) -> Option<StatementClash> {
        if self.masked != old.masked || self.numbers.len() != old.numbers.len() {
            return None;
        }
        let mut pairs = self.numbers.iter().zip(&old.numbers).filter(|(new, old)| new.1 != old.1);
        let ((at, new), (_, old)) = pairs.next()?;
        let is_only = pairs.next().is_none();
        let verb = self.verb().filter(|verb| is_only && verb < at)?;
        let subject = &self.masked[..verb];
        let is_one = subject.first().is_some_and(|word| !NO_SUBJECT.contains(&word.as_str()));
        self.kind_at(*at).filter(|_| is_one).and_then(|kind| clash_of(kind, subject, new, old))
    }

    fn verb(&self) -> Option<usize> {
        self.masked.iter().position(|word| STATES.contains(&word.as_str()))
    }

    fn kind_at(&self, at: usize) -> Option<NumberKind> {
        let number = &self.numbers.iter().find(|(it, _)| *it == at)?.1;
        let unit = self.masked[at].trim_start_matches('#');
        let word = |at: Option<usize>| at.and_then(|at| self.masked.get(at)).map_or("", |it| it);
        let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
        let is_ordinal = unit == "th";
        let is_clock = number.contains(':')
            || matches!(unit, "am" | "pm")
            || matches!(after, "am" | "pm" | "o'clock");
        match () {
            () if is_clock || before == "at" && after.is_empty() => Some(NumberKind::Time),
            () if GRADES.contains(&after) && is_ordinal || GRADES.contains(&before) => {
                Some(NumberKind::Grade)
            }
            () if FLOORS.contains(&after) || FLOORS.contains(&before) => Some(NumberKind::Floor),
            () if MONTHS.contains(&before) || MONTHS.contains(&after) => Some(NumberKind::Date),
            () if is_ordinal || is_year(number) => None,
            () if PLACES.contains(&before) => Some(NumberKind::Place),
            () if !after.is_empty() || !unit.is_empty() => None,
            () if before == "am" => Some(NumberKind::Measure),
            () if is_product(before) => Some(NumberKind::Version),
            () => None,
        }
    }
}

/// Splits a word into its number and its unit; an ordinal has the unit "th".
fn number_in(word: &str) -> Option<(String, String)> {
    if let Some(at) = ORDINALS.iter().position(|it| *it == word) {
        return Some((at.to_string(), "th".to_owned()));
    }
    if let Some((one, other)) = word.split_once('/') {
        let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        return (is_number(one) && is_number(other)).then(|| (word.to_owned(), String::new()));
    }
    let (number, unit) = split_number(word)?;
    let unit = if matches!(&*unit, "st" | "nd" | "rd") { "th".to_owned() } else { unit };
    Some((number, unit))
}

/// Returns `true` for "Postgres" in "Postgres 14", and none of the words that stand before what is counted.
fn is_product(word: &str) -> bool {
    let is_common = NO_UNITS.contains(&word)
        || STATES.contains(&word)
        || ["by", "than", "until", "till", "no", "about", "number"].contains(&word);
    word.len() > 1 && !is_common && word.chars().all(|c| c.is_ascii_alphabetic())
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && matches!(number.parse(), Ok(1900..=2099))
}

/// Returns the clash of two numbers of a kind behind this subject.
fn clash_of(kind: NumberKind, subject: &[String], new: &str, old: &str) -> Option<StatementClash> {
    let has = |words: &[&str]| subject.iter().any(|word| words.contains(&word.as_str()));
    let certain = Some(StatementClash::Certain);
    let possible = Some(StatementClash::Possible);
    let is_user = matches!(subject, [one] if one == "i" || one == "we");
    match kind {
        NumberKind::Grade => clash_of_grades(number(new), number(old)),
        _ if has(SEVERAL) => None,
        NumberKind::Time if has(RECURRING) => certain,
        NumberKind::Time | NumberKind::Date if is_user => None,
        NumberKind::Time | NumberKind::Date => possible,
        NumberKind::Floor | NumberKind::Place if has(SCATTERED) => None,
        _ if has(EVENTS) => possible,
        NumberKind::Floor | NumberKind::Place | NumberKind::Measure => certain,
        NumberKind::Version if is_user => possible,
        NumberKind::Version => certain,
    }
}

/// Returns the clash of two grades: a child is in a higher one a year later, and two children are in two.
pub(super) fn clash_of_grades(new: u32, old: u32) -> Option<StatementClash> {
    match new.checked_sub(old) {
        Some(1) => Some(StatementClash::Certain),
        Some(2..) => Some(StatementClash::Possible),
        _ => None,
    }
}

fn number(text: &str) -> u32 {
    let at = numbers::NUMERALS.iter().position(|it| *it == text);
    at.map_or_else(|| text.parse().unwrap_or_default(), |at| at as u32 + 1)
}
