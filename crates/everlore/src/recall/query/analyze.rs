//! Query analysis: turns the text of a query into terms, synonyms, names, times and sessions.

use std::collections::HashSet;

use jiff::Zoned;
use serde::Serialize;

use super::{
    domains::{DomainTerm, Domains},
    identity::{IdentityQuestion, classify_identity},
    memory_need::{MemoryNeed, capitalized_names, classify_need, task_possessions},
    message_form::MessageForm,
    period::{asks_events, is_content_free},
    personal_constraints,
    phrases::is_question,
    planned_times::without_begun_plans,
    query_kind::{QueryKind, classify_query, reports_failure},
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

/// Maximum number of distinct terms; a longer query is a document, and the rest of it is not looked up. A Chinese
/// message has about two terms per character, so this allows a long one.
const MAX_TERMS: usize = 512;

/// Longest message, in bytes, whose questions are analysed one by one: a longer one is a document with questions in it.
/// The limit also bounds the work.
const MAX_QUESTION_BYTES: usize = 2_000;

/// Weight of a personal constraint relative to a synonym: it bears on the thing but is not another word for it.
const CONSTRAINT_SHARE: f64 = 0.5;

/// Chinese words that stand for "when" and say nothing of it; their characters alone are no function characters.
const EMPTY_WORDS: &[&str] = &["时候", "時候"];

/// Characters of a word that are searched for synonyms. Chinese questions are shorter than this; of a longer run only
/// the beginning is searched.
const MAX_WORD_CHARS: usize = 200;

/// Analysed query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Intent {
    /// Language of the query.
    pub language: Language,
    /// Terms to look up.
    pub terms: Vec<QueryTerm>,
    /// Terms of the user's domain vocabularies among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domain_terms: Vec<DomainTerm>,
    /// Kind of answer that the query is after.
    #[serde(rename = "aim")]
    pub kind: QueryKind,
    /// Clarity with which the query asks who the user is.
    pub identity: IdentityQuestion,
    /// `true` if the whole message is small talk: a greeting, thanks, a nod.
    pub small_talk: bool,
    /// Need for memory, judged by the form of the message.
    pub need: MemoryNeed,
    /// Form of the message, which tells without a message model whether it calls for memory.
    #[serde(skip)]
    pub form: MessageForm,
    /// `true` if the message holds what a failed program printed.
    #[serde(skip)]
    pub reports_failure: bool,
    /// Terms of each word that looks like a name, without names of times.
    #[serde(skip)]
    pub names: Vec<Vec<String>>,
    /// Terms of the possessions that a task mentions ("my landlord"); empty if the query is no task.
    #[serde(skip)]
    pub task_possessions: Vec<String>,
    /// Terms of each question that needs memory, if the message says something else beside it.
    #[serde(skip)]
    pub questions: Vec<Vec<String>>,
    /// Terms of personal constraints on a request for oneself: a request for dinner concerns allergies.
    #[serde(skip)]
    pub constraint_terms: Vec<String>,
    /// `true` if the query asks for a time.
    pub asks_when: bool,
    /// Times that the query names, as half-open ranges.
    pub times: Vec<(Timestamp, Timestamp)>,
    /// Wider ranges to try if nothing was said in `times`: people name times loosely.
    #[serde(skip)]
    pub wider_times: Vec<(Timestamp, Timestamp)>,
    /// Terms that name those times; memories of that time need not repeat them.
    #[serde(skip)]
    pub time_terms: Vec<String>,
    /// `true` if the query means only what came before the current conversation ("earlier today").
    pub is_earlier: bool,
    /// Sessions that the query names.
    pub sessions: Option<SessionRange>,
    /// `true` if the query asks for nothing but the memories of those times or sessions.
    pub asks_period: bool,
    /// `true` if the query asks what happened at those times, in words that no memory of them need contain.
    #[serde(skip)]
    pub(crate) asks_events: bool,
    /// Set if the query is read by the words that name its period; a hit must then contain every term.
    #[serde(skip)]
    pub requires_all_terms: bool,
    /// Moment of the query.
    #[serde(skip)]
    pub asked_at: Timestamp,
}

