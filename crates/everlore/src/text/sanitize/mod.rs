//! Sanitizing text for a prompt: it is data in a block and must not close it, forge one, or pose as another speaker.
//!
//! Every line of foreign text that reaches a prompt, a tool's answer or a hook's output goes through one function,
//! `push_inert`: contents, titles, speakers, tags and paths alike. Stored text stays as it is. What is sanitized
//! may be sanitized again, and it takes time linear in the length of the text.

mod hidden;
mod lookalikes;
mod tag;
#[cfg(test)]
mod tests;

use serde_json::Value;

use hidden::without_hidden;
pub(super) use lookalikes::latin_reading;
use tag::{Marker, MarkerFinder};

/// Amount of markup that becomes inert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// Every tag: text that is only read.
    AnyTag,
    /// Tags of blocks, hosts and chat templates: text that the reader may have to repeat exactly in an edit.
    ReservedTags,
}

/// Indent of foreign lines in a block: headings of the block begin at the margin.
const INDENT: &str = "  ";

/// Words that begin a turn in transcripts, in the languages of the product.
const ROLE_WORDS: [&str; 13] = [
    "system",
    "user",
    "human",
    "assistant",
    "developer",
    "tool",
    "ai",
    "系统",
    "用户",
    "助手",
    "工具",
    "人类",
    "システム",
];

/// Sanitizes a text: indents every line, so that none passes for a heading of the block, makes tags inert, and removes
/// characters that hide or reorder text.
pub(crate) fn sanitize(text: &str) -> String {
    sanitize_lines(without_last_line_end(text), |line, out| {
        if !line.trim().is_empty() {
            out.push_str(INDENT);
            push_sanitized(line, Strictness::AnyTag, out);
        }
    })
}

/// Sanitizes without the indent, for text that is fenced in another way. Lines that begin like a turn of a transcript
/// are indented all the same.
pub(crate) fn sanitize_unindented(text: &str) -> String {
    sanitize_lines(without_last_line_end(text), |line, out| {
        if begins_like_turn(line) {
            out.push_str(INDENT);
        }
        push_sanitized(line, Strictness::AnyTag, out);
    })
}

/// Sanitizes a text that its reader may repeat in an edit: only tags of blocks, hosts and chat templates become inert.
pub fn sanitize_verbatim(text: &str) -> String {
    sanitize_lines(text, |line, out| push_sanitized(line, Strictness::ReservedTags, out))
}

/// Sanitizes a title, a name, a tag or a path: one line, no indent.
pub fn sanitize_line(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if is_line_end(c) { ' ' } else { c }).collect();
    let visible = without_hidden(&one_line);
    let words: Vec<&str> = visible.split_whitespace().collect();
    let mut out = String::with_capacity(text.len());
    push_inert(&words.join(" "), Strictness::AnyTag, &mut out);
    out
}

/// Sanitizes every string and key of a JSON value as [`sanitize_verbatim`] does.
pub(crate) fn sanitize_json(value: &mut Value) {
    match value {
        Value::String(text) => *text = sanitize_verbatim(text),
        Value::Array(values) => values.iter_mut().for_each(sanitize_json),
        Value::Object(fields) => {
            let taken = std::mem::take(fields);
            fields.extend(taken.into_iter().map(|(key, mut field)| {
                sanitize_json(&mut field);
                (sanitize_verbatim(&key), field)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Escapes a line of JSON for a prompt: angle brackets, their look-alikes, invisible characters and line ends become
/// `\u` escapes, which mean the same in JSON. Such characters stand only inside of JSON strings.
pub(crate) fn escape_json_line(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if lookalikes::is_angle(c) || hidden::is_hidden(c) || is_line_end(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn sanitize_lines(text: &str, mut push: impl FnMut(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, line) in lines(text).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push(line, &mut out);
    }
    out
}

/// Appends a line without hidden characters, its markers made inert.
fn push_sanitized(line: &str, strictness: Strictness, out: &mut String) {
    push_inert(&without_hidden(line), strictness, out);
}

/// Appends a line without hidden characters, the markers of tags and chat templates made inert.
fn push_inert(visible: &str, strictness: Strictness, out: &mut String) {
    let finder = MarkerFinder::new(visible, strictness);
    let mut before = None;
    for (index, c) in visible.char_indices() {
        match finder.marker_at(index, c, before) {
            Some(Marker::Angle) => out.push_str("&lt;"),
            Some(Marker::Bracket) => out.push_str("&#91;"),
            None => out.push(c),
        }
        before = Some(c);
    }
}

/// Iterates over the lines of a text, with every character that some reader takes for the end of a line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(is_line_end) else {
            rest = None;
            return Some(text);
        };
        let after = &text[end..];
        let width = if after.starts_with("\r\n") { 2 } else { after.chars().next()?.len_utf8() };
        rest = Some(&after[width..]);
        Some(&text[..end])
    })
}

fn without_last_line_end(text: &str) -> &str {
    let bare = text.strip_suffix(is_line_end).unwrap_or(text);
    if text.ends_with('\n') { bare.strip_suffix('\r').unwrap_or(bare) } else { bare }
}

/// Returns `true` for line ends of any system: LF, CR, VT, FF, the separators of ASCII, NEL, and those of Unicode.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` for a line that a reader of transcripts takes for a turn: `Human: …`, `### System: …`, `系统：…`.
fn begins_like_turn(line: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '>' | '-' | '=');
    let start: String = line.trim_start_matches(marks).chars().take(24).collect();
    let start = super::fold::fold(&start);
    !line.starts_with(INDENT)
        && ROLE_WORDS.iter().any(|word| {
            let rest = start.strip_prefix(word).map(|rest| rest.trim_start_matches(['*', ' ']));
            rest.is_some_and(|rest| rest.starts_with(':'))
        })
}
