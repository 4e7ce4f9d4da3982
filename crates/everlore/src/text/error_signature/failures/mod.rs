//! Failures: a table of known failures, each with the wordings of programs in several languages and of people.
//!
//! The table is text (`*.txt` beside this file), one entry per failure:
//!
//! ```text
//! name [+|~] [by:name|by:service|by:engine|by:message] [like:other-name] [own:other-name]
//!   phrase & other|alternative & !absent
//!   no module named {}
//! ```
//!
//! Each indented line is one way to say it: all terms must occur, one alternative of each, none of those after `!`.
//! `{}` at the start or end of a phrase captures the name beside it; `#econnrefused` stands for a code, `@bind` for a
//! stack frame; a phrase matches whole words, unless it ends in `*`. `+` marks an entry that beats general ones,
//! `~` one so general that it counts only where nothing else fits; `like:` names a relative with another cure,
//! `own:` the failure it becomes where the captured name is a package of the user's project.

mod entry;
mod from_codes;
mod haystack;
mod titles;

use std::{collections::HashSet, sync::LazyLock};

use super::{ErrorCode, compare, names, stack::LogParts};
use entry::{FailureEntry, Rank};
use haystack::Haystack;

pub(crate) use titles::failure_title;

/// A known failure that a text describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Stable name in the table, or the code it is derived from (`rustc-e0599`).
    pub(crate) name: String,
    /// Further evidence that two texts of this name need to be one failure.
    pub(crate) identity: Identity,
    /// Name of the relative whose cure may help too; the failure's own where it has none.
    pub(crate) group: String,
}

/// Evidence beyond the name that makes two failures one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The name says all.
    Itself,
    /// The thing named: a missing module, command or table. `None` where the text does not say.
    Named(Option<String>),
    /// The server: another one, or an unknown one, is another failure.
    Served,
    /// The database engine: another one is another failure, an unknown one is not.
    Engine,
    /// The wording: the name is only a class of failures.
    Worded,
    /// The user's code in which it happened: the name says nothing of the cause.
    Framed,
}

/// Parts of a log that the table is held against.
pub(super) struct Evidence<'a> {
    /// Decisive message.
    pub(super) kernel: &'a str,
    /// Log divided into messages and stack.
    pub(super) parts: &'a LogParts,
    /// Codes of the log.
    pub(super) codes: &'a [ErrorCode],
}

/// A match of one entry.
struct Match {
    entry: &'static FailureEntry,
    weight: usize,
    captured: Option<String>,
}

/// Returns the failure that the evidence describes best, and the names of the others that it mentions.
pub(super) fn recognise(evidence: &Evidence<'_>) -> (Option<Failure>, Vec<&'static str>) {
    let matches = find_matches(evidence);
    let best = matches.first();
    let derived = from_codes::derive(evidence.codes, evidence.kernel);
    let failure = match (best, derived) {
        (Some(best), Some(derived)) if derived.beats(best.entry.rank) => Some(derived.failure),
        (Some(best), _) => Some(failure_of(best, evidence)),
        (None, derived) => derived.map(|derived| derived.failure),
    };
    let named = failure.as_ref().map(|failure| failure.name.clone());
    let mut mentions: Vec<&'static str> = matches.iter().map(|found| found.entry.name).collect();
    if matches.iter().all(|found| found.entry.rank == Rank::General) {
        mentions.extend(loose_mentions(evidence.kernel));
    }
    mentions.retain(|&name| Some(name) != named.as_deref());
    (failure, mentions)
}

fn loose_mentions(kernel: &str) -> impl Iterator<Item = &'static str> {
    let text = kernel.to_lowercase();
    let stems: HashSet<&str> =
        text.split(|sign: char| !sign.is_alphanumeric()).map(compare::stem).collect();
    let found: Vec<&str> =
        TABLE.iter().filter(|entry| entry.fits_loosely(&stems)).map(|entry| entry.name).collect();
    found.into_iter()
}

fn find_matches(evidence: &Evidence<'_>) -> Vec<Match> {
    // A match in the decisive message outweighs any length of phrase outside it.
    const IN_KERNEL: usize = 300;
    let whole = Haystack::new(&whole_text(evidence));
    let kernel = Haystack::new(&with_codes(evidence.kernel, &[]));
    let mut matches = Vec::new();
    for entry in TABLE.iter() {
        let in_kernel = entry.find(&kernel, &whole).map(|found| (found, IN_KERNEL));
        let Some((found, bonus)) =
            in_kernel.or_else(|| entry.find(&whole, &whole).map(|found| (found, 0)))
        else {
            continue;
        };
        let weight = entry.rank.weight() + bonus + found.length;
        matches.push(Match { entry, weight, captured: found.captured });
    }
    matches.sort_by_key(|found| std::cmp::Reverse(found.weight));
    matches
}

/// Writes messages, codes (`#econnrefused`) and frames (`@bind`) into one text.
fn whole_text(evidence: &Evidence<'_>) -> String {
    let mut text = with_codes(&evidence.parts.messages.join(" "), evidence.codes);
    for frame in &evidence.parts.frames {
        let function = frame.rsplit(['.', ':']).next().unwrap_or(frame);
        text.push_str(" @");
        text.push_str(function);
    }
    text
}

fn with_codes(message: &str, codes: &[ErrorCode]) -> String {
    let mut text = message.to_owned();
    for code in codes {
        text.push_str(" #");
        text.push_str(&code.value);
    }
    text
}

fn failure_of(found: &Match, evidence: &Evidence<'_>) -> Failure {
    let name = found.entry.name;
    if let (Some(own), Some(module)) = (found.entry.own, &found.captured)
        && names::is_own_package(module, &evidence.parts.own_paths)
    {
        return Failure {
            name: own.to_owned(),
            identity: Identity::Itself,
            group: name.to_owned(),
        };
    }
    let identity = match &found.entry.identity {
        Identity::Named(_) => Identity::Named(found.captured.clone()),
        other => other.clone(),
    };
    Failure { name: name.to_owned(), identity, group: found.entry.group.to_owned() }
}

/// Entries of all files, parsed once.
static TABLE: LazyLock<Vec<FailureEntry>> =
    LazyLock::new(|| SOURCES.iter().flat_map(|source| entry::parse(source)).collect());

const SOURCES: [&str; 11] = [
    include_str!("system.txt"),
    include_str!("network.txt"),
    include_str!("http.txt"),
    include_str!("sql.txt"),
    include_str!("rust.txt"),
    include_str!("python.txt"),
    include_str!("node.txt"),
    include_str!("go_java.txt"),
    include_str!("native.txt"),
    include_str!("git.txt"),
    include_str!("operations.txt"),
];

impl Rank {
    const fn weight(self) -> usize {
        match self {
            Self::General => 0,
            Self::Usual => 1_000,
            Self::Particular => 2_000,
        }
    }
}

#[cfg(test)]
mod tests;
