//! Understanding the query: its terms, what it is after, the times and sessions it names.

use jiff::Zoned;
use serde::Serialize;

use super::{
    domains::DomainTerm,
    identity::{IdentityQuestion, classify_identity},
    memory_need::{MemoryNeed, capitalized_names, classify_need, task_possessions},
    period::is_content_free,
    personal_constraints,
    query_kind::{QueryKind, classify_query},
    repeated_questions::is_question,
    small_talk::is_small_talk,
    synonyms::synonyms_of,
};
use crate::{
    config::RecallConfig,
    text::{
        dates::{SessionMention, SessionRange, TimeMention, asks_when, find_sessions, find_times},
        fold::fold,
        language::{Language, detect_language, is_cjk},
        sentences::sentences,
        terms::{TermHash, is_single_cjk, terms},
        traditional::simplify,
    },
    types::Timestamp,
};

/// More different terms than this are a document, not a question; the rest of it is not looked up. A Chinese message has
/// about two for each character, so this is a long one.
const MAX_TERMS: usize = 512;

/// A longer message is a document with questions in it; it also bounds the work.
const MAX_QUESTION_BYTES: usize = 2_000;

/// What bears on a thing is worth less than another word for it.
const CONSTRAINT_SHARE: f64 = 0.5;

/// Chinese questions are shorter; in a longer run synonyms are looked for at its beginning only.
const MAX_WORD_CHARS: usize = 200;

/// A query, understood.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Intent {
    /// The language it is written in.
    pub language: Language,
    /// What to look up.
    pub terms: Vec<QueryTerm>,
    /// The words of a trade among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domain_terms: Vec<DomainTerm>,
    /// What it is after.
    pub aim: QueryKind,
    /// Whether it asks who the user is.
    pub identity: IdentityQuestion,
    /// Whether it needs no memory: a greeting, thanks, a nod.
    pub small_talk: bool,
    /// Whether it needs memory at all.
    pub need: MemoryNeed,
    /// The terms of each word that looks like a name, times apart.
    #[serde(skip)]
    pub names: Vec<Vec<String>>,
    /// If it is a task: the terms of what it takes from memory ("my landlord").
    #[serde(skip)]
    pub task_possessions: Vec<String>,
    /// The terms of each question that needs memory, where something else is said beside it.
    #[serde(skip)]
    pub questions: Vec<Vec<String>>,
    /// The terms of what bears on a request for oneself: who wants a dinner may be allergic.
    #[serde(skip)]
    pub constraint_terms: Vec<String>,
    /// Whether it asks for a time.
    pub asks_when: bool,
    /// The times it names, as half-open ranges.
    pub times: Vec<(Timestamp, Timestamp)>,
    /// Where to look if nothing was said in those times: they may have been told loosely.
    #[serde(skip)]
    pub wider_times: Vec<(Timestamp, Timestamp)>,
    /// The terms that name those times: what was said then need not repeat them.
    #[serde(skip)]
    pub time_terms: Vec<String>,
    /// Of those times only what is over is meant, without the conversation that is going on.
    pub is_earlier: bool,
    /// The sessions it names.
    pub sessions: Option<SessionRange>,
    /// Whether it asks for nothing but what was said in those times or sessions.
    pub asks_period: bool,
    /// When it was asked.
    #[serde(skip)]
    pub asked_at: Timestamp,
}

/// A term of the query with what may stand for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryTerm {
    /// As it is looked up.
    pub text: String,
    /// What it is worth beside other terms.
    pub weight: f64,
    /// Other terms of the same meaning, with what they are worth.
    pub synonyms: Vec<(String, f64)>,
}

impl Intent {
    /// Whether the query itself calls for memory: it asks about the user, the past, an experience or something
    /// technical.
    pub fn asks_memory(&self) -> bool {
        self.identity != IdentityQuestion::None
            || self.aim != QueryKind::General
            || self.asks_when
            || !self.times.is_empty()
            || self.sessions.is_some()
    }
}

