//! Numbers with a unit: two statements that differ in nothing else give one thing two numbers.

use std::collections::BTreeSet;

/// Words that say that a number is the one of now.
const NOW: &[&str] = &["now", "currently", "nowadays"];

/// Verbs and nouns whose number is always the one of now.
const MEASURED: &[&str] = &["weigh", "earn", "cost", "tall", "rent", "salary"];

/// Verbs of what lasts: the number behind one of them is the one of now. "I ran 5 km" tells of a day.
#[rustfmt::skip]
const LASTING: &[&str] = &[
    "is", "are", "am", "has", "have", "take", "takes", "pay", "pays", "drink", "drinks", "eat", "eats", "need", "needs", "use",
    "uses", "charge", "charges", "lasts", "weighs", "earns", "costs", "measures", "contains", "owns", "own",
];

/// Words behind a number that make it a time or a date, or that begin something else.
#[rustfmt::skip]
pub(super) const NO_UNITS: &[&str] = &[
    "am", "pm", "o'clock", "oclock", "st", "nd", "rd", "th", "at", "on", "in", "and", "or", "to", "for", "with", "of", "from",
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Words that say nothing about what is counted.
pub(super) const FILLERS: &[&str] =
    &["now", "currently", "nowadays", "only", "just", "already", "about", "around", "the"];

pub(super) const NUMERALS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "once", "twice",
];

/// Returns `true` if a new statement is the old one with another number, and says that it is the one of now.
pub(super) fn gives_other_number(new: &[String], old: &[String]) -> bool {
    let ((masked, numbers), (old_masked, old_numbers)) = (masked(new), masked(old));
    let has = |words: &[&str]| new.iter().any(|word| words.contains(&word.as_str()));
    let is_alike =
        masked == old_masked && numbers.len() == old_numbers.len() && numbers != old_numbers;
    // A year tells when something happened.
    let is_year = |number: &String| {
        number.len() == 4 && matches!(number.parse(), Ok(1900..=2099)) && !has_unit(new, number)
    };
    let is_of_now = has(NOW) || has(MEASURED) || is_lasting(new);
    is_alike && is_of_now && !numbers.iter().any(is_year)
}

/// Returns `true` if the only number of a statement stands behind a verb of what lasts, with its unit: "I take 5 mg daily".
/// A number without one may be a name: "server 2 has a fan".
fn is_lasting(words: &[String]) -> bool {
    let mut numbers = (0..words.len()).filter(|at| split_number(&words[*at]).is_some());
    let (Some(at), None) = (numbers.next(), numbers.next()) else { return false };
    let is_behind_verb = words[..at].iter().any(|word| LASTING.contains(&word.as_str()));
    let number = split_number(&words[at]).map(|(number, _)| number).unwrap_or_default();
    is_behind_verb && has_unit(words, &number)
}

/// Returns `true` if a unit stands behind a number.
fn has_unit(words: &[String], number: &str) -> bool {
    let is_unit = |word: &str| {
        !word.is_empty() && word.chars().all(char::is_alphabetic) && !NO_UNITS.contains(&word)
    };
    let next = |at: usize| words.get(at + 1).map_or("", String::as_str);
    (0..words.len()).any(|at| match split_number(&words[at]) {
        Some((found, unit)) if found == number && !found.contains(':') => {
            is_unit(if unit.is_empty() { next(at) } else { &unit })
        }
        _ => false,
    })
}

/// Returns the unit of the number that a value begins with; an empty one if it has none. `None` if it begins with no
/// number.
pub(super) fn unit_of(value: &str) -> Option<String> {
    let words: Vec<String> = value.split(' ').map(str::to_owned).collect();
    let (_, unit) = split_number(words.first()?)?;
    Some(if unit.is_empty() {
        words.get(1).map(|it| singular(it)).unwrap_or_default()
    } else {
        unit
    })
}

/// Returns the units of the numbers in a statement.
pub(super) fn units_in(words: &[String]) -> BTreeSet<String> {
    (0..words.len()).filter_map(|at| unit_of(&words[at..].join(" "))).collect()
}

fn masked(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut masked, mut numbers) = (Vec::new(), Vec::new());
    for word in words.iter().filter(|word| !FILLERS.contains(&word.as_str())) {
        match split_number(word) {
            Some((number, unit)) => {
                numbers.push(number);
                masked.push(format!("#{unit}"));
            }
            None => masked.push(singular(word)),
        }
    }
    (masked, numbers)
}

/// Returns `true` if a text begins with a number, in digits or as a word.
pub(super) fn starts_with_number(text: &str) -> bool {
    text.split(' ').next().is_some_and(|word| split_number(word).is_some())
}

/// Splits "30s" into its number and its unit.
pub(super) fn split_number(word: &str) -> Option<(String, String)> {
    if NUMERALS.contains(&word) {
        return Some((word.to_owned(), String::new()));
    }
    let word = word.trim_start_matches(['€', '$', '£']);
    let end = word.find(|c: char| !(c.is_ascii_digit() || ".,:".contains(c))).unwrap_or(word.len());
    let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && word.len() - end <= 3;
    is_number.then(|| (word[..end].to_owned(), word[end..].to_owned()))
}

/// Returns a word without the ending of its plural.
pub(super) fn singular(word: &str) -> String {
    word.strip_suffix('s').filter(|it| it.len() > 2).unwrap_or(word).to_owned()
}
