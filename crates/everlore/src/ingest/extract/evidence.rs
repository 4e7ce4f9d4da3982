//! Evidence of a statement: a model must draw it from the turns that it cites, and small models invent. The check is
//! ours, by words: what shares too little with the cited words of the user, names what nobody named, denies what was said
//! or says of the user what was said of others, is not supported.

use std::collections::{BTreeSet, HashSet};

use super::{TurnText, model_request::ExtractionInput};
use crate::{
    text::{
        assertions::{
            calendar::{has_relative_time, months_in, split_dates, weekdays_in},
            clauses::clauses,
            denials::{denies, differ_in_denial},
            figures::{digits_in, figures_in},
            objects::named_objects,
            subjects::{is_about_others, is_about_user},
        },
        language::is_cjk,
        terms::{is_single_cjk, terms},
        traditional::simplify,
    },
    types::{Kind, Role, Timestamp},
};

/// Least share of a statement's terms that the cited turns have: "The user lives in Lisbon." has one of two of "I moved
/// to Lisbon last month.", and a good summary of a long turn has about a third.
const MIN_SHARE: f64 = 0.2;

/// Share of a Chinese value's characters that somebody said.
const MIN_CHARACTERS: f64 = 0.5;

/// Share of the best clause's terms with which another clause is as good.
const NEAR_BEST: f64 = 0.75;

/// Words by which a turn refers to what was said before it, in which names and figures may then stand.
#[rustfmt::skip]
const REFERRING_WORDS: [&str; 24] = [
    "it", "it's", "that", "that's", "there", "this", "he", "she", "they", "them", "those", "these", "one", "same", "yes",
    "yeah", "exactly", "right", "correct", "both", "we", "then", "so", "too",
];

/// Chinese words of the same use.
const REFERRING_CHARACTERS: [char; 8] = ['它', '那', '这', '他', '她', '对', '嗯', '该'];

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
    let evidence = CitedEvidence::collect(claim.kind, cited, input);
    if evidence.asserted.is_empty() || copies_example(claim, input) {
        return false;
    }
    let said = Words::of(&evidence.text);
    let quote = claim.quote.map(str::trim).filter(|quote| !quote.is_empty());
    let quoted = quote.map(Words::of);
    // A quotation that is not in the turns is an invention, and so is what it proves.
    if quoted.as_ref().is_some_and(|quoted| !quoted.are_all_in(&said)) {
        return false;
    }
    let statement = Words::of(&without_speakers(&without_times(claim.statement), cited));
    let asserted = Words::of(&evidence.asserted.join("\n"));
    let has_share = statement.share_in(&asserted) >= MIN_SHARE;
    let names_what_was_said = if statement.is_cjk == said.is_cjk {
        has_share
            && has_known_names(claim.statement, input)
            && has_said_objects(claim.statement, &evidence)
            && (claim.value.is_empty() || is_known_value(claim.value, &statement, input))
    } else {
        has_share || quoted.as_ref().is_some_and(|it| it.terms.len() >= MIN_QUOTED_TERMS)
    };
    names_what_was_said
        && has_said_figures(claim, &evidence)
        && has_said_days(claim.statement, &evidence)
        && some_clause_agrees(claim, &statement, quoted.as_ref(), &evidence)
}

/// Words of the cited turns.
struct CitedEvidence<'a> {
    /// Words of the turns that count.
    text: String,
    /// Clauses that assert something: requests count for feedback, and all words for experiences.
    asserted: Vec<&'a str>,
    /// Words in which names and figures may stand: also those before, if the turns refer to them.
    reach: String,
    /// Times of the turns.
    times: Vec<Timestamp>,
}

