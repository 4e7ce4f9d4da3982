//! Markdown files in `## Section` form, taken apart without losing a byte.
//!
//! A section goes from its `## Title` line to the next heading of level 1 or 2, or to the end. What stands before the
//! first section, and what follows a `# Title` line, belongs to no section and is never touched. Deeper headings,
//! underlined headings, and anything in code, comments and lists are ordinary text.

mod scan;
mod edit;
#[cfg(test)]
mod tests;

pub use edit::Edited;

use crate::{
    error::{Error, Result},
    text::fold::fold,
};
use scan::{Unclosed, scan};

/// A longer title is a text.
const MAX_TITLE_CHARS: usize = 100;

/// A text and where its sections are.
#[derive(Debug)]
pub struct Sections<'a> {
    text: &'a str,
    parts: Vec<Part>,
    unclosed: Option<Unclosed>,
}

/// A section, or what belongs to none: then it has no title.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    title: Option<String>,
    start: usize,
    /// Where its heading's text ends, without the line break.
    heading: usize,
    body: usize,
    end: usize,
}

/// One section of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its title.
    pub title: &'a str,
    /// All of it, with its heading.
    pub text: &'a str,
    /// What stands below its heading.
    pub body: &'a str,
}

impl<'a> Sections<'a> {
    /// Takes a text apart.
    pub fn of(text: &'a str) -> Self {
        let (headings, unclosed) = scan(text);
        let mut parts = vec![Part { title: None, start: 0, heading: 0, body: 0, end: text.len() }];
        for heading in headings {
            if let Some(before) = parts.last_mut() {
                before.end = heading.start;
            }
            parts.push(Part {
                title: (heading.level == 2).then_some(heading.title),
                start: heading.start,
                heading: heading.end,
                body: heading.body,
                end: text.len(),
            });
        }
        Self { text, parts, unclosed }
    }

    /// What stands before the first heading.
    pub fn preamble(&self) -> &'a str {
        self.text_of(&self.parts[0])
    }

    /// Where a code fence or a comment begins that is never closed.
    pub fn open_at(&self) -> Option<usize> {
        self.unclosed.map(|open| open.start)
    }

    /// The sections in their order.
    pub fn iter(&self) -> impl Iterator<Item = Section<'_>> {
        self.parts.iter().filter_map(|part| {
            let title = part.title.as_deref()?;
            Some(Section { title, text: self.text_of(part), body: self.body_of(part) })
        })
    }

    /// All of the text in pieces, those that belong to no section too: the heading without its marks, empty if there is
    /// none, all of the piece, and what stands below the heading.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, &'a str, &'a str)> {
        self.parts.iter().map(|part| {
            let heading = self.text[part.start..part.heading].trim();
            let heading = part.title.as_deref().unwrap_or(heading.trim_start_matches('#').trim());
            (heading, self.text_of(part), self.body_of(part))
        })
    }

    /// The section of this title; the first, if several have it.
    pub fn get(&self, title: &str) -> Option<Section<'_>> {
        let part = &self.parts[self.find(title).0?];
        let title = part.title.as_deref()?;
        Some(Section { title, text: self.text_of(part), body: self.body_of(part) })
    }

    /// The section of this title, or what to do instead.
    pub fn expect(&self, title: &str) -> Result<Section<'_>> {
        self.get(title).ok_or_else(|| self.absent(title))
    }

    fn text_of(&self, part: &Part) -> &'a str {
        &self.text[part.start..part.end]
    }

    fn body_of(&self, part: &Part) -> &'a str {
        &self.text[part.body..part.end]
    }

    /// The place of the first section of this title and how many there are. Where none is called exactly so, case,
    /// width and blanks do not matter: a model that writes `preferences` means `Preferences`.
    fn find(&self, title: &str) -> (Option<usize>, usize) {
        let (given, wanted) = (title.trim(), plain_title(title));
        let same = |fits: &dyn Fn(&str) -> bool| {
            let fitting = |part: &Part| part.title.as_deref().is_some_and(fits);
            let first = self.parts.iter().position(fitting);
            (first, self.parts.iter().filter(|part| fitting(part)).count())
        };
        let folded = loose(wanted);
        let exact = same(&|title| title == given);
        if exact.0.is_some() {
            return exact;
        }
        let unmarked = same(&|title| title == wanted);
        if unmarked.0.is_some() { unmarked } else { same(&|title| loose(title) == folded) }
    }

    fn absent(&self, title: &str) -> Error {
        let titles: Vec<_> = self.iter().map(|section| format!("`{}`", section.title)).collect();
        let hint = if titles.is_empty() {
            "the file has no sections yet; adding to one makes it".to_owned()
        } else {
            format!("use one of its sections: {}", titles.join(", "))
        };
        Error::invalid(format!("there is no section `{}`", plain_title(title)), hint)
    }
}

/// A title as it is meant, even if it was given with the marks of a heading.
fn plain_title(title: &str) -> &str {
    let trimmed = title.trim();
    let unmarked = trimmed.trim_start_matches('#');
    if unmarked.starts_with([' ', '\t']) { unmarked.trim_start() } else { trimmed }
}

fn loose(title: &str) -> String {
    fold(title).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A title that a new section can have.
fn checked_title(title: &str) -> Result<&str> {
    let title = plain_title(title);
    let line = format!("## {title}\n");
    let problem = if title.is_empty() {
        "is empty"
    } else if title.chars().count() > MAX_TITLE_CHARS {
        "is longer than 100 characters"
    } else if title.chars().any(char::is_control) {
        "has a line break or a control character"
    } else if Sections::of(&line).iter().next().is_none_or(|section| section.title != title) {
        "ends with number signs, which markdown leaves out"
    } else {
        return Ok(title);
    };
    Err(Error::invalid(
        format!("the title of the section {problem}"),
        "give a short title in one line, such as Preferences",
    ))
}
