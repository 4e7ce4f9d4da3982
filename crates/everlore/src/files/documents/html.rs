//! HTML: the text between tags, below its headings; without scripts, styles and menus.
//!
//! A tolerant reader, not a parser: it needs no tree, only where text begins, where blocks end and what to drop. It
//! passes over the page once, whatever the page is made of.

use std::sync::Arc;

use super::{
    block::{BlockShape, DocBlock, Outline},
    html_entities::push_decoded,
};

/// Elements whose text is no text of the page.
const DROPPED_TAGS: [&str; 6] = ["nav", "noscript", "template", "svg", "head", "select"];

/// Elements that hold no tags, so that only their own end tag ends them.
const RAW_TEXT_TAGS: [&str; 5] = ["script", "style", "title", "textarea", "iframe"];

/// Elements that begin and end a block.
#[rustfmt::skip]
const BLOCK_LEVEL_TAGS: [&str; 27] = [
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "main", "option", "p", "section",
    "summary", "tbody", "tfoot", "thead",
];

/// Elements that stay in one piece.
const KEEP_TOGETHER_TAGS: [&str; 5] = ["ul", "ol", "dl", "table", "pre"];

/// Returns the title of a page and its blocks.
pub(super) fn blocks(html: &str) -> (Option<String>, Vec<DocBlock>) {
    let title = page_title(html);
    let mut reader = HtmlReader {
        html,
        outline: Outline::under_title(title.as_deref()),
        blocks: Vec::new(),
        text: String::new(),
        first_line: 1,
        last_line: 1,
        line: 1,
        heading: None,
        keep_together_depth: 0,
        pre_depth: 0,
        dropped: None,
        last_close_at: DROPPED_TAGS.map(|name| rfind_ignoring_case(html, &format!("</{name}"))),
        trusts_quotes: true,
    };
    reader.read();
    (title, reader.blocks)
}

/// Returns the text of the first `<title>` of a page.
fn page_title(html: &str) -> Option<String> {
    let start = find_ignoring_case(html, "<title")?;
    let inside = html[start..].split_once('>')?.1;
    let end = find_ignoring_case(inside, "</title")?;
    let mut text = String::new();
    push_decoded(&inside[..end], &mut text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.is_empty())
}

struct HtmlReader<'a> {
    html: &'a str,
    outline: Outline,
    blocks: Vec<DocBlock>,
    /// Current block, with its first position and that of its last text.
    text: String,
    first_line: usize,
    last_line: usize,
    line: usize,
    /// Level of the current heading.
    heading: Option<u8>,
    /// Number of open lists and tables.
    keep_together_depth: usize,
    pre_depth: usize,
    /// Element that is being dropped, and the number of open ones of its name.
    dropped: Option<(&'static str, usize)>,
    /// Position of the last end tag of each element that could be dropped.
    last_close_at: [Option<usize>; DROPPED_TAGS.len()],
    /// Cleared once quotes are found that never close: then they mean nothing.
    trusts_quotes: bool,
}

/// Tag: its name in lower case, and `closes` for an end tag.
struct HtmlTag {
    name: String,
    closes: bool,
}

