//! Shorter forms of a memory.

use crate::{
    text::{sentences::sentences, tokens::estimate},
    types::Memory,
};

/// About this many tokens for a line, and for an overview.
const LINE_TOKENS: usize = 30;
const OVERVIEW_TOKENS: usize = 120;

/// The memory in one line: its description, or its first sentence.
pub fn one_line(memory: &Memory) -> String {
    let text =
        if memory.description.trim().is_empty() { &memory.content } else { &memory.description };
    let first = sentences(text).next().unwrap_or_default();
    shorten(&first.split_whitespace().collect::<Vec<_>>().join(" "), LINE_TOKENS)
}

/// The beginning of the memory, whole sentences as far as they fit.
pub fn overview(memory: &Memory) -> String {
    let mut text = String::new();
    let mut tokens = 0;
    for sentence in sentences(&memory.content) {
        tokens += estimate(sentence);
        if tokens > OVERVIEW_TOKENS {
            break;
        }
        text.push_str(sentence);
    }
    if text.is_empty() { shorten(&memory.content, OVERVIEW_TOKENS) } else { text.trim().to_owned() }
}

/// Cuts a text that is too long at a word, with a mark.
fn shorten(text: &str, max_tokens: usize) -> String {
    if estimate(text) <= max_tokens {
        return text.to_owned();
    }
    let mut ends: Vec<usize> =
        text.char_indices().map(|(index, _)| index).take(max_tokens * 8).collect();
    // The longest beginning that fits, mark included; estimates grow with the text.
    let fits = |end: usize| estimate(&text[..end]) < max_tokens;
    let count = ends.partition_point(|end| fits(*end));
    ends.truncate(count);
    let end = ends.last().copied().unwrap_or(0);
    let at_word =
        text[..end].rfind(char::is_whitespace).filter(|word| *word > end / 2).unwrap_or(end);
    format!("{}…", text[..at_word].trim_end())
}
