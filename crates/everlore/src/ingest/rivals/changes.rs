//! Changes: statements that end or replace a value by naming it, its thing or its number: "I left Siemens", "the launch
//! was postponed to 12 March", "I weigh 75 kg".
//!
//! A change must name what it changes, and both statements must speak of the same people: what somebody else sold, a wish
//! and a period that is over change nothing.

use std::collections::BTreeSet;

use regex::Regex;

use super::{
    attributes::{RELATIVES, SEVERAL},
    change_patterns::{
        CANCELLED, DATED, DIED, DROPPED, EATS_MEAT, EMPLOYER, GRADUATED, MOVED_THING, MOVES_THING,
        PARTED, SOLD, SWITCHED, WEIGHT,
    },
    chinese_changes,
    numbers::{self, singular},
    single_value::SingleValue,
    words::normalized_words,
};
use crate::text::language::is_cjk;

/// Most words of a statement that a change can end: a longer one says more than that.
const MAX_OLD_WORDS: usize = 14;

/// Words of a clause that wishes, supposes, denies or announces.
#[rustfmt::skip]
const UNREAL: &[&str] = &[
    "if", "would", "might", "may", "could", "should", "want", "wants", "thinking", "think", "considering", "maybe", "perhaps", "planning", "plan",
    "hope", "wish", "suppose", "imagine", "unless", "not", "never", "almost", "nearly", "before", "when", "trying", "can", "until", "till",
];

/// Verbs of an ending that begin a statement without its subject.
const SUBJECTLESS: &[&str] =
    &["sold", "quit", "left", "cancelled", "canceled", "dropped", "ditched", "switched", "finally"];

/// Words of a time that is over.
#[rustfmt::skip]
const OVER: &[&str] = &[
    "was", "were", "used", "lived", "worked", "previously", "formerly", "former", "old", "ago", "last", "had", "visited", "once", "did", "went",
];

/// Words that say nothing about which thing is meant.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "i", "we", "my", "our", "the", "a", "an", "of", "for", "on", "in", "at", "to", "am", "are", "have", "it", "new", "now", "currently", "time",
    "date", "with",
];

/// Verbs of statements about what somebody uses or has: whoever switches from it no longer does.
#[rustfmt::skip]
const USE_VERBS: &[&str] = &[
    "use", "run", "am", "bank", "shop", "subscribe", "go", "train", "pay", "drive", "have", "write", "written", "deploy", "hosted", "live", "reside",
    "drink", "eat", "take", "play", "work", "own", "ride",
];

/// Verbs of statements that hold whatever somebody uses.
const KNOW_VERBS: &[&str] =
    &["like", "love", "know", "hate", "learned", "speak", "read", "prefer", "remember", "met"];

/// Words of a relationship that a parting ends.
const RELATIONS: &[&str] = &[
    "girlfriend",
    "boyfriend",
    "partner",
    "wife",
    "husband",
    "fiance",
    "fiancee",
    "fiancé",
    "fiancée",
    "dating",
    "engaged",
    "together",
    "married",
    "seeing",
    "wife's",
    "husband's",
    "girlfriend's",
    "boyfriend's",
];

/// Returns `true` if a new statement says that what an old one says is over, by naming it.
pub(super) fn changes(new: &str, old: &str) -> bool {
    if new.contains(is_cjk) || old.contains(is_cjk) {
        return new.contains(is_cjk) && old.contains(is_cjk) && chinese_changes::changes(new, old);
    }
    let old_words = normalized_words(old);
    let is_over = old_words.iter().any(|word| OVER.contains(&word.as_str()) || word == "if");
    if is_over || old_words.len() > MAX_OLD_WORDS || new.trim_end().ends_with('?') {
        return false;
    }
    let new = with_subject(new);
    let clauses: Vec<Vec<String>> = clauses(&new).collect();
    if clauses.iter().flatten().any(|word| word == "if") {
        return false;
    }
    let old = OldStatement::new(old, old_words);
    clauses.iter().any(|words| old.is_changed_by(words))
}