impl HtmlReader<'_> {
    fn read(&mut self) {
        let mut at = 0;
        while at < self.html.len() {
            let rest = &self.html[at..];
            let length = match rest.find('<') {
                Some(0) => self.read_markup(at),
                Some(length) => self.push_text(&rest[..length]),
                None => self.push_text(rest),
            };
            let passed = &self.html[at..at + length];
            self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
            at += length;
        }
        self.end_block();
    }

    /// Reads markup that begins with `<` and returns its length.
    fn read_markup(&mut self, at: usize) -> usize {
        let rest = &self.html[at..];
        if rest.starts_with("<!--") {
            return rest.find("-->").map_or(rest.len(), |end| end + 3);
        }
        if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) {
            return self.push_text("<");
        }
        let Some(length) = self.tag_len(rest) else {
            // No tag is ever closed again, so the rest is text.
            return self.push_text(rest);
        };
        let tag = HtmlTag::parse(&rest[..length]);
        if !tag.closes && RAW_TEXT_TAGS.contains(&tag.name.as_str()) {
            let end = format!("</{}", tag.name);
            return find_ignoring_case(rest, &end).unwrap_or(rest.len());
        }
        self.apply_tag(&tag, at);
        length
    }

    /// Returns the length of the tag at the start of `text`; a `>` in quotes does not end it.
    fn tag_len(&mut self, text: &str) -> Option<usize> {
        let length = if self.trusts_quotes { tag_len(text) } else { None };
        self.trusts_quotes &= length.is_some();
        length.or_else(|| text.find('>').map(|at| at + 1))
    }

    fn apply_tag(&mut self, tag: &HtmlTag, at: usize) {
        if let Some((name, depth)) = self.dropped {
            if tag.name == name {
                let depth = if tag.closes { depth - 1 } else { depth + 1 };
                self.dropped = (depth > 0).then_some((name, depth));
            }
            return;
        }
        let name = tag.name.as_str();
        if let Some(index) = DROPPED_TAGS.iter().position(|dropped| *dropped == name) {
            // An element that is never closed would drop the rest of the page.
            if !tag.closes && self.last_close_at[index].is_some_and(|end| end > at) {
                self.dropped = Some((DROPPED_TAGS[index], 1));
            }
        } else if let Some(level) = heading_level(name) {
            self.end_block();
            self.heading = (!tag.closes).then_some(level);
        } else if KEEP_TOGETHER_TAGS.contains(&name) {
            self.toggle_keep_together(name, tag.closes);
        } else if name == "br" || name == "tr" {
            self.break_line();
        } else if name == "li" && !tag.closes {
            self.break_line();
            self.text.push_str("- ");
        } else if (name == "td" || name == "th") && !tag.closes {
            self.start_cell();
        } else if BLOCK_LEVEL_TAGS.contains(&name) {
            if self.keep_together_depth > 0 { self.break_line() } else { self.end_block() }
        }
    }

    fn toggle_keep_together(&mut self, name: &str, closes: bool) {
        if self.keep_together_depth == 0 && !closes {
            self.end_block();
        }
        self.keep_together_depth = if closes {
            self.keep_together_depth.saturating_sub(1)
        } else {
            self.keep_together_depth + 1
        };
        if name == "pre" {
            self.pre_depth =
                if closes { self.pre_depth.saturating_sub(1) } else { self.pre_depth + 1 };
        }
        if self.keep_together_depth == 0 {
            self.end_block_as(BlockShape::KeepTogether);
        }
    }

    /// Reads text and returns its length.
    fn push_text(&mut self, text: &str) -> usize {
        if self.dropped.is_some() {
            return text.len();
        }
        if self.pre_depth > 0 {
            if self.text.is_empty() {
                self.first_line = self.line;
            }
            push_decoded(text, &mut self.text);
        } else {
            self.push_collapsed_text(text);
        }
        self.last_line = self.line + text.trim_end().bytes().filter(|byte| *byte == b'\n').count();
        text.len()
    }

    /// Reads text with blanks and line ends collapsed.
    fn push_collapsed_text(&mut self, text: &str) {
        let mut decoded = String::new();
        push_decoded(text, &mut decoded);
        let mut words = decoded.split_whitespace().peekable();
        if words.peek().is_some() && self.text.trim().is_empty() {
            let blank = &text[..text.len() - text.trim_start().len()];
            self.first_line = self.line + blank.bytes().filter(|byte| *byte == b'\n').count();
        }
        let apart = decoded.starts_with(char::is_whitespace);
        let at_start = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
        if apart && !at_start {
            self.text.push(' ');
        }
        for word in words.by_ref() {
            self.text.push_str(word);
            self.text.push(' ');
        }
        if !decoded.ends_with(char::is_whitespace)
            && self.text.ends_with(' ')
            && !decoded.is_empty()
        {
            self.text.pop();
        }
    }

    fn break_line(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        if self.text == "-" || self.text.ends_with("\n-") {
            // A paragraph at the beginning of an item stays behind its marker.
            self.text.push(' ');
        } else if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn start_cell(&mut self) {
        let is_first = self.text.is_empty() || self.text.ends_with('\n');
        if !is_first {
            let end = self.text.trim_end().len();
            self.text.truncate(end);
            self.text.push_str(" | ");
        }
    }

    fn end_block(&mut self) {
        let shape = match (self.heading, self.keep_together_depth) {
            (Some(_), _) => BlockShape::Heading,
            (None, 0) => BlockShape::Text,
            (None, _) => BlockShape::KeepTogether,
        };
        self.end_block_as(shape);
    }

    fn end_block_as(&mut self, shape: BlockShape) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return;
        }
        let text = match self.heading {
            Some(level) => {
                let heading = text.split_whitespace().collect::<Vec<_>>().join(" ");
                self.outline.enter(level, &heading);
                format!("{} {heading}", "#".repeat(level.into()))
            }
            None => text.to_owned(),
        };
        self.blocks.push(DocBlock {
            path: Arc::clone(self.outline.path()),
            text,
            first_line: self.first_line,
            last_line: self.last_line.max(self.first_line),
            shape,
        });
    }
}

impl HtmlTag {
    fn parse(text: &str) -> Self {
        let inside = text.trim_start_matches('<');
        let closes = inside.starts_with('/');
        let letters = inside.trim_start_matches('/').chars();
        let name = letters.take_while(char::is_ascii_alphanumeric).take(16);
        Self { name: name.map(|c| c.to_ascii_lowercase()).collect(), closes }
    }
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// Returns the length of the tag at the start of `text`, if it and its quotes are closed.
fn tag_len(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            // Only after an equals sign do quotes hold a value; elsewhere they are a mistake.
            (None, b'"' | b'\'') if text[..at].trim_end().ends_with('=') => quote = Some(byte),
            (Some(open), _) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the first position of `needle`, which is ASCII, in either case.
fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

/// Returns the last position of `needle`, which is ASCII, in either case.
fn rfind_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .rposition(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}
