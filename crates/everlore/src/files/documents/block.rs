//! A block: a piece of a document that belongs together, with the headings above it.

use std::sync::Arc;

/// A heading is cut here: it names a chunk, it does not tell it.
const MAX_HEADING_CHARS: usize = 120;

/// The headings above a text, the outermost first. Blocks of one section share them.
pub(super) type HeadingPath = Arc<[String]>;

/// What a block is, as far as its size goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockShape {
    /// The heading of a section: it goes with what follows.
    Heading,
    /// May be split between lines and sentences.
    Text,
    /// A list, a table or code in a fence: stays in one piece as long as anybody could read it.
    KeepTogether,
}

/// A piece of a document.
#[derive(Debug, Clone)]
pub(super) struct DocBlock {
    pub(super) path: HeadingPath,
    pub(super) text: String,
    /// Counted from 1.
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) shape: BlockShape,
}

impl DocBlock {
    /// The lines of `lines` from `start` to before `end`, blank ones around them left out; `None` if all are.
    pub(super) fn from_lines(
        lines: &[&str],
        start: usize,
        end: usize,
        path: &HeadingPath,
        shape: BlockShape,
    ) -> Option<Self> {
        let is_text = |line: &&str| !line.trim().is_empty();
        let first = start + lines[start..end].iter().position(is_text)?;
        let last = start + lines[start..end].iter().rposition(is_text)?;
        let text = lines[first..=last].join("\n").trim_end().to_owned();
        Some(Self {
            path: Arc::clone(path),
            text,
            first_line: first + 1,
            last_line: last + 1,
            shape,
        })
    }
}

/// The headings in force while a document is read.
#[derive(Debug)]
pub(super) struct Outline {
    headings: Vec<(u8, String)>,
    path: HeadingPath,
}

impl Outline {
    /// Begins below the title of the document, if it has one.
    pub(super) fn under_title(title: Option<&str>) -> Self {
        let headings: Vec<_> =
            title.map(|title| (0, truncate_heading(title))).into_iter().collect();
        let path = headings.iter().map(|(_, text)| text.clone()).collect();
        Self { headings, path }
    }

    /// Enters a section; level 1 is the outermost.
    pub(super) fn enter(&mut self, level: u8, heading: &str) {
        self.headings.retain(|(above, _)| *above < level);
        let heading = truncate_heading(heading);
        let repeats_title =
            self.headings.last().is_some_and(|(above, title)| *above == 0 && *title == heading);
        if !heading.is_empty() && !repeats_title {
            self.headings.push((level, heading));
        }
        self.path = self.headings.iter().map(|(_, text)| text.clone()).collect();
    }

    /// The headings above what comes next.
    pub(super) fn path(&self) -> &HeadingPath {
        &self.path
    }
}

fn truncate_heading(heading: &str) -> String {
    let visible = heading.chars().map(|c| if c.is_control() { ' ' } else { c });
    let words: String = visible.take(2 * MAX_HEADING_CHARS).collect();
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_HEADING_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
