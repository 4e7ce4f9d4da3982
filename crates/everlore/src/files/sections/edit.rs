//! Changing one section: every byte outside of it stays as it is, and the result is taken apart again to prove it.
//!
//! A text that would make, end or swallow a section is refused and not rewritten: whoever wrote it knows best whether it
//! should be two sections, a deeper heading or code, and can say so in the next attempt.

use super::{Part, Sections, checked_title, scan::lines};
use crate::error::{Error, Result};

/// So much of a section tells which one it is.
const SHOWN_CHARS: usize = 120;

/// A line less alike than this is another line.
const MIN_LIKENESS: f64 = 0.5;

/// More near lines than this do not help to choose.
const MAX_NEAR: usize = 2;

/// A text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text as it is now.
    pub text: String,
    /// What the one who asked for it should know.
    pub note: Option<String>,
}

impl Sections<'_> {
    /// Appends a text to a section on a line of its own; makes the section at the end if there is none.
    pub fn add(&self, title: &str, content: &str) -> Result<Edited> {
        let content = self.in_style(content.trim_end());
        let content = without_blank_start(&content);
        if content.is_empty() {
            return Err(Error::invalid("there is no text to add", "give the text to add"));
        }
        match self.find(title) {
            (Some(index), count) => {
                let part = &self.parts[index];
                let blank = self.body_of(part).trim().is_empty();
                let at = if blank { part.heading } else { self.last_line_end(part) };
                let gap = self.line_break().repeat(if blank { 2 } else { 1 });
                let text = self.spliced(at..at, &format!("{gap}{content}"));
                self.checked(text, index, content, self.note(index, count))
            }
            (None, _) => self.create(checked_title(title)?, content),
        }
    }

    /// Replaces a text that occurs exactly once in a section.
    pub fn replace(&self, title: &str, old: &str, new: &str) -> Result<Edited> {
        let (index, count) = self.find(title);
        let index = index.ok_or_else(|| self.absent(title))?;
        if old.is_empty() {
            return Err(Error::invalid(
                "the old text is empty",
                "give the exact text to replace; to append, add to the section",
            ));
        }
        let part = &self.parts[index];
        let body = self.body_of(part);
        let styled = self.in_style(old);
        // In the style of the file first, so that no line break is cut apart.
        let old = if body.contains(&styled) { styled.as_str() } else { old };
        let places = places(body, old);
        let [place] = places[..] else {
            return Err(self.not_once(index, old, places.len()));
        };
        let (start, new) = (part.body + place, self.in_style(new));
        let text = self.spliced(start..start + old.len(), &new);
        self.checked(text, index, &new, self.note(index, count))
    }

    /// Removes a section with its heading.
    pub fn remove(&self, title: &str) -> Result<Edited> {
        let (index, count) = self.find(title);
        let index = index.ok_or_else(|| self.absent(title))?;
        let part = &self.parts[index];
        let text = self.spliced(part.start..part.end, "");
        let mut others = self.parts.clone();
        others.remove(index);
        self.check_same(&Sections::of(&text), &others, None, "")?;
        Ok(Edited { note: self.note(index, count), text })
    }

    fn create(&self, title: &str, content: &str) -> Result<Edited> {
        let eol = self.line_break();
        let bare = self.text.trim_start_matches('\u{feff}');
        let gap = if bare.is_empty() || bare.ends_with(&eol.repeat(2)) {
            String::new()
        } else {
            eol.repeat(if bare.ends_with(['\n', '\r']) { 1 } else { 2 })
        };
        let text = format!("{}{gap}## {title}{eol}{eol}{content}{eol}", self.text);
        let made = Sections::of(&text);
        if let Some(open) = self.unclosed {
            return Err(Error::invalid(
                format!(
                    "line {} of the file opens a {} that is never closed",
                    open.line, open.what
                ),
                "close it first, or add to a section that stands before it",
            ));
        }
        let mut expected = self.parts.clone();
        let last = made.parts.last().filter(|last| last.title.as_deref() == Some(title));
        expected.extend(last.cloned());
        self.check_same(&made, &expected, Some(self.parts.len()), content)?;
        Ok(Edited { text, note: None })
    }

    /// The text with a range of it replaced.
    fn spliced(&self, range: std::ops::Range<usize>, with: &str) -> String {
        [&self.text[..range.start], with, &self.text[range.end..]].concat()
    }

    /// Proves that only this section changed.
    fn checked(
        &self,
        text: String,
        index: usize,
        content: &str,
        note: Option<String>,
    ) -> Result<Edited> {
        self.check_same(&Sections::of(&text), &self.parts, Some(index), content)?;
        Ok(Edited { text, note })
    }

    /// Compares what an edit made with the parts that must be there; only the one at `edited` may say something else.
    fn check_same(
        &self,
        made: &Sections<'_>,
        expected: &[Part],
        edited: Option<usize>,
        content: &str,
    ) -> Result<()> {
        let unchanged = |(index, (old, new)): (usize, (&Part, &Part))| {
            let alike = Some(index) == edited
                || Some(index + 1) == edited && index + 2 == expected.len()
                || self.text_of(old) == made.text_of(new);
            old.title == new.title && alike
        };
        let pairs = expected.iter().zip(&made.parts).enumerate();
        if expected.len() == made.parts.len() && { pairs }.all(unchanged) {
            return Ok(());
        }
        Err(unfit(content))
    }

    /// Where the last line of a section that says something ends, without its line break.
    fn last_line_end(&self, part: &Part) -> usize {
        let filled = lines(self.body_of(part)).filter(|line| !line.text.trim().is_empty());
        filled.last().map_or(part.heading, |line| part.body + line.start + line.text.len())
    }

    /// The line break of the file: that of its first line.
    fn line_break(&self) -> &'static str {
        match self.text.find(['\n', '\r']).map(|at| &self.text[at..]) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\r') => "\r",
            _ => "\n",
        }
    }

    /// The content with the line breaks of the file.
    fn in_style(&self, content: &str) -> String {
        let plain = content.replace("\r\n", "\n").replace('\r', "\n");
        if self.line_break() == "\n" { plain } else { plain.replace('\n', self.line_break()) }
    }

    fn note(&self, index: usize, count: usize) -> Option<String> {
        let title = self.parts[index].title.as_deref()?;
        (count > 1).then(|| {
            format!("{count} sections are called `{title}`; this changed the first of them")
        })
    }

    /// The answer to an old text that is not there, or there several times.
    fn not_once(&self, index: usize, old: &str, count: usize) -> Error {
        let part = &self.parts[index];
        let title = part.title.as_deref().unwrap_or_default();
        if count > 1 {
            return Error::invalid(
                format!("the old text occurs {count} times in section `{title}`"),
                "give more of the text around it, so that it occurs once",
            );
        }
        let elsewhere = self.iter().find(|section| section.body.contains(old));
        let near = near(self.body_of(part), old);
        let hint = if let Some(other) = elsewhere {
            format!("it is in section `{}`", other.title)
        } else if !near.is_empty() {
            format!("did you mean {}? the old text must be given exactly", near.join(" or "))
        } else if self.body_of(part).trim().is_empty() {
            "the section is empty; add to it instead".to_owned()
        } else {
            format!("the section begins: {}", start_of(self.body_of(part)))
        };
        Error::invalid(format!("the old text is not in section `{title}`"), hint)
    }
}

