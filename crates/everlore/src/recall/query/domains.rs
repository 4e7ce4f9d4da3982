//! Domain vocabularies: term lists of special fields with synonyms and weights, supplied by the user and used in query
//! expansion.
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
//! A query that contains any of these spellings is also looked up by the others, and the weight of its terms is
//! multiplied with the weight of the entry. Latin words match whatever their ending, Chinese words anywhere in a
//! sentence.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{analyze::QueryTerm, phrases};
use crate::{
    error::{Error, Result},
    text::{
        fold::fold,
        terms::{is_single_cjk, terms},
        traditional::simplify,
    },
};

/// Share of the weight that another spelling counts: nearly all of it, since the list states that both are the same.
const SYNONYM_SHARE: f64 = 0.8;

/// Allowed weights; a weight outside turns every other word of the query into noise.
const WEIGHT_RANGE: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// Term list of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    name: String,
    entries: Vec<DomainEntry>,
}

/// Lookup table over all lists in use. Without lists, queries stay unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Domains {
    lists: Vec<Domain>,
    /// List and entry of each spelling, keyed by its normalized words.
    spellings: HashMap<String, (usize, usize)>,
    /// Number of words in the longest spelling.
    longest: usize,
}

/// Term of a list that occurs in a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainTerm {
    /// Name of the list.
    pub domain: String,
    /// Term as the list spells it.
    pub term: String,
    /// Factor on the weight of the query's terms.
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct DomainEntry {
    /// Term first, then its synonyms.
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
    /// Parses the text of a list; `name` is used if the list has none of its own. An error names the line.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let file: DomainFile = toml::from_str(text).map_err(|cause| {
            let offset = cause.span().map_or(0, |span| span.start);
            list_error(text, offset, cause.message())
        })?;
        let entry = |table: Spanned<DomainFileTerm>| {
            let offset = table.span().start;
            DomainEntry::new(table.into_inner())
                .map_err(|message| list_error(text, offset, &message))
        };
        let entries = file.term.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
        if entries.is_empty() {
            return Err(list_error(text, 0, "the list has no term"));
        }
        Ok(Self { name: file.name.unwrap_or_else(|| name.to_owned()), entries })
    }

    /// Returns the name of the list.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl DomainEntry {
    fn new(table: DomainFileTerm) -> std::result::Result<Self, String> {
        let weight = table.weight.unwrap_or(1.0);
        if !WEIGHT_RANGE.contains(&weight) {
            let (low, high) = WEIGHT_RANGE.into_inner();
            return Err(format!("the weight is {weight}, but must be from {low} to {high}"));
        }
        let spellings: Vec<_> = std::iter::once(table.term).chain(table.synonyms).collect();
        match spellings.iter().find(|spelling| terms(spelling).is_empty()) {
            Some(empty) => Err(format!("`{empty}` has no word that can be looked up")),
            None => Ok(Self { spellings, weight }),
        }
    }
}

impl Domains {
    /// Builds the lookup table. If two lists have the same spelling, the later one wins.
    pub fn new(lists: Vec<Domain>) -> Self {
        let mut domains = Self { lists, ..Self::default() };
        for (list_index, list) in domains.lists.iter().enumerate() {
            for (entry_index, entry) in list.entries.iter().enumerate() {
                for words in entry.spellings.iter().map(|spelling| match_words(spelling)) {
                    domains.longest = domains.longest.max(words.len());
                    domains.spellings.insert(words.concat(), (list_index, entry_index));
                }
            }
        }
        domains
    }

    /// Returns the same lists with another one added.
    #[must_use]
    pub fn with_list(&self, list: Domain) -> Self {
        Self::new(self.lists.iter().cloned().chain([list]).collect())
    }

    /// Applies the weights and synonyms of the lists to the terms of a query, and returns the terms that matched.
    pub(super) fn enrich(&self, query: &str, query_terms: &mut [QueryTerm]) -> Vec<DomainTerm> {
        let mut found = Vec::new();
        for (spelling, list, entry) in self.matches(query) {
            apply_entry(query_terms, &spelling, entry);
            let (domain, term) = (list.name.clone(), entry.spellings[0].clone());
            found.push(DomainTerm { domain, term, weight: entry.weight });
        }
        found
    }

    /// Returns the entries that occur in a query with their spelling there, from left to right, the longest match
    /// first.
    fn matches(&self, query: &str) -> Vec<(String, &Domain, &DomainEntry)> {
        if self.spellings.is_empty() {
            return Vec::new();
        }
        let (words, mut at, mut found) = (match_words(query), 0, Vec::new());
        while at < words.len() {
            let longest = self.longest.min(words.len() - at);
            let hit = (1..=longest).rev().find_map(|len| {
                let spelling = words[at..at + len].concat();
                self.spellings.get(&spelling).map(|indexes| (len, spelling, *indexes))
            });
            at += hit.as_ref().map_or(1, |(len, ..)| *len);
            found.extend(hit.map(|(_, spelling, (list, entry))| {
                (spelling, &self.lists[list], &self.lists[list].entries[entry])
            }));
        }
        found
    }
}

/// Multiplies the weights of a spelling's terms and adds every other spelling as a synonym of each.
fn apply_entry(query_terms: &mut [QueryTerm], spelling: &str, entry: &DomainEntry) {
    let own = main_terms(spelling);
    let others = other_spellings(entry, &own);
    for term in query_terms.iter_mut().filter(|term| own.contains(&term.text)) {
        term.weight *= entry.weight;
        // The list overrides the general synonym table.
        term.synonyms.retain(|(text, _)| !others.iter().any(|(other, _)| other == text));
        term.synonyms.extend(others.iter().cloned());
    }
}

/// Returns the terms of the other spellings with their shares; all terms of a spelling together count as one synonym.
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

/// Returns the terms that carry a spelling: pairs of characters rather than single ones.
fn main_terms(spelling: &str) -> Vec<String> {
    let mut all = terms(spelling);
    if all.iter().any(|term| !is_single_cjk(term)) {
        all.retain(|term| !is_single_cjk(term));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Normalizes a text for matching: Latin words as stems in lower case with a blank after each, Chinese characters one
/// by one.
fn match_words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for run in phrases::words(&simplify(&fold(text))) {
        if run.starts_with(phrases::is_han) {
            all.extend(run.chars().map(String::from));
        } else {
            // A stop word yields no term but is part of a name all the same.
            let stem = terms(run).into_iter().next().unwrap_or_else(|| run.to_owned());
            all.push(stem + " ");
        }
    }
    all
}

/// Creates the error for a mistake at a byte offset of a list.
fn list_error(text: &str, offset: usize, message: &str) -> Error {
    let line = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
    Error::invalid(
        format!("line {line}: {message}"),
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
            let shares = |text: &str| {
                let same = term.synonyms.iter().filter(|(other, _)| other == text);
                same.map(|(_, share)| *share).collect::<Vec<_>>()
            };
            assert_eq!(shares("房颤"), [SYNONYM_SHARE]);
            // "AFib" looks like camel case: it is looked up whole and by its part.
            assert_eq!(
                (shares("afib"), shares("fib")),
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
