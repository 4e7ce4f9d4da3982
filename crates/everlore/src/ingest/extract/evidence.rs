//! Evidence of a statement: a model must draw it from the turns that it cites, and small models invent. The check is
//! ours, by words: what shares too little with the cited words of the user, or names what nobody named, is not
//! supported.

use std::collections::HashSet;

use super::{TurnText, model_request::ExtractionInput};
use crate::{
    text::{
        language::is_cjk,
        terms::{is_single_cjk, terms},
    },
    types::{Kind, Role},
};

/// Least share of a statement's terms that the cited turns have: "The user lives in Lisbon." has one of two of "I moved
/// to Lisbon last month.", and a good summary of a long turn has about a third.
const MIN_SHARE: f64 = 0.2;

/// Fewest terms of a quotation that prove a statement in another language.
const MIN_QUOTED_TERMS: usize = 2;

/// Most terms of a turn that only confirms what the assistant said before it, such as "Yes, exactly." and 对，没错。
const MAX_CONFIRMING_TERMS: usize = 4;

/// Words of the examples in our prompts: they exist nowhere, so a statement with one of them is a copy.
const EXAMPLE_WORDS: [&str; 7] =
    ["examplonia", "samplestan", "exember", "placeholdish", "示例国", "样板城", "占位语"];

/// Capitalized words that a statement may add: people say "last month", and statements give the date.
#[rustfmt::skip]
const CALENDAR_WORDS: [&str; 28] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "user", "users", "i",
    "problem", "solution", "outcome", "english", "chinese", "ai",
];

/// Statement to check.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementClaim<'a> {
    pub(super) kind: Kind,
    pub(super) statement: &'a str,
    /// Value of its slot; empty if it has none.
    pub(super) value: &'a str,
    /// Words that the model quotes as its evidence, if it does.
    pub(super) quote: Option<&'a str>,
}

/// Returns `true` if the cited turns say the statement, as far as words can tell.
pub(super) fn is_supported(
    claim: &StatementClaim<'_>,
    cited: &[&TurnText],
    input: &ExtractionInput<'_>,
) -> bool {
    let evidence = cited_words(claim.kind, cited, input);
    if evidence.is_empty() || copies_example(claim, input) {
        return false;
    }
    let said = Words::of(&evidence);
    let quote = claim.quote.map(str::trim).filter(|quote| !quote.is_empty());
    let quoted = quote.map(Words::of);
    // A quotation that is not in the turns is an invention, and so is what it proves.
    if quoted.as_ref().is_some_and(|quoted| !quoted.are_all_in(&said)) {
        return false;
    }
    let statement = Words::of(&without_speakers(claim.statement, cited));
    if statement.is_cjk != said.is_cjk {
        return quoted.is_some_and(|quoted| quoted.terms.len() >= MIN_QUOTED_TERMS)
            || statement.share_in(&said) >= MIN_SHARE;
    }
    statement.share_in(&said) >= MIN_SHARE
        && has_known_names(claim.statement, input)
        && (claim.value.is_empty() || is_known_value(claim.value, &statement, input))
}

/// Returns the words that count as evidence: those of the user and of other people among the cited turns, and those of
/// the assistant that a cited turn right after confirms. Experiences may be told by the assistant and by tools.
fn cited_words(kind: Kind, cited: &[&TurnText], input: &ExtractionInput<'_>) -> String {
    let all = input.all_turns();
    let confirms = |turn: &TurnText| {
        turn.role == Role::User && terms(&turn.text).len() <= MAX_CONFIRMING_TERMS
    };
    let is_confirmed = |turn: &TurnText| {
        let next = all.iter().skip_while(|it| it.id != turn.id).nth(1);
        next.is_some_and(|next| cited.iter().any(|it| it.id == next.id) && confirms(next))
    };
    let counts = |turn: &&&TurnText| match turn.role {
        Role::User => true,
        Role::Assistant => kind == Kind::Experience || is_confirmed(turn),
        Role::Tool | Role::System => kind == Kind::Experience,
    };
    let words: Vec<&str> = cited.iter().filter(counts).map(|turn| turn.text.as_str()).collect();
    words.join("\n")
}

