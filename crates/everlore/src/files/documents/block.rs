//! Document block: a heading, paragraph, list, table or fence, with the headings above it.

use std::sync::Arc;

/// Most characters of a heading; it names a chunk, it is not its text.
const MAX_HEADING_CHARS: usize = 120;

/// Headings above a text, the outermost first. Blocks of one section share them.
pub(super) type HeadingPath = Arc<[String]>;

/// Shape of a block, by which it may be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockShape {
    /// Heading of a section: stays with what follows.
    Heading,
    /// Text that may be split between lines and sentences.
    Text,
    /// List, table or code: stays in one piece up to [`super::MAX_KEEP_TOGETHER_TOKENS`].
    KeepTogether,
}

/// Block of a document.
#[derive(Debug, Clone)]
pub(super) struct DocBlock {
    pub(super) path: HeadingPath,
    pub(super) text: String,
    /// Line number from 1.
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    pub(super) shape: BlockShape,
}

impl DocBlock {
    /// Creates a block of the lines from `start` to before `end`, without blank ones around them; `None` if all are
    /// blank.
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

/// Headings above the current position while a document is read.
#[derive(Debug)]
pub(super) struct Outline {
    headings: Vec<(u8, String)>,
    path: HeadingPath,
}

impl Outline {
    /// Starts below the title of the document, if it has one.
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

    /// Returns the headings above what comes next.
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
