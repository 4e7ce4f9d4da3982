//! Words of a trade: lists of terms with their synonyms and worth, given by the user, that take part in the analysis of
//! a query.
//!
//! A list is TOML, one table for each term:
//!
//! ```toml
//! name = "medical"
//!
//! [[term]]
//! term = "atrial fibrillation"
//! synonyms = ["AFib", "房颤", "心房颤动"]
//! weight = 2.0
//! ```
//!
//! A query that has any of these spellings is also looked up by the others, and what it is worth beside other words is
//! multiplied with the weight. Latin words match whatever their ending, Chinese ones wherever they stand.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{QueryTerm, phrases};
use crate::{
    error::{Error, Result},
    text::{
        fold::fold,
        terms::{is_single_cjk, terms},
        traditional::simplify,
    },
};

/// What another spelling is worth beside the one in the query: nearly as much, since a list says outright that both are
/// the same.
const SYNONYM_SHARE: f64 = 0.8;

/// A weight outside turns every other word of the query into noise.
const WEIGHT_RANGE: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// One list.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    name: String,
    entries: Vec<DomainEntry>,
}

/// All lists in use, ready to be looked up. Without lists, nothing of a query changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Domains {
    lists: Vec<Domain>,
    /// Where each spelling is, as words that matching compares: the list and the entry.
    spellings: HashMap<String, (usize, usize)>,
    /// The most words that a spelling has.
    longest: usize,
}

