//! Finds doc comments and requirement ids in the comments of Rust source.

/// Words that no doc comment may begin with: such a comment circles around the item instead of naming it.
pub(super) const BANNED_OPENINGS: [&str; 5] = ["What", "Whether", "Who", "How", "Those"];

/// All question words; wider than [`BANNED_OPENINGS`], to compare with figures of other projects.
pub(super) const QUESTION_WORDS: [&str; 9] =
    ["What", "Whether", "Who", "How", "Those", "Where", "When", "Which", "Why"];

/// Initials of requirement ids.
const ID_INITIALS: &str = "MFDBQICLGXHA";

/// Terms that look like ids: the tiers.
const TIERS: [&str; 3] = ["L0", "L1", "L2"];

/// Terms that look like ids outside of parentheses: the harmonic mean of precision and recall, the quarters of a year.
const ID_LOOKALIKES: [&str; 5] = ["F1", "Q1", "Q2", "Q3", "Q4"];

/// First line of a doc comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocOpening {
    /// Line, from 1.
    pub(super) line: usize,
    /// Text without the slashes.
    pub(super) text: String,
}

impl DocOpening {
    pub(super) fn begins_with(&self, words: &[&str]) -> bool {
        let word = self.text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        words.contains(&word)
    }
}

/// Returns the first line of every doc comment (`///` or `//!`); lines of literals that look like one are left out.
pub(super) fn doc_openings(text: &str, masked: &str) -> Vec<DocOpening> {
    let mut openings = Vec::new();
    let mut before = None;
    for (index, (line, code)) in text.split('\n').zip(masked.split('\n')).enumerate() {
        let marker = if code.trim().is_empty() { doc_marker(line.trim_start()) } else { None };
        if let Some(marker) = marker.filter(|_| marker != before) {
            let text = line.trim_start()[marker.len()..].trim().to_owned();
            openings.push(DocOpening { line: index + 1, text });
        }
        before = marker;
    }
    openings
}

/// Returns the line numbers of comments with requirement ids, such as `A12`.
pub(super) fn requirement_ids(text: &str, masked: &str) -> Vec<usize> {
    let lines = text.split('\n').zip(masked.split('\n')).enumerate();
    lines
        .filter(|(_, (line, code))| has_requirement_id(comment(line, code)))
        .map(|(index, _)| index + 1)
        .collect()
}

/// Returns `true` if prose names a requirement id.
pub(super) fn has_requirement_id(text: &str) -> bool {
    has_ids_in_parentheses(text) || has_bare_id(text)
}

fn doc_marker(line: &str) -> Option<&'static str> {
    let is_rule = line.starts_with("////");
    ["///", "//!"].into_iter().find(|marker| line.starts_with(marker) && !is_rule)
}

/// Returns the comment at the end of a line: masking keeps every other character.
fn comment<'a>(line: &'a str, code: &str) -> &'a str {
    let start = line.char_indices().nth(code.chars().count()).map_or(line.len(), |(at, _)| at);
    &line[start..]
}

fn has_ids_in_parentheses(text: &str) -> bool {
    let groups = text.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    groups.into_iter().any(|(group, _)| {
        let ids: Vec<&str> = group.split([',', ';', '/']).map(str::trim).collect();
        ids.iter().all(|id| is_id(id)) && !ids.iter().all(|id| TIERS.contains(id))
    })
}

/// Returns `true` if a word of the text is an id; code in backticks is skipped.
fn has_bare_id(text: &str) -> bool {
    let prose = text.split('`').step_by(2);
    let mut words = prose.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '-'));
    words.any(|word| is_id(word) && !TIERS.contains(&word) && !ID_LOOKALIKES.contains(&word))
}

fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix(|c: char| ID_INITIALS.contains(c));
    digits.is_some_and(|digits| {
        (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::lexer::mask;

    fn openings(text: &str) -> Vec<String> {
        doc_openings(text, &mask(text)).into_iter().map(|opening| opening.text).collect()
    }

    #[test]
    fn each_doc_comment_has_one_opening() {
        let text = "//! Module.\n//! More.\n\n/// Item.\n///\n/// What follows.\nfn f() {}\n// plain\n    /// Field.\n//////\n";
        assert_eq!(openings(text), ["Module.", "Item.", "Field."]);
        assert_eq!(
            openings("const T: &str = r#\"\n/// What is in a text.\n\"#;"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_opening_is_compared_by_whole_words() {
        let opening = |text: &str| DocOpening { line: 1, text: text.into() };
        assert!(opening("Whether it is.").begins_with(&BANNED_OPENINGS));
        assert!(opening("What's new").begins_with(&BANNED_OPENINGS));
        assert!(!opening("However many.").begins_with(&BANNED_OPENINGS));
        assert!(!opening("Returns what is new.").begins_with(&BANNED_OPENINGS));
    }

    #[test]
    fn ids_are_found_in_comments_and_tiers_are_none() {
        let lines = |text: &str| requirement_ids(text, &mask(text));
        assert_eq!(lines("//! Why not (A12).\nfn f() {} // see (X5, A8)\n/* (H1) */"), [1, 2, 3]);
        assert!(lines("/// In one line (L0).\n/// (L0, L1)\n/// A paragraph (A, B)").is_empty());
        assert!(lines("const T: &str = \"(A12)\"; // a number (12)").is_empty());
        assert_eq!(
            lines("// As X6 wants.\n// The F1 of Q1, `A36`, MiniLM-L6-v2, H200\n// (Q1)"),
            [1, 3]
        );
    }
}