impl<'a> CitedEvidence<'a> {
    fn collect(kind: Kind, cited: &[&'a TurnText], input: &ExtractionInput<'_>) -> Self {
        let counted = cited_turns(kind, cited, input);
        let text = counted.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>().join("\n");
        let and_questions = matches!(kind, Kind::Feedback | Kind::Experience);
        // A question of the assistant counts only where the user confirms it.
        let asserts =
            |turn: &&'a TurnText| clauses(&turn.text, and_questions || turn.role != Role::User);
        let asserted = counted.iter().flat_map(asserts).collect();
        let reach = if refers_back(&text) {
            format!("{text}\n{}", given_text(input))
        } else {
            text.clone()
        };
        Self { text, asserted, reach, times: counted.iter().map(|turn| turn.at).collect() }
    }
}

/// Returns the turns that count as evidence: those of the user and of other people among the cited turns, and those of
/// the assistant that a cited turn right after confirms. Experiences may be told by the assistant and by tools.
fn cited_turns<'a>(
    kind: Kind,
    cited: &[&'a TurnText],
    input: &ExtractionInput<'_>,
) -> Vec<&'a TurnText> {
    let all = input.all_turns();
    let confirms = |turn: &TurnText| {
        turn.role == Role::User
            && terms(&turn.text).len() <= MAX_CONFIRMING_TERMS
            && !is_refusal(&turn.text)
    };
    let is_confirmed = |turn: &TurnText| {
        let next = all.iter().skip_while(|it| it.id != turn.id).nth(1);
        next.is_some_and(|next| cited.iter().any(|it| it.id == next.id) && confirms(next))
    };
    let counts = |turn: &&TurnText| match turn.role {
        Role::User => true,
        Role::Assistant => kind == Kind::Experience || is_confirmed(turn),
        Role::Tool | Role::System => kind == Kind::Experience,
    };
    cited.iter().copied().filter(counts).collect()
}

/// Returns `true` if a short answer says no.
fn is_refusal(answer: &str) -> bool {
    let first = answer.trim_start().split(|c: char| !c.is_alphanumeric()).next();
    first.is_some_and(|word| ["no", "nope", "nah"].contains(&word.to_lowercase().as_str()))
        || denies(answer)
}

fn refers_back(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.any(|word| REFERRING_WORDS.contains(&word)) || text.contains(REFERRING_CHARACTERS)
}

/// Returns `true` if a clause near the statement neither denies it nor speaks of somebody else.
fn some_clause_agrees(
    claim: &StatementClaim<'_>,
    statement: &Words,
    quoted: Option<&Words>,
    evidence: &CitedEvidence<'_>,
) -> bool {
    if claim.kind == Kind::Experience {
        return true;
    }
    let is_of_user = claim.kind != Kind::Feedback && is_about_user(claim.statement);
    let agrees = |clause: &&str| {
        // Advice is often told the other way round: "be brief" and "no long answers".
        let may_deny = claim.kind == Kind::Feedback && !denies(clause);
        (may_deny || !differ_in_denial(clause, nearest_part(claim.statement, clause)))
            && !(is_of_user && is_about_others(clause))
    };
    nearest_clauses(statement, quoted, evidence).iter().any(agrees)
}

/// Returns the part of a statement that shares most with a clause.
fn nearest_part<'a>(statement: &'a str, clause: &str) -> &'a str {
    let clause = Words::of(clause);
    let share = |part: &&str| Words::of(part).share_in(&clause);
    let parts = clauses(statement, true).into_iter();
    parts.max_by(|one, other| share(one).total_cmp(&share(other))).unwrap_or(statement)
}

/// Returns the clauses that share most with the statement or, in another language, with what is quoted.
fn nearest_clauses<'a>(
    statement: &Words,
    quoted: Option<&Words>,
    evidence: &CitedEvidence<'a>,
) -> Vec<&'a str> {
    let share = |clause: &&'a str| {
        let clause = Words::of(clause);
        let wanted = quoted.filter(|_| clause.is_cjk != statement.is_cjk).unwrap_or(statement);
        wanted.share_in(&clause)
    };
    let shares: Vec<f64> = evidence.asserted.iter().map(share).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    let near = evidence.asserted.iter().zip(shares).filter(|(_, share)| *share >= best * NEAR_BEST);
    near.map(|(clause, _)| *clause).collect()
}

/// Returns `true` if every figure of statement and value stands in the evidence. Those of a date may follow from a time
/// such as "last month", and a year from when it was said.
fn has_said_figures(claim: &StatementClaim<'_>, evidence: &CitedEvidence<'_>) -> bool {
    let said = figures_in(&evidence.reach);
    let (dates, others) = split_dates(&format!("{}\n{}", claim.statement, claim.value));
    let is_said = |figure: &Vec<u64>| figure.iter().any(|value| said.contains(value));
    let has_date = has_relative_time(&evidence.reach) || !months_in(&evidence.reach).is_empty();
    // Without a date of its own, what is said is said of its day.
    let is_undated = said.is_empty() && !has_date;
    let own_dates = own_date_figures(&evidence.times);
    let is_year = |figure: &Vec<u64>| figure[0] > 1_900_000 && has_date;
    let is_said_date = |figure: &Vec<u64>| {
        is_said(figure)
            || is_year(figure)
            || has_relative_time(&evidence.reach)
            || is_undated && own_dates.contains(&figure[0])
    };
    digits_in(&others).iter().all(is_said) && digits_in(&dates).iter().all(is_said_date)
}

