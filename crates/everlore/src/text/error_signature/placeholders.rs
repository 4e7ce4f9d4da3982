//! Placeholders: replaces what differs from one occurrence of a failure to the next by the kind of thing it is.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::translations;

/// Returns `text` in lower case on one line, with paths, hosts, ids, times, versions, numbers and quoted names replaced.
pub(super) fn normalise(text: &str) -> String {
    let bare = PACKAGE_OF_CLASS.replace_all(text, "$1");
    let english = translations::to_english(&bare);
    let replaced = ACCIDENT.replace_all(&english, |found: &Captures<'_>| placeholder(found));
    replaced.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn placeholder(found: &Captures<'_>) -> String {
    let kind =
        KINDS.iter().find(|(kind, _)| found.name(kind).is_some()).map_or("", |(kind, _)| *kind);
    match kind {
        // A code is what the signature is about: it stays.
        "code" => found.name("code").map_or(String::new(), |code| code.as_str().to_owned()),
        kind => format!("<{kind}>"),
    }
}

/// Kinds of accidents, the more particular first: the leftmost and first alternative wins.
const KINDS: [(&str, &str); 15] = [
    ("code", r"\b(?:E\d{4}|TS\d{4,5}|SQLSTATE\S* ?\w{5}|HTTP/[\d.]+ \d{3}|E[A-Z]{4,}|sha512)\b"),
    ("url", r"\b[a-z][a-z0-9+.-]*://[^\s'<>)]+"),
    (
        "time",
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?)?|\b\d\d:\d\d:\d\d(?:\.\d+)?",
    ),
    ("uuid", r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    ("email", r"\b[\w.+-]+@[\w-]+\.[\w.-]*[\w]"),
    ("package", r"@?[\w./-]+@[\^~]?v?\d[\w.+-]*"),
    (
        "host",
        r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\[?::1?\]?:\d+|\b(?:localhost|[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|internal|local|dev|svc)):?\d*\b",
    ),
    (
        "path",
        r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\][\w.@+-]*[\w@+]){1,}[/\\]?(?::\d+)*(?:\(\d+(?:,\d+)?\))?|\b[\w-]+\.(?:rs|py|js|ts|tsx|jsx|go|c|cc|cpp|h|hpp|java|rb|php|json|toml|ya?ml|lock|o|so|sql|sh|txt|mod|sum|cs|kt|swift)\b(?::\d+)*",
    ),
    ("name", r"\B'[^'\n]{1,120}'"),
    ("version", r"\bv?\d+\.\d+(?:\.\d+)*(?:-[\w.]+)?\b"),
    ("address", r"\b0x[0-9a-fA-F]+\b"),
    ("hex", r"\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]{5,}\b|\b[a-f]+\d[0-9a-f]{5,}\b"),
    ("port", r"\b[Pp]ort:? \d+|\b端口:? ?\d+"),
    ("pair", r"\(\w+(?:, \w+)*\)=\([^)]*\)"),
    ("number", r"-?\b\d+(?:[a-zA-Z]{1,3})?\b"),
];

/// Package before an exception class: `requests.exceptions.` says no more than the class.
static PACKAGE_OF_CLASS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:[a-zA-Z_]\w*\.)+([A-Z]\w*(?:Error|Exception|Violation|Timeout))\b")
        .expect("the pattern is valid")
});

static ACCIDENT: LazyLock<Regex> = LazyLock::new(|| {
    let parts: Vec<String> =
        KINDS.iter().map(|(kind, pattern)| format!("(?P<{kind}>{pattern})")).collect();
    Regex::new(&parts.join("|")).expect("the patterns are valid")
});

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn accidents_are_replaced_by_kind() {
        assert_eq!(
            normalise("cp: error writing '/var/a.dump': No space left"),
            "cp: error writing <name>: no space left"
        );
        assert_eq!(
            normalise("dial tcp 172.18.0.2:5432: connection refused"),
            "dial tcp <host>: connection refused"
        );
        assert_eq!(
            normalise("id c2b7f9e4-0d1e-4f1c-9a51-7be0d5b1c3aa at 0x7f00"),
            "id <uuid> at <address>"
        );
        assert_eq!(
            normalise("/srv/app/main.py:12 needs numpy 1.26.4"),
            "<path> needs numpy <version>"
        );
    }

    #[test]
    fn codes_stay() {
        assert_eq!(normalise("error[E0382]: listen EADDRINUSE"), "error[e0382]: listen eaddrinuse");
    }

    #[test]
    fn equal_failures_in_other_places_become_equal() {
        let one =
            normalise("open C:\\Users\\ann\\a.txt at 2024-01-02T03:04:05Z failed after 3 tries");
        let two = normalise("open /home/bob/b.txt at 2025-11-12 13:14:15 failed after 12 tries");
        assert_eq!(one, two);
    }
}
