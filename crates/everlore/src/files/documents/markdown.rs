//! Markdown documents: sections below their headings; lists, tables and code in one piece; front matter left out.

use super::block::{BlockShape, DocBlock, Outline};
use crate::files::markdown::{self, MarkdownBlock, MarkdownBlockKind};

/// Most lines of front matter; a thematic break at the beginning of a long text opens none.
const MAX_FRONT_MATTER_LINES: usize = 200;

/// Returns the title that the front matter has, if any, and the blocks of the document.
pub(super) fn blocks(text: &str) -> (Option<String>, Vec<DocBlock>) {
    let lines: Vec<&str> = markdown::lines(text).map(|line| line.text).collect();
    let (title, start) = front_matter(&lines);
    let outline = Outline::under_title(title.as_deref());
    let mut reader = MarkdownReader { lines: &lines, at: start, outline, blocks: Vec::new() };
    for block in markdown::blocks(&lines[start..]) {
        reader.read(&block, start);
    }
    reader.push_lines(lines.len(), BlockShape::Text);
    (title, reader.blocks)
}

struct MarkdownReader<'a> {
    lines: &'a [&'a str],
    /// First line that is in no block yet.
    at: usize,
    outline: Outline,
    blocks: Vec<DocBlock>,
}

impl MarkdownReader<'_> {
    /// Adds a block, and before it the lines that the parser made no block of, such as link definitions.
    fn read(&mut self, block: &MarkdownBlock, offset: usize) {
        let (start, end) = (block.lines.start + offset, block.lines.end + offset);
        self.push_lines(start, BlockShape::Text);
        match &block.kind {
            MarkdownBlockKind::Heading { level, text } => {
                self.outline.enter(*level, text);
                self.push_lines(end, BlockShape::Heading);
            }
            MarkdownBlockKind::List | MarkdownBlockKind::Table => {
                self.take_lead_in(start);
                self.push_lines(end, BlockShape::KeepTogether);
            }
            MarkdownBlockKind::Code => self.push_lines(end, BlockShape::KeepTogether),
            MarkdownBlockKind::Html | MarkdownBlockKind::Text => {
                self.push_lines(end, BlockShape::Text);
            }
        }
    }

    /// Reopens the text directly above a list or a table, so that "Steps:" stays with its steps.
    fn take_lead_in(&mut self, block_start: usize) {
        let touches =
            |last: &mut DocBlock| last.shape == BlockShape::Text && last.last_line == block_start;
        if let Some(lead_in) = self.blocks.pop_if(touches) {
            self.at = lead_in.first_line - 1;
        }
    }

    fn push_lines(&mut self, end: usize, shape: BlockShape) {
        let end = end.max(self.at);
        let block = DocBlock::from_lines(self.lines, self.at, end, self.outline.path(), shape);
        self.blocks.extend(block);
        self.at = end;
    }
}

/// Returns the title in the front matter, and the line after it.
fn front_matter(lines: &[&str]) -> (Option<String>, usize) {
    let Some(mark) = lines.first().map(|line| line.trim_end()) else { return (None, 0) };
    if !["---", "+++"].contains(&mark) {
        return (None, 0);
    }
    let inside = lines.iter().skip(1).take(MAX_FRONT_MATTER_LINES);
    let is_end = |line: &&str| line.trim_end() == mark || mark == "---" && line.trim_end() == "...";
    let Some(length) = inside.clone().position(is_end) else { return (None, 0) };
    let fields = &lines[1..=length];
    // A thematic break at the top of a text opens none: every line of front matter is a field, a part of one, or a
    // comment.
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
