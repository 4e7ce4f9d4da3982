//! The short forms of a memory: one line (L0) and an overview (L1).
//!
//! Those of a long text are made when it is saved, without a model, and kept with it under a digest of the text, so that
//! forms of another text are never told. Everything else is short already, or is shortened when it is looked at: turns,
//! which are kept word for word and nothing more, and what was saved before there were such forms.

use serde_json::{Map, Value, json};

use super::{
    sentences::sentences,
    summary::{Said, summarize},
    tokens::estimate,
};
use crate::types::{Fingerprint, Kind, Memory, OVERVIEW_KEY};

/// About this many tokens for a line, and for an overview; a text that has no more is its own overview.
const LINE_TOKENS: usize = 30;
const OVERVIEW_TOKENS: usize = 120;

/// So much of a text is read for its short forms: a chapter. What comes after it would make a save slow and say no more.
const MAX_READ_BYTES: usize = 64 * 1024;

/// The memory in one line: its description, the line that was made of it, or its first sentence.
pub fn one_line(memory: &Memory) -> String {
    let described = Some(memory.description.as_str()).filter(|text| !text.trim().is_empty());
    let made = || kept(memory).and_then(|kept| kept["line"].as_str());
    first_line(described.or_else(made).unwrap_or(&memory.content))
}

/// The memory in a few sentences: those that were chosen when it was saved, or its beginning.
pub fn overview(memory: &Memory) -> String {
    let made = kept(memory).and_then(|kept| kept["text"].as_str());
    made.map_or_else(|| beginning(&memory.content), str::to_owned)
}

/// Makes the short forms of a long text, and takes away those of another. What a caller calls the same stays.
pub fn keep_overview(memory: &mut Memory) {
    let is_theirs = memory.metadata.get(OVERVIEW_KEY).is_some_and(|value| !is_made(value));
    if is_theirs || kept(memory).is_some() {
        return;
    }
    memory.metadata.remove(OVERVIEW_KEY);
    if memory.kind != Kind::Turn
        && let Some(made) = made(&memory.content)
    {
        memory.metadata.insert(OVERVIEW_KEY.to_owned(), made);
    }
}

/// Puts an overview by a model in place of the one that was made without; the line stays.
pub fn keep_better(memory: &mut Memory, text: &str, by: &str) {
    let line = kept(memory).map(|kept| kept["line"].clone()).unwrap_or_default();
    let better = json!({ "of": digest(&memory.content), "line": line, "text": text, "by": by });
    memory.metadata.insert(OVERVIEW_KEY.to_owned(), better);
}

/// Whether a model could make a better overview than there is: the text is long, and none was asked yet.
pub fn wants_better(memory: &Memory) -> bool {
    let theirs = memory.metadata.get(OVERVIEW_KEY).is_some_and(|value| !is_made(value));
    let by_model = kept(memory).is_some_and(|kept| kept["by"].is_string());
    memory.kind != Kind::Turn && !theirs && !by_model && is_long(&memory.content)
}

/// Metadata as callers gave it: without what was made here.
pub fn without_made(metadata: &Map<String, Value>) -> Map<String, Value> {
    let given = metadata.iter().filter(|(name, value)| *name != OVERVIEW_KEY || !is_made(value));
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether it was made here, and is not a caller's.
pub fn is_made(overview: &Value) -> bool {
    overview["of"].is_string()
}

/// What was made of the text, if the text is still the same.
fn kept(memory: &Memory) -> Option<&Value> {
    let kept = memory.metadata.get(OVERVIEW_KEY)?;
    (kept["of"].as_str()? == digest(&memory.content)).then_some(kept)
}

fn digest(content: &str) -> String {
    let print = Fingerprint::of(content);
    print.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_long(content: &str) -> bool {
    // Hardly a token has less than a byte, so that most texts need not be counted.
    content.len() > OVERVIEW_TOKENS && estimate(head(content)) > OVERVIEW_TOKENS
}

/// The short forms of a text as a memory keeps them; none where it is short itself.
fn made(content: &str) -> Option<Value> {
    if !is_long(content) {
        return None;
    }
    let head = head(content.trim());
    let (chars, tokens) = (head.chars().count(), estimate(head).max(1));
    let said = [Said { by: "", text: head, by_user: false }];
    // As many characters as so many tokens have in this text: Chinese has a third of what English has.
    let summary = |most: usize| summarize(&said, chars * most / tokens);
    let line = summary(LINE_TOKENS).lines().next().map(|line| first_line(bare(line)));
    let text = Some(summary(OVERVIEW_TOKENS)).filter(|text| !text.is_empty());
    let line = line.unwrap_or_else(|| first_line(head));
    let text = text.unwrap_or_else(|| beginning(head));
    Some(json!({ "of": digest(content), "line": line, "text": text }))
}

/// The beginning of a text, which is all of most.
fn head(content: &str) -> &str {
    &content[..content.floor_char_boundary(MAX_READ_BYTES)]
}

/// A line of a summary without its mark.
fn bare(line: &str) -> &str {
    line.trim_start_matches("- ")
}

fn first_line(text: &str) -> String {
    let first = sentences(text).next().unwrap_or_default();
    shorten(&first.split_whitespace().collect::<Vec<_>>().join(" "), LINE_TOKENS)
}

/// The beginning of a text, whole sentences as far as they fit.
fn beginning(content: &str) -> String {
    let mut text = String::new();
    let mut tokens = 0;
    for sentence in sentences(content) {
        tokens += estimate(sentence);
        if tokens > OVERVIEW_TOKENS {
            break;
        }
        text.push_str(sentence);
    }
    if text.is_empty() { shorten(content, OVERVIEW_TOKENS) } else { text.trim().to_owned() }
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
