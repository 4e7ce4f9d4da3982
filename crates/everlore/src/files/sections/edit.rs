//! Edits of one section: every byte outside of it stays as it is, and the result is parsed again to prove it.
//!
//! A text that would begin, end or swallow a section is refused and not rewritten: its author decides whether it should
//! be two sections, a deeper heading or code, and can say so in the next attempt.

use super::{MarkdownSections, SectionSpan, validate_title};
use crate::{
    error::{Error, Result},
    files::markdown::lines,
};

/// Characters of an excerpt that identifies a section.
const EXCERPT_CHARS: usize = 120;

/// Least similarity of a suggested line.
const MIN_SIMILARITY: f64 = 0.5;

/// Most suggested lines; more do not help to choose.
const MAX_SUGGESTIONS: usize = 2;

/// Text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText {
    /// All of the text.
    pub text: String,
    /// Note for the caller.
    pub note: Option<String>,
}

impl MarkdownSections<'_> {
    /// Appends a text to a section on a line of its own; creates the section at the end if there is none.
    pub fn add(&self, title: &str, content: &str) -> Result<EditedText> {
        let content = self.with_file_line_breaks(content.trim_end());
        let content = trim_leading_blank_lines(&content);
        if content.is_empty() {
            return Err(Error::invalid("there is no text to add", "give the text to add"));
        }
        match self.find_span(title) {
            (Some(index), count) => {
                let span = &self.spans[index];
                let blank = self.body_of(span).trim().is_empty();
                let at = if blank { span.heading_end } else { self.last_line_end(span) };
                let gap = self.line_break().repeat(if blank { 2 } else { 1 });
                let text = self.splice(at..at, &format!("{gap}{content}"));
                self.verify_edit(text, index, content, self.duplicate_title_note(index, count))
            }
            (None, _) => self.append_section(validate_title(title)?, content),
        }
    }

    /// Replaces a text that occurs exactly once in a section.
    pub fn replace(&self, title: &str, old: &str, new: &str) -> Result<EditedText> {
        let (index, count) = self.find_span(title);
        let index = index.ok_or_else(|| self.missing_section_error(title))?;
        if old.is_empty() {
            return Err(Error::invalid(
                "the old text is empty",
                "give the exact text to replace; to append, add to the section",
            ));
        }
        let span = &self.spans[index];
        let body = self.body_of(span);
        let styled = self.with_file_line_breaks(old);
        // In the style of the file first, so that no line break is split.
        let old = if body.contains(&styled) { styled.as_str() } else { old };
        let positions = occurrences(body, old);
        let [position] = positions[..] else {
            return Err(self.not_unique_error(index, old, positions.len()));
        };
        let (start, new) = (span.body_start + position, self.with_file_line_breaks(new));
        let text = self.splice(start..start + old.len(), &new);
        self.verify_edit(text, index, &new, self.duplicate_title_note(index, count))
    }

    /// Removes a section with its heading.
    pub fn remove(&self, title: &str) -> Result<EditedText> {
        let (index, count) = self.find_span(title);
        let index = index.ok_or_else(|| self.missing_section_error(title))?;
        let span = &self.spans[index];
        let text = self.splice(span.start..span.end, "");
        let mut others = self.spans.clone();
        others.remove(index);
        self.check_only_changed(&MarkdownSections::parse(&text), &others, None, "")?;
        Ok(EditedText { note: self.duplicate_title_note(index, count), text })
    }

    fn append_section(&self, title: &str, content: &str) -> Result<EditedText> {
        let eol = self.line_break();
        let bare = self.text.trim_start_matches('\u{feff}');
        let gap = if bare.is_empty() || bare.ends_with(&eol.repeat(2)) {
            String::new()
        } else {
            eol.repeat(if bare.ends_with(['\n', '\r']) { 1 } else { 2 })
        };
        let text = format!("{}{gap}## {title}{eol}{eol}{content}{eol}", self.text);
        let edited_sections = MarkdownSections::parse(&text);
        if let Some(open) = self.unclosed {
            return Err(Error::invalid(
                format!(
                    "line {} of the file opens a {} that is never closed",
                    open.line, open.construct
                ),
                "close it first, or add to a section before it",
            ));
        }
        let mut expected = self.spans.clone();
        let last = edited_sections.spans.last().filter(|last| last.title.as_deref() == Some(title));
        expected.extend(last.cloned());
        self.check_only_changed(&edited_sections, &expected, Some(self.spans.len()), content)?;
        Ok(EditedText { text, note: None })
    }

    /// Returns the text with a range of it replaced.
    fn splice(&self, range: std::ops::Range<usize>, with: &str) -> String {
        [&self.text[..range.start], with, &self.text[range.end..]].concat()
    }

    /// Proves that only this section changed.
    fn verify_edit(
        &self,
        text: String,
        index: usize,
        content: &str,
        note: Option<String>,
    ) -> Result<EditedText> {
        self.check_only_changed(
            &MarkdownSections::parse(&text),
            &self.spans,
            Some(index),
            content,
        )?;
        Ok(EditedText { text, note })
    }

    /// Compares the result of an edit with the expected spans; only the one at `edited` may have another text.
    fn check_only_changed(
        &self,
        edited_sections: &MarkdownSections<'_>,
        expected: &[SectionSpan],
        edited: Option<usize>,
        content: &str,
    ) -> Result<()> {
        let unchanged = |(index, (old, new)): (usize, (&SectionSpan, &SectionSpan))| {
            let is_same = Some(index) == edited
                || Some(index + 1) == edited && index + 2 == expected.len()
                || self.text_of(old) == edited_sections.text_of(new);
            old.title == new.title && is_same
        };
        let pairs = expected.iter().zip(&edited_sections.spans).enumerate();
        if expected.len() == edited_sections.spans.len() && { pairs }.all(unchanged) {
            return Ok(());
        }
        Err(boundary_error(content))
    }

    /// Returns the end of the last line of a section that is not blank, without its line break.
    fn last_line_end(&self, span: &SectionSpan) -> usize {
        let filled = lines(self.body_of(span)).filter(|line| !line.text.trim().is_empty());
        filled
            .last()
            .map_or(span.heading_end, |line| span.body_start + line.start + line.text.len())
    }

    /// Returns the line break of the file: that of its first line.
    fn line_break(&self) -> &'static str {
        match self.text.find(['\n', '\r']).map(|at| &self.text[at..]) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\r') => "\r",
            _ => "\n",
        }
    }

    /// Returns the content with the line breaks of the file.
    fn with_file_line_breaks(&self, content: &str) -> String {
        let plain = content.replace("\r\n", "\n").replace('\r', "\n");
        if self.line_break() == "\n" { plain } else { plain.replace('\n', self.line_break()) }
    }

    fn duplicate_title_note(&self, index: usize, count: usize) -> Option<String> {
        let title = self.spans[index].title.as_deref()?;
        (count > 1).then(|| {
            format!("{count} sections are called `{title}`; this changed the first of them")
        })
    }

    /// Returns the error for an old text that is missing or occurs several times.
    fn not_unique_error(&self, index: usize, old: &str, count: usize) -> Error {
        let span = &self.spans[index];
        let title = span.title.as_deref().unwrap_or_default();
        if count > 1 {
            return Error::invalid(
                format!("the old text occurs {count} times in section `{title}`"),
                "give more of the text around it, so that it occurs once",
            );
        }
        let elsewhere = self.iter().find(|section| section.body.contains(old));
        let similar = similar_lines(self.body_of(span), old);
        let hint = if let Some(other) = elsewhere {
            format!("it is in section `{}`", other.title)
        } else if !similar.is_empty() {
            format!("did you mean {}? the old text must be given exactly", similar.join(" or "))
        } else if self.body_of(span).trim().is_empty() {
            "the section is empty; add to it instead".to_owned()
        } else {
            format!("the section begins: {}", excerpt(self.body_of(span)))
        };
        Error::invalid(format!("the old text is not in section `{title}`"), hint)
    }
}

