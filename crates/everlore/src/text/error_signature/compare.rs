//! Compare: same failure or not, and how alike.
//!
//! The decision errs to one side: two failures are the same only where a known failure and the evidence it asks for
//! agree, or where two unknown messages agree in class and almost every word. The similarity only ranks.

use std::collections::HashMap;

use super::{CodeKind, ErrorSignature, failures::Identity, keys};

/// Similarity of two texts that are the same failure is at least this.
const SAME: f64 = 0.75;

/// Share of common words from which two messages of one class are one message.
const SAME_WORDING: f64 = 0.8;

/// Fewest telling words on which a judgement by wording may rest.
const MIN_TELLING_WORDS: usize = 3;

/// Relation of two signatures by what is known about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kinship {
    Same,
    /// One known failure about different things.
    SameClass,
    /// Two known failures of one group.
    Related,
    Different,
    /// At least one side is no known failure.
    Unknown,
}

/// Returns whether two signatures are one failure, to be cured in one way.
pub(crate) fn is_same(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    kinship(a, b) == Kinship::Same
}

/// Returns `true` unless two signatures are known to be two failures.
pub(crate) fn may_be_same(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    match kinship(a, b) {
        Kinship::Same => true,
        Kinship::Unknown => !codes_conflict(a, b),
        Kinship::SameClass | Kinship::Related | Kinship::Different => false,
    }
}

/// Returns how alike two failures are, from 0 to 1; 0.75 and more where [`is_same`] holds.
pub(crate) fn similarity(a: &ErrorSignature, b: &ErrorSignature) -> f64 {
    let detail = detail(a, b);
    match kinship(a, b) {
        Kinship::Same => SAME + (1.0 - SAME) * detail,
        Kinship::SameClass => 0.45 + 0.3 * detail,
        Kinship::Related => 0.35 + 0.3 * detail,
        Kinship::Unknown if !codes_conflict(a, b) => 0.3 * mentioned(a, b) + 0.4 * detail,
        Kinship::Different if !codes_conflict(a, b) => 0.2 * mentioned(a, b) + 0.3 * detail,
        Kinship::Unknown | Kinship::Different => 0.3 * detail,
    }
}

fn kinship(a: &ErrorSignature, b: &ErrorSignature) -> Kinship {
    let (Some(left), Some(right)) = (&a.failure, &b.failure) else {
        return if same_unknown(a, b) { Kinship::Same } else { Kinship::Unknown };
    };
    if left.name != right.name {
        return if left.group == right.group { Kinship::Related } else { Kinship::Different };
    }
    if !codes_conflict(a, b) && same_identity(a, b, &left.identity, &right.identity) {
        Kinship::Same
    } else {
        Kinship::SameClass
    }
}

/// Returns whether two texts of no known failure are one; they share a shingle, so that a lookup finds them.
fn same_unknown(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let unknown = a.failure.is_none() && b.failure.is_none();
    unknown
        && !codes_conflict(a, b)
        && same_wording(a, b)
        && keys::share_shingle(&a.message, &b.message)
}

fn same_identity(
    a: &ErrorSignature,
    b: &ErrorSignature,
    left: &Identity,
    right: &Identity,
) -> bool {
    match (left, right) {
        (Identity::Named(one), Identity::Named(other)) => one.is_some() && one == other,
        (Identity::Served, Identity::Served) => match (a.service, b.service) {
            (Some(one), Some(other)) => one.may_be(other),
            (one, other) => one == other,
        },
        (Identity::Engine, Identity::Engine) => match (a.service, b.service) {
            (Some(one), Some(other)) => one.may_be(other),
            _ => true,
        },
        (Identity::Worded, Identity::Worded) => same_wording(a, b),
        (left, right) => left == right,
    }
}

/// Returns whether two messages say the same of the same things.
fn same_wording(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (words(&a.message), words(&b.message));
    let telling = left.len().min(right.len()) >= MIN_TELLING_WORDS;
    let exceptions_differ = differ(a, b, CodeKind::Exception);
    telling && !exceptions_differ && names_agree(a, b) && cosine(&left, &right) >= SAME_WORDING
}

/// Returns whether two messages name the same things, paths aside.
fn names_agree(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let plain = |names: &[String]| {
        names.iter().filter(|name| !name.contains(['/', '\\'])).cloned().collect::<Vec<_>>()
    };
    let (left, right) = (plain(&a.names), plain(&b.names));
    left.len() == right.len() && left.iter().all(|name| right.contains(name))
}

/// Returns whether a register of decisive codes names two different failures.
fn codes_conflict(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    [
        CodeKind::Rustc,
        CodeKind::TypeScript,
        CodeKind::SqlState,
        CodeKind::MySql,
        CodeKind::Http,
        CodeKind::Errno,
    ]
    .into_iter()
    .any(|kind| differ(a, b, kind))
}