/// A term that a query was found to have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainTerm {
    /// The list.
    pub domain: String,
    /// The term as the list names it.
    pub term: String,
    /// What it is worth beside other words.
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct DomainEntry {
    /// The term first, then its synonyms.
    spellings: Vec<String>,
    weight: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainFile {
    name: Option<String>,
    #[serde(default)]
    term: Vec<Spanned<DomainFileTerm>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainFileTerm {
    term: String,
    #[serde(default)]
    synonyms: Vec<String>,
    weight: Option<f64>,
}

impl Domain {
    /// Reads the text of a list; one without a name of its own is called `name`. An error names the line.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let file: DomainFile = toml::from_str(text).map_err(|cause| {
            let at = cause.span().map_or(0, |span| span.start);
            list_error(text, at, cause.message())
        })?;
        let entry = |line: Spanned<DomainFileTerm>| {
            let at = line.span().start;
            DomainEntry::new(line.into_inner()).map_err(|what| list_error(text, at, &what))
        };
        let entries = file.term.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
        if entries.is_empty() {
            return Err(list_error(text, 0, "the list has no term"));
        }
        Ok(Self { name: file.name.unwrap_or_else(|| name.to_owned()), entries })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl DomainEntry {
    fn new(line: DomainFileTerm) -> std::result::Result<Self, String> {
        let weight = line.weight.unwrap_or(1.0);
        if !WEIGHT_RANGE.contains(&weight) {
            let (low, high) = WEIGHT_RANGE.into_inner();
            return Err(format!("the weight is {weight}, but must be from {low} to {high}"));
        }
        let spellings: Vec<_> = std::iter::once(line.term).chain(line.synonyms).collect();
        match spellings.iter().find(|spelling| terms(spelling).is_empty()) {
            Some(empty) => Err(format!("`{empty}` has no word that can be looked up")),
            None => Ok(Self { spellings, weight }),
        }
    }
}

impl Domains {
    /// Brings lists together. Where two have the same spelling, the later one counts.
    pub fn new(lists: Vec<Domain>) -> Self {
        let mut domains = Self { lists, ..Self::default() };
        for (number, list) in domains.lists.iter().enumerate() {
            for (at, entry) in list.entries.iter().enumerate() {
                for words in entry.spellings.iter().map(|spelling| match_words(spelling)) {
                    domains.longest = domains.longest.max(words.len());
                    domains.spellings.insert(words.concat(), (number, at));
                }
            }
        }
        domains
    }

    /// The same lists and another one.
    #[must_use]
    pub fn with_list(&self, list: Domain) -> Self {
        Self::new(self.lists.iter().cloned().chain([list]).collect())
    }

    /// Gives the terms of a query the weights and synonyms that the lists have for them, and tells which these are.
    pub(super) fn enrich(&self, query: &str, query_terms: &mut [QueryTerm]) -> Vec<DomainTerm> {
        let mut found = Vec::new();
        for (spelling, list, entry) in self.matches(query) {
            apply_entry(query_terms, &spelling, entry);
            let (domain, term) = (list.name.clone(), entry.spellings[0].clone());
            found.push(DomainTerm { domain, term, weight: entry.weight });
        }
        found
    }

    /// The entries that a query has with the spelling it has, from left to right, the longest first.
    fn matches(&self, query: &str) -> Vec<(String, &Domain, &DomainEntry)> {
        if self.spellings.is_empty() {
            return Vec::new();
        }
        let (words, mut at, mut found) = (match_words(query), 0, Vec::new());
        while at < words.len() {
            let longest = self.longest.min(words.len() - at);
            let hit = (1..=longest).rev().find_map(|len| {
                let spelling = words[at..at + len].concat();
                self.spellings.get(&spelling).map(|place| (len, spelling, *place))
            });
            at += hit.as_ref().map_or(1, |(len, ..)| *len);
            found.extend(hit.map(|(_, spelling, (list, entry))| {
                (spelling, &self.lists[list], &self.lists[list].entries[entry])
            }));
        }
        found
    }
}

/// Weighs the terms of a spelling and lets every other spelling stand for each of them.
fn apply_entry(query_terms: &mut [QueryTerm], spelling: &str, entry: &DomainEntry) {
    let own = main_terms(spelling);
    let others = other_spellings(entry, &own);
    for term in query_terms.iter_mut().filter(|term| own.contains(&term.text)) {
        term.weight *= entry.weight;
        // The list knows better than the general synonyms.
        term.synonyms.retain(|(text, _)| !others.iter().any(|(other, _)| other == text));
        term.synonyms.extend(others.iter().cloned());
    }
}

/// The terms of the other spellings with what a match is worth: all of a spelling together as much as a synonym.
fn other_spellings(entry: &DomainEntry, own: &[String]) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for parts in entry.spellings.iter().map(|other| main_terms(other)) {
        let share = SYNONYM_SHARE / parts.len() as f64;
        for part in parts.into_iter().filter(|part| !own.contains(part)) {
            match all.iter_mut().find(|(text, _)| *text == part) {
                Some((_, known)) => *known = known.max(share),
                None => all.push((part, share)),
            }
        }
    }
    all
}

