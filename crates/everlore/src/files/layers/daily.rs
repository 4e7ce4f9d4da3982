//! Daily log: a file for each day; the latest days reach the prompt, older ones are archived.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use jiff::civil::Date;
use serde::Serialize;

use super::{
    EditContext, Layer, LayerChange, LayerEdit, LayerView, Layers, count_chars, fit_to_budget,
    layer_file,
};
use crate::{
    error::{Error, Result},
    files::sections::{EditedText, MarkdownSection, MarkdownSections},
};

/// Fewest characters of a summary.
const MIN_SUMMARY_CHARS: usize = 60;

/// Part of a conversation on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDay<'a> {
    /// Day.
    pub date: Date,
    /// Conversation.
    pub session: &'a str,
    /// Turns on that day.
    pub turns: usize,
    /// Set if the summary is in Chinese.
    pub chinese: bool,
}

/// Day that no longer reaches the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OldDay {
    /// Day.
    pub date: Date,
    /// Text of that day.
    pub text: String,
}

impl SessionDay<'_> {
    /// Returns the title of its section, which changes when the conversation grows.
    fn title(&self) -> String {
        let Self { session, turns, .. } = self;
        if self.chinese {
            format!("会话 {session}（{turns} 条）")
        } else {
            let noun = if *turns == 1 { "turn" } else { "turns" };
            format!("Session {session} ({turns} {noun})")
        }
    }

    /// Returns `true` if a section is about the same conversation.
    pub(super) fn matches_title(&self, title: &str) -> bool {
        let count = |rest: &str| rest.trim_matches(|c: char| c.is_ascii_digit()).to_owned();
        let english = title.strip_prefix(&format!("Session {} (", self.session));
        let chinese = title.strip_prefix(&format!("会话 {}（", self.session));
        english.is_some_and(|rest| matches!(count(rest).as_str(), " turn)" | " turns)"))
            || chinese.is_some_and(|rest| count(rest) == " 条）")
    }

    /// Returns the section of the conversation.
    fn find_section<'s>(&self, sections: &'s MarkdownSections<'_>) -> Option<MarkdownSection<'s>> {
        sections.iter().find(|section| self.matches_title(section.title))
    }

    /// Returns the text with the summary of the conversation in place of its earlier summary.
    fn with_summary(&self, text: &str, content: &str) -> Result<EditedText> {
        let (title, sections) = (self.title(), MarkdownSections::parse(text));
        match self.find_section(&sections) {
            // Another process was faster.
            Some(section) if section.title == title => {
                Ok(EditedText { text: text.to_owned(), note: None })
            }
            Some(section) => {
                let removed = sections.remove(section.title)?.text;
                MarkdownSections::parse(&removed).add(&title, content)
            }
            None => sections.add(&title, content),
        }
    }
}

impl Layers {
    /// Writes the summary of a conversation into the file of its day. `summary` returns a text of at most so many
    /// characters. A conversation is written once; when it has grown, its section is replaced. `None` if there is no
    /// room or nothing to say.
    pub fn log_session(
        &self,
        day: &SessionDay<'_>,
        max_chars: usize,
        by: &EditContext,
        summary: impl Fn(usize) -> String,
    ) -> Result<Option<LayerChange>> {
        let layer = self.read(Layer::Daily, day.date)?;
        let sections = MarkdownSections::parse(&layer.text);
        let section = day.find_section(&sections);
        if section.is_some_and(|section| section.title == day.title()) {
            return Ok(Some(LayerChange { layer: layer.clone(), change: None, note: None }));
        }
        let freed = section.map_or(0, |section| count_chars(section.text));
        let room = self.chars_left(day, count_chars(&layer.text) - freed).min(max_chars);
        let content = if room < MIN_SUMMARY_CHARS { String::new() } else { summary(room) };
        if content.is_empty() {
            return Ok(None);
        }
        let cause = format!("session {} ended", day.session);
        let logged = |text: &str| day.with_summary(text, &content);
        self.edit_locked(Layer::Daily, day.date, by, &cause, logged).map(Some)
    }

    /// Returns the characters left for a conversation, given those of the other sections.
    fn chars_left(&self, day: &SessionDay<'_>, others: usize) -> usize {
        // The heading, and the blank lines around it.
        let taken = others + day.title().chars().count() + 8;
        self.budget(Layer::Daily).saturating_sub(taken)
    }

