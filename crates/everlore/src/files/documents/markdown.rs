//! Markdown: sections below their headings; lists, tables and fences in one piece; front matter left out.

use super::block::{BlockShape, DocBlock, Outline};

/// Front matter has so many lines at most; a rule at the beginning of a long text opens none.
const MAX_FRONT_MATTER_LINES: usize = 200;

/// The title of a document, if its front matter has one, and its blocks.
pub(super) fn blocks(text: &str) -> (Option<String>, Vec<DocBlock>) {
    let lines: Vec<&str> = text.lines().collect();
    let (title, start) = front_matter(&lines);
    let outline = Outline::under_title(title.as_deref());
    let mut reader = MarkdownReader { lines: &lines, at: start, outline, blocks: Vec::new() };
    while reader.at < lines.len() {
        reader.read_block();
    }
    (title, reader.blocks)
}

struct MarkdownReader<'a> {
    lines: &'a [&'a str],
    at: usize,
    outline: Outline,
    blocks: Vec<DocBlock>,
}

impl MarkdownReader<'_> {
    /// Reads the block that begins here.
    fn read_block(&mut self) {
        let line = self.lines[self.at];
        if line.trim().is_empty() {
            self.at += 1;
        } else if let Some((level, heading)) = atx_heading(line) {
            self.outline.enter(level, &strip_inline_markup(heading));
            self.push_lines(self.at + 1, BlockShape::Heading);
        } else if fence(line).is_some() {
            self.push_lines(self.fence_end(self.at), BlockShape::KeepTogether);
        } else if list_item(line).is_some() {
            self.push_lines(self.list_end(self.at), BlockShape::KeepTogether);
        } else if is_indented(line) {
            self.push_lines(self.indented_end(self.at), BlockShape::KeepTogether);
        } else {
            self.read_paragraph();
        }
    }

    fn push_lines(&mut self, end: usize, shape: BlockShape) {
        let block = DocBlock::from_lines(self.lines, self.at, end, self.outline.path(), shape);
        self.blocks.extend(block);
        self.at = end;
    }

    /// Reads lines up to a blank one. It may turn out to be a heading, a table, or the words before a list.
    fn read_paragraph(&mut self) {
        let mut end = self.at + 1;
        let mut is_table = false;
        while let Some(line) = self.lines.get(end).filter(|line| !line.trim().is_empty()) {
            if let Some(level) = setext_level(line) {
                let text = self.lines[self.at..end].join(" ");
                self.outline.enter(level, &strip_inline_markup(text.trim()));
                return self.push_lines(end + 1, BlockShape::Heading);
            }
            if atx_heading(line).is_some() || fence(line).is_some() {
                break;
            }
            if list_item(line).is_some() {
                return self.push_lines(self.list_end(end), BlockShape::KeepTogether);
            }
            is_table |= is_table_delimiter(line);
            end += 1;
        }
        self.push_lines(end, if is_table { BlockShape::KeepTogether } else { BlockShape::Text });
    }

    /// Where the fence that opens at `start` is closed, or the end of the document.
    fn fence_end(&self, start: usize) -> usize {
        let opened = fence(strip_list_marker(self.lines[start]));
        let closes = |line: &&str| {
            let closing = fence(line).filter(|_| line.trim().chars().all(|c| "`~".contains(c)));
            match (opened, closing) {
                (Some((mark, length)), Some((other, longer))) => mark == other && longer >= length,
                _ => false,
            }
        };
        let inside = &self.lines[start + 1..];
        inside.iter().position(closes).map_or(self.lines.len(), |at| start + at + 2)
    }

    /// Where the list that begins at `start` ends: at a heading, or after a blank line that no item follows.
    fn list_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(line) = self.lines.get(at) {
            if line.trim().is_empty() {
                let next = self.next_nonblank(at);
                match self.lines.get(next) {
                    Some(line) if list_item(line).is_some() || line.starts_with([' ', '\t']) => {
                        at = next
                    }
                    _ => return at,
                }
            } else if atx_heading(line).is_some() {
                return at;
            } else if fence(strip_list_marker(line)).is_some() {
                at = self.fence_end(at);
            } else {
                at += 1;
            }
        }
        at
    }

    /// Where the indented code that begins at `start` ends.
    fn indented_end(&self, start: usize) -> usize {
        let mut at = start;
        while self.lines.get(at).is_some_and(|line| is_indented(line)) {
            let next = self.next_nonblank(at + 1);
            let goes_on = self.lines.get(next).is_some_and(|line| is_indented(line));
            at = if goes_on { next } else { at + 1 };
        }
        at
    }

    /// The first line from `at` on that is not blank.
    fn next_nonblank(&self, at: usize) -> usize {
        let blank = self.lines[at..].iter().take_while(|line| line.trim().is_empty()).count();
        at + blank
    }
}

