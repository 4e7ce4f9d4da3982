//! Masks comments, literals and test items of Rust source, so that rules about code see nothing else.
//!
//! `crates/everlore/tests/it/architecture.rs` includes this file too.

use std::ops::Range;

/// Attributes that begin a test item.
const TEST_ATTRIBUTES: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test,"];

/// Removes comments and replaces every character of a literal with `~`; line ends stay.
pub(crate) fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (comment, literal) = (comment_len(rest), literal_len(rest, &masked));
        let len = if comment > 0 {
            masked.extend(rest[..comment].chars().filter(|c| *c == '\n'));
            comment
        } else if literal > 0 {
            masked.extend(rest[..literal].chars().map(|c| if c.is_whitespace() { c } else { '~' }));
            literal
        } else {
            masked.push(c);
            c.len_utf8()
        };
        rest = &rest[len..];
    }
    masked
}

/// Cuts the test items out of masked source.
pub(crate) fn without_tests(masked: &str) -> String {
    let mut code = String::with_capacity(masked.len());
    let mut from = 0;
    for range in test_items(masked) {
        code.push_str(&masked[from..range.start]);
        from = range.end;
    }
    code + &masked[from..]
}

/// Returns the byte ranges of items under a test attribute, up to their semicolon or closing brace.
pub(crate) fn test_items(masked: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let next = |from: usize| {
        let found = TEST_ATTRIBUTES.iter().filter_map(|attribute| masked[from..].find(attribute));
        found.min().map(|at| from + at)
    };
    while let Some(start) = next(from) {
        from = start + item_len(&masked[start..]);
        ranges.push(start..from);
    }
    ranges
}

/// Returns `true` for characters of a Rust name.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn item_len(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 && (c == '}' || c == ';') {
            return at + 1;
        }
    }
    code.len()
}

fn comment_len(rest: &str) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else {
        0
    }
}

/// Returns the length of the literal at the start of `rest`, or 0.
fn literal_len(rest: &str, before: &str) -> usize {
    if rest.starts_with('"') {
        closing(rest, 1, '"')
    } else if rest.starts_with('r') && !before.ends_with(|c: char| is_name_char(c) && c != 'b') {
        raw_string_len(rest)
    } else if rest.starts_with('\'') {
        char_len(rest)
    } else {
        0
    }
}

/// Returns the length of a literal whose inside starts at `from` and ends at `quote`, escapes passed over.
fn closing(rest: &str, from: usize, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest[from..].char_indices() {
        if c == quote && !escaped {
            return from + at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn raw_string_len(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    let inside = 1 + hashes + 1;
    if !rest[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[inside..].find(&end).map_or(rest.len(), |at| inside + at + end.len())
}

/// Returns 0 for a lifetime, which has no closing quote after one character.
fn char_len(rest: &str) -> usize {
    let mut inside = rest[1..].chars();
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => closing(rest, 1, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}