/// Returns `true` if a statement has words of a change.
pub(super) fn may_change(text: &str) -> bool {
    if text.contains(is_cjk) {
        return chinese_changes::may_change(text);
    }
    let patterns = [
        &EMPLOYER,
        &SOLD,
        &SWITCHED,
        &DROPPED,
        &PARTED,
        &GRADUATED,
        &EATS_MEAT,
        &DIED,
        &MOVED_THING,
        &MOVES_THING,
        &WEIGHT,
    ];
    clauses(text).any(|words| {
        let clause = words.join(" ");
        patterns.iter().any(|pattern| pattern.is_match(&clause))
    })
}

/// Returns words by which a statement is found that a change ends without naming it.
pub(super) fn related_to_change(text: &str) -> &'static str {
    let words = normalized_words(text).join(" ");
    let has = |any: &[&str]| any.iter().any(|word| words.contains(word) || text.contains(word));
    match () {
        () if has(&["meat", "fish", "吃肉", "吃荤", "开荤"]) => {
            "vegetarian vegan 吃素 素食 素食者"
        }
        () if has(&[" kg", "kilos", "pounds", "公斤", "斤"]) => "weigh kg 体重 公斤",
        () if has(&["retired", "退休"]) => "work works working job teacher 上班 工作 任职 老师",
        () if has(&["gave birth", "given birth", "生了"]) => "pregnant 怀孕",
        () if has(&["graduated", "毕业"]) => "student 学生",
        () => "",
    }
}

/// Adds the subject that a statement leaves out: "Sold the Golf".
fn with_subject(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    if SUBJECTLESS.contains(&first.as_str()) { format!("I {text}") } else { text.to_owned() }
}

/// Returns `true` if a clause wishes, supposes, denies or announces.
pub(super) fn is_unreal(clause: &[String]) -> bool {
    clause.iter().any(|word| UNREAL.contains(&word.as_str()))
}

/// Iterates over the clauses of a statement, and the whole of it.
pub(super) fn clauses(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split([',', ';', '—', '–'])
        .flat_map(|clause| clause.split(" and "))
        .chain([text])
        .map(normalized_words)
        .filter(|words| !words.is_empty())
}

/// Stored statement, read once.
struct OldStatement {
    text: String,
    words: Vec<String>,
    value: Option<SingleValue>,
}

impl OldStatement {
    fn new(text: &str, words: Vec<String>) -> Self {
        Self { text: words.join(" "), words, value: SingleValue::only_in(text) }
    }

    fn is_changed_by(&self, clause: &[String]) -> bool {
        !is_unreal(clause)
            && (self.is_left(&clause.join(" "))
                || self.has_same_people(clause) && self.is_moved(clause))
    }

    /// Returns `true` if a clause says that a value of this is over, and names it.
    fn is_left(&self, clause: &str) -> bool {
        if let Some(found) = PARTED.captures(clause) {
            let name = ["x", "r", "d"].iter().find_map(|name| found.name(name));
            return self.has_any(RELATIONS) && name.is_some_and(|name| self.has_all(name.as_str()));
        }
        let people =
            self.has_same_people(&clause.split(' ').map(str::to_owned).collect::<Vec<_>>());
        if !people || !self.is_ours() {
            return false;
        }
        let named = |pattern: &Regex| {
            let found = pattern.captures(clause)?;
            let value = found.name("x").or_else(|| {
                pattern.capture_names().any(|it| it == Some("r")).then(|| found.name("r"))?
            })?;
            Some(self.has_all(before_detail(value.as_str())))
        };
        let is_student = || self.has_any(&["student", "study"]);
        named(&EMPLOYER) == Some(true)
            && self.value.as_ref().is_some_and(|it| it.attribute == "employer")
            || named(&SOLD) == Some(true) && self.has_any(&["drive", "own", "have", "ride", "car"])
            || named(&SWITCHED) == Some(true) && self.is_use()
            || named(&DROPPED) == Some(true) && self.is_use()
            || is_student() && GRADUATED.is_match(clause) && named(&GRADUATED) != Some(false)
            || DIED.captures(clause).is_some_and(|found| self.is_one_of(&found["x"]))
            || self.has_any(&["vegetarian", "vegan"]) && EATS_MEAT.is_match(clause)
    }