/// Why a text cannot stand inside a section.
fn unfit(content: &str) -> Error {
    let own = Sections::of(content);
    let heading = own.parts.iter().skip(1).find_map(|part| {
        let line = own.text.get(part.start..part.heading)?;
        Some(format!("the text has the heading `{}`, which would begin a new section", line.trim()))
    });
    let advice = match (&heading, own.unclosed) {
        (Some(_), _) => {
            "write headings inside a section with ### or deeper, or add each section by itself"
        }
        (None, Some(_)) => "close it in the same text",
        (None, None) => "give it so that code fences and comments are closed inside the section",
    };
    let message = heading.or_else(|| {
        let what = own.unclosed?.what;
        Some(format!("the text opens a {what} and does not close it"))
    });
    let message = message.unwrap_or_else(|| {
        "the change would move the beginning or the end of another section".to_owned()
    });
    Error::invalid(message, advice)
}

/// Where a text occurs, even where two places overlap.
fn places(body: &str, old: &str) -> Vec<usize> {
    body.char_indices().map(|(at, _)| at).filter(|at| body[*at..].starts_with(old)).collect()
}

/// The lines most like the first line of a text, quoted.
fn near(body: &str, old: &str) -> Vec<String> {
    let wanted = old.trim().lines().next().unwrap_or_default().trim().to_lowercase();
    let likeness = |line: &str| strsim::normalized_levenshtein(&line.to_lowercase(), &wanted);
    let mut alike: Vec<(f64, &str)> = lines(body)
        .map(|line| line.text.trim())
        .filter(|line| !line.is_empty())
        .map(|line| (likeness(line), line))
        .filter(|(likeness, line)| {
            *likeness >= MIN_LIKENESS || line.to_lowercase().contains(&wanted)
        })
        .collect();
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    alike.into_iter().take(MAX_NEAR).map(|(_, line)| format!("`{}`", start_of(line))).collect()
}

fn start_of(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The content from its first line that says something.
fn without_blank_start(content: &str) -> &str {
    let first = lines(content).find(|line| !line.text.trim().is_empty());
    first.map_or("", |line| &content[line.start..])
}