/// Returns year, month and day on which the turns were said, in thousandths as figures are.
fn own_date_figures(times: &[Timestamp]) -> BTreeSet<u64> {
    let figures = |time: &Timestamp| {
        let date = time.to_zoned(jiff::tz::TimeZone::UTC).date();
        [i64::from(date.year()), i64::from(date.month()), i64::from(date.day())]
    };
    times.iter().flat_map(figures).map(|figure| figure.unsigned_abs() * 1000).collect()
}

/// Returns `true` if the statement names no weekday or month instead of the one that was said.
fn has_said_days(statement: &str, evidence: &CitedEvidence<'_>) -> bool {
    let reach = &evidence.reach;
    let (days, said_days) = (weekdays_in(statement), weekdays_in(reach));
    let (months, said_months) = (months_in(statement), months_in(reach));
    let is_relative = has_relative_time(reach);
    let has_figures = !figures_in(reach).is_empty();
    let own = own_date_figures(&evidence.times);
    let is_own = |month: &usize| own.contains(&(*month as u64 * 1000));
    let days_fit = if said_days.is_empty() {
        days.is_empty() || is_relative || has_figures
    } else {
        days.is_subset(&said_days)
    };
    let months_fit = months.is_subset(&said_months)
        || is_relative
        || said_months.is_empty() && (has_figures || months.iter().all(is_own));
    days_fit && months_fit
}

/// Returns `true` if somebody said where one lives, what one is called and the like.
fn has_said_objects(statement: &str, evidence: &CitedEvidence<'_>) -> bool {
    let objects = named_objects(statement);
    let reach = Words::of(&evidence.reach);
    objects.english.iter().all(|object| Words::of(object).shares_any(&reach))
        && objects.chinese.iter().all(|object| has_most_characters(object, &reach))
}

/// Returns `true` if a text has most characters of a Chinese value.
fn has_most_characters(value: &str, text: &Words) -> bool {
    let value = simplify(value).to_lowercase();
    let characters: Vec<char> = value.chars().filter(|c| c.is_alphanumeric()).collect();
    let said = characters.iter().filter(|c| text.text.contains(**c)).count();
    said as f64 >= characters.len() as f64 * MIN_CHARACTERS
}

/// Returns the statement without dates and times, which people say in other words.
fn without_times(statement: &str) -> String {
    let rest = split_dates(statement).1;
    let is_clock =
        |word: &&str| word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit());
    rest.split_whitespace().filter(|word| !is_clock(word)).collect::<Vec<_>>().join(" ")
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

/// Returns `true` if the value shares a word with the conversation, or in Chinese most characters. Figures are compared
/// elsewhere.
fn is_known_value(value: &str, statement: &Words, input: &ExtractionInput<'_>) -> bool {
    let (given, words) = (given_words(input), Words::of(value));
    let is_date = words.terms.iter().any(|term| term.contains(|c: char| c.is_ascii_digit()));
    is_date
        || words.terms.is_empty() && words.characters.is_empty()
        || words.is_cjk != statement.is_cjk
        || if words.is_cjk { has_most_characters(value, &given) } else { words.shares_any(&given) }
}

fn given_words(input: &ExtractionInput<'_>) -> Words {
    Words::of(&given_text(input))
}

/// Returns all words that a model was given, names of speakers included.
fn given_text(input: &ExtractionInput<'_>) -> String {
    let turns = input.all_turns();
    let speakers = turns.iter().filter_map(|turn| turn.speaker.as_deref());
    let texts = turns.iter().map(|turn| turn.text.as_str());
    let known = input.known_statements.iter().map(String::as_str);
    speakers.chain(texts).chain(known).collect::<Vec<_>>().join("\n")
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
        let text = simplify(text).to_lowercase().replace("用户", " ");
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
