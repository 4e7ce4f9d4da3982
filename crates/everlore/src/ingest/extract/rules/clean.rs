//! Preparation of messages for the rules: strips text that is not the user's own, and splits sentences.

use std::sync::LazyLock;

use regex::Regex;

/// Longest paragraph: a longer one was pasted, not said.
const MAX_PARAGRAPH_CHARS: usize = 600;

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 12] =
    ["mr", "mrs", "ms", "dr", "prof", "st", "e.g", "i.e", "etc", "vs", "approx", "no"];

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""([^"\n]*)"|“([^”\n]*)”|「([^」\n]*)」|『([^』\n]*)』"#).expect("valid")
});

static FIRST_PERSON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:i|i'm|my|me|we|our|mine)\b|我|咱").expect("valid"));

/// Strips code, quoted lines, pasted paragraphs, and quotations in the first person.
pub(super) fn strip_quoted_text(text: &str) -> String {
    let text = text.replace(['’', '‘'], "'").replace('\u{3000}', " ");
    let mut own = String::new();
    let mut in_fence = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence
            && !trimmed.starts_with('>')
            && trimmed.chars().count() <= MAX_PARAGRAPH_CHARS
        {
            own.push_str(trimmed);
            own.push('\n');
        }
    }
    let own = own.replace('`', "");
    let unquote = |found: &regex::Captures<'_>| {
        let inside = found.iter().skip(1).flatten().next().map_or("", |inside| inside.as_str());
        if FIRST_PERSON.is_match(inside) { String::new() } else { inside.to_owned() }
    };
    QUOTED.replace_all(&own, unquote).into_owned()
}

/// Splits a text into sentences, each with its end mark.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let blank_follows = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '!' | '?' => blank_follows || text[at + 1..].starts_with(|next: char| !next.is_ascii()),
            '.' => blank_follows && !is_abbreviation(&text[start..at]),
            _ => false,
        };
        let more = chars.peek().is_some_and(|(_, next)| matches!(next, '?' | '!' | '？' | '！'));
        if ends && !more {
            let end = at + c.len_utf8();
            sentences.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    sentences.push(text[start..].trim().to_owned());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '(', '\n']).next().unwrap_or_default();
    ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known))
}