/// Returns the error for a text that would move a section boundary.
fn boundary_error(content: &str) -> Error {
    let parsed = MarkdownSections::parse(content);
    let heading = parsed.spans.iter().skip(1).find_map(|span| {
        let line = parsed.text.get(span.start..span.heading_end)?;
        Some(format!("the text has the heading `{}`, which would begin a new section", line.trim()))
    });
    let advice = match (&heading, parsed.unclosed) {
        (Some(_), _) => {
            "write headings inside a section with ### or deeper, or add each section by itself"
        }
        (None, Some(_)) => "close it in the same text",
        (None, None) => "close code fences and comments inside the section",
    };
    let message = heading.or_else(|| {
        let construct = parsed.unclosed?.construct;
        Some(format!("the text opens a {construct} and does not close it"))
    });
    let message = message.unwrap_or_else(|| {
        "the change would move the beginning or the end of another section".to_owned()
    });
    Error::invalid(message, advice)
}

/// Returns the positions of a text, overlapping ones too.
fn occurrences(body: &str, old: &str) -> Vec<usize> {
    body.char_indices().map(|(at, _)| at).filter(|at| body[*at..].starts_with(old)).collect()
}

/// Returns the lines most similar to the first line of a text, quoted.
fn similar_lines(body: &str, old: &str) -> Vec<String> {
    let first_line = old.trim().lines().next().unwrap_or_default().trim().to_lowercase();
    let similarity = |line: &str| strsim::normalized_levenshtein(&line.to_lowercase(), &first_line);
    let mut similar: Vec<(f64, &str)> = lines(body)
        .map(|line| line.text.trim())
        .filter(|line| !line.is_empty())
        .map(|line| (similarity(line), line))
        .filter(|(similarity, line)| {
            *similarity >= MIN_SIMILARITY || line.to_lowercase().contains(&first_line)
        })
        .collect();
    similar.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    similar
        .into_iter()
        .take(MAX_SUGGESTIONS)
        .map(|(_, line)| format!("`{}`", excerpt(line)))
        .collect()
}

fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(EXCERPT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the content from its first line that is not blank.
fn trim_leading_blank_lines(content: &str) -> &str {
    let first = lines(content).find(|line| !line.text.trim().is_empty());
    first.map_or("", |line| &content[line.start..])
}
