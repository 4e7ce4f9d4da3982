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
/// Fewest telling words of a message that is the same as a longer one because that holds all of them.
const MIN_HELD_WORDS: usize = 4;
/// Share of words, or of a shorter message's words in a longer one, from which an unknown failure is worth a look.
const ALIKE: f64 = 0.6;

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
        Kinship::SameClass if is_framed(a) && is_framed(b) => !codes_conflict(a, b),
        // The name is only a class of failures: other words may tell the same one.
        Kinship::SameClass => {
            is_worded(a) && is_worded(b) && !codes_conflict(a, b) && !names_conflict(a, b)
        }
        Kinship::Related | Kinship::Different => false,
    }
}

/// Returns how alike two failures are, from 0 to 1; 0.75 and more where [`is_same`] holds.
pub(crate) fn similarity(a: &ErrorSignature, b: &ErrorSignature) -> f64 {
    let detail = detail(a, b);
    match kinship(a, b) {
        Kinship::Same => SAME + (1.0 - SAME) * detail,
        Kinship::SameClass => 0.45 + 0.3 * detail,
        Kinship::Related => 0.35 + 0.3 * detail,
        Kinship::Unknown if !codes_conflict(a, b) => {
            let plain = 0.3 * mentioned(a, b) + 0.4 * detail;
            closeness(a, b).map_or(plain, |close| plain.max(0.3 + 0.2 * close + 0.2 * detail))
        }
        Kinship::Different if !codes_conflict(a, b) => 0.2 * mentioned(a, b) + 0.3 * detail,
        Kinship::Unknown | Kinship::Different => 0.3 * detail,
    }
}

/// Returns how close two failures are that no table knows, if a code, a class or most words speak for it.
fn closeness(a: &ErrorSignature, b: &ErrorSignature) -> Option<f64> {
    let (left, right) = (words(&a.message), words(&b.message));
    let is_telling = left.len().min(right.len()) >= MIN_TELLING_WORDS;
    let wording = if is_telling { cosine(&left, &right).max(held(&left, &right)) } else { 0.0 };
    let has_class = shares(a, b, CodeKind::Exception) && !differ(a, b, CodeKind::Exception);
    if shares_code(a, b) {
        Some(1.0)
    } else if names_conflict(a, b) {
        // The same words about another thing: its cure may show the way.
        (wording >= SAME_WORDING).then_some(0.0)
    } else {
        (wording >= ALIKE || has_class && wording >= ALIKE / 2.0).then_some(wording)
    }
}

fn is_worded(signature: &ErrorSignature) -> bool {
    signature.failure.as_ref().is_some_and(|failure| failure.identity == Identity::Worded)
}

fn is_framed(signature: &ErrorSignature) -> bool {
    signature.failure.as_ref().is_some_and(|failure| failure.identity == Identity::Framed)
}

/// Returns whether two failures happened in the same code of the user; without frames, whether the texts are the same.
fn same_frame(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    match (own_frame(a), own_frame(b)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => a.frames == b.frames && a.normalised == b.normalised,
        _ => false,
    }
}

/// Returns the innermost frame that no runtime or framework has.
fn own_frame(signature: &ErrorSignature) -> Option<&String> {
    const RUNTIMES: [&str; 16] = [
        "runtime.",
        "panic",
        "net/http",
        "testing.",
        "reflect.",
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "jakarta.",
        "org.springframework",
        "org.apache.",
        "org.junit",
        "System.",
        "Microsoft.",
        "lambda_method",
    ];
    let is_own = |frame: &&String| !RUNTIMES.iter().any(|runtime| frame.starts_with(runtime));
    signature.frames.iter().find(is_own)
}

fn kinship(a: &ErrorSignature, b: &ErrorSignature) -> Kinship {
    // A compiler has one code for many faults: what it names must agree too.
    let is_named = shares(a, b, CodeKind::Named) && shares_name(a, b)
        || shares(a, b, CodeKind::TypeScript) && shares_name(a, b) && names_agree(a, b);
    if is_named && !codes_conflict(a, b) {
        return Kinship::Same;
    }
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
        (Identity::Framed, Identity::Framed) => same_frame(a, b),
        (left, right) => left == right,
    }
}

/// Returns whether two messages say the same of the same things.
fn same_wording(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (words(&a.message), words(&b.message));
    let telling = left.len().min(right.len()) >= MIN_TELLING_WORDS;
    let exceptions_differ = differ(a, b, CodeKind::Exception);
    let agrees = telling && names_agree(a, b) && cosine(&left, &right) >= SAME_WORDING;
    let has_same_path = || common_path(a, b) && a.failure.is_some();
    !exceptions_differ && (agrees || has_same_path() || holds_all(a, b))
}

/// Returns whether one message holds every word of the other, which is long enough to say something.
fn holds_all(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (words(&a.message), words(&b.message));
    let least = if shares_code(a, b) { MIN_TELLING_WORDS } else { MIN_HELD_WORDS };
    left.len().min(right.len()) >= least
        && held(&left, &right) >= 1.0
        && names_within(a, b)
        && keys::share_shingle(&a.message, &b.message)
}

