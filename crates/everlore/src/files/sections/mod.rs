//! Sections of markdown files in `## Section` form, byte-exact.
//!
//! A section goes from its `## Title` line to the next heading of level 1 or 2, or to the end. Text before the first
//! section, and text after a `# Title` line, belongs to no section and is never touched. Deeper headings, underlined
//! headings, and anything in code, comments and lists are ordinary text.

mod edit;
#[cfg(test)]
mod tests;

pub(crate) use edit::EditedText;

use crate::{
    error::{Error, Result},
    files::markdown::{self, MarkdownBlock, MarkdownBlockKind, MarkdownLine},
    text::fold::fold,
};

/// Most characters of a title; a longer one is a text.
const MAX_TITLE_CHARS: usize = 100;

/// Text with its sections.
#[derive(Debug)]
pub struct MarkdownSections<'a> {
    text: &'a str,
    spans: Vec<SectionSpan>,
    unclosed: Option<UnclosedMarkup>,
}

/// Bytes of a section, or of text in no section: then it has no title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SectionSpan {
    title: Option<String>,
    start: usize,
    /// End of the heading's text, without the line break.
    heading_end: usize,
    body_start: usize,
    end: usize,
}

/// Code fence or comment without an end: everything after it belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnclosedMarkup {
    /// First byte of its first line.
    start: usize,
    /// Number of its first line, from 1.
    line: usize,
    /// Its name in an error message.
    construct: &'static str,
}

impl UnclosedMarkup {
    /// Returns the markup that the last block leaves open; a heading leaves nothing open.
    fn of(last: &MarkdownBlock, lines: &[MarkdownLine<'_>]) -> Option<Self> {
        let construct = match last.kind {
            MarkdownBlockKind::Code => "code fence",
            MarkdownBlockKind::Html => "block of HTML or comment",
            _ => return None,
        };
        let first = last.lines.start;
        Some(Self { start: lines.get(first)?.start, line: first + 1, construct })
    }
}

/// One section of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownSection<'a> {
    /// Title.
    pub title: &'a str,
    /// All of it, with its heading.
    pub text: &'a str,
    /// Text below its heading.
    pub body: &'a str,
}

impl<'a> MarkdownSections<'a> {
    /// Parses a text into its sections.
    pub fn parse(text: &'a str) -> Self {
        let lines: Vec<MarkdownLine<'_>> = markdown::lines(text).collect();
        let mut source: Vec<&str> = lines.iter().map(|line| line.text).collect();
        // A heading after the end of the text: a block that swallows it is never closed.
        source.extend(["", "## end"]);
        let mut blocks = markdown::blocks(&source);
        let unclosed = blocks.pop().and_then(|last| UnclosedMarkup::of(&last, &lines));
        let mut spans = vec![SectionSpan::default()];
        for block in blocks {
            let MarkdownBlockKind::Heading { level: level @ 1..=2, .. } = block.kind else {
                continue;
            };
            let line = &lines[block.lines.start];
            let Some(title) = atx_title(line.text, level) else { continue };
            if let Some(before) = spans.last_mut() {
                before.end = line.start;
            }
            spans.push(SectionSpan {
                title: (level == 2).then(|| title.to_owned()),
                start: line.start,
                heading_end: line.start + line.text.len(),
                body_start: line.next_start,
                end: line.next_start,
            });
        }
        if let Some(last) = spans.last_mut() {
            last.end = text.len();
        }
        Self { text, spans, unclosed }
    }