    /// Returns `true` if a clause gives another value to the thing that this speaks of.
    fn is_moved(&self, clause: &[String]) -> bool {
        let text = clause.join(" ");
        if let Some(unit) = WEIGHT.captures(&text).and_then(|found| found.name("unit")) {
            let is_weight = self.text.starts_with("i weigh ") && self.text.contains(unit.as_str());
            return is_weight && !text.starts_with(&self.text);
        }
        if let Some(found) = CANCELLED.captures(&text) {
            let thing = content_words(found["thing"].split(' '));
            return !thing.is_empty() && self.subject() == thing && DATED.is_match(&self.text);
        }
        let found = [&MOVES_THING, &MOVED_THING].iter().find_map(|pattern| pattern.captures(&text));
        match found {
            Some(found) => self.moves_to(&found["thing"], &found["value"]),
            None => numbers::gives_other_number(clause, &self.words),
        }
    }

    fn moves_to(&self, thing: &str, value: &str) -> bool {
        let thing = content_words(thing.split(' '));
        let has_thing = !thing.is_empty() && thing.iter().all(|word| self.has(word));
        let subject = self.subject();
        let is_about_it = subject.is_empty() || subject == thing;
        has_thing && is_about_it && self.has_kind_of(value, subject == thing)
    }

    /// Returns `true` if this has a value that a new one can take the place of.
    fn has_kind_of(&self, value: &str, is_subject: bool) -> bool {
        if DATED.is_match(value) {
            return DATED.is_match(&self.text);
        }
        if let Some(unit) = numbers::unit_of(value) {
            return numbers::units_in(&self.words).contains(&unit);
        }
        let shares = content_words(value.split(' ')).iter().any(|word| self.has(word));
        let names_place = [" am with ", " am on ", " written in ", " run on ", " hosted "];
        is_subject
            && !DATED.is_match(&self.text)
            && (shares || names_place.iter().any(|place| self.text.contains(place)))
    }

    /// Returns the words of the subject; empty for the user.
    fn subject(&self) -> BTreeSet<String> {
        let end = self.words.iter().position(|word| USE_VERBS.contains(&word.as_str()));
        content_words(self.words[..end.unwrap_or(0)].iter().map(String::as_str))
    }

    /// Returns `true` if it says that the user has one of these: "I have a cat".
    fn is_one_of(&self, thing: &str) -> bool {
        ["a", "an", "one"].iter().any(|one| self.text == format!("i have {one} {thing}"))
    }

    fn is_use(&self) -> bool {
        self.has_any(USE_VERBS) && !self.has_any(KNOW_VERBS)
    }

    /// Returns `true` if it begins like a statement about the user or the user's things.
    fn is_ours(&self) -> bool {
        matches!(self.words.first().map(String::as_str), Some("i" | "we" | "my" | "our" | "the"))
    }

    fn has_same_people(&self, clause: &[String]) -> bool {
        people(&self.words) == people(clause)
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|it| it == word || singular(it) == word)
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    fn has_all(&self, text: &str) -> bool {
        let words = content_words(text.split(' '));
        !words.is_empty() && words.iter().all(|word| self.has(word))
    }
}

/// Returns the people whom a statement speaks of beside the user.
pub(super) fn people(words: &[String]) -> BTreeSet<String> {
    let is_person = |word: &&str| {
        // "I'm a student" speaks of the user.
        (SEVERAL.contains(word) || RELATIVES.contains(word))
            && !["student", "teacher"].contains(word)
    };
    let bare = |word: &'_ String| {
        let word = word.trim_end_matches("'s");
        word.strip_suffix('s').filter(|one| SEVERAL.contains(one)).unwrap_or(word).to_owned()
    };
    words.iter().map(bare).filter(|word| is_person(&word.as_str())).collect()
}

/// Cuts "siemens in march" before its detail.
fn before_detail(value: &str) -> &str {
    let details = [
        " in ",
        " last ",
        " and ",
        " for ",
        " to ",
        " this ",
        " because ",
        " yesterday",
        " after ",
        " since ",
        " now",
    ];
    let end = details.iter().filter_map(|detail| value.find(detail)).min();
    &value[..end.unwrap_or(value.len())]
}

fn content_words<'w>(words: impl Iterator<Item = &'w str>) -> BTreeSet<String> {
    words.filter(|word| !word.is_empty() && !STOP.contains(word)).map(singular).collect()
}
