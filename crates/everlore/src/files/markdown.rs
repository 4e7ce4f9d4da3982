//! Markdown block structure: the top-level blocks of a text by CommonMark and GitHub's tables, with their lines.
//!
//! The parser finds the structure; callers take every byte from the source, so text that produces no event (a link
//! definition) is still theirs.

use std::{ops::Range, sync::LazyLock};

use pulldown_cmark::{Event, Options, Parser, Tag};
use regex::{Captures, Regex};

/// Extensions to CommonMark: tables, and `{#id}` at the end of a heading, which is not part of its text.
const EXTENSIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_HEADING_ATTRIBUTES);

/// End tags that close a block of raw HTML. The parser knows them in lower case only, CommonMark in any.
static RAW_TEXT_END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?i)</(?:pre|script|style|textarea)>").expect("the pattern is valid")
});

/// Most list and quote markers at the beginning of a line. A line with more is plain text: the parser visits every open
/// list and quote on every line, so one line of markers would make its time grow with the square of the text.
const MAX_NESTING: usize = 100;

/// Block that lies in no other: not inside a list or a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownBlock {
    pub(super) kind: MarkdownBlockKind,
    /// Indices of its lines; blank ones may follow the text.
    pub(super) lines: Range<usize>,
}

/// Kind of a block, as far as callers treat blocks differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MarkdownBlockKind {
    /// Heading with number signs or underlined; its text has no markup.
    Heading {
        level: u8,
        text: String,
    },
    /// Fenced or indented code.
    Code,
    Html,
    List,
    Table,
    /// Paragraph, quote or thematic break.
    Text,
}

/// Line without its line break, and its position.
pub(super) struct MarkdownLine<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
    /// First byte of the next line.
    pub(super) next_start: usize,
}

/// Iterates over the lines of a text; `\n`, `\r\n` and `\r` end one. A byte order mark is not part of the first.
pub(super) fn lines(text: &str) -> impl Iterator<Item = MarkdownLine<'_>> {
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ending = match &rest[length..] {
            ending if ending.starts_with("\r\n") => 2,
            "" => 0,
            _ => 1,
        };
        let line =
            MarkdownLine { start, text: &rest[..length], next_start: start + length + ending };
        start = line.next_start;
        Some(line)
    })
}

/// Returns the top-level blocks in their order.
pub(super) fn blocks(lines: &[&str]) -> Vec<MarkdownBlock> {
    let lines: Vec<&str> =
        lines.iter().map(|line| if nests_too_deep(line) { "text" } else { *line }).collect();
    // Joined anew, because the parser does not end a heading at a lone `\r`.
    let source = lines.join("\n");
    let lowered = |tag: &Captures<'_>| tag[0].to_ascii_lowercase();
    let source = RAW_TEXT_END.replace_all(&source, lowered);
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |next, line| Some(std::mem::replace(next, *next + line.len() + 1)))
        .collect();
    let line_at = |byte: usize| starts.partition_point(|start| *start <= byte).saturating_sub(1);
    let mut blocks: Vec<MarkdownBlock> = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new_ext(&source, EXTENSIONS).into_offset_iter() {
        let lines = line_at(range.start)..line_at(range.end.saturating_sub(1)) + 1;
        match (depth, block_kind(&event), blocks.last_mut()) {
            (0, Some(kind), _) => blocks.push(MarkdownBlock { kind, lines }),
            // The range of a list takes in the link definition after it; the ranges of its items do not.
            (1, Some(_), Some(list)) if list.kind == MarkdownBlockKind::List => {
                list.lines.end = lines.end
            }
            _ => {}
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            event => extend_heading(blocks.last_mut(), &event),
        }
    }
    blocks
}

fn nests_too_deep(line: &str) -> bool {
    let markers = line
        .bytes()
        .zip(line.bytes().skip(1))
        .take_while(|(byte, _)| byte.is_ascii_digit() || b" \t>-*+.)".contains(byte));
    let nests =
        |(byte, next): &(u8, u8)| *byte == b'>' || b"-*+.)".contains(byte) && b" \t".contains(next);
    markers.filter(nests).count() > MAX_NESTING
}

/// Returns the kind of block that an event begins at the top level; `None` for an event inside a block.
fn block_kind(event: &Event<'_>) -> Option<MarkdownBlockKind> {
    Some(match event {
        Event::Start(Tag::Heading { level, .. }) => {
            MarkdownBlockKind::Heading { level: *level as u8, text: String::new() }
        }
        Event::Start(Tag::CodeBlock(_)) => MarkdownBlockKind::Code,
        Event::Start(Tag::HtmlBlock) => MarkdownBlockKind::Html,
        Event::Start(Tag::List(_)) => MarkdownBlockKind::List,
        Event::Start(Tag::Table(_)) => MarkdownBlockKind::Table,
        Event::Start(_) | Event::Rule => MarkdownBlockKind::Text,
        _ => return None,
    })
}

/// Appends the text of an inline event to the heading that is open.
fn extend_heading(block: Option<&mut MarkdownBlock>, event: &Event<'_>) {
    let Some(MarkdownBlockKind::Heading { text, .. }) = block.map(|block| &mut block.kind) else {
        return;
    };
    match event {
        Event::Text(part) | Event::Code(part) | Event::InlineHtml(part) => text.push_str(part),
        Event::SoftBreak | Event::HardBreak => text.push(' '),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(MarkdownBlockKind, Range<usize>)> {
        let lines: Vec<&str> = lines(text).map(|line| line.text).collect();
        blocks(&lines).into_iter().map(|block| (block.kind, block.lines)).collect()
    }

    fn heading(level: u8, text: &str) -> MarkdownBlockKind {
        MarkdownBlockKind::Heading { level, text: text.to_owned() }
    }

    #[test]
    fn blocks_have_their_kind_and_their_lines_after_any_line_break() {
        for eol in ["\n", "\r\n", "\r"] {
            let text = "# Tea\n| a |\n|---|\nWords\nhere\n----\n- x\n  ## no\n\n~~~\n# no\n~~~\n<div>\n\n> q\n";
            assert_eq!(
                kinds(&text.replace('\n', eol)),
                [
                    (heading(1, "Tea"), 0..1),
                    (MarkdownBlockKind::Table, 1..5),
                    (MarkdownBlockKind::Text, 5..6),
                    (MarkdownBlockKind::List, 6..9),
                    (MarkdownBlockKind::Code, 9..12),
                    (MarkdownBlockKind::Html, 12..13),
                    (MarkdownBlockKind::Text, 14..15),
                ],
                "{eol:?}"
            );
        }
    }

    #[test]
    fn the_text_of_a_heading_has_no_markup() {
        let text =
            "## A *b* `c<d>` [e][f] <g> &amp; ![h](i) \\* {#id}\n\nOne\n_two_\n===\n\n[f]: x\n";
        assert_eq!(
            kinds(text),
            [(heading(2, "A b c<d> e <g> & h *"), 0..1), (heading(1, "One two"), 2..5)]
        );
    }

    #[test]
    fn a_list_ends_before_the_link_definitions_below_it_and_raw_html_at_an_end_tag_in_any_case() {
        let text = "- a\n\n[x]: y\n[z]: y\n\n<PRE>\n\n# no\n</Pre>\n# Yes\n";
        let blocks_found = kinds(text);
        assert_eq!(blocks_found[0], (MarkdownBlockKind::List, 0..2));
        assert_eq!(blocks_found[1], (MarkdownBlockKind::Html, 5..9));
        assert_eq!(blocks_found[2], (heading(1, "Yes"), 9..10));
    }
}