/// The terms that carry a spelling: pairs of characters rather than single ones.
fn main_terms(spelling: &str) -> Vec<String> {
    let mut all = terms(spelling);
    if all.iter().any(|term| !is_single_cjk(term)) {
        all.retain(|term| !is_single_cjk(term));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A text as it is compared: its Latin words without case and ending and with a blank after each, its Chinese characters
/// one by one.
fn match_words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for run in phrases::words(&simplify(&fold(text))) {
        if run.starts_with(phrases::is_han) {
            all.extend(run.chars().map(String::from));
        } else {
            // A stop word gives no term, but is part of a name all the same.
            let stem = terms(run).into_iter().next().unwrap_or_else(|| run.to_owned());
            all.push(stem + " ");
        }
    }
    all
}

/// What is wrong at a place of a list.
fn list_error(text: &str, at: usize, what: &str) -> Error {
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    Error::invalid(
        format!("line {line}: {what}"),
        "a list has [[term]] tables with `term`, `synonyms` and `weight`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEDICAL: &str = r#"
name = "medical"

[[term]]
term = "atrial fibrillation"
synonyms = ["AFib", "房颤", "心房颤动"]
weight = 2.0

[[term]]
term = "ACE inhibitor"
"#;

    fn domains() -> Domains {
        Domains::new(vec![Domain::parse(MEDICAL, "file").unwrap()])
    }

    fn enriched(query: &str) -> (Vec<QueryTerm>, Vec<String>) {
        let term = |text| QueryTerm { text, weight: 1.0, synonyms: vec![] };
        let mut query_terms: Vec<_> = terms(query).into_iter().map(term).collect();
        let found = domains().enrich(query, &mut query_terms);
        (query_terms, found.into_iter().map(|found| found.term).collect())
    }

    fn find<'a>(query_terms: &'a [QueryTerm], text: &str) -> &'a QueryTerm {
        query_terms.iter().find(|term| term.text == text).unwrap()
    }

    #[test]
    fn a_term_of_two_words_is_weighed_and_looked_up_by_its_synonyms() {
        let (query_terms, found) = enriched("Since when do I have Atrial Fibrillation?");
        assert_eq!(found, ["atrial fibrillation"]);
        for text in ["atrial", "fibril"] {
            let term = find(&query_terms, text);
            assert_eq!(term.weight, 2.0);
            let worth = |text: &str| {
                let same = term.synonyms.iter().filter(|(other, _)| other == text);
                same.map(|(_, worth)| *worth).collect::<Vec<_>>()
            };
            assert_eq!(worth("房颤"), [SYNONYM_SHARE]);
            // Written like a name of code, it is looked up whole and in its part.
            assert_eq!(
                (worth("afib"), worth("fib")),
                (vec![SYNONYM_SHARE / 2.0], vec![SYNONYM_SHARE / 2.0])
            );
        }
    }

    #[test]
    fn a_chinese_term_is_found_inside_a_sentence_and_in_traditional_characters() {
        for query in ["我的房颤吃什么药？", "我的房顫吃什麼藥？"] {
            let (query_terms, found) = enriched(query);
            assert_eq!(found, ["atrial fibrillation"], "{query}");
            let term = find(&query_terms, "房颤");
            assert_eq!(term.weight, 2.0);
            assert!(term.synonyms.iter().any(|(text, _)| text == "afib"), "{term:?}");
        }
    }

    #[test]
    fn endings_do_not_matter_and_half_a_name_is_none() {
        assert_eq!(enriched("which ACE inhibitors did we try").1, ["ACE inhibitor"]);
        assert!(enriched("an ace up the sleeve, an inhibitor").1.is_empty());
        assert!(enriched("the place inhibitor").1.is_empty());
    }

    #[test]
    fn no_list_changes_nothing() {
        let mut query_terms =
            vec![QueryTerm { text: "afib".into(), weight: 1.0, synonyms: vec![] }];
        let before = query_terms.clone();
        assert!(Domains::default().enrich("afib", &mut query_terms).is_empty());
        assert_eq!(query_terms, before);
    }

    #[test]
    fn a_later_list_counts_for_a_spelling_that_both_have() {
        let more = Domain::parse("[[term]]\nterm = \"afib\"\nweight = 3.0", "mine").unwrap();
        let both = domains().with_list(more);
        let found = both.enrich("afib", &mut []);
        assert_eq!((found[0].domain.as_str(), found[0].weight), ("mine", 3.0));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let lists = [
            ("[[term]]\nterm = \"a\nweight = 1", "line 2"),
            ("name = \"x\"\n\n[[term]]\nsynonyms = [\"b\"]", "line 3: missing field `term`"),
            ("\n[[term]]\nterm = \"tea\"\nweight = 99.0", "line 2: the weight is 99"),
            ("[[term]]\nterm = \"的\"", "line 1: `的` has no word"),
            ("[[term]]\nterm = \"tea\"\nsynonym = []", "line 3: unknown field `synonym`"),
            ("name = \"empty\"", "the list has no term"),
        ];
        for (text, expected) in lists {
            let error = Domain::parse(text, "x").unwrap_err().to_string();
            assert!(error.contains(expected), "{error} lacks {expected}");
        }
    }
}