/// Term of the query with its synonyms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryTerm {
    /// Term as it is looked up in the index.
    pub text: String,
    /// Weight beside the other terms of the query.
    pub weight: f64,
    /// Terms of the same meaning, each with the share of the weight that a match counts.
    pub synonyms: Vec<(String, f64)>,
}

impl Intent {
    /// Returns `true` if the query itself calls for memory: it asks about the user, the past, an experience or
    /// something technical.
    pub(crate) fn asks_memory(&self) -> bool {
        self.identity != IdentityQuestion::None
            || self.kind != QueryKind::General
            || self.asks_when
            || !self.times.is_empty()
            || self.sessions.is_some()
    }
}

impl QueryTerm {
    /// Returns the terms to look up with the share that a match counts: the word itself first, then its synonyms.
    pub(crate) fn variants(&self) -> impl Iterator<Item = (TermHash, f64)> {
        let synonyms = self.synonyms.iter().map(|(text, share)| (TermHash::of(text), *share));
        std::iter::once((TermHash::of(&self.text), 1.0)).chain(synonyms)
    }
}

/// Analyses a query asked at `now`.
pub fn analyze(query: &str, config: &RecallConfig, now: &Zoned) -> Intent {
    let times = without_begun_plans(query, find_times(query, now), now.timestamp());
    let sessions = find_sessions(query);
    let (identity, small_talk) = (classify_identity(query), is_small_talk(query));
    let asks_period = asks_period(query, &times, sessions.as_ref(), now);
    let spans: Vec<_> = times.iter().map(|mention| mention.span.clone()).collect();
    let asks_events = asks_events(query, &spans);
    let need = memory_need(query, identity, small_talk);
    Intent {
        language: detect_language(query),
        // The words of a question for a period ("talk", "discuss") are not what it looks for.
        terms: if asks_period { Vec::new() } else { query_terms(query, config) },
        domain_terms: Vec::new(),
        kind: classify_query(query),
        reports_failure: reports_failure(query),
        identity,
        small_talk,
        names: name_terms(query, &times),
        task_possessions: task_possessions(query)
            .iter()
            .flat_map(|possession| main_terms(possession))
            .collect(),
        need,
        form: MessageForm::of(query, need, identity),
        questions: question_terms(query),
        constraint_terms: personal_constraints::constraints_for(query)
            .into_iter()
            .flat_map(|(_, constraints)| constraints.iter().flat_map(|word| main_terms(word)))
            .collect(),
        asks_when: asks_when(query),
        is_earlier: times.iter().any(|mention| mention.is_earlier),
        time_terms: times.iter().flat_map(|mention| terms(&query[mention.span.clone()])).collect(),
        wider_times: times.iter().map(|mention| mention.widened).collect(),
        times: times.into_iter().map(|mention| (mention.start, mention.end)).collect(),
        sessions: sessions.map(|mention| mention.sessions),
        asks_period,
        asks_events,
        requires_all_terms: false,
        asked_at: now.timestamp(),
    }
}

/// Analyses a query with the weights and synonyms of the user's domain vocabularies.
pub(crate) fn analyze_with_domains(
    query: &str,
    domains: &Domains,
    config: &RecallConfig,
    now: &Zoned,
) -> Intent {
    let mut intent = analyze(query, config, now);
    intent.domain_terms = domains.enrich(query, &mut intent.terms);
    intent
}

/// Analyses a query for a period as a query for the words that name the period.
pub(crate) fn analyze_by_time_words(query: &str, config: &RecallConfig, now: &Zoned) -> Intent {
    let intent = analyze(query, config, now);
    let time_words: Vec<&str> =
        find_times(query, now).into_iter().map(|mention| &query[mention.span]).collect();
    Intent {
        asks_period: false,
        requires_all_terms: true,
        terms: query_terms(&time_words.join("\n"), config),
        time_terms: Vec::new(),
        ..intent
    }
}

fn memory_need(query: &str, identity: IdentityQuestion, small_talk: bool) -> MemoryNeed {
    match identity {
        // A question about the user asks for memory, whatever its form.
        IdentityQuestion::Weak | IdentityQuestion::Strong => MemoryNeed::Open,
        IdentityQuestion::None if small_talk => MemoryNeed::Nothing,
        // A plan for dinner is something new, but the user's allergies limit it.
        IdentityQuestion::None if personal_constraints::touches_constraint(query) => {
            MemoryNeed::Open
        }
        IdentityQuestion::None => classify_need(query),
    }
}