/// Returns whether one message names nothing that the other does not name too.
fn names_within(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (plain_names(a), plain_names(b));
    left.is_empty() == right.is_empty()
        && (left.iter().all(|name| right.contains(name))
            || right.iter().all(|name| left.contains(name)))
}

/// Returns the share of the shorter message's words that the longer one has.
fn held(left: &HashMap<String, f64>, right: &HashMap<String, f64>) -> f64 {
    let (shorter, longer) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let common = shorter.keys().filter(|word| longer.contains_key(*word)).count();
    if shorter.is_empty() { 0.0 } else { common as f64 / shorter.len() as f64 }
}

/// Returns whether both texts carry one code that a program gave its failure.
fn shares_code(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    [CodeKind::Named, CodeKind::TypeScript].into_iter().any(|kind| shares(a, b, kind))
}

fn shares(a: &ErrorSignature, b: &ErrorSignature, kind: CodeKind) -> bool {
    a.codes.iter().any(|code| code.kind == kind && b.codes.contains(code))
}

fn shares_name(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let right = plain_names(b);
    plain_names(a).iter().any(|name| right.contains(name))
}

/// Returns whether two messages are about one file or folder.
fn common_path(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let is_path = |name: &&String| name.starts_with('/') && name.matches('/').count() > 1;
    a.names.iter().filter(is_path).any(|path| b.names.contains(path))
}

/// Returns whether both messages name things, none of them in common.
fn names_conflict(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (plain_names(a), plain_names(b));
    !left.is_empty() && !right.is_empty() && !left.iter().any(|name| right.contains(name))
}

/// Returns the names of a message without paths, versions and ids.
fn plain_names(signature: &ErrorSignature) -> Vec<String> {
    let is_plain = |name: &&String| {
        let letters = name.chars().filter(|sign| sign.is_alphabetic()).count();
        !name.contains(['/', '\\']) && !name.starts_with(':') && letters * 2 > name.chars().count()
    };
    signature.names.iter().filter(is_plain).cloned().collect()
}

/// Returns whether two messages name the same things, paths aside.
fn names_agree(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let (left, right) = (plain_names(a), plain_names(b));
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
        || numbers_conflict(a, b)
}

/// Returns whether one program gave two of its numbers: NU1101 and NU1605, 0x80070002 and 0x80070005.
fn numbers_conflict(a: &ErrorSignature, b: &ErrorSignature) -> bool {
    let named = |signature: &ErrorSignature| -> Vec<String> {
        let of = signature.codes.iter().filter(|code| code.kind == CodeKind::Named);
        of.map(|code| code.value.clone()).collect()
    };
    let register = |code: &str| -> String {
        let letters = code.strip_prefix("0x").map_or(code, |_| "0x0");
        letters.chars().take_while(|sign| !sign.is_ascii_digit()).collect()
    };
    let (left, right) = (named(a), named(b));
    let rivals = |code: &String| right.iter().any(|other| register(other) == register(code));
    !left.iter().any(|code| right.contains(code)) && left.iter().any(rivals)
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
    use super::{is_same, may_be_same, similarity};
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
    fn a_code_with_a_name_or_all_words_of_a_message_are_enough() {
        let long = "/w/A.csproj : error NU1101: Unable to find package Foo.Bar. No packages exist with this id in source(s): a";
        assert!(same(long, "NU1101: Unable to find package Foo.Bar"));
        assert!(!same(long, "NU1101: Unable to find package Other.Thing"));
        assert!(!same(long, "NU1605: Detected package downgrade of Foo.Bar"));
        assert!(same(
            "Could not frobnicate all gadgets for sector 'b'. Please try again.",
            "Could not frobnicate all gadgets for sector 'b'."
        ));
        assert!(!same(
            "Could not frobnicate all gadgets for sector 'b'. Please try again.",
            "Could not frobnicate all gadgets for sector 'c'."
        ));
        assert!(same(
            "bash: /var/log/app.log: Permission denied",
            "权限不够: 无法打开 '/var/log/app.log'"
        ));
    }

    #[test]
    fn an_unknown_failure_is_offered_for_its_code_or_most_of_its_words() {
        let alike = |a: &str, b: &str| {
            let (a, b) = (signature(a), signature(b));
            if may_be_same(&a, &b) { similarity(&a, &b) } else { 0.0 }
        };
        assert!(
            alike("Windows cannot connect to the printer (error 0x00000709)", "错误 0x00000709")
                > 0.3
        );
        assert!(
            alike(
                "Gadget 7 cannot be frobnicated twice",
                "cannot frobnicate gadget: it was frobnicated twice"
            ) > 0.3
        );
        assert!(
            alike("Gadget 7 cannot be frobnicated twice", "The moon is full tonight over Lisbon")
                < 0.3
        );
        assert!(
            alike(
                "error NU1101: Unable to find package A.B",
                "error NU1605: Detected package downgrade"
            ) < 0.3
        );
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
