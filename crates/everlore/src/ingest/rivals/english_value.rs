//! English statements that give one value to one attribute of a subject: "I live in Rome", "my son is 5 years old".

use super::{
    attributes::{COPULAS, MARITAL_STATUS, MOVES, NOUNS, OCCUPATIONS, VERBS},
    change_patterns::DATED,
    numbers,
    single_value::{MAX_VALUE_WORDS, SingleValue, USER, number},
};

/// Most words of a subject, such as "my sister's new landlord".
const MAX_SUBJECT_WORDS: usize = 5;

/// Fewest digits of a phone number; "my phone is charging" has none.
const MIN_PHONE_DIGITS: usize = 5;

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

/// Words that stand for a person or thing.
const PRONOUNS: &[&str] = &["she", "they", "this", "that", "who", "the", "there", "here"];

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

/// Parses normalized words; `None` if they give no such value.
pub(super) fn parse(words: &[String]) -> Option<SingleValue> {
    by_status(words)
        .or_else(|| by_age(words))
        .or_else(|| by_request(words))
        .or_else(|| by_noun(words))
        .or_else(|| by_verb(words))
        .or_else(|| by_occupation(words))
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
    // "Luna turned 4", but not "it turned 4".
    let is_named = |it: &String| it.len() > 2 && !PRONOUNS.contains(&it.as_str());
    let is_told = words[at] == "turned" || !unit.is_empty();
    let is_person = subject == ["i"]
        || subject.first().is_some_and(|word| word == "my")
        || is_told && matches!(&subject[..], [name] if is_named(name));
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
        let value = value_of(before_day(&words[at + verb_words.len()..]))?;
        let value = Some(value).filter(|value| is_name(value) && !is_hour(verb, value))?;
        let fits = (1..=MAX_SUBJECT_WORDS).contains(&subject.len()) && is_subject(&subject);
        let found = SingleValue::new(&subject.join(" "), attribute, &value).filter(|_| fits)?;
        Some(found.moved(MOVES.contains(verb)))
    })
}

/// Cuts "bosch on monday" before the day.
fn before_day(words: &[String]) -> &[String] {
    let is_day = |pair: &[String]| pair[0] == "on" && DATED.is_match(&pair[1]);
    let end = words.windows(2).skip(1).position(is_day);
    &words[..end.map_or(words.len(), |at| at + 1)]
}

/// Returns `true` for "started at nine".
fn is_hour(verb: &str, value: &str) -> bool {
    verb == "started at" && numbers::starts_with_number(value)
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