fn differ(a: &ErrorSignature, b: &ErrorSignature, kind: CodeKind) -> bool {
    let of = |signature: &ErrorSignature| -> Vec<String> {
        signature
            .codes
            .iter()
            .filter(|code| code.kind == kind)
            .map(|code| code.value.clone())
            .collect()
    };
    let (left, right) = (of(a), of(b));
    !left.is_empty() && !right.is_empty() && !left.iter().any(|code| right.contains(code))
}

/// Weighs what two signatures share apart from the known failure.
fn detail(a: &ErrorSignature, b: &ErrorSignature) -> f64 {
    0.35 * cosine(&words(&a.message), &words(&b.message))
        + 0.20 * cosine(&words(&a.normalised), &words(&b.normalised))
        + 0.15 * shared(&a.names, &b.names)
        + 0.10 * shared(&a.frames, &b.frames)
        + 0.10 * shared(&a.tools, &b.tools)
        + 0.10 * shared(&a.codes, &b.codes)
}

/// Returns 1 where the known failure of one side is mentioned by the other.
fn mentioned(a: &ErrorSignature, b: &ErrorSignature) -> f64 {
    let names = |one: &ErrorSignature, other: &ErrorSignature| {
        one.failure.as_ref().is_some_and(|failure| other.mentions.contains(&failure.name.as_str()))
    };
    if names(a, b) || names(b, a) { 1.0 } else { 0.0 }
}

fn shared<T: PartialEq>(left: &[T], right: &[T]) -> f64 {
    let common = left.iter().filter(|item| right.contains(item)).count();
    let smaller = left.len().min(right.len());
    if smaller == 0 { 0.0 } else { common as f64 / smaller as f64 }
}

fn cosine(left: &HashMap<String, f64>, right: &HashMap<String, f64>) -> f64 {
    let dot: f64 =
        left.iter().filter_map(|(word, weight)| right.get(word).map(|other| weight * other)).sum();
    let norm = |words: &HashMap<String, f64>| {
        words.values().map(|weight| weight * weight).sum::<f64>().sqrt()
    };
    let norms = norm(left) * norm(right);
    if norms == 0.0 { 0.0 } else { dot / norms }
}

/// Counts the words of a normalised message: ASCII words, pairs of CJK characters; placeholders and glue weigh little.
fn words(message: &str) -> HashMap<String, f64> {
    let mut counts: HashMap<String, f64> = HashMap::new();
    for word in keys::tokens(message) {
        if !word.starts_with('<') && !GLUE.contains(&word.as_str()) {
            counts.insert(stem(&word).to_owned(), 1.0);
        }
    }
    counts
}

/// Cuts the ending of an English word, so that `refused`, `refuses` and `refusing` count as one.
pub(super) fn stem(word: &str) -> &str {
    const SHORTEST: usize = 4;
    let endings = ["ing", "ed", "ies", "es", "s", "y", "e"];
    let cut = endings.iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|stem| stem.len() >= SHORTEST && word.is_ascii()).unwrap_or(word)
}

const GLUE: [&str; 30] = [
    "the", "a", "an", "of", "in", "on", "at", "to", "for", "is", "was", "it", "be", "by", "with",
    "and", "or", "that", "this", "i", "my", "me", "error", "err", "from", "as", "its", "are",
    "has", "的",
];

#[cfg(test)]
mod tests {
    use super::{is_same, similarity};
    use crate::text::error_signature::signature;

    fn same(a: &str, b: &str) -> bool {
        let (a, b) = (signature(a), signature(b));
        assert_eq!(is_same(&a, &b), is_same(&b, &a), "the decision has no direction");
        is_same(&a, &b)
    }

    #[test]
    fn unknown_messages_are_the_same_only_word_for_word() {
        assert!(same(
            "FrobnicateError: gadget stuck in sector 7",
            "FrobnicateError: gadget stuck in sector 12"
        ));
        assert!(!same(
            "FrobnicateError: gadget stuck in sector 7",
            "DefrobError: gadget stuck in sector 7"
        ));
        assert!(!same("oops", "oops"));
    }

    #[test]
    fn codes_that_differ_forbid() {
        assert!(!same(
            "Request failed with status code 401",
            "Request failed with status code 403"
        ));
        assert!(!same(
            "error[E0382]: borrow of moved value: `a`",
            "error[E0505]: cannot move out of `a` because it is borrowed"
        ));
    }

    #[test]
    fn the_same_text_is_most_alike() {
        let one = signature("OSError: [Errno 28] No space left on device");
        let other = signature("OSError: [Errno 122] Disk quota exceeded");
        assert!(similarity(&one, &one) > similarity(&one, &other));
        assert!((0.0..=1.0).contains(&similarity(&one, &one)));
    }
}
