//! Date resolution: rewrites relative dates of a statement into absolute ones, so that "last month" becomes February
//! 2026.

use std::sync::LazyLock;

use jiff::{Timestamp, ToSpan, Zoned};
use regex::Regex;

use crate::text::{
    dates::{TimeMention, find_times, mentions_time},
    language::Language,
};

/// Dates that lack only their year.
static YEARLESS: LazyLock<Regex> = LazyLock::new(|| {
    let months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
    Regex::new(&format!(
        r"(?i)^(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{months})|^[\d一二三四五六七八九十]+月"
    ))
    .expect("valid")
});

/// Bare days: a weekday may mean every such day, and 七号 may be a house number.
static BARE_DAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:mon|tues|wednes|thurs|fri|satur|sun)days?$|^(?:周|星期|礼拜)[一二三四五六日天]$|^[\d一二三四五六七八九十]+[号日]$")
        .expect("valid")
});

/// Longest duration in hours of a day, a week, a month and a year, with one for a clock change, and the format of each.
const DATE_FORMATS: [(i64, &str, &str); 4] = [
    (25, "%-d %B %Y", "%Y年%-m月%-d日"),
    (7 * 24 + 1, "the week of %-d %B %Y", "%Y年%-m月%-d日那周"),
    (31 * 24 + 1, "%B %Y", "%Y年%-m月"),
    (366 * 24 + 1, "%Y", "%Y年"),
];

pub(super) struct DateResolver<'a> {
    pub(super) now: &'a Zoned,
    pub(super) language: Language,
}

impl DateResolver<'_> {
    /// Rewrites every date in the text as an absolute one; with `ahead`, a past date means its next occurrence.
    pub(super) fn resolve_dates(&self, text: &str, ahead: bool) -> String {
        let mut resolved = String::new();
        let mut end = 0;
        for mention in find_times(text, self.now) {
            let words = &text[mention.span.clone()];
            if let Some(instead) = self.absolute_form(words, &mention, ahead) {
                resolved.push_str(&text[end..mention.span.start]);
                resolved.push_str(&instead);
                end = mention.span.end;
            }
        }
        resolved.push_str(&text[end..]);
        resolved
    }

    /// Returns the first date in the text, formatted as the suffix of a statement.
    pub(super) fn first_date_suffix(&self, text: &str) -> Option<String> {
        let mention = find_times(text, self.now).into_iter().next()?;
        let words = &text[mention.span.clone()];
        let named = self.absolute_form(words, &mention, false).unwrap_or_else(|| words.to_owned());
        Some(match self.language {
            Language::Chinese => format!("（{named}）"),
            _ => format!(" ({named})"),
        })
    }

    /// Removes the dates from a text.
    pub(super) fn strip_dates(&self, text: &str) -> String {
        let times = find_times(text, self.now);
        let cut = |mut rest: String, mention: &TimeMention| {
            rest.replace_range(mention.span.clone(), "");
            rest
        };
        let rest = times.iter().rev().fold(text.to_owned(), cut);
        let rest = rest.trim();
        let before = [" in", " on", " at", " since", " by"];
        let rest = before.iter().find_map(|word| rest.strip_suffix(word)).unwrap_or(rest);
        rest.to_owned()
    }

    pub(super) fn has_no_date(&self, text: &str) -> bool {
        !mentions_time(text) && find_times(text, self.now).is_empty()
    }

    /// Returns the current month.
    pub(super) fn current_month(&self) -> String {
        self.format_date(self.now, "%B %Y", "%Y年%-m月")
    }

    fn absolute_form(&self, words: &str, mention: &TimeMention, ahead: bool) -> Option<String> {
        let has_year = words.chars().filter(char::is_ascii_digit).count() >= 4;
        if has_year || mention.end == Timestamp::MAX || !ahead && BARE_DAY.is_match(words) {
            return None;
        }
        if mention.start == Timestamp::MIN {
            let end = mention.end.to_zoned(self.now.time_zone().clone());
            return ahead.then(|| self.format_date(&end, "before %-d %B %Y", "%Y年%-m月%-d日之前"));
        }
        let is_yearless = YEARLESS.is_match(words);
        let start = self.start_date(mention, ahead, is_yearless)?;
        if is_yearless {
            let year = start.year();
            return Some(match self.language {
                Language::Chinese => format!("{year}年{words}"),
                _ if words.contains(|c: char| c.is_ascii_digit()) => format!("{words}, {year}"),
                _ => format!("{words} {year}"),
            });
        }
        let hours = mention.end.duration_since(mention.start).as_hours();
        let (english, chinese) =
            DATE_FORMATS.iter().find(|(most, ..)| hours <= *most).map(|form| (form.1, form.2))?;
        Some(self.format_date(&start, english, chinese))
    }

    /// Returns the start of a time mention; with `ahead`, a past one means its next occurrence.
    fn start_date(&self, mention: &TimeMention, ahead: bool, is_yearless: bool) -> Option<Zoned> {
        let start = mention.start.to_zoned(self.now.time_zone().clone());
        if !ahead || mention.end > self.now.timestamp() {
            return Some(start);
        }
        let step = if is_yearless { 1.year() } else { 7.days() };
        start.checked_add(step).ok()
    }

    fn format_date(&self, at: &Zoned, english: &str, chinese: &str) -> String {
        let format = if self.language == Language::Chinese { chinese } else { english };
        at.strftime(format).to_string()
    }
}