    /// Returns the text before the first heading.
    pub fn preamble(&self) -> &'a str {
        self.text_of(&self.spans[0])
    }

    /// Returns the start of a code fence or comment that is never closed.
    pub fn unclosed_at(&self) -> Option<usize> {
        self.unclosed.map(|open| open.start)
    }

    /// Iterates over the sections in their order.
    pub fn iter(&self) -> impl Iterator<Item = MarkdownSection<'_>> {
        self.spans.iter().filter_map(|span| {
            let title = span.title.as_deref()?;
            Some(MarkdownSection { title, text: self.text_of(span), body: self.body_of(span) })
        })
    }

    /// Iterates over all of the text, parts in no section too: the heading without its marks, empty if there is none,
    /// the whole part, and the text below its heading.
    pub fn headed_texts(&self) -> impl Iterator<Item = (&str, &'a str, &'a str)> {
        self.spans.iter().map(|span| {
            let heading = self.text[span.start..span.heading_end].trim();
            let heading = span.title.as_deref().unwrap_or(heading.trim_start_matches('#').trim());
            (heading, self.text_of(span), self.body_of(span))
        })
    }

    /// Returns the section of this title; the first, if several have it.
    pub fn get(&self, title: &str) -> Option<MarkdownSection<'_>> {
        let span = &self.spans[self.find_span(title).0?];
        let title = span.title.as_deref()?;
        Some(MarkdownSection { title, text: self.text_of(span), body: self.body_of(span) })
    }

    /// Returns the section of this title, or an error that lists the titles.
    pub fn expect(&self, title: &str) -> Result<MarkdownSection<'_>> {
        self.get(title).ok_or_else(|| self.missing_section_error(title))
    }

    fn text_of(&self, span: &SectionSpan) -> &'a str {
        &self.text[span.start..span.end]
    }

    fn body_of(&self, span: &SectionSpan) -> &'a str {
        &self.text[span.body_start..span.end]
    }

    /// Returns the index of the first section of this title and the number of them. If none has exactly this title,
    /// case, width and blanks do not matter: a model that writes `preferences` means `Preferences`.
    fn find_span(&self, title: &str) -> (Option<usize>, usize) {
        let (exact_title, unmarked_title) = (title.trim(), strip_heading_marks(title));
        let same = |fits: &dyn Fn(&str) -> bool| {
            let matches = |span: &SectionSpan| span.title.as_deref().is_some_and(fits);
            let first = self.spans.iter().position(matches);
            (first, self.spans.iter().filter(|span| matches(span)).count())
        };
        let folded = normalize_title(unmarked_title);
        let exact = same(&|title| title == exact_title);
        if exact.0.is_some() {
            return exact;
        }
        let unmarked = same(&|title| title == unmarked_title);
        if unmarked.0.is_some() {
            unmarked
        } else {
            same(&|title| normalize_title(title) == folded)
        }
    }

    fn missing_section_error(&self, title: &str) -> Error {
        let titles: Vec<_> = self.iter().map(|section| format!("`{}`", section.title)).collect();
        let hint = if titles.is_empty() {
            "the file has no sections yet; adding to one creates it".to_owned()
        } else {
            format!("use one of its sections: {}", titles.join(", "))
        };
        Error::invalid(format!("there is no section `{}`", strip_heading_marks(title)), hint)
    }
}

/// Returns the text of a heading with number signs as it is written; `None` for an underlined heading.
fn atx_title(line: &str, level: u8) -> Option<&str> {
    let blank = [' ', '\t'];
    let marks = line.trim_start_matches(' ');
    let text = marks.trim_start_matches('#');
    let separated = text.is_empty() || text.starts_with(blank);
    if marks.len() - text.len() != usize::from(level) || !separated {
        return None;
    }
    let text = text.trim_matches(blank);
    let open = text.trim_end_matches('#');
    let closes = open.is_empty() || open.ends_with(blank);
    Some(if closes { open.trim_end_matches(blank) } else { text })
}

/// Returns a title without the marks of a heading that a caller may give with it.
fn strip_heading_marks(title: &str) -> &str {
    let trimmed = title.trim();
    let unmarked = trimmed.trim_start_matches('#');
    if unmarked.starts_with([' ', '\t']) { unmarked.trim_start() } else { trimmed }
}

fn normalize_title(title: &str) -> String {
    fold(title).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Validates the title of a new section.
fn validate_title(title: &str) -> Result<&str> {
    let title = strip_heading_marks(title);
    let line = format!("## {title}\n");
    let problem = if title.is_empty() {
        "is empty"
    } else if title.chars().count() > MAX_TITLE_CHARS {
        "is longer than 100 characters"
    } else if title.chars().any(char::is_control) {
        "has a line break or a control character"
    } else if MarkdownSections::parse(&line)
        .iter()
        .next()
        .is_none_or(|section| section.title != title)
    {
        "ends with number signs, which markdown leaves out"
    } else {
        return Ok(title);
    };
    Err(Error::invalid(
        format!("the title of the section {problem}"),
        "give a short title in one line, such as Preferences",
    ))
}