/// Returns the terms of each question in a message of several sentences, without questions that need no memory.
fn question_terms(query: &str) -> Vec<Vec<String>> {
    if query.len() > MAX_QUESTION_BYTES || sentences(query).nth(1).is_none() {
        return Vec::new();
    }
    let needs_memory = |sentence: &&str| {
        memory_need(sentence, classify_identity(sentence), is_small_talk(sentence))
            == MemoryNeed::Open
    };
    let questions = sentences(query).filter(|sentence| is_question(sentence)).filter(needs_memory);
    questions.map(terms).filter(|terms| !terms.is_empty()).collect()
}

fn name_terms(query: &str, times: &[TimeMention]) -> Vec<Vec<String>> {
    let is_time =
        |name: &str| times.iter().any(|mention| query[mention.span.clone()].contains(name));
    let names = capitalized_names(query).filter(|name| !is_time(name)).map(terms);
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns `true` if a query asks for a stretch of the past and nothing else; the future has no memories.
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
    let query = &EMPTY_WORDS.iter().fold(query.to_owned(), |rest, word| rest.replace(word, " "));
    let mut distinct: Vec<String> = Vec::new();
    for term in terms(query) {
        if distinct.len() == MAX_TERMS {
            break;
        }
        if !distinct.contains(&term) {
            distinct.push(term);
        }
    }
    // A single character says little beside pairs of characters; alone, it is all there is.
    let has_more = distinct.iter().any(|term| !is_single_cjk(term));
    let weight =
        |term: &str| if has_more && is_single_cjk(term) { config.single_character } else { 1.0 };
    let mut terms: Vec<_> = distinct
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

/// Returns the words of the query that have synonyms, each once: words between blanks, and in Chinese any two to four
/// characters. A word repeated ten thousand times would gather as many synonyms.
fn synonyms_in(query: &str) -> Vec<(String, &'static [&'static str])> {
    let lower = fold(query);
    let lower = simplify(&lower);
    let (mut found, mut known) = (Vec::new(), HashSet::new());
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
                .filter(|(group, word)| !group.is_empty() && known.insert(word.clone())),
        );
    }
    found.into_iter().map(|(group, word)| (word, group)).collect()
}

/// Adds to each term the synonyms of the word it came from.
fn add_synonyms(query: &str, query_terms: &mut [QueryTerm], share: f64) {
    for (word, group) in synonyms_in(query) {
        let Some(main) = main_terms(&word).into_iter().next() else { continue };
        let Some(term) = query_terms.iter_mut().find(|term| term.text == main) else { continue };
        for synonym in group.iter().filter(|synonym| **synonym != word) {
            let parts = main_terms(synonym);
            let part_share = share / parts.len().max(1) as f64;
            term.synonyms.extend(parts.into_iter().map(|part| (part, part_share)));
        }
        term.synonyms.retain(|(text, _)| *text != main);
    }
}

/// Adds to the words of a request the words of personal constraints on it.
fn add_constraints(query: &str, query_terms: &mut [QueryTerm], share: f64) {
    for (word, constraints) in personal_constraints::constraints_for(query) {
        let Some(main) = main_terms(word).into_iter().next() else { continue };
        let Some(term) = query_terms.iter_mut().find(|term| term.text == main) else { continue };
        for constraint in constraints {
            let is_known =
                |text: &String| *text == main || term.synonyms.iter().any(|(t, _)| t == text);
            let parts: Vec<_> =
                main_terms(constraint).into_iter().filter(|text| !is_known(text)).collect();
            let part_share = share / parts.len().max(1) as f64;
            term.synonyms.extend(parts.into_iter().map(|part| (part, part_share)));
        }
    }
}

/// Returns the terms that carry a word: its pairs of characters rather than its single characters.
fn main_terms(word: &str) -> Vec<String> {
    let all = terms(word);
    let pairs: Vec<_> = all.iter().filter(|term| !is_single_cjk(term)).cloned().collect();
    if pairs.is_empty() { all } else { pairs }
}