impl QueryTerm {
    /// The terms to look up, the word itself first, with what a match is worth.
    pub(crate) fn variants(&self) -> impl Iterator<Item = (TermHash, f64)> {
        let synonyms = self.synonyms.iter().map(|(text, weight)| (TermHash::of(text), *weight));
        std::iter::once((TermHash::of(&self.text), 1.0)).chain(synonyms)
    }
}

/// Understands a query asked at `now`.
pub fn analyze(query: &str, config: &RecallConfig, now: &Zoned) -> Intent {
    let times = find_times(query, now);
    let sessions = find_sessions(query);
    let (identity, small_talk) = (classify_identity(query), is_small_talk(query));
    let asks_period = asks_period(query, &times, sessions.as_ref(), now);
    Intent {
        language: detect_language(query),
        // The words of such a question are not what it looks for.
        terms: if asks_period { Vec::new() } else { query_terms(query, config) },
        domain_terms: Vec::new(),
        aim: classify_query(query),
        identity,
        small_talk,
        names: name_terms(query, &times),
        task_possessions: task_possessions(query)
            .iter()
            .flat_map(|thing| main_terms(thing))
            .collect(),
        need: memory_need(query, identity, small_talk),
        questions: question_terms(query),
        constraint_terms: personal_constraints::constraints_for(query)
            .into_iter()
            .flat_map(|(_, told)| told.iter().flat_map(|word| main_terms(word)))
            .collect(),
        asks_when: asks_when(query),
        is_earlier: times.iter().any(|mention| mention.is_earlier),
        time_terms: times.iter().flat_map(|mention| terms(&query[mention.span.clone()])).collect(),
        wider_times: times.iter().map(|mention| mention.widened).collect(),
        times: times.into_iter().map(|mention| (mention.start, mention.end)).collect(),
        sessions: sessions.map(|mention| mention.sessions),
        asks_period,
        asked_at: now.timestamp(),
    }
}

/// Understands a query that asks for nothing but a period as one for the words that name it.
pub(super) fn analyze_by_time_words(query: &str, config: &RecallConfig, now: &Zoned) -> Intent {
    let intent = analyze(query, config, now);
    let named: Vec<&str> =
        find_times(query, now).into_iter().map(|mention| &query[mention.span]).collect();
    Intent {
        asks_period: false,
        terms: query_terms(&named.join("\n"), config),
        time_terms: Vec::new(),
        ..intent
    }
}

fn memory_need(query: &str, identity: IdentityQuestion, small_talk: bool) -> MemoryNeed {
    match identity {
        // Who asks about oneself asks for memory, whatever the form.
        IdentityQuestion::Weak | IdentityQuestion::Strong => MemoryNeed::Open,
        IdentityQuestion::None if small_talk => MemoryNeed::Nothing,
        // A dinner is made anew, but not for somebody in general.
        IdentityQuestion::None if personal_constraints::touches_constraint(query) => {
            MemoryNeed::Open
        }
        IdentityQuestion::None => classify_need(query),
    }
}

/// The terms of each question among several sentences. One that the world answers is none of memory's.
fn question_terms(query: &str) -> Vec<Vec<String>> {
    if query.len() > MAX_QUESTION_BYTES || sentences(query).nth(1).is_none() {
        return Vec::new();
    }
    let needs = |part: &&str| {
        memory_need(part, classify_identity(part), is_small_talk(part)) == MemoryNeed::Open
    };
    let asking = sentences(query).filter(|part| is_question(part)).filter(needs);
    asking.map(terms).filter(|terms| !terms.is_empty()).collect()
}

