//! Statements of two parts: what ends one of them leaves the other, so that the whole is doubtful and not over.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{numbers::singular, words::normalized_words};
use crate::text::language::is_cjk;

/// Words between two things that are told together.
static JOINT: LazyLock<Regex> =
    LazyLock::new(|| compile(" and | plus | as well as | & |、|和|以及|还有"));

/// Chinese words of a clause that tells something of its own.
static TELLS: LazyLock<Regex> = LazyLock::new(|| compile("[我有是对养吃学开喝用叫爱在做喜]|过敏"));

/// English words of a clause that tells something of its own.
#[rustfmt::skip]
const CLAUSE_VERBS: &[&str] = &[
    "am", "are", "was", "were", "have", "had", "live", "work", "like", "love", "hate", "teach", "study", "play", "use", "eat", "drink", "take", "run", "drive",
    "own", "need", "prefer", "speak", "go", "want",
];

/// Words that say nothing about which thing is meant.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "i", "we", "my", "our", "the", "a", "an", "of", "for", "on", "in", "at", "to", "am", "are", "have", "it", "now", "with", "no", "not", "longer", "do", "also",
];

/// Fewest words of an English clause, or characters of a Chinese one, that tells something of its own.
const MIN_CLAUSE: usize = 3;

/// Returns `true` if a stored statement has a thing or clause of which a new one does not speak, beside one of which it
/// does.
pub(super) fn other_part_stands(new: &str, old: &str) -> bool {
    other_clause_stands(new, old) || other_thing_stands(new, old)
}

/// Returns `true` for "I take aspirin and metformin" beside a new statement that names one of both.
pub(super) fn other_thing_stands(new: &str, old: &str) -> bool {
    let new: BTreeSet<String> = named_things(new).into_iter().collect();
    let things = joint_things(old);
    things.iter().any(|thing| new.contains(thing)) && things.iter().any(|it| !new.contains(it))
}

/// Returns `true` if a later clause of a stored statement tells something of its own, of which a new one does not speak.
pub(super) fn other_clause_stands(new: &str, old: &str) -> bool {
    let new: BTreeSet<String> = named_things(new).into_iter().collect();
    let clauses = old.split([',', '，', ';', '；']).filter(|it| !it.trim().is_empty());
    let is_unnamed = |clause: &str| !named_things(clause).iter().any(|it| new.contains(it));
    clauses.skip(1).any(|clause| tells_something(clause) && is_unnamed(clause))
}

/// Returns the name of each thing that a statement tells together: the last one before "and", the first one behind it.
fn joint_things(text: &str) -> Vec<String> {
    let parts: Vec<&str> = JOINT.split(text).collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    let parts = parts.iter().flat_map(|part| part.split([',', '，'])).map(named_things);
    let parts: Vec<Vec<String>> = parts.filter(|things| !things.is_empty()).collect();
    let name = |(at, things): (usize, &Vec<String>)| match at {
        0 => things.last().cloned(),
        _ => things.first().cloned(),
    };
    parts.iter().enumerate().filter_map(name).collect()
}

fn tells_something(clause: &str) -> bool {
    if clause.contains(is_cjk) {
        return clause.chars().count() >= MIN_CLAUSE && TELLS.is_match(clause);
    }
    let words = normalized_words(clause);
    words.len() >= MIN_CLAUSE && words.iter().any(|word| CLAUSE_VERBS.contains(&word.as_str()))
}

/// Returns the words and pairs of Chinese characters that name things, in their order.
fn named_things(text: &str) -> Vec<String> {
    let words = normalized_words(text);
    let mut things = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if word.contains(is_cjk) {
            let next = words.get(at + 1).filter(|next| next.contains(is_cjk));
            things.extend(next.map(|next| format!("{word}{next}")));
        } else if !STOP.contains(&word.as_str()) {
            things.push(singular(word));
        }
    }
    things
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