/// Returns the statement without the names of who said it: they stand beside the words, not among them.
fn without_speakers(statement: &str, cited: &[&TurnText]) -> String {
    let speakers = cited.iter().filter_map(|turn| turn.speaker.as_deref());
    speakers.fold(statement.to_owned(), |text, name| text.replace(name, " "))
}

fn copies_example(claim: &StatementClaim<'_>, input: &ExtractionInput<'_>) -> bool {
    let text = format!("{}\n{}", claim.statement, claim.value).to_lowercase();
    let is_said =
        |word: &str| input.all_turns().iter().any(|turn| turn.text.to_lowercase().contains(word));
    EXAMPLE_WORDS.iter().any(|word| text.contains(word) && !is_said(word))
}

/// Returns `true` if somebody in the conversation, or a known statement, names every name of the statement.
fn has_known_names(statement: &str, input: &ExtractionInput<'_>) -> bool {
    let given = given_words(input);
    names_in(statement).iter().all(|name| given.text.contains(name))
}

/// Returns `true` if the value shares a word with the conversation, or is a number or a date.
fn is_known_value(value: &str, statement: &Words, input: &ExtractionInput<'_>) -> bool {
    let value = Words::of(value);
    let is_date = value.terms.iter().any(|term| term.contains(|c: char| c.is_ascii_digit()));
    is_date
        || value.terms.is_empty()
        || value.is_cjk != statement.is_cjk
        || value.shares_any(&given_words(input))
}

/// Returns all words that a model was given, names of speakers included.
fn given_words(input: &ExtractionInput<'_>) -> Words {
    let turns = input.all_turns();
    let speakers = turns.iter().filter_map(|turn| turn.speaker.as_deref());
    let texts = turns.iter().map(|turn| turn.text.as_str());
    let known = input.known_statements.iter().map(String::as_str);
    Words::of(&speakers.chain(texts).chain(known).collect::<Vec<_>>().join("\n"))
}

/// Returns the capitalized words of a text that do not begin a sentence, in lower case.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = bare.chars().next().is_some_and(char::is_uppercase) && bare.len() > 1;
        let plain = bare.trim_end_matches("'s").trim_end_matches("’s").to_lowercase();
        if is_name && !begins && !CALENDAR_WORDS.contains(&plain.as_str()) {
            names.push(plain);
        }
        begins = word.ends_with(['.', '!', '?', ':', '。', '！', '？', '：']);
    }
    names
}

/// Words of a text for comparison: terms of Latin words and pairs of Han characters, and single Han characters.
struct Words {
    terms: HashSet<String>,
    characters: HashSet<String>,
    text: String,
    is_cjk: bool,
}

impl Words {
    fn of(text: &str) -> Self {
        // Every statement is about the user.
        let text = text.to_lowercase().replace("用户", " ");
        let is_term = |term: &String| term != "user";
        let (characters, terms) =
            terms(&text).into_iter().filter(is_term).partition(|term| is_single_cjk(term));
        let cjk = text.chars().filter(|c| is_cjk(*c)).count();
        let latin = text.chars().filter(char::is_ascii_alphabetic).count();
        // A Han character is about a word of four letters.
        Self { terms, characters, is_cjk: cjk * 4 > latin, text }
    }

    fn are_all_in(&self, other: &Self) -> bool {
        self.terms.is_subset(&other.terms) && self.characters.is_subset(&other.characters)
    }

    fn shares_any(&self, other: &Self) -> bool {
        !self.terms.is_disjoint(&other.terms) || !self.characters.is_disjoint(&other.characters)
    }

    /// Returns the share of terms that the other text has, from 0 to 1. Single characters count half: 养猫 and 有只猫
    /// share no pair.
    fn share_in(&self, other: &Self) -> f64 {
        let share = |one: &HashSet<String>, other: &HashSet<String>| {
            one.intersection(other).count() as f64 / one.len().max(1) as f64
        };
        share(&self.terms, &other.terms).max(share(&self.characters, &other.characters) / 2.0)
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