fn name_terms(query: &str, times: &[TimeMention]) -> Vec<Vec<String>> {
    let is_time =
        |name: &str| times.iter().any(|mention| query[mention.span.clone()].contains(name));
    let names = capitalized_names(query).filter(|name| !is_time(name)).map(terms);
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether a query asks for a stretch of the past and nothing else; what is to come is not remembered as such.
fn asks_period(
    query: &str,
    times: &[TimeMention],
    sessions: Option<&SessionMention>,
    now: &Zoned,
) -> bool {
    let is_past = |mention: &TimeMention| mention.start <= now.timestamp();
    let spans: Vec<_> = times
        .iter()
        .map(|mention| mention.span.clone())
        .chain(sessions.map(|mention| mention.span.clone()))
        .collect();
    times.iter().all(is_past) && is_content_free(query, &spans)
}

fn query_terms(query: &str, config: &RecallConfig) -> Vec<QueryTerm> {
    let mut found: Vec<String> = Vec::new();
    for term in terms(query) {
        if found.len() == MAX_TERMS {
            break;
        }
        if !found.contains(&term) {
            found.push(term);
        }
    }
    // Beside pairs, a single character says little; alone, it is all there is.
    let has_more = found.iter().any(|term| !is_single_cjk(term));
    let weight =
        |term: &str| if has_more && is_single_cjk(term) { config.single_character } else { 1.0 };
    let mut terms: Vec<_> = found
        .into_iter()
        .map(|text| QueryTerm { weight: weight(&text), text, synonyms: Vec::new() })
        .filter(|term| term.weight > 0.0)
        .collect();
    if config.synonym > 0.0 {
        add_synonyms(query, &mut terms, config.synonym);
        add_constraints(query, &mut terms, config.synonym * CONSTRAINT_SHARE);
    }
    terms
}

/// The words of the query that have synonyms: words between blanks, and in Chinese any two to four characters.
fn synonyms_in(query: &str) -> Vec<(String, &'static [&'static str])> {
    let lower = fold(query);
    let lower = simplify(&lower);
    let mut found = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let characters: Vec<char> = word.chars().take(MAX_WORD_CHARS).collect();
        let whole = std::iter::once(word.to_owned());
        let parts = (2..=4).filter(|_| is_cjk(characters[0])).flat_map(|size| {
            characters.windows(size).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>()
        });
        found.extend(
            whole
                .chain(parts)
                .map(|word| (synonyms_of(&word), word))
                .filter(|(group, _)| !group.is_empty()),
        );
    }
    found.into_iter().map(|(group, word)| (word, group)).collect()
}

/// Gives each term the synonyms of the word it came from.
fn add_synonyms(query: &str, query_terms: &mut [QueryTerm], worth: f64) {
    for (word, others) in synonyms_in(query) {
        let Some(main) = main_terms(&word).into_iter().next() else { continue };
        let Some(term) = query_terms.iter_mut().find(|term| term.text == main) else { continue };
        for other in others.iter().filter(|other| **other != word) {
            let parts = main_terms(other);
            let share = worth / parts.len().max(1) as f64;
            term.synonyms.extend(parts.into_iter().map(|part| (part, share)));
        }
        term.synonyms.retain(|(text, _)| *text != main);
    }
}

/// Gives the words of a request what people tell of themselves that bears on it.
fn add_constraints(query: &str, query_terms: &mut [QueryTerm], worth: f64) {
    for (word, told) in personal_constraints::constraints_for(query) {
        let Some(main) = main_terms(word).into_iter().next() else { continue };
        let Some(term) = query_terms.iter_mut().find(|term| term.text == main) else { continue };
        for told in told {
            let known =
                |text: &String| *text == main || term.synonyms.iter().any(|(t, _)| t == text);
            let parts: Vec<_> = main_terms(told).into_iter().filter(|text| !known(text)).collect();
            let share = worth / parts.len().max(1) as f64;
            term.synonyms.extend(parts.into_iter().map(|part| (part, share)));
        }
    }
}

/// The terms that carry a word: its pairs rather than its single characters.
fn main_terms(word: &str) -> Vec<String> {
    let all = terms(word);
    let more: Vec<_> = all.iter().filter(|term| !is_single_cjk(term)).cloned().collect();
    if more.is_empty() { all } else { more }
}
