//! Entry: one known failure and the ways to say it.

use std::collections::HashSet;

use super::{Identity, haystack::Haystack};
use crate::text::error_signature::compare;

/// Precedence of an entry over others that fit the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Counts only where nothing else fits (`permission denied`).
    General,
    /// Names one failure.
    Usual,
    /// Names a special case of a usual one.
    Particular,
}

/// A known failure.
#[derive(Debug)]
pub(super) struct FailureEntry {
    /// Stable name.
    pub(super) name: &'static str,
    /// Precedence.
    pub(super) rank: Rank,
    /// Evidence that two texts need beyond the name.
    pub(super) identity: Identity,
    /// Entry that this one is a relative of; its own name where it has none.
    pub(super) group: &'static str,
    /// Failure that this one becomes where the captured name is the project's own.
    pub(super) own: Option<&'static str>,
    wordings: Vec<Vec<Term>>,
}

/// One condition of a wording.
#[derive(Debug)]
struct Term {
    absent: bool,
    phrases: Vec<&'static str>,
}

impl Term {
    /// Returns how many telling words the fullest alternative has whose words all occur.
    fn loose_words(&self, stems: &HashSet<&str>) -> Option<usize> {
        let telling = |phrase: &'static str| {
            phrase.split(|sign: char| !sign.is_alphanumeric()).filter(|word| word.len() > 2)
        };
        let known =
            |phrase: &&'static str| telling(phrase).all(|word| stems.contains(compare::stem(word)));
        self.phrases
            .iter()
            .copied()
            .filter(|phrase| known(phrase))
            .map(|phrase| telling(phrase).count())
            .max()
    }
}

/// A wording that fits a text.
#[derive(Debug, Default)]
pub(super) struct Fit {
    /// Bytes of all phrases: the longer, the more particular.
    pub(super) length: usize,
    /// Name that `{}` stands for.
    pub(super) captured: Option<String>,
}

impl FailureEntry {
    /// Returns the longest wording that fits `part`; what must be absent is looked for in the `whole` text.
    pub(super) fn find(&self, part: &Haystack, whole: &Haystack) -> Option<Fit> {
        let fits = self.wordings.iter().filter_map(|terms| fit(terms, part, whole));
        fits.max_by_key(|fit| (fit.captured.is_some(), fit.length))
    }

    #[cfg(test)]
    pub(super) fn has_wordings(&self) -> bool {
        let mut phrases = self.wordings.iter().flatten().flat_map(|term| &term.phrases);
        !self.wordings.is_empty() && phrases.all(|phrase| !phrase.is_empty())
    }

    /// Returns whether all telling words of a wording occur in any order and form. Too weak to decide, it ranks what
    /// people tell in their own words.
    pub(super) fn fits_loosely(&self, stems: &HashSet<&str>) -> bool {
        const MIN_WORDS: usize = 3;
        self.wordings.iter().any(|terms| {
            let counts =
                terms.iter().filter(|term| !term.absent).map(|term| term.loose_words(stems));
            counts.sum::<Option<usize>>().is_some_and(|count| count >= MIN_WORDS)
        })
    }
}

fn fit(terms: &[Term], part: &Haystack, whole: &Haystack) -> Option<Fit> {
    let mut fit = Fit::default();
    for term in terms {
        let haystack = if term.absent { whole } else { part };
        let found = term.phrases.iter().find_map(|phrase| haystack.find(phrase));
        match (found, term.absent) {
            (Some(found), false) => {
                fit.length += found.length;
                fit.captured = fit.captured.or(found.captured);
            }
            (None, true) => {}
            _ => return None,
        }
    }
    Some(fit)
}

/// Parses a file of the table.
pub(super) fn parse(source: &'static str) -> Vec<FailureEntry> {
    let mut entries: Vec<FailureEntry> = Vec::new();
    for line in source.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//")) {
        if !line.starts_with(' ') {
            entries.push(head(line));
        } else if let Some(entry) = entries.last_mut() {
            entry.wordings.push(line.trim().split(" & ").map(term).collect());
        }
    }
    entries
}

fn head(line: &'static str) -> FailureEntry {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut entry = FailureEntry {
        name,
        rank: Rank::Usual,
        identity: Identity::Itself,
        group: name,
        own: None,
        wordings: Vec::new(),
    };
    for word in words {
        match word {
            "+" => entry.rank = Rank::Particular,
            "~" => (entry.rank, entry.identity) = (Rank::General, Identity::Worded),
            "by:name" => entry.identity = Identity::Named(None),
            "by:service" => entry.identity = Identity::Served,
            "by:engine" => entry.identity = Identity::Engine,
            "by:message" => entry.identity = Identity::Worded,
            "by:frame" => entry.identity = Identity::Framed,
            other => {
                entry.group = other.strip_prefix("like:").unwrap_or(entry.group);
                entry.own = other.strip_prefix("own:").or(entry.own);
            }
        }
    }
    entry
}

fn term(text: &'static str) -> Term {
    let (absent, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    Term { absent, phrases: text.split('|').map(str::trim).collect() }
}

#[cfg(test)]
mod tests {
    use super::{super::haystack::Haystack, Rank, parse};

    const SOURCE: &str = "// comment\nmissing-module + by:name\n  no module named {}\n  import & failed|fails & !syntax\n";

    #[test]
    fn an_entry_is_read_with_its_marks() {
        let entries = parse(SOURCE);
        assert_eq!(
            (entries.len(), entries[0].name, entries[0].rank),
            (1, "missing-module", Rank::Particular)
        );
    }

    #[test]
    fn all_terms_must_occur_and_none_of_the_absent() {
        let entry = &parse(SOURCE)[0];
        let find = |text: &str| entry.find(&Haystack::new(text), &Haystack::new(text));
        assert!(find("the import of x fails").is_some());
        assert!(find("import failed: syntax").is_none());
        assert!(find("import works").is_none());
        let captured = find("No module named 'yaml'").and_then(|fit| fit.captured);
        assert_eq!(captured.as_deref(), Some("yaml"));
    }
}
