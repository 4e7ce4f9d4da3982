//! Numbers with a unit: two statements that differ in nothing else give one thing two numbers.

use std::collections::BTreeSet;

/// Words that say that a number is the one of now.
const NOW: &[&str] = &["now", "currently", "nowadays"];

/// Verbs and nouns whose number is always the one of now.
const MEASURED: &[&str] = &["weigh", "earn", "cost", "tall", "rent", "salary"];

/// Words that say nothing about what is counted.
const FILLERS: &[&str] =
    &["now", "currently", "nowadays", "only", "just", "already", "about", "around", "the"];

const NUMERALS: &[&str] = &[
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
    let is_year = |number: &String| number.len() == 4 && number.starts_with(['1', '2']);
    is_alike && (has(NOW) || has(MEASURED)) && !numbers.iter().any(is_year)
}

/// Returns the unit of the number that a value begins with; an empty one if it has none. `None` if it begins with no
/// number.
pub(super) fn unit_of(value: &str) -> Option<String> {
    let words: Vec<String> = value.split(' ').map(str::to_owned).collect();
    let (number, unit) = split_number(words.first()?)?;
    let _ = number;
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

/// Splits "30s" into its number and its unit.
fn split_number(word: &str) -> Option<(String, String)> {
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
