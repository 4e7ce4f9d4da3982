//! The daily log: a file a day, of which the latest reach the prompt and older ones are put away (F7).

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use jiff::civil::Date;
use serde::Serialize;

use super::{By, Layer, LayerChange, LayerEdit, Layers, View, chars, disk, view};
use crate::{
    error::{Error, Result},
    files::sections::{Edited, Section, Sections},
};

/// Less room than this is not worth a summary.
const MIN_SUMMARY_CHARS: usize = 60;

/// One day's part in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day<'a> {
    /// The day.
    pub date: Date,
    /// The conversation.
    pub session: &'a str,
    /// How many turns it had on that day.
    pub turns: usize,
    /// Whether the summary is in Chinese.
    pub chinese: bool,
}

/// A day that no longer reaches the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OldDay {
    /// The day.
    pub date: Date,
    /// What was written on it.
    pub text: String,
}

impl Day<'_> {
    /// The title of its section, which tells when it has grown.
    fn title(&self) -> String {
        let Self { session, turns, .. } = self;
        if self.chinese {
            format!("会话 {session}（{turns} 条）")
        } else {
            let noun = if *turns == 1 { "turn" } else { "turns" };
            format!("Session {session} ({turns} {noun})")
        }
    }

    /// Whether a section is about the same conversation.
    pub(super) fn is_title(&self, title: &str) -> bool {
        let count = |rest: &str| rest.trim_matches(|c: char| c.is_ascii_digit()).to_owned();
        let english = title.strip_prefix(&format!("Session {} (", self.session));
        let chinese = title.strip_prefix(&format!("会话 {}（", self.session));
        english.is_some_and(|rest| matches!(count(rest).as_str(), " turn)" | " turns)"))
            || chinese.is_some_and(|rest| count(rest) == " 条）")
    }

    /// What a text says of the conversation.
    fn section_of<'s>(&self, sections: &'s Sections<'_>) -> Option<Section<'s>> {
        sections.iter().find(|section| self.is_title(section.title))
    }

    /// The text with what the conversation was about, in place of what it was about before.
    fn logged(&self, text: &str, content: &str) -> Result<Edited> {
        let (title, sections) = (self.title(), Sections::of(text));
        match self.section_of(&sections) {
            // Another process was faster.
            Some(known) if known.title == title => Ok(Edited { text: text.to_owned(), note: None }),
            Some(known) => {
                let removed = sections.remove(known.title)?.text;
                Sections::of(&removed).add(&title, content)
            }
            None => sections.add(&title, content),
        }
    }
}

impl Layers {
    /// Writes what a conversation was about into the file of its day. `summary` makes a text of at most so many
    /// characters. The same conversation is written once; when it has grown, its section is replaced. None if there
    /// is no room or nothing to say.
    pub fn log_session(
        &self,
        day: &Day<'_>,
        max_chars: usize,
        by: &By,
        summary: impl Fn(usize) -> String,
    ) -> Result<Option<LayerChange>> {
        let layer = self.read(Layer::Daily, day.date)?;
        let sections = Sections::of(&layer.text);
        let known = day.section_of(&sections);
        if known.is_some_and(|known| known.title == day.title()) {
            return Ok(Some(LayerChange { layer: layer.clone(), change: None, note: None }));
        }
        let freed = known.map_or(0, |known| chars(known.text));
        let room = self.room_for(day, chars(&layer.text) - freed).min(max_chars);
        let content = if room < MIN_SUMMARY_CHARS { String::new() } else { summary(room) };
        if content.is_empty() {
            return Ok(None);
        }
        let cause = format!("session {} ended", day.session);
        let logged = |text: &str| day.logged(text, &content);
        self.change(Layer::Daily, day.date, by, &cause, logged).map(Some)
    }

    /// The characters that a day has left for what a conversation was about, beside those of others.
    fn room_for(&self, day: &Day<'_>, others: usize) -> usize {
        // The heading, and the blank lines around it.
        let taken = others + day.title().chars().count() + 8;
        self.budget(Layer::Daily).saturating_sub(taken)
    }

