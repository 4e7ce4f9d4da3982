//! Statements that give one value to one attribute of a subject: home, employer, job, age, marital status, name,
//! favourite, deadline. Subjects and attributes have one name in both languages.
//!
//! The tables list only what has one value at a time. "I work with Anna" and "I work with Ben" both hold; "I work at
//! Nokia" and "I work at Spotify" do not.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    attributes::{
        COPULAS, FAVOURITES, MARITAL_STATUS, MOVES, NOUNS, OCCUPATIONS, SEVERAL, SUBJECTS, VERBS,
    },
    chinese_value,
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

/// Most words of a subject, such as "my sister's new landlord".
const MAX_SUBJECT_WORDS: usize = 5;

/// Most words of a value; a longer one is a story.
pub(super) const MAX_VALUE_WORDS: usize = 10;

/// Most words beside the clause that gives a value; a statement with more would be lost with it.
const MAX_OTHER_WORDS: usize = 6;

/// Fewest digits of a phone number; "my phone is charging" has none.
const MIN_PHONE_DIGITS: usize = 5;

/// Subject of statements about the user.
pub(super) const USER: &str = "i";

/// English words around a subject or value that are no part of it.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "now", "currently", "just", "recently", "actually", "still", "already", "have", "finally", "again", "the", "new", "today", "please", "since",
];

/// Words after which a value is over: "to Rome last month".
#[rustfmt::skip]
const VALUE_ENDS: &[&str] = &[
    "last", "this", "since", "because", "and", "but", "with", "in", "for", "yesterday", "ago", "from", "at", "instead", "anymore",
];

/// Words of no single subject.
#[rustfmt::skip]
const NO_SUBJECT: &[&str] = &[
    "a", "an", "some", "one", "who", "what", "where", "if", "when", "not", "no", "never", "longer", "would", "might", "will", "could", "want",
];

/// Words of a value that is no name.
#[rustfmt::skip]
const NO_NAME: &[&str] = &[
    "a", "an", "my", "our", "his", "her", "their", "home", "night", "nights", "peace", "myself", "you", "back", "later", "when", "if", "tomorrow", "crazy", "at",
    "on", "before", "after", "soon", "maybe", "us", "them",
];