    /// Appends to today's file.
    pub fn append_to_today(
        &self,
        section: &str,
        content: &str,
        by: &EditContext,
    ) -> Result<LayerChange> {
        let (section, content) = (section.to_owned(), content.to_owned());
        self.edit(Layer::Daily, &LayerEdit::Add { section, content }, by)
    }

    /// Returns the latest days, the oldest first, each within its budget and below its date.
    pub(super) fn recent_days_view(&self, today: Date) -> Result<LayerView> {
        let mut shown = LayerView::default();
        for date in self.prompt_days(today) {
            let day =
                fit_to_budget(&self.read(Layer::Daily, date)?.text, self.budget(Layer::Daily));
            if day.text.is_empty() {
                continue;
            }
            let gap = if shown.text.is_empty() { "" } else { "\n\n" };
            shown.text += &format!("{gap}# {date}\n\n{}", day.text);
            shown.cut_chars += day.cut_chars;
        }
        shown.chars = shown.text.chars().count();
        Ok(shown)
    }

    /// Returns the days that reach the prompt.
    fn prompt_days(&self, today: Date) -> Vec<Date> {
        let mut days = vec![today];
        while days.len() < self.config.daily_days
            && let Some(before) = days.last().and_then(|day| day.yesterday().ok())
        {
            days.push(before);
        }
        days.reverse();
        days
    }

    /// Returns the days that no longer reach the prompt and are not archived yet, with their whole text.
    pub fn old_days(&self, today: Date) -> Result<Vec<OldDay>> {
        let first = self.prompt_days(today)[0];
        let old = dates_in(&self.paths.daily_folder(), "", ".md")?
            .into_iter()
            .filter(|date| *date < first);
        old.map(|date| Ok(OldDay { date, text: self.full_day_text(date)? })).collect()
    }

    /// Returns `true` if there are any; a folder that cannot be listed has none.
    pub fn has_old_days(&self, today: Date) -> bool {
        let first = self.prompt_days(today)[0];
        let days = dates_in(&self.paths.daily_folder(), "", ".md").unwrap_or_default();
        days.first().is_some_and(|date| *date < first)
    }

    /// Returns every day with a file, an archived file or a history.
    pub(super) fn all_days(&self) -> Result<BTreeSet<Date>> {
        let mut days = dates_in(&self.paths.daily_folder(), "", ".md")?;
        days.extend(dates_in(&self.paths.archive_folder(), "", ".md")?);
        days.extend(dates_in(&self.paths.history_folder(), "daily-", ".jsonl")?);
        Ok(days)
    }

    /// Returns the file of an archived day.
    pub(super) fn archive_path(&self, date: Date) -> PathBuf {
        self.paths.archive_folder().join(format!("{date}.md"))
    }

    /// Moves a day to the archive if its text is unchanged. Returns `true` if it was moved.
    pub fn archive_day(&self, day: &OldDay) -> Result<bool> {
        let _lock = self.lock(Layer::Daily, day.date)?;
        if self.full_day_text(day.date)? != day.text {
            return Ok(false);
        }
        let archived = self.archive_path(day.date);
        if layer_file::read(&archived)?.as_deref() != Some(&day.text) {
            layer_file::write(&archived, &day.text)?;
        }
        layer_file::remove(&self.path(Layer::Daily, day.date))?;
        Ok(true)
    }

    /// Returns the text of a day in the archive and the log; text written after archiving comes last.
    fn full_day_text(&self, date: Date) -> Result<String> {
        let archived = layer_file::read(&self.archive_path(date))?;
        let fresh = layer_file::read(&self.path(Layer::Daily, date))?.unwrap_or_default();
        Ok(match archived {
            None => fresh,
            Some(archived) if fresh.is_empty() || archived.ends_with(&fresh) => archived,
            Some(archived) => format!("{}\n\n{fresh}", archived.trim_end()),
        })
    }

    /// Removes an archived day with its history. Returns `true` if there was anything.
    pub fn forget_day(&self, date: Date) -> Result<bool> {
        let _lock = self.lock(Layer::Daily, date)?;
        let archived = self.archive_path(date);
        let there = archived.exists();
        layer_file::remove(&archived)?;
        if !self.path(Layer::Daily, date).exists() {
            self.history(Layer::Daily, date).remove()?;
        }
        Ok(there)
    }
}

/// Returns the dates in the file names of a folder.
fn dates_in(folder: &Path, prefix: &str, end: &str) -> Result<BTreeSet<Date>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(|error| Error::io(folder.display().to_string(), error))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let date = |name: String| name.strip_prefix(prefix)?.strip_suffix(end)?.parse().ok();
    Ok(names.filter_map(date).collect())
}