    /// Appends to today's file.
    pub fn log(&self, section: &str, content: &str, by: &By) -> Result<LayerChange> {
        let (section, content) = (section.to_owned(), content.to_owned());
        self.edit(Layer::Daily, &LayerEdit::Add { section, content }, by)
    }

    /// The latest days, the oldest first, each within its budget and below its date.
    pub(super) fn recent(&self, today: Date) -> Result<View> {
        let mut shown = View::default();
        for date in self.loaded_days(today) {
            let day = view(&self.read(Layer::Daily, date)?.text, self.budget(Layer::Daily));
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

    /// The days that reach the prompt.
    fn loaded_days(&self, today: Date) -> Vec<Date> {
        let mut days = vec![today];
        while days.len() < self.config.daily_days
            && let Some(before) = days.last().and_then(|day| day.yesterday().ok())
        {
            days.push(before);
        }
        days.reverse();
        days
    }

    /// The days that no longer reach the prompt and are not put away yet, with all that is known of them.
    pub fn old_days(&self, today: Date) -> Result<Vec<OldDay>> {
        let first = self.loaded_days(today)[0];
        let old = dates_in(&self.place.days(), "", ".md")?.into_iter().filter(|date| *date < first);
        old.map(|date| Ok(OldDay { date, text: self.whole_day(date)? })).collect()
    }

    /// Whether there are any; a folder that cannot be listed tells of none.
    pub fn has_old_days(&self, today: Date) -> bool {
        let first = self.loaded_days(today)[0];
        let days = dates_in(&self.place.days(), "", ".md").unwrap_or_default();
        days.first().is_some_and(|date| *date < first)
    }

    /// Every day of which anything is left: its file, the one that was put away, or what it said before.
    pub(super) fn every_day(&self) -> Result<BTreeSet<Date>> {
        let mut days = dates_in(&self.place.days(), "", ".md")?;
        days.extend(dates_in(&self.place.archive(), "", ".md")?);
        days.extend(dates_in(&self.place.histories(), "daily-", ".jsonl")?);
        Ok(days)
    }

    /// The file of a day that was put away.
    pub(super) fn archived(&self, date: Date) -> PathBuf {
        self.place.archive().join(format!("{date}.md"))
    }

    /// Moves a day to the archive, if it still says what it did. Says whether it was moved.
    pub fn put_away(&self, day: &OldDay) -> Result<bool> {
        let _lock = self.lock(Layer::Daily, day.date)?;
        if self.whole_day(day.date)? != day.text {
            return Ok(false);
        }
        let archived = self.archived(day.date);
        if disk::read(&archived)?.as_deref() != Some(&day.text) {
            disk::write(&archived, &day.text)?;
        }
        disk::remove(&self.path(Layer::Daily, day.date))?;
        Ok(true)
    }

    /// What the archive and the log have of a day; what was written after it was put away stands at the end.
    fn whole_day(&self, date: Date) -> Result<String> {
        let archived = disk::read(&self.archived(date))?;
        let fresh = disk::read(&self.path(Layer::Daily, date))?.unwrap_or_default();
        Ok(match archived {
            None => fresh,
            Some(archived) if fresh.is_empty() || archived.ends_with(&fresh) => archived,
            Some(archived) => format!("{}\n\n{fresh}", archived.trim_end()),
        })
    }

    /// Removes a day that was put away, with what it said before. Says whether there was anything.
    pub fn forget_day(&self, date: Date) -> Result<bool> {
        let _lock = self.lock(Layer::Daily, date)?;
        let archived = self.archived(date);
        let there = archived.exists();
        disk::remove(&archived)?;
        if !self.path(Layer::Daily, date).exists() {
            self.history(Layer::Daily, date).remove()?;
        }
        Ok(there)
    }
}

/// The days that files of a folder are named after.
fn dates_in(folder: &Path, prefix: &str, end: &str) -> Result<BTreeSet<Date>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(|error| Error::io(folder.display().to_string(), error))?,
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let date = |name: String| name.strip_prefix(prefix)?.strip_suffix(end)?.parse().ok();
    Ok(names.filter_map(date).collect())
}