/// Value of a subject's attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SingleValue {
    pub(super) subject: String,
    pub(super) attribute: String,
    pub(super) value: String,
    /// Set by a verb of moving: the old value is over even if the new one may contain it.
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
        by_status(words)
            .or_else(|| by_age(words))
            .or_else(|| by_request(words))
            .or_else(|| by_noun(words))
            .or_else(|| by_verb(words))
            .or_else(|| by_occupation(words))
    }

    /// Returns `true` if this gives another value to the same thing. A value that contains the other only says more, and
    /// so does a place that contains the other, unless someone moved.
    pub(super) fn differs_from(&self, old: &Self) -> bool {
        let is_same = self.subject == old.subject && self.attribute == old.attribute;
        is_same
            && !self.value.contains(&old.value)
            && !old.value.contains(&self.value)
            && !self.holds_beside(old)
    }

    fn holds_beside(&self, old: &Self) -> bool {
        match self.attribute.as_str() {
            "home" => holds_in_both(&self.value, &old.value, self.is_move),
            "name" | "occupation" => is_one_of_several(&self.subject),
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

/// Parses "I am married" and "I got divorced".
fn by_status(words: &[String]) -> Option<SingleValue> {
    let text = words.join(" ");
    MARITAL_STATUS.iter().find_map(|(status, phrases, _)| {
        let (subject, rest) = phrases.iter().find_map(|phrase| split_at_words(&text, phrase))?;
        let ends =
            rest.is_empty() || !rest.starts_with("in ") && *status != "single" || rest == "again";
        let subject = without_fillers(&to_words(subject));
        SingleValue::new(&subject.join(" "), "marital status", status)
            .filter(|_| ends && is_subject(&subject) && subject.len() <= 3)
    })
}

/// Parses "I am 29", "I turned 30" and "my son is 5 years old".
fn by_age(words: &[String]) -> Option<SingleValue> {
    let at = words.iter().position(|word| word == "am" || word == "turned")?;
    let rest = without_fillers(&words[at + 1..]);
    let (age, unit) = rest.split_first()?;
    let unit = unit.join(" ");
    let is_age = (1..=120).contains(&number(age))
        && ["", "years old", "year old", "years", "yo"].contains(&unit.as_str());
    let subject = without_fillers(&words[..at]);
    let is_person = subject == ["i"] || subject.first().is_some_and(|word| word == "my");
    let names_number = subject.iter().any(|word| is_noun(word) || word == "favourite");
    SingleValue::new(&subject.join(" "), "age", age)
        .filter(|_| is_age && is_person && !names_number && subject.len() <= 3)
}

/// Parses "call me Ann".
fn by_request(words: &[String]) -> Option<SingleValue> {
    let text = without_fillers(words).join(" ");
    let (before, name) = split_at_words(&text, "call me")?;
    let is_request =
        ["", "you can", "just", "everyone", "people", "friends", "my friends"].contains(&before);
    let name =
        value_of(&to_words(name)).filter(|name| is_name(name) && name.split(' ').count() <= 3)?;
    SingleValue::new(USER, "name", &name).filter(|_| is_request)
}

/// Parses "SUBJECT live in VALUE".
fn by_verb(words: &[String]) -> Option<SingleValue> {
    VERBS.iter().find_map(|(attribute, verb)| {
        let verb_words: Vec<&str> = verb.split(' ').collect();
        let at = words.windows(verb_words.len()).position(|part| part == &verb_words[..])?;
        let mut subject = without_fillers(&words[..at]);
        // "I am living in".
        subject.pop_if(|word| word == "am");
        let value = value_of(&words[at + verb_words.len()..]).filter(|value| is_name(value))?;
        let fits = (1..=MAX_SUBJECT_WORDS).contains(&subject.len()) && is_subject(&subject);
        let found = SingleValue::new(&subject.join(" "), attribute, &value).filter(|_| fits)?;
        Some(found.moved(MOVES.contains(verb)))
    })
}

/// Parses "my NOUN is VALUE", "the NOUN of X is VALUE" and "the X NOUN was moved to VALUE".
fn by_noun(words: &[String]) -> Option<SingleValue> {
    let text = words.join(" ");
    let (subject, value) = COPULAS.iter().find_map(|copula| split_at_words(&text, copula))?;
    let subject = without_fillers(&to_words(subject));
    let fits = (1..=MAX_SUBJECT_WORDS).contains(&subject.len()) && is_subject(&subject);
    let (attribute, owner) = favourite_of(&subject).or_else(|| noun_of(&subject))?;
    let value = value_of(&to_words(value))?;
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let is_number = attribute != "phone" || digits >= MIN_PHONE_DIGITS;
    SingleValue::new(&owner, &attribute, &value).filter(|_| fits && is_number)
}

/// Splits "my favourite colour" into the attribute and its owner.
fn favourite_of(subject: &[String]) -> Option<(String, String)> {
    let at = subject.iter().position(|word| word == "favourite")?;
    let thing = subject[at + 1..].join(" ");
    let owner = owner_of(&subject[..at]);
    (!thing.is_empty() && !owner.is_empty()).then(|| (format!("favourite {thing}"), owner))
}

/// Splits "my name", "the project deadline" and "deadline of the project" into the attribute and its owner.
fn noun_of(subject: &[String]) -> Option<(String, String)> {
    let at = subject.iter().position(|word| is_noun(word))?;
    let noun = NOUNS.iter().find(|(_, english, _)| english.contains(&subject[at].as_str()))?.0;
    let (before, after) = (owner_of(&subject[..at]), &subject[at + 1..]);
    let owner = match after.split_first() {
        Some((of, owner)) if of == "of" || of == "for" => owner_of(owner),
        Some(_) => return None,
        None => before,
    };
    // "The deadline" has no owner, and is one thing.
    let owner = if owner.is_empty() && noun == "deadline" { "it".to_owned() } else { owner };
    (!owner.is_empty()).then(|| (noun.to_owned(), owner))
}

fn owner_of(words: &[String]) -> String {
    match words {
        [my] if my == "my" => USER.to_owned(),
        _ => words.join(" ").trim_end_matches("'s").to_owned(),
    }
}

/// Parses "I am a software engineer".
fn by_occupation(words: &[String]) -> Option<SingleValue> {
    let at = words.iter().position(|word| word == "am")?;
    let rest = without_fillers(&words[at + 1..]);
    let (article, rest) = rest.split_first()?;
    let value = value_of(rest)?;
    let last = value.split(' ').next_back()?;
    let is_job = OCCUPATIONS.iter().any(|(english, _)| *english == last);
    let subject = without_fillers(&words[..at]);
    SingleValue::new(&subject.join(" "), "occupation", &value)
        .filter(|_| is_job && (article == "a" || article == "an") && is_subject(&subject))
}

fn is_noun(word: &str) -> bool {
    NOUNS.iter().any(|(_, english, _)| english.contains(&word))
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
            _ => subject.strip_prefix("our ").unwrap_or(subject).to_owned(),
        },
    }
}

/// "A meeting in Paris" is one of several, "the meeting" is one; and what is denied or asked has no value.
fn is_subject(words: &[String]) -> bool {
    !words.iter().any(|word| NO_SUBJECT.contains(&word.as_str()))
}

/// "In a small flat" and "at home" hold beside any place.
fn is_name(value: &str) -> bool {
    !value.split(' ').any(|word| NO_NAME.contains(&word))
}

fn without_fillers(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect()
}

fn to_words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Splits a text of words around a phrase.
fn split_at_words<'t>(text: &'t str, phrase: &str) -> Option<(&'t str, &'t str)> {
    let starts = text.match_indices(phrase).map(|(at, _)| at);
    let is_whole = |&at: &usize| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        (before.is_empty() || before.ends_with(' ')) && (after.is_empty() || after.starts_with(' '))
    };
    let at = starts.into_iter().find(is_whole)?;
    Some((text[..at].trim(), text[at + phrase.len()..].trim()))
}

fn value_of(words: &[String]) -> Option<String> {
    let end = words.iter().position(|word| VALUE_ENDS.contains(&word.as_str()));
    let value = without_fillers(&words[..end.unwrap_or(words.len())]);
    let is_denied = value.iter().any(|word| word == "not");
    let fits = (1..=MAX_VALUE_WORDS).contains(&value.len()) && !is_denied;
    fits.then(|| value.join(" "))
}