/// The title in the front matter, and the line after it.
fn front_matter(lines: &[&str]) -> (Option<String>, usize) {
    let Some(mark) = lines.first().map(|line| line.trim_end()) else { return (None, 0) };
    if !["---", "+++"].contains(&mark) {
        return (None, 0);
    }
    let inside = lines.iter().skip(1).take(MAX_FRONT_MATTER_LINES);
    let is_end = |line: &&str| line.trim_end() == mark || mark == "---" && line.trim_end() == "...";
    let Some(length) = inside.clone().position(is_end) else { return (None, 0) };
    let fields = &lines[1..=length];
    // A rule at the top of a text is none: every line of front matter is a field, a part of one, or a comment.
    let is_field = |line: &&str| {
        line.contains([':', '=']) || line.starts_with([' ', '\t', '-', '#', ']', '}'])
    };
    if !fields.iter().filter(|line| !line.trim().is_empty()).all(is_field) {
        return (None, 0);
    }
    let title = fields.iter().find_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (key.trim() == "title" && !value.is_empty()).then(|| value.to_owned())
    });
    (title, length + 2)
}

/// The level and text of a line like `## Heading`.
fn atx_heading(line: &str) -> Option<(u8, &str)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let marks = &line[indent..];
    let text = marks.trim_start_matches('#');
    let level = marks.len() - text.len();
    let is_heading = indent <= 3
        && (1..=6).contains(&level)
        && (text.is_empty() || text.starts_with([' ', '\t']));
    let bare = text.trim().trim_end_matches('#').trim_end();
    is_heading.then_some((level as u8, bare))
}

/// The level of the line below it makes of a paragraph: `===` or `---`.
fn setext_level(line: &str) -> Option<u8> {
    let marks = line.trim_end();
    let all = |mark: char| !marks.is_empty() && marks.chars().all(|c| c == mark);
    if all('=') { Some(1) } else { all('-').then_some(2) }
}

/// The mark and length of a fence that the line opens or closes.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    // Code within a line may begin with backticks too; then they come again.
    let inline = mark == '`' && line[length..].contains('`');
    (length >= 3 && !inline).then_some((mark, length))
}

/// What follows the mark of an item, if the line begins an item of a list.
fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match (line.chars().next(), digits) {
        (Some('-' | '*' | '+'), _) => &line[1..],
        (_, 1..=9) if line[digits..].starts_with(['.', ')']) => &line[digits + 1..],
        _ => return None,
    };
    (rest.starts_with([' ', '\t']) && !is_thematic_break(line)).then_some(rest)
}

/// The line without the mark of an item.
fn strip_list_marker(line: &str) -> &str {
    list_item(line).unwrap_or(line)
}

/// A line across the page, such as `* * *`.
fn is_thematic_break(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ["-", "*", "_"].iter().any(|mark| marks.replace(mark, "").is_empty())
}

fn is_indented(line: &str) -> bool {
    (line.starts_with("    ") || line.starts_with('\t')) && !line.trim().is_empty()
}

/// The line between the head and the rows of a table.
fn is_table_delimiter(line: &str) -> bool {
    line.contains('-') && line.contains('|') && line.chars().all(|c| "|:- \t".contains(c))
}

/// A heading without the marks of links, code and emphasis.
fn strip_inline_markup(heading: &str) -> String {
    let mut text = String::with_capacity(heading.len());
    let mut rest = heading;
    // A link is `[text](address)`: its text stays.
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or(after, |(_, rest)| rest);
    }
    text.push_str(rest);
    let text = text.replace("**", "").replace(['`', '*'], "");
    let text = if heading.contains("](") { text.replace(['[', ']'], "") } else { text };
    match text.rsplit_once("{#") {
        Some((before, id)) if id.ends_with('}') => before.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}
